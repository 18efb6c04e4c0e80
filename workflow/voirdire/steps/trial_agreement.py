"""Does a judge that is asked the same again say the same?"""

from voirdire.bias.trial_agreement import trial_agreement
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    frames = {"trial_agreement": trial_agreement(read_verdicts(args.verdicts), **settings.intervals)}
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
