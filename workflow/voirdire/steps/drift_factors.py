"""Change one thing at a time in the drifting weeks: where does each rule keep up, and where does it break?"""

import pandas as pd

from voirdire.drift.columns import COLUMNS
from voirdire.drift.factors import FactorResult, drift_factors
from voirdire.panel.matrix import NotEnoughVerdicts
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._drift import scenario_of
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, scenario=as_json, families=as_json, output=[str])
    settings = Settings(**args.settings)
    try:
        result = drift_factors(
            read_verdicts(args.verdicts),
            scenario_of(args.scenario),
            families=args.families,
            factors=args.scenario["factors"],
            seeds=args.scenario["seeds"],
            seed=args.scenario["seed"],
            condition=settings.condition,
        )
    except NotEnoughVerdicts as reason:
        factors, changes = (pd.DataFrame(columns=list(COLUMNS[name])) for name in ("drift_factors", "drift_changes"))
        result = FactorResult(factors, changes, {"all": str(reason)})
    absent = pd.DataFrame(result.absent.items(), columns=["factor", "reason"], dtype="str")
    frames = {"drift_factors": result.factors, "drift_changes": result.changes, "drift_factors_absent": absent}
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
