"""How accurate each examinee is, from few labels: raw, and corrected for the judges' errors."""

from voirdire.panel.corrected import corrected_accuracy
from voirdire.panel.examinees import compare_examinees
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._panel import votes_of
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, panel=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    drawn = {"n_labels": max(args.panel["labels"]), "seed": settings.seed, "condition": settings.condition}
    votes = votes_of(args.panel)
    frames = {
        "corrected_accuracy": corrected_accuracy(verdicts, **drawn, **votes),
        "examinee_differences": compare_examinees(verdicts, **drawn, include_self=votes["include_self"]),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
