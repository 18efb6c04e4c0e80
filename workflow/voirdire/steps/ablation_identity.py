"""Does a label that names the author change a verdict?"""

from voirdire.bias.ablation_identity import ablation_identity
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts)
    frames = {"ablation_identity": ablation_identity(verdicts, main=settings.condition, **settings.intervals)}
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
