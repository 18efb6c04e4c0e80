"""voirdire: examine LLM judges before their verdicts are trusted, and calibrate a panel of them."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.grading import grade
    from voirdire.judging import parse_verdict

__version__ = "0.1.0"
__all__ = ["grade", "parse_verdict"]

# Imported when first used: `import voirdire` stays light.
_LAZY = {"grade": "voirdire.grading", "parse_verdict": "voirdire.judging"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'voirdire' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
