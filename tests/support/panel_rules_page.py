"""Makes docs/panel_rules.md from the verdicts: python tests/support/panel_rules_page.py FOLDER > docs/panel_rules.md"""

import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from panel_zoo import ZOO
from vote_tables import real_panels, verdict_table

from voirdire.panel import compare_rules

DRAWS, ZOO_SEEDS, ZOO_DRAWS = 500, 5, 20
N_LABELS = (0, 30, 100)
# Rules that need no label, of which none is best everywhere.
PLAIN = {"majority": "majority", "dawid_skene": "Dawid-Skene", "linear_disagreement": "disagreement-WMV"}
RULES = {
    "majority": "majority",
    "minority_veto": "minority veto (one objection)",
    "best_single": "best single judge, by the labels",
    "linear_bayesian": "linear, bayesian",
    "linear_disagreement": "linear, disagreement",
    "linear_dawid_skene": "linear, Dawid-Skene",
    "linear_hybrid": "linear, hybrid's rates",
    "log_odds_bayesian": "log-odds, bayesian",
    "log_odds_disagreement": "log-odds, disagreement",
    "log_odds_dawid_skene": "log-odds, Dawid-Skene",
    "log_odds_hybrid": "log-odds, hybrid's rates",
    "dawid_skene": "Dawid-Skene",
    "hybrid": "hybrid",
    "labels_alone": "labels alone",
    "linear_oracle": "linear, oracle",
    "log_odds_oracle": "log-odds, oracle",
}
ABOUT = {
    "nus_feedback": "14 LLM judges on 5,972 pieces of feedback on programs, nine in ten right; judges share leniency.",
    "bluebird": "39 people on 108 pictures of birds, every one on each.",
    "rte": "164 people on 800 pairs of sentences, ten votes each.",
}

PAGE = """# Every rule on real panels, with no, 30 and 100 labels

What does a panel's verdict gain from rates, from labels, from both? Three real panels of known truth; labels are drawn
at random, every rule decides on the responses *without* a label, and the same draws are used for all. Mean of {draws}
draws (one where nothing is drawn), with its standard error in brackets: of the draws, not of the panel, which is what
it is. All in points, 100 times the share.

`python tests/support/panel_rules_page.py FOLDER > docs/panel_rules.md` makes this page from the verdicts.

## What hybrid gains and loses

Hybrid averages over simple calibrations of the vote share and of Dawid-Skene's log-odds, weighed by how well each
predicts the labels (`voirdire.panel.calibration`). Its accuracy less that of the best of three rules that need no
label, which nobody knows beforehand:

{summary}

{losses}

Share of right responses: hybrid's own estimate (labelled responses by their label, the others by their probability)
against the share among the labels. This estimate, rather than the corrected accuracy, is what is compared: it exists
without labels too. It has no interval and needn't be unbiased; for an interval use the corrected accuracy.

{prevalence}

Where errors are shared, as in `nus_feedback`, a hundred labels' own share is nearly as good.

## What to read with care

- With 100 labels 8 responses are left of `bluebird`, so that its calibration error there is mostly noise.
- Accuracy says little where most responses are right: on `nus_feedback` accepting everything is at {accept_all}
  (*labels alone*), and no rule here reaches it. Balanced accuracy tells them apart.
- Linear weights are the paper's. Log-odds with the oracle's rates is best where judges err independently; on panels
  that share errors knowing every judge's rates is no help, and may do harm.
- Dawid-Skene's own probabilities are far too sure; see the calibration error (ECE, ten bins).

{panels}

## A zoo of simulated panels

The models that hybrid averages over were chosen on simulated panels of very different kinds, with the three panels
above as a check; here are fresh ones, {zoo_seeds} of each kind, {zoo_draws} draws each. Hybrid less the best of the
three rules, in points, mean and worst of the panels. Without labels nobody knows which rule is best, and hybrid lies
between them. It loses most, even with labels, where all judges share a blind spot: what they accept is then hardly more
often right than wrong, and a threshold is lost in what few labels say of it.

{zoo}
"""


def page(panels: dict[str, pd.DataFrame], draws: int = DRAWS, animals: Iterable[str] = tuple(ZOO)) -> str:
    tables = {name: compare_rules(frame, N_LABELS, draws) for name, frame in panels.items()}
    tables = {name: table.set_index(["n_labels", "rule"]) for name, table in tables.items()}
    everything = tables["nus_feedback"].loc[(30, "labels_alone"), "accuracy"]
    return PAGE.format(
        draws=draws,
        summary=summary(tables),
        losses=losses(tables),
        prevalence=prevalence(tables),
        accept_all=f"{100 * everything:.2f}",
        panels="\n\n".join(section(name, table) for name, table in tables.items()),
        zoo_seeds=ZOO_SEEDS,
        zoo_draws=ZOO_DRAWS,
        zoo=zoo(animals),
    )


def best_of(table: pd.DataFrame, n_labels: int) -> tuple[str, float]:
    """The best of the three rules, and hybrid's accuracy less its, in points."""
    accuracy = table.loc[n_labels, "accuracy"]
    best = accuracy[list(PLAIN)].idxmax()
    return str(best), 100 * float(accuracy["hybrid"] - accuracy[best])


def summary(tables: dict[str, pd.DataFrame]) -> str:
    rows = []
    for name, table in tables.items():
        cells = [(best_of(table, k)[1], PLAIN[best_of(table, k)[0]]) for k in N_LABELS]
        rows.append([f"`{name}`", *(f"{signed(gain)} ({best})" for gain, best in cells)])
    return markdown(["panel", *(f"{k} labels" for k in N_LABELS)], rows)


def losses(tables: dict[str, pd.DataFrame]) -> str:
    lost = [(name, k, *best_of(table, k)) for name, table in tables.items() for k in N_LABELS]
    lost = [one for one in lost if one[3] < -0.05]
    if not lost:
        return "It loses to none of them."
    words = [f"{-gain:.2f} on `{name}` with {k} labels, to {PLAIN[best]}" for name, k, best, gain in lost]
    return textwrap.fill(f"So it loses: {'; '.join(words)}.", 120)


def prevalence(tables: dict[str, pd.DataFrame]) -> str:
    rows = []
    for name, table in tables.items():
        for k in N_LABELS[1:]:
            cells = [shown(table.loc[(k, rule)], "prevalence_error") for rule in ("hybrid", "labels_alone")]
            rows.append([f"`{name}`", str(k), *cells])
    return markdown(["panel", "labels", "error of hybrid's estimate", "of the labels' share"], rows)


def section(name: str, table: pd.DataFrame) -> str:
    parts = [f"## `{name}`", ABOUT[name]]
    header = ["rule", "accuracy", "less the majority's", "balanced accuracy", "prevalence error", "ECE"]
    columns = ["accuracy", "difference_to_majority", "balanced_accuracy", "prevalence_error", "ece"]
    for k in N_LABELS:
        there = [rule for rule in RULES if (k, rule) in table.index]
        rows = [[RULES[rule], *(shown(table.loc[(k, rule)], column) for column in columns)] for rule in there]
        n = int(table.loc[(k, "majority"), "n_responses"])
        parts += [f"{k} labels, {n:,} responses without one:", markdown(header, rows)]
    return "\n\n".join(parts)


def zoo(animals: Iterable[str]) -> str:
    rows = []
    for animal in animals:
        gains: dict[int, list[float]] = {k: [] for k in N_LABELS}
        for seed in range(100, 100 + ZOO_SEEDS):
            table = compare_rules(verdict_table(*ZOO[animal](seed)), N_LABELS, ZOO_DRAWS, seed)
            table = table.set_index(["n_labels", "rule"])
            for k in N_LABELS:
                gains[k].append(best_of(table, k)[1])
        rows.append([animal, *(f"{signed(np.mean(each))} ({signed(min(each))})" for each in gains.values())])
    return markdown(["panel", *(f"{k} labels" for k in N_LABELS)], rows)


def shown(row: pd.Series, column: str) -> str:
    value, error = 100 * row[column], 100 * row[f"{column}_se"]
    if np.isnan(value):
        return "–"
    text = signed(value) if column.startswith("difference") else f"{value:.2f}"
    return f"{text} ({error:.2f})" if row["draws"] > 1 else text


def signed(value: float) -> str:
    rounded = round(float(value), 2)
    return "0.00" if rounded == 0 else f"{rounded:+.2f}".replace("-", "−")


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(page(real_panels(Path(sys.argv[1]))))
