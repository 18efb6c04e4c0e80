"""What a call may take before it is made, and what it has cost afterwards."""

import math
from dataclasses import replace
from typing import Any

from voirdire.errors import UserError
from voirdire.models.limits import Limits
from voirdire.models.prices import estimate_tokens, price_per_token
from voirdire.models.spec import Answer, Call, ModelSpec

# Expected of an answer while none has been seen.
_USUAL_TOKENS = 1000
# The most that one is feared to have where no cap is set.
_FEARED_TOKENS = 16_000
# A server may claim another model with every answer.
_NAMES = 100
# Code, formulas and scripts other than Latin have more tokens than prose of their length.
_DENSEST = 2


class Pricing:
    """Expectations of one model's calls, which its answers correct.

    Raises UserError where a budget is to be kept and the price isn't known.
    """

    def __init__(self, spec: ModelSpec, limits: Limits) -> None:
        self.spec = spec
        self._cap = spec.cap
        self._price = price_per_token(spec)
        if limits.budget_usd is not None and self._price is None:
            raise UserError(
                f"model '{spec.name}' ({spec.model}): its price is not known, so budget_usd cannot be kept; "
                f"set models.{spec.name}.price (input and output, dollars per million tokens; 0 and 0 where it is free)"
            )
        self._same: dict[str, bool] = {}
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
        """What a response has cost, by the model that was asked; None if its price or the tokens are unknown.

        litellm reckons by the model that the server says has answered, and knows of discounts and surcharges: it is
        believed where that one's prices are those of the model that was asked, or these are unknown.
        """
        if prompt_tokens is None:
            return None
        # litellm says 0 or None where it knows no price.
        reckoned = getattr(response, "_hidden_params", {}).get("response_cost") or None
        if self._price is None or (self.spec.price is None and reckoned and self._is_same(response.model)):
            return reckoned
        return prompt_tokens * self._price[0] + (completion_tokens or 0) * self._price[1]

    def _is_same(self, model: object) -> bool:
        """Whether a model that claims to have answered has the prices of the one that was asked."""
        name = f"{self.spec.provider}/{model}" if self.spec.provider else str(model)
        if name not in self._same and len(self._same) < _NAMES:
            self._same[name] = price_per_token(replace(self.spec, model=name)) == self._price
        return self._same.get(name, False)


def dollars(number: float) -> str:
    """Dollars and cents, or as many places as an amount below a cent needs.

    >>> dollars(1234.567), dollars(0.004167), dollars(0.0)
    ('$1,234.57', '$0.0042', '$0.00')
    """
    places = 2 if number <= 0 or number >= 0.01 else 1 - math.floor(math.log10(number))
    return f"${number:,.{places}f}"
