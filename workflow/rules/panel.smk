"""Does a panel judge better than a model judges itself, and what do calibrated votes add?

Needs: verdicts.parquet. Leaves: tables/ ensembles (the static majority of the other judges against the self-judge),
panel_rules (every way to vote, with none, few and more labels), corrected_accuracy and examinee_differences (accuracies
from few labels), judge_diagnostics, panel_diagnostics and label_free_trust, and calibrated (every response's verdict by each rule).
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


rule panel_rules:
    input:
        VERDICTS,
    output:
        table("panel_rules"),
    log:
        f"{LOGS}/panel_rules.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        panel=study.panel_settings(),
        code=fingerprint("voirdire.steps.panel_rules"),
    shell:
        "python -m voirdire.steps.panel_rules --verdicts {input} --settings {params.settings:q}"
        " --panel {params.panel:q} --output {output} > {log} 2>&1"


rule corrected_accuracy:
    input:
        VERDICTS,
    output:
        table("corrected_accuracy", "examinee_differences"),
    log:
        f"{LOGS}/corrected_accuracy.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        panel=study.panel_settings(),
        code=fingerprint("voirdire.steps.corrected_accuracy"),
    shell:
        "python -m voirdire.steps.corrected_accuracy --verdicts {input} --settings {params.settings:q}"
        " --panel {params.panel:q} --output {output} > {log} 2>&1"


rule diagnostics:
    input:
        VERDICTS,
    output:
        table("judge_diagnostics", "panel_diagnostics", "label_free_trust"),
    log:
        f"{LOGS}/diagnostics.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        panel=study.panel_settings(),
        code=fingerprint("voirdire.steps.diagnostics"),
    shell:
        "python -m voirdire.steps.diagnostics --verdicts {input} --settings {params.settings:q}"
        " --panel {params.panel:q} --output {output} > {log} 2>&1"


rule calibrated:
    input:
        VERDICTS,
    output:
        table("calibrated"),
    log:
        f"{LOGS}/calibrated.log",
    conda:
        CONDA
    params:
        settings=study.analysis_settings(),
        panel=study.panel_settings(),
        code=fingerprint("voirdire.steps.calibrated"),
    shell:
        "python -m voirdire.steps.calibrated --verdicts {input} --settings {params.settings:q}"
        " --panel {params.panel:q} --output {output} > {log} 2>&1"
