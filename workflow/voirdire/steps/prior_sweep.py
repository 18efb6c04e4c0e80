"""Simulate the same weeks under every prior: does the choice matter?"""

import pandas as pd

from voirdire.drift.sweep import prior_sweep
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._drift import or_absent, scenario_of
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, scenario=as_json, sweep=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)

    def compute() -> dict[str, pd.DataFrame]:
        frame = prior_sweep(
            verdicts,
            scenario_of(args.scenario),
            **args.sweep,
            seeds=args.scenario["seeds"],
            seed=args.scenario["seed"],
            condition=settings.condition,
        )
        return {"prior_sweep": frame}

    write_outputs(or_absent(compute, "prior_sweep"), args.output)


if __name__ == "__main__":
    run(main)
