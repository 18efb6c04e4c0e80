"""Draw every figure, as SVG and PNG."""

from pathlib import Path

from voirdire.report.canvas import save
from voirdire.report.gallery import draw_all
from voirdire.steps._run import arguments, as_json, run
from voirdire.steps._tables import absent_tables, any_simulated, read_tables


def main() -> None:
    args = arguments(__doc__, tables=[str], view=as_json, output=[str])
    tables = read_tables(args.tables)
    folder = Path(args.output[0]).parent
    drawn = draw_all(tables, args.view["tasks"], args.view["condition"], absent_tables(tables), any_simulated(tables))
    for stem, figure in drawn:
        save(figure, folder / stem)


if __name__ == "__main__":
    run(main)
