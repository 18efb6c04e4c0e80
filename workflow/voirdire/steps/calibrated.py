"""Every response's verdict by each rule, and the probability that it is right, learnt from few of the truths."""

from voirdire.panel.calibrate import calibrate
from voirdire.panel.few_labels import with_few_labels
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._panel import votes_of
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, panel=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    labelled = with_few_labels(verdicts, max(args.panel["labels"]), settings.seed)
    table = calibrate(labelled, condition=settings.condition, **votes_of(args.panel))
    write_outputs({"calibrated": table.assign(simulated=bool(verdicts["simulated"].any()))}, args.output)


if __name__ == "__main__":
    run(main)
