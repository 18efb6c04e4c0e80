"""One judge says of one examinee's responses to one task whether they are correct."""

from voirdire.benchmarks.items import items_from_frame
from voirdire.steps._calls import OPTIONS, calling
from voirdire.steps._run import arguments, as_json, run
from voirdire.study.judgement import Bench, judge
from voirdire.tables import GENERATIONS, GRADES, ITEMS, JUDGEMENTS, read_table, write_table


def main() -> None:
    args = arguments(
        __doc__,
        name=str,
        condition=str,
        items=str,
        generations=str,
        grades=[str],
        prompt=str,
        judge=as_json,
        output=str,
        **OPTIONS,
    )
    bench = Bench(
        name=args.name,
        condition=args.condition,
        spec=args.judge,
        items=items_from_frame(read_table(args.items, ITEMS)),
        generations=read_table(args.generations, GENERATIONS),
        grades=read_table(args.grades[0], GRADES) if args.grades else None,
        prompt=args.prompt,
        seed=args.seed,
        calling=calling(args, args.judge["judge"]),
    )
    write_table(judge(bench), args.output, JUDGEMENTS)


if __name__ == "__main__":
    run(main)
