"""How often intervals hold the planted value, and how often tests reject it where nothing differs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from planted_counts import Items, judges_before_and_after, lengths, one_rate, paired_rates, two_rates
from scipy.stats import binom

from voirdire.bias import leniency, self_preference, self_preference_summary
from voirdire.bias.ablation_difficulty import _gaps
from voirdire.bias.ablation_length import _lengths
from voirdire.bias.contrast import Contrast, compare
from voirdire.bias.counts import Counts, Totals
from voirdire.bias.dependent import dependent_mean, n_telling
from voirdire.bias.pooling import task_mean
from voirdire.bias.rates import metric_intervals
from voirdire.stats.arrays import ratio
from voirdire.stats.bootstrap import Interval, cluster_weights, percentile, rate_interval
from voirdire.stats.significance import equal_proportions_p, sign_flip_p, swap_p

LEVEL, RESAMPLES, BATCH, DRAWS = 0.95, 500, 100, 8
SIZES = (8, 12, 20, 50, 100, 300, 1000)
SHARES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
LEAST, MOST, ENOUGH = 0.93, 0.97, 20


@dataclass(frozen=True)
class Row:
    """One measurement. expected: the fewest hits or misses, as independent verdicts and as items that have one.

    limit: why less than 93 % is known to be covered here.
    """

    what: str
    items: str
    true: str
    coverage: float
    percentile: float
    width: float
    expected: float
    seeds: int
    limit: str = ""

    def bounds(self) -> tuple[float, float]:
        """What the coverage must lie between: the 99.9 % binomial range around 93 %, and 97 % with enough expected."""
        low, high = (binom.ppf(q, self.seeds, p) / self.seeds for q, p in ((0.0005, LEAST), (0.9995, MOST)))
        return low, float(high) if self.expected >= ENOUGH else 1.0

    def holds(self) -> bool:
        low, high = self.bounds()
        return bool(self.limit) or low <= self.coverage <= high


def exact_rates(n: int, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coverage of n independent verdicts by `rate_interval` and by percentile alone, at each share: no seeds needed.

    Every count from 0 to n is one cell, and counts as often as the binomial distribution says; the mean over several
    draws of 1,000 resamples.
    """
    hits = (np.arange(n) < np.arange(n + 1)[:, None]).astype(float)
    chance = binom.pmf(np.arange(n + 1)[:, None], n, shares)
    covered = np.zeros((2, len(shares)))
    for draw in range(DRAWS):
        samples = cluster_weights(np.zeros(n, int), 2 * RESAMPLES, [n, draw]) @ hits.T / n
        used = rate_interval(hits, np.ones_like(hits), samples, LEVEL)
        alone = percentile(samples, LEVEL)
        for row, (low, high) in enumerate(((used.low, used.high), alone[:2])):
            held = (low[:, None] <= shares + 1e-12) & (shares - 1e-12 <= high[:, None])
            covered[row] += (chance * held).sum(axis=0) / DRAWS
    return covered[0], covered[1]


def clustered_rates(seeds: int, items: list[Items], shares: list[float], draw=one_rate) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    for some in items:
        for share in shares:
            hits, trials = draw(rng, seeds, some, share)
            samples = ratio(*_resampled(hits, trials))
            interval = rate_interval(hits, trials, samples, LEVEL)
            name = "rate" if draw is one_rate else "rate (beta)"
            yield _row(name, some, share, share, interval, samples, _expected(some, share))


def bias_and_balance(seeds: int, items: list[Items], pairs: list[tuple[float, float]]) -> Iterator[Row]:
    rng = np.random.default_rng(2)
    for some in items:
        for shares in pairs:
            for together in (1, -1):
                (hits1, n1), (hits2, n2) = two_rates(rng, seeds, some, shares, together)
                drawn = Totals(*_resampled(n2, n1, hits1, hits2))
                found = metric_intervals(Totals(n2, n1, hits1, hits2), drawn, LEVEL)
                expected = min(_expected(some, share) / 2 for share in shares)
                for name, true in (("bias", shares[0] - shares[1]), ("balanced_accuracy", 1 - sum(shares) / 2)):
                    what = f"{name}, FPR and FNR {'together' if together == 1 else 'opposed'}"
                    yield _row(what, some, shares, true, found[name], getattr(drawn, name), expected)


def differences(seeds: int, items: list[Items], pairs: list[tuple[float, float]]) -> Iterator[Row]:
    """Of two rates on separate items, on partly the same items, and on the same responses."""
    rng = np.random.default_rng(3)
    for some in items:
        for shares in pairs:
            apart = [one_rate(rng, seeds, some, share) for share in shares]
            none = np.zeros_like(apart[0][0])
            separate = [*(np.c_[array, none] for array in apart[0]), *(np.c_[none, array] for array in apart[1])]
            partly = [array for side in two_rates(rng, seeds, some, shares, 1) for array in side]
            same = [array for side in paired_rates(rng, seeds, some, shares) for array in side]
            for name, arrays in (("separate items", separate), ("shared items", partly), ("same responses", same)):
                pair = np.full(seeds, name == "same responses")
                parts = [
                    compare(Contrast("t", *(a[at] for a in arrays)), pair[at], RESAMPLES, int(at[0]), LEVEL)
                    for at in _batches(seeds)
                ]
                interval = _joined([part.interval for part in parts])
                samples = np.concatenate([part.samples for part in parts], axis=1)
                expected = min(_expected(some, share) for share in shares) * (0.5 if name == "shared items" else 1)
                # Pairs tell by how many of them differ.
                expected = 0 if name == "same responses" else expected
                yield _row(f"difference, {name}", some, shares, shares[0] - shares[1], interval, samples, expected)


def means_over_judges(seeds: int, items: list[Items], pairs: list[tuple[float, float]]) -> Iterator[Row]:
    rng = np.random.default_rng(4)
    known = np.ones(6, bool)
    for some in items:
        for shares in pairs:
            (after, before), n = judges_before_and_after(rng, seeds, some, 6, shares)
            bounds, alone = [], []
            for seed in range(seeds):
                contrast = Contrast("t", after[seed], n[seed], before[seed], n[seed])
                found = compare(contrast, known, RESAMPLES, seed, LEVEL)
                later, earlier = contrast.influence()
                units = (after[seed] - before[seed]) / n[seed].sum(axis=1, keepdims=True)
                telling = n_telling([units], known)
                mean = dependent_mean(found.interval, found.samples, later - earlier, telling, LEVEL)
                bounds.append((mean.estimate, mean.low, mean.high))
                alone.append(percentile(found.samples.mean(axis=1), LEVEL)[:2])
            interval = Interval(*np.transpose(bounds), np.full(seeds, "", object), np.zeros(seeds, int))
            yield _row("mean over six judges", some, shares, shares[0] - shares[1], interval, np.transpose(alone), 0)


def task_means(seeds: int, small: Items, shares: list[tuple[float, float, float]]) -> Iterator[Row]:
    """Of a task of few items beside tasks of 300 and 1,000."""
    rng = np.random.default_rng(5)
    for three in shares:
        tasks = [small, *(Items(n, small.size, small.agreement) for n in (300, 1000))]
        counts = [one_rate(rng, seeds, some, share) for some, share in zip(tasks, three, strict=True)]
        samples = [ratio(*_resampled(*part)) for part in counts]
        parts = [rate_interval(*part, drawn, LEVEL) for part, drawn in zip(counts, samples, strict=True)]
        expected = min(_expected(some, share) for some, share in zip(tasks, three, strict=True))
        mean = task_mean(parts, samples, LEVEL)
        yield _row(
            "mean of tasks, + 300 + 1,000", small, three, float(np.mean(three)), mean, sum(samples) / 3, expected
        )


def effect_sizes(seeds: int, items: list[Items], accepted: list[float], effects: list[float]) -> Iterator[Row]:
    rng = np.random.default_rng(6)
    for some in items:
        for share in accepted:
            for d in effects:
                found = _lengths("t", lengths(rng, seeds, some, share, d), 0.0, RESAMPLES, 1, LEVEL)
                name = f"Cohen's d = {d}"
                yield _row(name, some, share, d, found.interval, found.samples, _expected(some, share))


def difficulty_gaps(seeds: int, items: list[Items], pairs: list[tuple[float, float]], others: int = 5) -> Iterator[Row]:
    """Own rate less the mean of the rates on five other examinees; every seed is a judge of its own."""
    rng = np.random.default_rng(7)
    for some in items:
        for own, other in pairs:
            parts = []
            for at in _batches(seeds):
                cells = [(f"{judge:05}", examinee) for judge in at for examinee in range(others + 1)]
                sides = [one_rate(rng, len(at), some, own if e == 0 else other) for e in range(others + 1)]
                hits, n = (np.stack([side[k] for side in sides], axis=1).reshape(len(cells), -1) for k in (0, 1))
                names = pd.DataFrame(cells, columns=["judge", "examinee"]).assign(bin="easy", simulated=True)
                judges = sorted(set(names["judge"]))
                names["examinee"] = np.where(names["examinee"] == 0, names["judge"], names["examinee"].astype(str))
                counts = Counts(0 * n, n, hits, 0 * n, "t", names, np.arange(some.n).astype(object))
                parts.append(_gaps(counts, "easy", judges, some.n, RESAMPLES, int(at[0]), LEVEL))
            interval = _joined([_only(part.interval, slice(0, -1)) for part in parts])
            samples = np.concatenate([part.samples[:, :-1] for part in parts], axis=1)
            yield _row("difficulty gap", some, (own, other), own - other, interval, samples, _expected(some, own))


def null_panel(seed: int, n_items: int, models: int = 4, tasks: int = 2) -> pd.DataFrame:
    """Judges that are all alike, and agree on the responses of an item; stronger and weaker examinees, hard items."""
    rng = np.random.default_rng([8, seed])
    parts = []
    for task in range(tasks):
        hard = rng.random(n_items)
        alike = rng.random((n_items, models))
        for examinee in range(models):
            truth = rng.random(n_items) < (1 - 0.9 * hard) ** (0.6 + 0.4 * examinee)
            for judge in range(models):
                draw = np.where(rng.random(n_items) < 0.4, alike[:, examinee], rng.random(n_items))
                part = {"item_id": np.arange(n_items).astype(str), "truth": truth}
                part |= {"verdict": draw < np.where(truth, 0.9, 0.3), "response_chars": rng.integers(50, 500, n_items)}
                parts.append(pd.DataFrame(part).assign(task=f"t{task}", judge=f"m{judge}", examinee=f"m{examinee}"))
    return pd.concat(parts, ignore_index=True)


def summaries(seeds: int, n_items: int) -> Iterator[Row]:
    """Of self-preference, planted 0: judge "all" and one judge, per version and rate, where there is an estimate."""
    tables = [self_preference_summary(null_panel(seed, n_items), resamples=1000, seed=seed) for seed in range(seeds)]
    table = pd.concat(tables).query("judge in ('all', 'm0') and difference.notna()")
    for (judge, version, rate), part in table.groupby(["judge", "version", "rate"], sort=False):
        held = float(((part["low"] <= 0) & (part["high"] >= 0)).mean())
        width = float((part["high"] - part["low"]).mean())
        what = f"self-preference of {judge}"
        yield Row(what, f"{n_items} × 2 tasks", f"0 ({version}, {rate})", held, np.nan, width, 0, len(part))


def rejected(seeds: int, items: list[Items], shares: list[float]) -> Iterator[tuple[str, float, int]]:
    """Share of p ≤ .05 where nothing differs, by test: (name, share, seeds)."""
    rng = np.random.default_rng(9)
    for some in items:
        for share in shares:
            sides = two_rates(rng, seeds, some, (share, share), 1)
            strata = list(zip(*(array for side in sides for array in side), strict=True))
            before, after = paired_rates(rng, seeds, some, (share, share))
            found = {
                "equal_proportions_p": [equal_proportions_p([stratum]) for stratum in strata],
                "swap_p": [swap_p([stratum]) for stratum in strata],
                "sign_flip_p (paired)": [sign_flip_p(units) for units in after[0] - before[0]],
            }
            for name, p in found.items():
                tested = np.array(p)[~np.isnan(p)]
                yield f"{name}: {_named(some)}, {share}", float((tested <= 0.05).mean()), len(tested)


def rejected_in_tables(seeds: int, n_items: int, with_leniency: int) -> Iterator[tuple[str, float, int]]:
    """The same of the tables' own p: one pair of self-preference, by version, rate and task; leniency by method."""
    frames = [null_panel(seed, n_items) for seed in range(seeds)]
    own = pd.concat([self_preference(frame, resamples=2) for frame in frames])
    own = own[(own["judge"] == "m0") & (own["other"] == "m1") & own["task"].isin(["t0", "all"]) & own["p"].notna()]
    for (task, version, rate), part in own.groupby(["task", "version", "rate"], sort=False):
        name = f"self_preference, {'one task' if task == 't0' else 'pooled'}: {version}, {rate}"
        yield name, float((part["p"] <= 0.05).mean()), len(part)
    lenient = pd.concat([leniency(frame, resamples=2) for frame in frames[:with_leniency]])
    lenient = lenient[lenient["judge"].eq("all") & lenient["task"].eq("all") & lenient["p"].notna()]
    for (method, term), part in lenient.groupby(["method", "term"], sort=False):
        yield f"leniency, pooled: {method}, {term}", float((part["p"] <= 0.05).mean()), len(part)


def most_rejected(seeds: int) -> float:
    """The most that may be rejected: the upper end of the 99.9 % binomial range around 6 %."""
    return float(binom.ppf(0.9995, seeds, 0.06) / seeds)


def _row(what, items, true_shares, true, interval, samples, expected) -> Row:
    known = ~np.isnan(interval.estimate)
    alone = samples if len(samples) == 2 else percentile(samples, LEVEL)[:2]

    def held(low, high):
        return float(((low <= true + 1e-12) & (true - 1e-12 <= high))[known].mean())

    named = " / ".join(f"{share:g}" for share in np.atleast_1d(true_shares))
    width = float((interval.high - interval.low)[known].mean())
    return Row(
        what, _named(items), named, held(interval.low, interval.high), held(*alone), width, expected, int(known.sum())
    )


def _named(items: Items) -> str:
    each = "" if items.size == 1 else f" × {'' if items.even else '1-'}{items.size}, ρ = {items.agreement:g}"
    return f"{items.n}{each}"


def _expected(items: Items, share: float) -> float:
    rare = min(share, 1 - share)
    with_one = items.n * (items.agreement * rare + (1 - items.agreement) * (1 - (1 - rare) ** items.size))
    return min(rare * items.worth(), with_one)


def _batches(seeds: int) -> list[np.ndarray]:
    return np.array_split(np.arange(seeds), max(seeds // BATCH, 1))


def _resampled(*arrays):
    """Sums in every resample, (resamples, panels) of each array; every hundred panels have draws of their own."""
    parts = []
    for at in _batches(len(arrays[0])):
        weights = cluster_weights(np.zeros(arrays[0].shape[1], int), RESAMPLES, int(at[0]))
        parts.append([weights @ array[at].T for array in arrays])
    return [np.concatenate(sums, axis=1) for sums in zip(*parts, strict=True)]


def _joined(intervals: list[Interval]) -> Interval:
    names = Interval.__dataclass_fields__
    return Interval(*(np.concatenate([getattr(interval, name) for interval in intervals]) for name in names))


def _only(interval: Interval, cells: slice) -> Interval:
    return Interval(*(getattr(interval, name)[cells] for name in Interval.__dataclass_fields__))
