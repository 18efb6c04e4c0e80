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
    output:
        f"{RESULTS}/generations/{{task}}/{{examinee}}.parquet",
    log:
        f"{LOGS}/generate/{{task}}/{{examinee}}.log",
    conda:
        CONDA
    resources:
        calls_in_flight=lambda wildcards: study.limit(wildcards.examinee, "concurrency"),
        timeout_s=lambda wildcards: study.limit(wildcards.examinee, "timeout_s"),
        max_attempts=lambda wildcards: study.limit(wildcards.examinee, "max_attempts"),
    params:
        examinee=lambda wildcards: study.examinee_spec(
            wildcards.task, wildcards.examinee
        ),
        seed=study.config.seed,
        protocol=PROTOCOL["generate"],
        accept_errors=study.config.accept_errors,
        journal=lambda wildcards: study.paths.journal(
            "generate", wildcards.task, wildcards.examinee
        ),
    shell:
        "python -m voirdire.steps.generate --name {wildcards.examinee} --items {input.questions}"
        " --source {input.source:q} --examinee {params.examinee:q} --seed {params.seed}"
        " --accept-errors {params.accept_errors} --journal {params.journal}"
        " --concurrency {resources.calls_in_flight} --timeout-s {resources.timeout_s}"
        " --max-attempts {resources.max_attempts} --output {output} > {log} 2>&1"
