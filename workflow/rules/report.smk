"""What people read.

Needs: the tidy tables. Leaves: the paper's tables under their numbers, figures as SVG and PNG, the paper's claims held
against this study, and report.html, one file that needs no network.
"""

STATIC = [
    study.paths.table(name)
    for name in (*outputs.RATE_TABLES, *outputs.BIAS_TABLES, *outputs.PANEL_TABLES)
]
TIDY = STATIC + [study.paths.table(name) for name in outputs.DRIFT_TABLES]


rule paper_tables:
    input:
        STATIC,
    output:
        [study.paths.table(name, "csv") for name in outputs.PAPER_TABLES],
    log:
        f"{LOGS}/paper_tables.log",
    conda:
        CONDA
    params:
        view=study.view(),
        code=fingerprint("voirdire.steps.paper_tables"),
    shell:
        "python -m voirdire.steps.paper_tables --tables {input} --view {params.view:q} --output {output}"
        " > {log} 2>&1"


rule claims:
    input:
        TIDY,
    output:
        table("claims"),
    log:
        f"{LOGS}/claims.log",
    conda:
        CONDA
    params:
        code=fingerprint("voirdire.steps.claims"),
    shell:
        "python -m voirdire.steps.claims --tables {input} --output {output} > {log} 2>&1"


rule figures:
    input:
        TIDY,
    output:
        [
            study.paths.figure(name, ending)
            for name in outputs.figure_names(study.matrix.tasks)
            for ending in ("svg", "png")
        ],
    log:
        f"{LOGS}/figures.log",
    conda:
        CONDA
    params:
        view=study.view(),
        code=fingerprint("voirdire.steps.figures"),
    shell:
        "python -m voirdire.steps.figures --tables {input} --view {params.view:q} --output {output} > {log} 2>&1"


rule report:
    input:
        tables=[
            *TIDY,
            study.paths.table("claims"),
            study.paths.table("ungraded"),
        ],
        figures=[
            study.paths.figure(name)
            for name in outputs.figure_names(study.matrix.tasks)
        ],
        questions=[study.paths.items(task) for task in study.matrix.tasks],
        programs=study.program_grades,
        # Named so that a prompt or model that changes nothing else still changes what the report says has run.
        verdicts=VERDICTS,
    output:
        study.paths.report,
    log:
        f"{LOGS}/report.log",
    conda:
        CONDA
    params:
        study=study.to_json(),
        code=fingerprint("voirdire.steps.report"),
    shell:
        "python -m voirdire.steps.report --tables {input.tables} --figures {input.figures} --items {input.questions}"
        " --programs {input.programs}"
        " --verdicts {input.verdicts} --study {params.study:q} --output {output} > {log} 2>&1"
