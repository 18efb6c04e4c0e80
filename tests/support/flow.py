"""The workflow's rules that run once per study."""

ANALYSIS = (
    "metrics",
    "correlations",
    "self_preference",
    "leniency",
    "ablation_identity",
    "ablation_length",
    "ablation_difficulty",
    "ablation_template",
    "trial_agreement",
    "ensembles",
    "drift",
    "prior_sweep",
    "paper_tables",
    "figures",
    "claims",
    "report",
)
