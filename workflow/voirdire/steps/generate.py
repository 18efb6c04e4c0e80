"""One examinee answers one task's questions."""

from voirdire.benchmarks.items import items_from_frame
from voirdire.steps._calls import OPTIONS, calling
from voirdire.steps._run import arguments, as_json, run
from voirdire.study.generation import generate
from voirdire.tables import GENERATIONS, ITEMS, read_table, write_table


def main() -> None:
    args = arguments(__doc__, name=str, items=str, source=str, examinee=as_json, output=str, **OPTIONS)
    items = items_from_frame(read_table(args.items, ITEMS))
    how = calling(args, args.examinee)
    frame, metadata = generate(args.name, args.examinee, items, args.source, args.seed, how)
    for what, count in metadata.items():
        print(f"{what}: {count}")
    write_table(frame, args.output, GENERATIONS, metadata)


if __name__ == "__main__":
    run(main)
