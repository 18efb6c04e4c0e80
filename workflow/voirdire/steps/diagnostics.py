"""Do judges share their errors, which of them add nothing, and can estimates without labels be trusted?"""

from voirdire.panel.diagnostics import judge_diagnostics, panel_diagnostics
from voirdire.panel.trust import trust_table
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, panel=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts, settings.condition)
    panel = {"condition": settings.condition, "include_self": args.panel["include_self"]}
    frames = {
        "judge_diagnostics": judge_diagnostics(verdicts, **panel, **settings.intervals),
        "panel_diagnostics": panel_diagnostics(verdicts, **panel, **settings.intervals),
        "label_free_trust": trust_table(verdicts, **panel, seed=settings.seed),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
