"""Examinees answer.

Needs: items and the task's prompt, or a file of recorded responses. Leaves: generations/{task}/{examinee}.parquet, and
every answer of a real model in the journal, from which a killed or failed job resumes without paying twice.
"""


rule generate:
    input:
        questions=f"{RESULTS}/items/{{task}}.parquet",
        source=lambda wildcards: study.generation_input(
            wildcards.task, wildcards.examinee
        ),
        # Newer than the output once answers were forgotten.
        retried=lambda wildcards: retried(
            study.paths.journal("generate", wildcards.task, wildcards.examinee)
        ),
    output:
        f"{RESULTS}/generations/{{task}}/{{examinee}}.parquet",
    log:
        f"{LOGS}/generate/{{task}}/{{examinee}}.log",
    conda:
        CONDA
    resources:
        **{
            pool: lambda wildcards, pool=pool: study.slots(wildcards.examinee, pool)
            for pool in study.pools
        },
    params:
        examinee=lambda wildcards: study.examinee_spec(
            wildcards.task, wildcards.examinee
        ),
        seed=study.config.seed,
        protocol=PROTOCOL["generate"],
        accept_errors=study.config.accept_errors,
        limits=study.paths.limits,
        journal=lambda wildcards: study.paths.journal(
            "generate", wildcards.task, wildcards.examinee
        ),
    shell:
        "python -m voirdire.steps.generate --name {wildcards.examinee} --items {input.questions}"
        " --source {input.source:q} --examinee {params.examinee:q} --seed {params.seed}"
        " --accept-errors {params.accept_errors} --journal {params.journal}"
        " --limits {params.limits} --output {output} > {log} 2>&1"
