"""The LLM client: model specifications, calls, the journal of answers.

litellm (2.5 s, 190 MB) is imported only where something is asked.
"""

from voirdire.models.client import Progress, complete, pending
from voirdire.models.journal import REPLAYABLE, Journal, read_journal
from voirdire.models.prices import estimate_tokens, price_per_token
from voirdire.models.spec import Answer, Call, ModelSpec, request_key

__all__ = [
    "REPLAYABLE",
    "Answer",
    "Call",
    "Journal",
    "ModelSpec",
    "Progress",
    "complete",
    "estimate_tokens",
    "pending",
    "price_per_token",
    "read_journal",
    "request_key",
]
