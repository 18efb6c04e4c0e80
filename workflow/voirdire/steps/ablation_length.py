"""Are longer wrong responses accepted more often? Table 4."""

from voirdire.bias.ablation_length import ablation_length
from voirdire.report.paper_tables import paper_tables
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    frames = {"ablation_length": ablation_length(verdicts, **settings.intervals)}
    write_outputs(frames | paper_tables(frames, 4), args.output)


if __name__ == "__main__":
    run(main)
