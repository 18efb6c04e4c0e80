"""One examinee answers one task's questions."""

from voirdire.benchmarks.items import items_from_frame
from voirdire.steps._calls import OPTIONS, with_limits
from voirdire.steps._run import arguments, as_json, run
from voirdire.study.generation import generate
from voirdire.tables import GENERATIONS, ITEMS, read_table, write_table


def main() -> None:
    args = arguments(__doc__, name=str, items=str, source=str, examinee=as_json, output=str, **OPTIONS)
    items = items_from_frame(read_table(args.items, ITEMS))
    spec = with_limits(args.examinee, args)
    frame, metadata = generate(args.name, spec, items, args.source, args.journal, args.seed, args.accept_errors)
    for what, count in metadata.items():
        print(f"{what}: {count}")
    write_table(frame, args.output, GENERATIONS, metadata)


if __name__ == "__main__":
    run(main)
