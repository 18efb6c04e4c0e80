"""Names of what a study leaves: known without importing what makes it, since Snakemake asks at every start."""

from collections.abc import Sequence

# Tables that other rules read; each is also written as CSV.
RATE_TABLES = ("rates", "rates_by_examinee", "task_accuracy", "ledger", "absent")
BIAS_TABLES = (
    "correlations",
    "correlation_points",
    "self_preference",
    "self_preference_summary",
    "family_preference",
    "preference_model",
    "leniency",
    "leniency_summary",
    "ablation_identity",
    "ablation_length",
    "ablation_difficulty",
    "difficulty_curve",
    "ablation_template",
    "template_ranking",
    "trial_agreement",
)
PANEL_TABLES = (
    "ensembles",
    "panel_rules",
    "corrected_accuracy",
    "examinee_differences",
    "judge_diagnostics",
    "panel_diagnostics",
    "label_free_trust",
)
DRIFT_TABLES = (
    "drift",
    "drift_rates",
    "drift_absent",
    "prior_sweep",
    "prior_sweep_absent",
    "drift_factors",
    "drift_changes",
    "drift_factors_absent",
)

PAPER_TABLES = (
    "table02_static_majority",
    "table03_identity_labels",
    "table04_length",
    "table05_difficulty",
    "table06_task_accuracy_judge_accuracy",
    "table07_task_accuracy_bias",
    "table08_judge_accuracy_bias",
    "table09_examinee_accuracy_bias_received",
    "table10_self_preference",
)


def figure_names(tasks: Sequence[str]) -> list[str]:
    """The figures of a study with these tasks.

    >>> figure_names(["gsm8k"])[:2]
    ['figure2_bias_heatmap_all', 'figure2_bias_heatmap_gsm8k']
    """
    per_task = [
        f"{figure}_{task}" for figure in ("figure2_bias_heatmap", "figure3_bias_scatter") for task in ("all", *tasks)
    ]
    return [
        *per_task,
        "leniency_methods",
        "self_preference",
        "ablation_identity",
        "ablation_length",
        "ablation_difficulty",
        "ablation_template",
        "ensembles_static_majority",
        "corrected_accuracy",
        "figure4_drift_accuracy",
        "figure4_drift_fpr",
    ]
