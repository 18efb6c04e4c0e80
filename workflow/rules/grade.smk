"""Is each response right? Code that a model wrote runs in the sandbox.

Needs: items and generations. Leaves: grades/{task}/{examinee}.parquet.
"""


rule grade:
    input:
        questions=f"{RESULTS}/items/{{task}}.parquet",
        generations=f"{RESULTS}/generations/{{task}}/{{examinee}}.parquet",
    output:
        f"{RESULTS}/grades/{{task}}/{{examinee}}.parquet",
    log:
        f"{LOGS}/grade/{{task}}/{{examinee}}.log",
    conda:
        CONDA
    params:
        sandbox=study.config.sandbox,
        code=fingerprint("voirdire.steps.grade"),
    shell:
        "python -m voirdire.steps.grade --items {input.questions} --generations {input.generations}"
        " --sandbox {params.sandbox} --output {output} > {log} 2>&1"
