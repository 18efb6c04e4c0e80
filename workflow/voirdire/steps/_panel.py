"""What the steps about panels share."""

from collections.abc import Mapping
from typing import Any


def votes_of(panel: Mapping[str, Any]) -> dict[str, Any]:
    """Of `Study.panel_settings`, how votes become a verdict."""
    return {name: panel[name] for name in ("include_self", "quorum", "tie")}
