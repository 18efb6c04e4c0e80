"""Does another judge template change a verdict, or the order of the judges?"""

from voirdire.bias.ablation_template import ablation_template
from voirdire.bias.template_ranking import template_ranking
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._run import arguments, as_json, run, write_outputs


def main() -> None:
    args = arguments(__doc__, verdicts=str, settings=as_json, output=[str])
    settings = Settings(**args.settings)
    verdicts = read_verdicts(args.verdicts)
    frames = {
        "ablation_template": ablation_template(verdicts, main=settings.condition, **settings.intervals),
        "template_ranking": template_ranking(verdicts, main=settings.condition, **settings.intervals),
    }
    write_outputs(frames, args.output)


if __name__ == "__main__":
    run(main)
