"""Rough token counts and list prices, for an estimate before paying."""

import math

from voirdire.models.spec import ModelSpec

_BYTES_PER_TOKEN = 4
# Of the list price, what OpenAI and Azure ask for calls in batches.
BATCH_SHARE = 0.5


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: one per four bytes of UTF-8, which is four characters of English.

    Good to about a fifth for prose; code and mathematics have more. No tokenizer is loaded or downloaded.

    >>> estimate_tokens("What is 6 times 7?")
    5
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def price_per_token(spec: ModelSpec) -> tuple[float, float] | None:
    """US dollars per token (sent, received): the specification's, else litellm's; None where neither has a price.

    Imports litellm (2.5 s) to look. A zero there counts as unknown: the list gives it to models it knows nothing of.
    """
    if spec.price is not None:
        return spec.price[0] / 1e6, spec.price[1] / 1e6
    from voirdire.models.engine import load_litellm

    litellm = load_litellm()
    try:
        info = litellm.get_model_info(spec.model)
    except Exception:
        # litellm has several ways to say that a model is not in its list.
        return None
    prices = (info.get("input_cost_per_token") or 0.0, info.get("output_cost_per_token") or 0.0)
    return prices if any(prices) else None
