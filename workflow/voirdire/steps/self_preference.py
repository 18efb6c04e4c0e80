"""Does a judge prefer its own responses, beyond what its ability explains?"""

from voirdire.bias.self_preference import self_preference
from voirdire.bias.self_preference_summary import self_preference_summary
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    frames = {
        "self_preference": self_preference(verdicts, **settings.intervals),
        "self_preference_summary": self_preference_summary(verdicts, **settings.intervals),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
