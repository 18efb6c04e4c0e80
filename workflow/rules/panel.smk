"""Does a panel judge better than a model judges itself?

Needs: verdicts.parquet. Leaves: tables/ensembles: the static majority of the other judges against the self-judge.
"""


rule ensembles:
    input:
        VERDICTS,
    output:
        table("ensembles"),
    log:
        f"{LOGS}/ensembles.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        panel=study.panel_settings(),
        code=fingerprint("voirdire.steps.ensembles"),
    shell:
        "python -m voirdire.steps.ensembles --verdicts {input} --settings {params.settings:q}"
        " --panel {params.panel:q} --output {output} > {log} 2>&1"
