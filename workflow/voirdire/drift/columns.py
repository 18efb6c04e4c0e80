"""Columns of the drift tables, for a study whose verdicts don't suffice to fill them."""

COLUMNS: dict[str, tuple[str, ...]] = {"drift": (), "drift_rates": (), "prior_sweep": ()}
