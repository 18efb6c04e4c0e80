"""Who judges well, who is lenient with whom, and whether labels, length, difficulty or wording explain it.

Needs: verdicts.parquet. Leaves: tables/ rates, correlations, self- and family preference, leniency, ablations with the
difficulty curve, and agreement of trials.
"""


rule metrics:
    input:
        VERDICTS,
    output:
        table(*outputs.RATE_TABLES),
    log:
        f"{LOGS}/metrics.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        families=study.families(),
        code=fingerprint("voirdire.steps.metrics"),
    shell:
        "python -m voirdire.steps.metrics --verdicts {input} --settings {params.settings:q}"
        " --families {params.families:q} --output {output} > {log} 2>&1"


rule correlations:
    input:
        VERDICTS,
    output:
        table("correlations", "correlation_points"),
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
        table(
            "self_preference",
            "self_preference_summary",
            "family_preference",
            "preference_model",
        ),
    log:
        f"{LOGS}/self_preference.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        families=study.families(),
        code=fingerprint("voirdire.steps.self_preference"),
    shell:
        "python -m voirdire.steps.self_preference --verdicts {input} --settings {params.settings:q}"
        " --families {params.families:q} --output {output} > {log} 2>&1"


rule leniency:
    input:
        VERDICTS,
    output:
        table("leniency", "leniency_summary"),
    log:
        f"{LOGS}/leniency.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        families=study.families(),
        code=fingerprint("voirdire.steps.leniency"),
    shell:
        "python -m voirdire.steps.leniency --verdicts {input} --settings {params.settings:q}"
        " --families {params.families:q} --output {output} > {log} 2>&1"


rule ablation_identity:
    input:
        VERDICTS,
    output:
        table("ablation_identity"),
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
        table("ablation_difficulty", "difficulty_curve"),
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


rule ablation_template:
    input:
        VERDICTS,
    output:
        table("ablation_template", "template_ranking"),
    log:
        f"{LOGS}/ablation_template.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.ablation_template"),
    shell:
        "python -m voirdire.steps.ablation_template --verdicts {input} --settings {params.settings:q} --output {output}"
        " > {log} 2>&1"


rule trial_agreement:
    input:
        VERDICTS,
    output:
        table("trial_agreement"),
    log:
        f"{LOGS}/trial_agreement.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        code=fingerprint("voirdire.steps.trial_agreement"),
    shell:
        "python -m voirdire.steps.trial_agreement --verdicts {input} --settings {params.settings:q} --output {output}"
        " > {log} 2>&1"
