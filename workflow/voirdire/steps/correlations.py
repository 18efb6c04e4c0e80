"""Correlations of accuracy and bias over judges and over examinees."""

from voirdire.bias.correlations import correlation_points, correlations
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    frames = {
        "correlations": correlations(verdicts, **settings.intervals),
        "correlation_points": correlation_points(verdicts),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
