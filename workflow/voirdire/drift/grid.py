"""Defaults of the simulation that configurations share. Imports nothing: Snakemake reads them at every start."""

# Simulated histories.
SEEDS = 200

# And for each level of what is varied besides, a few dozen in all.
FACTOR_SEEDS = 200

# What is changed, one at a time; `voirdire.drift.factors` has what each does.
FACTORS = (
    "base",
    "panel size",
    "one family",
    "one model under several templates",
    "error correlation",
    "prevalence",
    "abrupt drift",
    "silent model change",
    "dropout",
    "adversarial judges",
)

# The prior of each judge's rates: mean FPR, mean FNR, and how many labels it is worth.
PRIOR = (0.4, 0.2, 10.0)

# 4 × 4 × 5 = 80 priors around it; the paper names no other.
FPR = (0.1, 0.2, 0.4, 0.6)
FNR = (0.05, 0.1, 0.2, 0.4)
STRENGTH = (1.0, 5.0, 10.0, 20.0, 50.0)
