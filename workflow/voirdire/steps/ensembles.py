"""The static majority of the other judges against the self-judge."""

from voirdire.panel.ensembles import static_majority
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, panel=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    votes = {name: args.panel[name] for name in ("include_self", "quorum", "tie")}
    frames = {"ensembles": static_majority(verdicts, condition=settings.condition, **votes, **settings.intervals)}
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
