"""Rates of every judge, accuracies of every examinee, and the ledger of what entered no rate."""

import pandas as pd

from voirdire.bias.absent import explain_absent
from voirdire.bias.ledger import ledger
from voirdire.bias.rates import rates, rates_by_examinee, task_accuracy
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, families=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts)
    main_condition = verdicts[verdicts["condition"] == settings.condition]
    absent = explain_absent(verdicts, settings.condition, args.families)
    frames = {
        "rates": rates(verdicts, **settings.intervals),
        "rates_by_examinee": rates_by_examinee(verdicts, **settings.intervals),
        "task_accuracy": task_accuracy(main_condition, **settings.intervals),
        "ledger": ledger(verdicts),
        "absent": pd.DataFrame(absent.items(), columns=["table", "reason"], dtype="str"),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
