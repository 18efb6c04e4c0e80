"""Rough token counts and list prices, for an estimate before paying."""

import math

from voirdire.models.spec import ModelSpec

_BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: one per four bytes of UTF-8, which is four characters of English.

    Good to about a fifth for prose; code and mathematics have more. No tokenizer is loaded or downloaded.

    >>> estimate_tokens("What is 6 times 7?")
    5
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def price_per_token(spec: ModelSpec) -> tuple[float, float] | None:
    """US dollars per token (sent, received) from litellm's offline price list; None where it has no price.

    Imports litellm (2.5 s). A price of zero counts as unknown: the list gives it to models that it knows nothing of.
    """
    from voirdire.models.engine import load_litellm

    litellm = load_litellm()
    try:
        info = litellm.get_model_info(spec.model)
    except Exception:
        # litellm has several ways to say that a model is not in its list.
        return None
    prices = (info.get("input_cost_per_token") or 0.0, info.get("output_cost_per_token") or 0.0)
    return prices if any(prices) else None
