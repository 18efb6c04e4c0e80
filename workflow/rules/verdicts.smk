"""Every verdict joined with its truth: the one table that all analysis reads.

Needs: all generations, grades and judge jobs. Leaves: verdicts.parquet, and which responses could not be graded and why.
"""


rule verdicts:
    input:
        [study.paths.generation(*job) for job in study.matrix.answers],
        [study.paths.grade(*job) for job in study.matrix.answers],
        [study.paths.judgement(*job) for job in study.matrix.judgements],
    output:
        verdicts=VERDICTS,
        ungraded=table("ungraded"),
    log:
        f"{LOGS}/verdicts.log",
    conda:
        CONDA
    params:
        # The files follow from the matrix: thousands of them would not fit on a command line.
        matrix=study.matrix.to_json(),
        folder=lambda wildcards, output: str(Path(output.verdicts).parent),
        code=fingerprint("voirdire.steps.verdicts"),
    shell:
        "python -m voirdire.steps.verdicts --folder {params.folder} --matrix {params.matrix:q}"
        " --ungraded {output.ungraded} --output {output.verdicts} > {log} 2>&1"
