"""Who judges well, who is lenient with whom, and whether labels, length or difficulty explain it.

Needs: verdicts.parquet. Leaves: tables/ rates, correlations, self-preference and ablations, tidy and as in the paper.
"""


rule metrics:
    input:
        VERDICTS,
    output:
        table("rates", "rates_by_examinee", "task_accuracy", "ledger", "absent"),
    log:
        f"{LOGS}/metrics.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.metrics"),
    shell:
        "python -m voirdire.steps.metrics --verdicts {input} --settings {params.settings:q} --output {output}"
        " > {log} 2>&1"


rule correlations:
    input:
        VERDICTS,
    output:
        table("correlations", "correlation_points"),
        paper_table(6, 7, 8, 9),
    log:
        f"{LOGS}/correlations.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.correlations"),
    shell:
        "python -m voirdire.steps.correlations --verdicts {input} --settings {params.settings:q} --output {output}"
        " > {log} 2>&1"


rule self_preference:
    input:
        VERDICTS,
    output:
        table("self_preference", "self_preference_summary"),
        paper_table(10),
    log:
        f"{LOGS}/self_preference.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.self_preference"),
    shell:
        "python -m voirdire.steps.self_preference --verdicts {input} --settings {params.settings:q} --output {output}"
        " > {log} 2>&1"


rule ablation_identity:
    input:
        VERDICTS,
    output:
        table("ablation_identity"),
        paper_table(3),
    log:
        f"{LOGS}/ablation_identity.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.ablation_identity"),
    shell:
        "python -m voirdire.steps.ablation_identity --verdicts {input} --settings {params.settings:q}"
        " --output {output} > {log} 2>&1"


rule ablation_length:
    input:
        VERDICTS,
    output:
        table("ablation_length"),
        paper_table(4),
    log:
        f"{LOGS}/ablation_length.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.ablation_length"),
    shell:
        "python -m voirdire.steps.ablation_length --verdicts {input} --settings {params.settings:q} --output {output}"
        " > {log} 2>&1"


rule ablation_difficulty:
    input:
        VERDICTS,
    output:
        table("ablation_difficulty"),
        paper_table(5),
    log:
        f"{LOGS}/ablation_difficulty.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.ablation_difficulty"),
    shell:
        "python -m voirdire.steps.ablation_difficulty --verdicts {input} --settings {params.settings:q}"
        " --output {output} > {log} 2>&1"
