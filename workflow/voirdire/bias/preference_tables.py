"""The tables of self-preference and family preference of the same verdicts, which are laid out and compared once."""

from collections.abc import Mapping

import pandas as pd

from voirdire.bias.families import known_families
from voirdire.bias.family_preference import family_table, family_triples
from voirdire.bias.preference import compared, own_triples
from voirdire.bias.preference_counts import Panel
from voirdire.bias.preference_model import preference_model
from voirdire.bias.self_preference import own_table
from voirdire.bias.self_preference_summary import own_summary


def preference_tables(
    verdicts: pd.DataFrame,
    main: str = "blind",
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, pd.DataFrame]:
    """The frames, by name, of self_preference, its summary, family_preference and preference_model."""
    families = known_families(families)
    panel = Panel.of(verdicts, main, seed)
    own = compared(panel, *own_triples(panel), resamples, seed, level)
    related = compared(panel, *family_triples(panel, families), resamples, seed, level)
    model = preference_model(verdicts, main, families, level)
    return {
        "self_preference": own_table(own, seed, level),
        "self_preference_summary": own_summary(own, model, seed, level),
        "family_preference": family_table(related, panel, families, model, seed, level),
        "preference_model": model,
    }
