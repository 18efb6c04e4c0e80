"""What a study will still cost, before paying.

Needs: all items; reads the journals and whatever has been generated. Leaves: nothing, it prints; with `pilot` in the
configuration a few answers per job, in the jobs' own journals.
"""


rule estimate:
    input:
        [study.paths.items(task) for task in study.matrix.tasks],
    log:
        f"{LOGS}/estimate.log",
    conda:
        CONDA
    params:
        study=study.to_json(),
    shell:
        "python -m voirdire.steps.estimate --study {params.study:q} 2>&1 | tee {log}"
