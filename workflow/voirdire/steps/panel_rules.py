"""Every way to vote, with no labels, few and more: which is right most often?"""

from voirdire.panel.rule_table import compare_rules
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._panel import votes_of
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, panel=as_json, output=[str])
    settings, panel = Settings(**args.settings), args.panel
    table = compare_rules(
        read_verdicts(args.verdicts, settings.condition),
        n_labels=panel["labels"],
        draws=panel["draws"],
        seed=settings.seed,
        condition=settings.condition,
        **votes_of(panel),
    )
    write_outputs({"panel_rules": table}, args.output)


if __name__ == "__main__":
    run(main)
