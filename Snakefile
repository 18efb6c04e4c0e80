"""voirdire: examine LLM judges before their verdicts are trusted.

snakemake --cores 8 all                                   the study of config/config.yaml
snakemake --cores 8 all --configfile config/paper.yaml    another study
"""

from snakemake.utils import min_version

min_version("9.0")


# A configuration file that names its own benchmarks stands alone; anything less is laid over the default study.
if "benchmarks" not in config:

    configfile: f"{workflow.basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/generate.smk"
include: "workflow/rules/grade.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/verdicts.smk"
include: "workflow/rules/bias.smk"
include: "workflow/rules/panel.smk"
include: "workflow/rules/drift.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/estimate.smk"


localrules:
    all,
    generate_all,
    judge_all,
    estimate,
    clean_analysis,


rule all:
    default_target: True
    input:
        rules.report.output,
        rules.claims.output,
        rules.figures.output,
        rules.metrics.output,
        rules.correlations.output,
        rules.self_preference.output,
        rules.leniency.output,
        rules.ablation_identity.output,
        rules.ablation_length.output,
        rules.ablation_difficulty.output,
        rules.ablation_template.output,
        rules.trial_agreement.output,
        rules.ensembles.output,
        rules.panel_rules.output,
        rules.corrected_accuracy.output,
        rules.diagnostics.output,
        rules.calibrated.output,
        rules.drift.output,
        rules.prior_sweep.output,
        rules.drift_factors.output,
        rules.paper_tables.output,


rule generate_all:
    input:
        [study.paths.generation(*job) for job in study.matrix.answers],


rule judge_all:
    input:
        [study.paths.judgement(*job) for job in study.matrix.judgements],


rule clean_analysis:
    log:
        f"{LOGS}/clean_analysis.log",
    conda:
        "envs/voirdire.yaml"
    params:
        analysis=[
            f"{RESULTS}/{name}"
            for name in ("verdicts.parquet", "tables", "figures", "report.html")
        ],
    shell:
        "rm -rf {params.analysis:q} > {log} 2>&1"
