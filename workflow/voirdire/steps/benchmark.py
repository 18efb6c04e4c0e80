"""Load one benchmark's questions and write them as an item table."""

from voirdire.benchmarks.items import frame_from_items
from voirdire.benchmarks.loading import load
from voirdire.benchmarks.source import Source
from voirdire.steps._run import arguments, as_json, run
from voirdire.tables import ITEMS, write_table


def main() -> None:
    args = arguments(__doc__, task=str, source=as_json, output=str)
    loaded = load(args.task, Source.from_dict(args.source["source"]), args.source["seed"])
    for left in loaded.left_out:
        print(f"left out: {left.where}: {left.reason}")
    print(f"{len(loaded.items)} items of {args.task}")
    write_table(frame_from_items(loaded.items), args.output, ITEMS, loaded.metadata)


if __name__ == "__main__":
    run(main)
