"""The LLM client: model specifications, calls, the journal of answers.

litellm (2.5 s, 190 MB) is imported only where something is asked, the client only where it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from voirdire.models.limits import ALONE, Limits
from voirdire.models.spec import Answer, Call, ModelSpec, request_key, request_keys

if TYPE_CHECKING:
    from voirdire.models.client import Progress, complete, pending
    from voirdire.models.journal import Journal
    from voirdire.models.prices import estimate_tokens, price_per_token
    from voirdire.models.records import REPLAYABLE, read_journal, spent_usd

__all__ = [
    "ALONE",
    "REPLAYABLE",
    "Answer",
    "Call",
    "Journal",
    "Limits",
    "ModelSpec",
    "Progress",
    "complete",
    "estimate_tokens",
    "pending",
    "price_per_token",
    "read_journal",
    "request_key",
    "request_keys",
    "spent_usd",
]

_LAZY = {
    "REPLAYABLE": "records",
    "Journal": "journal",
    "Progress": "client",
    "complete": "client",
    "estimate_tokens": "prices",
    "pending": "client",
    "price_per_token": "prices",
    "read_journal": "records",
    "spent_usd": "records",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
