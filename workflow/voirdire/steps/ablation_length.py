"""Are longer wrong responses accepted more often?"""

from voirdire.bias.ablation_length import ablation_length
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    frames = {"ablation_length": ablation_length(verdicts, **settings.intervals)}
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
