"""What the two steps of the drift simulation share."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from voirdire.drift.columns import COLUMNS
from voirdire.drift.scenario import Scenario
from voirdire.panel.matrix import NotEnoughVerdicts


def scenario_of(settings: Mapping[str, Any]) -> Scenario:
    """The scenario of `Study.drift_settings`. Raises NotEnoughVerdicts where no tasks are there to drift between."""
    if not settings:
        raise NotEnoughVerdicts(
            "Without drift.start and drift.end in the configuration the mix drifts from gsm8k to aime, "
            "and this study doesn't have both."
        )
    names = {name: value for name, value in settings.items() if name not in ("prior", "seeds", "seed", "factors")}
    prior = settings["prior"]
    return Scenario(**names, prior=(prior["fpr"], prior["fnr"], prior["strength"]))


def or_absent(compute: Callable[[], dict[str, pd.DataFrame]], *names: str) -> dict[str, pd.DataFrame]:
    """The computed tables; or, where the verdicts don't suffice, empty ones. Any other fault is raised.

    Beside them, named after the first, `NAME_absent`: a row for each empty table and why it is.
    """
    reasons: dict[str, str] = {}
    try:
        frames = compute()
    except NotEnoughVerdicts as error:
        print(f"not simulated: {error}")
        frames = {name: pd.DataFrame(columns=list(COLUMNS[name])) for name in names}
        reasons = dict.fromkeys(names, str(error))
    absent = pd.DataFrame(reasons.items(), columns=["table", "reason"], dtype="str")
    return {**frames, f"{names[0]}_absent": absent}
