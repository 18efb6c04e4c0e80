"""What 95 % intervals cover and 5 % tests reject on planted panels, printed in Markdown: docs/coverage.md."""

from collections.abc import Iterable
from itertools import chain

import numpy as np
import pytest
from covered import (
    LEAST,
    SHARES,
    SIZES,
    Row,
    bias_and_balance,
    clustered_rates,
    differences,
    difficulty_gaps,
    effect_sizes,
    exact_rates,
    means_over_judges,
    most_rejected,
    rejected,
    rejected_in_tables,
    summaries,
    task_means,
)
from planted_counts import Items, beta_rate

pytestmark = pytest.mark.bench

SEEDS, TABLES, LENIENCY = 2000, 500, 200
ONCE = [Items(8), Items(20), Items(50), Items(100), Items(300)]
PAIRS = [(0.02, 0.02), (0.1, 0.02), (0.3, 0.2), (0.5, 0.5), (0.9, 0.5), (0.95, 0.05)]
# 100 items with 36 verdicts each, of which the few unanimous ones carry the variance: often none of them is seen.
RARE = "few unanimous items among many verdicts: none may be among those drawn"


def test_rates_of_separate_items():
    print("\n## A rate, n separate items: what is covered / what percentile alone covers, %\n")
    print("Exact: sums of binomial probabilities, no seeds. Last column: the least over 999 true rates.\n")
    print("| n | " + " | ".join(f"{share:g}" for share in SHARES) + " | least |")
    print("|---|" + "---|" * (len(SHARES) + 1))
    fine = np.linspace(0.001, 0.999, 999)
    least = []
    for n in SIZES:
        used, alone = exact_rates(n, np.r_[fine, SHARES])
        cells = [f"{100 * a:.1f} / {100 * b:.0f}" for a, b in zip(used[999:], alone[999:], strict=True)]
        print(f"| {n} | " + " | ".join(cells) + f" | {100 * used[:999].min():.1f} |")
        least.append(used.min())
    assert min(least) >= LEAST


def test_rates_of_items_with_several_verdicts():
    items = [
        Items(n, size, agreement, even)
        for n in (3, 8, 20, 50, 100, 300)
        for size, agreement, even in ((6, 0.0, True), (6, 0.3, True), (6, 1.0, True), (6, 0.3, False))
    ]
    of_degrees = clustered_rates(SEEDS, [Items(n, 6, 0.3) for n in (8, 20, 50, 100)], [0.05, 0.3, 0.5], beta_rate)
    judged(
        "Rates of items with several verdicts", chain(clustered_rates(SEEDS, items, [0.02, 0.1, 0.5, 0.9]), of_degrees)
    )


def test_where_verdicts_are_many_and_unanimous_items_few():
    many, shares = [Items(100, 36, 0.3)], [0.02, 0.05, 0.1, 0.5]
    rows = chain(clustered_rates(SEEDS, many, shares), clustered_rates(SEEDS, many, shares, beta_rate))
    limited("The limit: many verdicts on an item", rows)


def test_bias_and_balanced_accuracy():
    items = [Items(16), Items(40), Items(200), Items(1000), Items(20, 6, 0.3), Items(100, 6, 0.3)]
    judged("Bias and balanced accuracy", bias_and_balance(SEEDS, items, [(0.02, 0.02), (0.3, 0.05), (0.9, 0.1)]))


def test_differences_of_two_rates():
    items = [*ONCE, Items(8, 6, 0.3), Items(20, 6, 0.3), Items(100, 6, 0.3)]
    judged("Differences of two rates", differences(SEEDS, items, PAIRS))


def test_means():
    judges = means_over_judges(SEEDS, [Items(8), Items(20, 2), Items(60), Items(200)], [(0.1, 0.1), (0.9, 0.5)])
    shares = [(0.02, 0.02, 0.02), (0.1, 0.05, 0.3), (0.5, 0.5, 0.5), (0.9, 0.02, 0.1)]
    tasks = [task_means(SEEDS, small, shares) for small in (Items(8), Items(30), Items(30, 6, 0.3))]
    judged("Means over judges and tasks", chain(judges, *tasks))


def test_effect_sizes_and_difficulty_gaps():
    items = [Items(8), Items(20), Items(100), Items(500), Items(12, 6, 0.3), Items(50, 6, 0.3), Items(250, 6, 0.3)]
    sizes = effect_sizes(SEEDS, items, [0.2, 0.5], [0.0, 0.5])
    gaps = difficulty_gaps(SEEDS, [Items(8), Items(30), Items(100), Items(300)], [(0.05, 0.05), (0.5, 0.3), (0.9, 0.9)])
    judged("Cohen's d, and the gap of difficulty", chain(sizes, gaps))


def test_means_of_self_preference():
    judged("Means of self-preference", chain(summaries(TABLES, 40), summaries(TABLES, 150)))


def test_what_is_rejected_without_effects():
    items = [Items(16), Items(40), Items(200), Items(20, 6, 0.3), Items(100, 6, 0.3)]
    found = [*rejected(SEEDS, items, [0.05, 0.3, 0.5]), *rejected_in_tables(TABLES, 60, LENIENCY)]
    print("\n## Tests where nothing differs: rejected at 5 %\n")
    print("| test | settings | seeds | most rejected, % | where |\n|---|---|---|---|---|")
    tests: dict[str, list[tuple[float, int, str]]] = {}
    for name, share, seeds in found:
        test, where = name.split(": ")
        tests.setdefault(test, []).append((share, seeds, where))
    for test, settings in tests.items():
        share, seeds, where = max(settings)
        print(f"| {test} | {len(settings)} | {seeds} | {100 * share:.1f} | {where} |")
    assert not [row for row in found if row[1] > most_rejected(row[2])]


def judged(title: str, rows: Iterable[Row]) -> None:
    """Print the rows (a dozen of the least covered, and a summary), and demand that all hold."""
    measured = list(rows)
    printed(title, measured)
    assert not [row for row in measured if not row.holds()]


def limited(title: str, rows: Iterable[Row]) -> None:
    measured = list(rows)
    printed(f"{title} ({RARE})", measured)
    assert min(row.coverage for row in measured) > 0.6


def printed(title: str, rows: list[Row]) -> None:
    """Of each kind the two settings that are covered least, and the one that percentile alone covers least."""
    covered = np.array([row.coverage for row in rows])
    many = np.array([row.coverage for row in rows if row.expected >= 20])
    seeds, enough = max(row.seeds for row in rows), 100 * (covered >= LEAST).mean()
    print(f"\n## {title}\n\n{len(rows)} settings, up to {seeds:,} seeds each.")
    print(f"Covered: {_range(covered)} %; 93 % and more in ", end="")
    print(f"{enough:.0f} % of settings" + (f". Where 20 are expected: {_range(many)} %.\n" if len(many) else ".\n"))
    print(
        "| what | items | true | expected | covered, % | percentile alone, % | width |\n|---|---|---|---|---|---|---|"
    )
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.what, []).append(row)
    for some in kinds.values():
        least = sorted(some, key=lambda row: row.coverage)[:2]
        least += [row for row in [min(some, key=lambda row: row.percentile)] if row not in least]
        for row in least:
            alone = "" if np.isnan(row.percentile) else f"{100 * row.percentile:.1f}"
            few = f"{row.expected:.0f}" if row.expected else ""
            shares = f"{100 * row.coverage:.1f} | {alone} | {row.width:.2f}"
            print(f"| {row.what} | {row.items} | {row.true} | {few} | {shares} |")


def _range(shares: np.ndarray) -> str:
    return f"{100 * shares.min():.1f} to {100 * shares.max():.1f}"
