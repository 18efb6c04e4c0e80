"""Which model is of which family, as people give it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from voirdire.errors import Faults
from voirdire.tables.checks import plain_name


def known_families(families: "Mapping[str, str] | pd.Series[Any] | None") -> dict[str, str]:
    """Model → family, without the models whose family is missing (None, NaN or empty): each is one of its own.

    families: a mapping or a Series by model. Whole numbers as names become text, as those of verdicts do. Raises
    UserError for names that are neither.
    """
    faults = Faults()
    known: dict[str, str] = {}
    for model, family in ({} if families is None else dict(families)).items():
        missing = family is None or family is pd.NA or family != family or family == ""
        if missing:
            continue
        names = [plain_name(model), plain_name(family)]
        if None in names:
            faults.add(f"families: {model!r} → {family!r}: names must be text or whole numbers. Write them as text.")
        else:
            known[str(names[0])] = str(names[1])
    faults.raise_if_any()
    return known


def same_family(first: str, second: str, families: Mapping[str, str]) -> bool:
    """Whether two models are of one family; families as of `known_families`. A model that it lacks is alone in its own.

    Such a family has no name, so that none is taken for it: a model "qwen" isn't of the family "qwen".
    """
    return first == second or (first in families and families[first] == families.get(second))
