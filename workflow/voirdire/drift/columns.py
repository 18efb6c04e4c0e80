"""Columns of the drift tables, for a study whose verdicts don't suffice to fill them."""

_INTERVAL = ("low", "high")
_DIFFERENCE = ("difference_low", "difference_high")
_TO_ORACLE = ("difference_to_oracle", *_DIFFERENCE)
_TO_MAJORITY = ("difference_to_majority", "difference_to_majority_low", "difference_to_majority_high")

COLUMNS: dict[str, tuple[str, ...]] = {
    "drift": (
        *("week", "rule", "estimator", "weights", "n_seeds", "accuracy", *_INTERVAL, "fpr", "fnr"),
        *(*_TO_ORACLE, *_TO_MAJORITY),
        *("difference_to_mean_single", "difference_to_mean_single_low", "difference_to_mean_single_high"),
        *("abstained", "tied", "seed", "simulated"),
    ),
    "drift_rates": (
        *("week", "estimator", "judge", "rate", "estimate", *_INTERVAL, "truth"),
        *("abs_error", "abs_error_low", "abs_error_high", "seed", "simulated"),
    ),
    "drift_factors": (
        *("factor", "level", "rule", "estimator", "weights", "n_seeds", "per_week", "n_judges"),
        *("accuracy", *_INTERVAL, *_TO_ORACLE, "keeps", *_TO_MAJORITY, "abstained", "seed", "simulated"),
    ),
    "drift_changes": (
        *("judge", "becomes", "week", "n_seeds", "false_alarms", "false_alarms_low", "false_alarms_high"),
        *("power", "power_low", "power_high", "mean_delay", "located", "misnamed", "alpha", "permutations"),
        *("seed", "simulated"),
    ),
    "replay": (
        *("period", "start", "n_responses", "n_known", "n_labels", "rule", "estimator", "weights", "accuracy"),
        *(*_INTERVAL, "fpr", "fnr", "difference_to_oracle", "difference_to_majority", "difference_to_mean_single"),
        *("abstained", "tied", "left_out", "seed", "simulated"),
    ),
    "change_points": (
        *("judge", "says", "since", "first_alarm", "reading", "statistic", "threshold", "p", "before", "after"),
        *("n_votes", "n_periods", "left_out", "note", "seed", "simulated"),
    ),
    "prior_sweep": (
        *("prior_fpr", "prior_fnr", "strength", "n_seeds", "accuracy", *_INTERVAL, "majority"),
        *("difference", *_DIFFERENCE, "is_default", "seed", "simulated"),
    ),
}
