"""Are stronger examinees' wrong responses accepted more, and is it leniency or difficulty?"""

from voirdire.bias.leniency import leniency
from voirdire.bias.leniency_summary import leniency_summary
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, families=as_json, output=[str])
    settings = Settings(**args.settings)
    table = leniency(read_verdicts(args.verdicts, settings.condition), families=args.families, **settings.intervals)
    write_outputs({"leniency": table, "leniency_summary": leniency_summary(table)}, args.output)


if __name__ == "__main__":
    run(main)
