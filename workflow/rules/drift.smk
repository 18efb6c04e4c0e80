"""Does a calibrated vote keep up when the mix of tasks shifts? The order of the verdicts is simulated.

Needs: verdicts.parquet. Leaves: tables/ drift (accuracy by week and rule), drift_rates (estimates against the truth),
prior_sweep (every prior against the majority), drift_factors (what else may change: where each rule keeps, where it
breaks) and drift_changes (how soon a changed judge is noticed); those named NAME_absent say why others are empty.
"""


rule drift:
    input:
        VERDICTS,
    output:
        table("drift", "drift_rates", "drift_absent"),
    log:
        f"{LOGS}/drift.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        scenario=study.drift_settings(),
        code=fingerprint("voirdire.steps.drift"),
    shell:
        "python -m voirdire.steps.drift --verdicts {input} --settings {params.settings:q}"
        " --scenario {params.scenario:q} --output {output} > {log} 2>&1"


rule prior_sweep:
    input:
        VERDICTS,
    output:
        table("prior_sweep", "prior_sweep_absent"),
    log:
        f"{LOGS}/prior_sweep.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        scenario=study.drift_settings(),
        sweep=study.sweep_settings(),
        code=fingerprint("voirdire.steps.prior_sweep"),
    shell:
        "python -m voirdire.steps.prior_sweep --verdicts {input} --settings {params.settings:q}"
        " --scenario {params.scenario:q} --sweep {params.sweep:q} --output {output} > {log} 2>&1"


rule drift_factors:
    input:
        VERDICTS,
    output:
        table("drift_factors", "drift_changes", "drift_factors_absent"),
    log:
        f"{LOGS}/drift_factors.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        scenario=study.factor_settings(),
        families=study.families(),
        code=fingerprint("voirdire.steps.drift_factors"),
    shell:
        "python -m voirdire.steps.drift_factors --verdicts {input} --settings {params.settings:q}"
        " --scenario {params.scenario:q} --families {params.families:q} --output {output} > {log} 2>&1"
