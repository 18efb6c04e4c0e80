"""Questions of every task in one form.

Needs: the benchmark's file, where the configuration names one. Leaves: items/{task}.parquet; what was left out,
and why, is in its metadata.
"""


rule benchmark:
    input:
        lambda wildcards: study.benchmark_input(wildcards.task),
    output:
        f"{RESULTS}/items/{{task}}.parquet",
    log:
        f"{LOGS}/benchmark/{{task}}.log",
    # Faults in the questions come to light before any model is called.
    priority: 100
    conda:
        CONDA
    params:
        source=lambda wildcards: study.benchmark_spec(wildcards.task),
        code=fingerprint("voirdire.steps.benchmark"),
    shell:
        "python -m voirdire.steps.benchmark --task {wildcards.task} --source {params.source:q}"
        " --output {output} > {log} 2>&1"
