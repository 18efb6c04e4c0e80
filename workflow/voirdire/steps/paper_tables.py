"""Lay the tidy tables out as the paper's tables 2 to 10."""

from voirdire.report.paper_tables import build_all
from voirdire.steps._run import arguments, as_json, run, write_outputs
from voirdire.steps._tables import read_tables


def main() -> None:
    args = arguments(__doc__, tables=[str], view=as_json, output=[str])
    write_outputs(build_all(read_tables(args.tables), args.view["condition"]), args.output)


if __name__ == "__main__":
    run(main)
