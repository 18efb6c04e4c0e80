"""Join every verdict with its truth, into the one table that all analysis reads."""

import pandas as pd

from voirdire.steps._run import arguments, run
from voirdire.study.joining import join_verdicts
from voirdire.study.matrix import Matrix, Paths
from voirdire.tables import GENERATIONS, GRADES, JUDGEMENTS, VERDICTS, read_table, write_table


def main() -> None:
    args = arguments(__doc__, folder=str, matrix=Matrix.from_json, output=str)
    paths = Paths(args.folder)
    generations = [read_table(paths.generation(*job), GENERATIONS) for job in args.matrix.answers]
    grades = [read_table(paths.grade(*job), GRADES) for job in args.matrix.answers]
    judgements = [read_table(paths.judgement(*job), JUDGEMENTS) for job in args.matrix.judgements]
    verdicts = join_verdicts(pd.concat(judgements), pd.concat(generations), pd.concat(grades))
    write_table(verdicts, args.output, VERDICTS)


if __name__ == "__main__":
    run(main)
