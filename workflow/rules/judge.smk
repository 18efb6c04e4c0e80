"""Judges say whether each response is correct.

Needs: items, generations, the prompt of the condition's template and task; a simulated judge of an examinee that isn't
simulated also needs the grades. Leaves: verdicts/{condition}/{task}/{judge}/{examinee}.parquet, and the journal.
"""


rule judge:
    input:
        questions=f"{RESULTS}/items/{{task}}.parquet",
        generations=f"{RESULTS}/generations/{{task}}/{{examinee}}.parquet",
        prompt=lambda wildcards: study.judge_prompt(wildcards.condition, wildcards.task),
        grades=lambda wildcards: (
            [study.paths.grade(wildcards.task, wildcards.examinee)]
            if study.needs_grades(wildcards.judge, wildcards.examinee)
            else []
        ),
        # Newer than the output once answers were forgotten.
        retried=lambda wildcards: retried(
            study.paths.journal(
                "judge",
                wildcards.condition,
                wildcards.task,
                wildcards.judge,
                wildcards.examinee,
            )
        ),
    output:
        f"{RESULTS}/verdicts/{{condition}}/{{task}}/{{judge}}/{{examinee}}.parquet",
    log:
        f"{LOGS}/judge/{{condition}}/{{task}}/{{judge}}/{{examinee}}.log",
    conda:
        CONDA
    resources:
        **{
            pool: lambda wildcards, pool=pool: study.slots(wildcards.judge, pool)
            for pool in study.pools
        },
    params:
        judge=lambda wildcards: study.judge_spec(
            wildcards.condition, wildcards.task, wildcards.judge, wildcards.examinee
        ),
        seed=study.config.seed,
        protocol=PROTOCOL["judge"],
        accept_errors=study.config.accept_errors,
        limits=study.paths.limits,
        journal=lambda wildcards: study.paths.journal(
            "judge",
            wildcards.condition,
            wildcards.task,
            wildcards.judge,
            wildcards.examinee,
        ),
    shell:
        "python -m voirdire.steps.judge --name {wildcards.judge} --condition {wildcards.condition}"
        " --items {input.questions} --generations {input.generations} --grades {input.grades}"
        " --prompt {input.prompt:q} --judge {params.judge:q} --seed {params.seed}"
        " --accept-errors {params.accept_errors} --journal {params.journal}"
        " --limits {params.limits} --output {output} > {log} 2>&1"
