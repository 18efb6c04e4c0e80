"""What a call may take before it is made, and what it has cost afterwards."""

import math
from typing import Any

from voirdire.errors import UserError
from voirdire.models.limits import Limits
from voirdire.models.prices import estimate_tokens, price_per_token
from voirdire.models.spec import Answer, Call, ModelSpec

# Expected of an answer while none has been seen.
_USUAL_TOKENS = 1000
# The most that one is feared to have where no cap is set.
_FEARED_TOKENS = 16_000
# Code, formulas and scripts other than Latin have more tokens than prose of their length.
_DENSEST = 2


class Pricing:
    """Expectations of one model's calls, which its answers correct.

    Raises UserError where a budget is to be kept and the price isn't known.
    """

    def __init__(self, spec: ModelSpec, limits: Limits) -> None:
        self.spec = spec
        self._cap = spec.cap
        needs_price = spec.price is not None or limits.budget_usd is not None
        self._price = price_per_token(spec) if needs_price else None
        if limits.budget_usd is not None and self._price is None:
            raise UserError(
                f"model '{spec.name}' ({spec.model}): its price is not known, so budget_usd cannot be kept; "
                f"set models.{spec.name}.price (input and output, dollars per million tokens; 0 and 0 where it is free)"
            )
        self._answers = self._tokens = 0
        self._longest = 0

    def expected(self, call: Call) -> tuple[float, float]:
        """(tokens, dollars) of a call: tokens as they are to be expected, dollars at most."""
        sent = sum(estimate_tokens(str(message.get("content", ""))) for message in call.messages)
        usual = self._tokens / self._answers if self._answers else min(self._cap, _USUAL_TOKENS)
        if self._price is None:
            return sent + usual, 0.0
        longest = self._cap if self._cap < math.inf else max(2 * self._longest, _FEARED_TOKENS)
        return sent + usual, _DENSEST * sent * self._price[0] + longest * self._price[1]

    def learn(self, answer: Answer) -> None:
        """Expect of later calls what this answer has shown."""
        received = answer.completion_tokens or 0
        self._answers += 1
        self._tokens += received
        self._longest = max(self._longest, received)

    def cost_usd(self, response: Any, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """What a response has cost: by the configured price, else as litellm has reckoned it; None if unknown."""
        if self.spec.price is not None:
            return cost_usd(self.spec.price, prompt_tokens, completion_tokens)
        # litellm says 0 or None where it knows no price.
        return getattr(response, "_hidden_params", {}).get("response_cost") or None


def cost_usd(price: tuple[float, float], prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
    """Dollars, at a price per million tokens sent and received; None where the tokens weren't counted.

    >>> cost_usd((2.5, 10), 1000, 200)
    0.0045
    """
    if prompt_tokens is None:
        return None
    return (prompt_tokens * price[0] + (completion_tokens or 0) * price[1]) / 1e6
