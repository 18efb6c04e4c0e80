"""Write report.html from the tables and figures that are there."""

from pathlib import Path

from voirdire.report.page import ReportContext, render
from voirdire.steps._run import arguments, run
from voirdire.steps._tables import absent_tables, any_simulated, read_tables
from voirdire.study.about import benchmarks_that_ran, models_that_ran, settings, versions
from voirdire.study.study import Study
from voirdire.tables import GRADES, VERDICTS, atomic_path, read_metadata, read_table


def main() -> None:
    args = arguments(
        __doc__,
        tables=[str],
        figures=[str],
        items=[str],
        programs=[str],
        verdicts=str,
        study=Study.from_json,
        output=str,
    )
    study, tables = args.study, read_tables(args.tables)
    sandboxes = {name for path in args.programs for name in read_table(path, GRADES)["sandbox"].dropna().unique()}
    page = render(
        ReportContext(
            study=study.config.study,
            simulated=any_simulated(tables),
            tasks=study.matrix.tasks,
            tables=tables,
            figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in args.figures},
            main_condition=study.main_condition,
            models=models_that_ran(study, read_table(args.verdicts, VERDICTS)),
            benchmarks=benchmarks_that_ran({Path(path).stem: read_metadata(path) for path in args.items}),
            settings=settings(study, sorted(sandboxes)),
            versions=versions(),
            absent=absent_tables(tables),
        )
    )
    with atomic_path(args.output) as beside:
        beside.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    run(main)
