"""Hold the paper's claims against this study."""

from voirdire.steps._run import arguments, run, write_outputs
from voirdire.steps._tables import any_simulated, read_tables
from voirdire.study.claims import judge_claims


def main() -> None:
    args = arguments(__doc__, tables=[str], output=[str])
    tables = read_tables(args.tables)
    write_outputs({"claims": judge_claims(tables, any_simulated(tables))}, args.output)


if __name__ == "__main__":
    run(main)
