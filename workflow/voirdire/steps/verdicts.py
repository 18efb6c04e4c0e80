"""Join every verdict with its truth, into the one table that all analysis reads."""

import pandas as pd

from voirdire.steps._run import arguments, run, write_outputs
from voirdire.study.joining import join_verdicts, ungraded
from voirdire.study.matrix import Matrix, Paths
from voirdire.tables import GENERATIONS, GRADES, JUDGEMENTS, VERDICTS, read_table, write_table


def main() -> None:
    args = arguments(__doc__, folder=str, matrix=Matrix.from_json, ungraded=[str], output=str)
    paths = Paths(args.folder)
    generations = pd.concat([read_table(paths.generation(*job), GENERATIONS) for job in args.matrix.answers])
    grades = pd.concat([read_table(paths.grade(*job), GRADES) for job in args.matrix.answers])
    judgements = pd.concat([read_table(paths.judgement(*job), JUDGEMENTS) for job in args.matrix.judgements])
    verdicts = join_verdicts(judgements, generations, grades)
    write_outputs({"ungraded": ungraded(grades, generations)}, args.ungraded)
    write_table(verdicts, args.output, VERDICTS)


if __name__ == "__main__":
    run(main)
