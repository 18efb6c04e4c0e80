"""Every verdict joined with its truth: the one table that all analysis reads.

Needs: all generations, grades and judge jobs. Leaves: verdicts.parquet.
"""


rule verdicts:
    input:
        generations=[study.generation_path(*job) for job in study.answers],
        grades=[study.grade_path(*job) for job in study.answers],
        judgements=[study.judgement_path(*job) for job in study.judgements],
    output:
        VERDICTS,
    log:
        f"{LOGS}/verdicts.log",
    conda:
        CONDA
    params:
        code=fingerprint("voirdire.steps.verdicts"),
    shell:
        "python -m voirdire.steps.verdicts --generations {input.generations} --grades {input.grades}"
        " --judgements {input.judgements} --output {output} > {log} 2>&1"
