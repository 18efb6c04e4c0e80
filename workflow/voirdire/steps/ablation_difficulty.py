"""Does self-preference change with the difficulty of the question?"""

from voirdire.bias.ablation_difficulty import ablation_difficulty
from voirdire.bias.difficulty_curve import difficulty_curve
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    frames = {
        "ablation_difficulty": ablation_difficulty(verdicts, **settings.intervals),
        "difficulty_curve": difficulty_curve(verdicts),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
