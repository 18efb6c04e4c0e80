"""Does a judge prefer its own responses, or its family's, beyond what its ability explains?"""

from voirdire.bias.preference_tables import preference_tables
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, families=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    frames = preference_tables(verdicts, families=args.families, **settings.intervals)
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
