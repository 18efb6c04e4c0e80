"""Simulate weeks in which the mix of tasks shifts: which rules keep judging well?"""

import pandas as pd

from voirdire.drift.simulation import simulate
from voirdire.panel import ESTIMATORS
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._drift import or_absent, scenario_of
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, scenario=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)

    def compute() -> dict[str, pd.DataFrame]:
        result = simulate(
            verdicts,
            scenario_of(args.scenario),
            estimators=tuple(ESTIMATORS),
            seeds=args.scenario["seeds"],
            seed=args.scenario["seed"],
            condition=settings.condition,
        )
        return {"drift": result.weeks, "drift_rates": result.rates}

    write_outputs(or_absent(compute, "drift", "drift_rates"), args.output)


if __name__ == "__main__":
    run(main)
