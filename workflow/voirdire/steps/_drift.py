"""What the two steps of the drift simulation share."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from voirdire.drift import Scenario
from voirdire.drift.columns import COLUMNS
from voirdire.errors import UserError


def scenario_of(settings: Mapping[str, Any]) -> Scenario:
    """The scenario of `Study.drift_settings`. Raises UserError where the study has no tasks to drift between."""
    if not settings:
        raise UserError(
            "Without drift.start and drift.end in the configuration the mix drifts from gsm8k to aime, "
            "and this study doesn't have both."
        )
    names = {name: value for name, value in settings.items() if name not in ("prior", "seeds", "seed")}
    prior = settings["prior"]
    return Scenario(**names, prior=(prior["fpr"], prior["fnr"], prior["strength"]))


def or_absent(
    compute: Callable[[], dict[str, pd.DataFrame]], *names: str
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """The computed tables and no reasons; or, where the verdicts don't suffice, empty ones and why they are."""
    try:
        return compute(), {}
    except UserError as error:
        print(f"not simulated: {error}")
        return {name: pd.DataFrame(columns=list(COLUMNS[name])) for name in names}, dict.fromkeys(names, str(error))
