"""The tables of `voirdire.bias` a second time: rows as dicts, loops, fractions; slow, and meant to be seen to be right.

Every estimate is a Fraction, or None where it has no denominator. Nothing is imported from `voirdire` but the draws of
the bootstrap, which are what makes two implementations comparable at all.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from math import floor, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from voirdire.stats.bootstrap import task_seed, weight_chunks

Row = dict[str, Any]
Share = Fraction | None


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """Rows as dicts, None where a value is missing; an item is its own cluster unless a column says otherwise."""
    records = [{name: None if pd.isna(value) else value for name, value in row.items()} for row in records_of(frame)]
    return [{**row, "cluster": str(row.get("cluster", row["item_id"]))} for row in records]


def records_of(frame: pd.DataFrame) -> list[Row]:
    return frame.astype(object).to_dict("records")


def where(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def names(rows: Iterable[Row], column: str) -> list[str]:
    return sorted({row[column] for row in rows})


def mean(values: Iterable[Any]) -> Share:
    """None of nothing; values that are None are left out."""
    known = [Fraction(value) for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def minus(first: Share, second: Share) -> Share:
    return None if first is None or second is None else first - second


def number(value: Any) -> float:
    return nan if value is None else float(value)


def counted(rows: Iterable[Row], reading: str = "main") -> list[Row]:
    """The rows that enter a rate."""
    result = []
    for row in rows:
        if row["truth"] is None or row["status"] is None:
            continue
        if row["status"] == "ok" and row["verdict"] is not None:
            result.append(row)
        elif row["status"] != "ok" and reading != "main":
            result.append({**row, "verdict": reading == "not_ok_correct"})
    return result


def fpr(rows: Iterable[Row]) -> Share:
    return mean(row["verdict"] for row in rows if not row["truth"])


def fnr(rows: Iterable[Row]) -> Share:
    return mean(not row["verdict"] for row in rows if row["truth"])


def metrics(rows: Sequence[Row]) -> dict[str, Share]:
    """Of rows that enter a rate."""
    false_positive, false_negative = fpr(rows), fnr(rows)
    either = minus(false_positive, None if false_negative is None else -false_negative)
    return {
        "accuracy": mean(row["verdict"] == row["truth"] for row in rows),
        "fpr": false_positive,
        "fnr": false_negative,
        "bias": minus(false_positive, false_negative),
        "balanced_accuracy": None if either is None else 1 - either / 2,
    }


def task_means(rows: Sequence[Row], tasks: Iterable[str]) -> dict[str, Share]:
    """Each metric's mean over the tasks in which it exists."""
    each = [metrics(where(rows, task=task)) for task in tasks]
    return {name: mean(one[name] for one in each) for name in metrics([])}


def responses(rows: Iterable[Row]) -> list[Row]:
    """Each response once, with its truth if any row knows it."""
    found: dict[Any, Row] = {}
    for row in rows:
        key = row["task"], row["item_id"], row["examinee"]
        if key not in found or found[key]["truth"] is None:
            found[key] = row
    return list(found.values())


def task_accuracy(rows: Iterable[Row]) -> Share:
    """Of the rows' responses that are ok and graded."""
    return mean(r["truth"] for r in responses(rows) if r["generation_status"] == "ok" and r["truth"] is not None)


def correlation_points(rows: list[Row], table: int, anchor: str, task: str) -> dict[str, tuple[Share, Share]]:
    """x and y of each model of one correlation of the tables 6-9; rows: of the main condition."""
    role, anchor_role = ("examinee", "judge") if table == 9 else ("judge", "examinee")
    tasks = names(rows, "task") if task == "all" else [task]

    def over_tasks(quantity: Callable[[list[Row]], Share], **wanted: str) -> Share:
        return mean(quantity(where(rows, task=name, **wanted)) for name in tasks)

    points = {}
    for model in names(where(rows, **{anchor_role: anchor}), role):
        pair = {role: model, anchor_role: anchor}
        own = over_tasks(task_accuracy, examinee=model)
        accuracy, bias = (
            over_tasks(lambda part, name=name: metrics(counted(part))[name], **pair) for name in ("accuracy", "bias")
        )
        points[model] = {6: (own, accuracy), 7: (own, bias), 8: (accuracy, bias), 9: (own, bias)}[table]
    return points


def pearson(x: Sequence[Fraction], y: Sequence[Fraction]) -> float:
    """NaN below three points, and where x or y is constant (exactly: these are fractions)."""
    if len(x) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        return nan
    dx, dy = ([value - mean(values) for value in values] for values in (x, y))
    return float(_product(dx, dy)) / sqrt(_product(dx, dx)) / sqrt(_product(dy, dy))


def permutation_p(x: Sequence[Fraction], y: Sequence[Fraction]) -> float:
    """The share of all orders of y that correlate with x as strongly, either way, as the order seen."""
    centre = mean(x)
    dx = [value - centre for value in x]
    seen = abs(_product(dx, y))
    return float(mean(abs(_product(dx, order)) >= seen for order in permutations(y)))


def _product(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def preferring_pairs(rows: list[Row]) -> list[tuple[str, str]]:
    """(judge, other) where the judge judged both itself and the other; rows: of the main condition."""
    asked = {(row["judge"], row["examinee"]) for row in rows}
    return sorted((j, m) for j, m in asked if (j, j) in asked and j != m)


def preference(rows: list[Row], judge: str, other: str, version: str, rate: str) -> tuple[Share, Share, int, int]:
    """A judge's rate on its own and on another's responses to one task, and how many verdicts (or items) each is of."""
    truths = {(row["item_id"], row["examinee"]): row["truth"] for row in rows if row["truth"] is not None}
    answers = {(row["item_id"], row["examinee"]): row.get("answer") for row in rows}
    usable = [{**row, "hit": row["verdict"] == (rate == "fpr")} for row in counted(rows)]
    usable = [row for row in usable if row["truth"] == (rate == "fnr")]
    own, theirs = (where(usable, judge=judge, examinee=model) for model in (judge, other))
    if version == "harmful":
        own, theirs = ([row for row in part if _one_is_wrong(truths, row, judge, other)] for part in (own, theirs))
    if version in ("matched", "same_answer"):
        items = set(names(own, "item_id")) & set(names(theirs, "item_id"))
        if version == "same_answer":
            # Right answers are all the same: what there is of them is the matched version.
            items = items if rate == "fpr" else set()
            pairs = {item: (answers[item, judge], answers[item, other]) for item in items}
            items = {item for item, (first, second) in pairs.items() if first is not None and first == second}
        own, theirs = ([{"hit": mean(r["hit"] for r in where(p, item_id=i))} for i in items] for p in (own, theirs))
    if version == "adjusted":
        others = [row for row in usable if row["judge"] not in (judge, other)]
        own, theirs = (list(_less_the_others(part, others)) for part in (own, theirs))
    return mean(row["hit"] for row in own), mean(row["hit"] for row in theirs), len(own), len(theirs)


def _one_is_wrong(truths: dict[Any, bool], row: Row, judge: str, other: str) -> bool:
    first, second = (truths.get((row["item_id"], model)) for model in (judge, other))
    return first is not None and second is not None and first != second


def _less_the_others(part: list[Row], others: list[Row]) -> Iterator[Row]:
    """Each verdict less the mean of the other judges' on the same response; left out where there is none."""
    for row in part:
        theirs = mean(r["hit"] for r in where(others, item_id=row["item_id"], examinee=row["examinee"]))
        if theirs is not None:
            yield {"hit": row["hit"] - theirs}


def paired(before: Iterable[Row], after: Iterable[Row]) -> list[tuple[Row, Row]]:
    """The same call under two conditions, where both verdicts count."""
    key = ("task", "item_id", "examinee", "judge", "trial")
    later = {tuple(row[name] for name in key): row for row in counted(after)}
    pairs = ((row, later.get(tuple(row[name] for name in key))) for row in counted(before))
    return [(first, second) for first, second in pairs if second is not None]


def change(pairs: Sequence[tuple[Row, Row]], rate: str) -> tuple[Share, Share, int]:
    """A rate of one task before and after, and how many pairs it is of."""
    before = [first for first, _ in pairs]
    after = [{**first, "verdict": second["verdict"]} for first, second in pairs]
    of = {"fpr": [False], "fnr": [True], "bias": [False, True]}[rate]
    return metrics(before)[rate], metrics(after)[rate], sum(row["truth"] in of for row in before)


def cohen_d(accepted: Sequence[float], rejected: Sequence[float]) -> float:
    """NaN below two values on a side, and without any spread."""
    if min(len(accepted), len(rejected)) < 2:
        return nan
    squares = [statistics.variance(side) * (len(side) - 1) for side in (accepted, rejected)]
    if not sum(squares):
        return nan
    spread = sqrt(sum(squares) / (len(accepted) + len(rejected) - 2))
    return (statistics.mean(accepted) - statistics.mean(rejected)) / spread


def mean_of_known(values: Iterable[float]) -> float:
    """NaN are left out; NaN of none."""
    known = [value for value in values if value == value]
    return statistics.mean(known) if known else nan


def bin_of(share: Share) -> str:
    return "hard" if share < Fraction(33, 100) else "medium" if share < Fraction(67, 100) else "easy"


def items_by_bin(rows: list[Row]) -> dict[str, str]:
    """The bin of every item of one task that has a response whose truth is known."""
    truths = defaultdict(list)
    for row in responses(rows):
        truths[row["item_id"]].append(row["truth"])
    shares = {item: mean(values) for item, values in truths.items()}
    return {item: bin_of(share) for item, share in shares.items() if share is not None}


def own_and_other(rows: Iterable[Row], judge: str) -> tuple[Share, Share, int, int]:
    """FPR on its own wrong responses, the mean of the FPRs on the other examinees', and the verdicts behind them."""
    wrong = [row for row in where(counted(rows), judge=judge) if not row["truth"]]
    own = where(wrong, examinee=judge)
    others = [row for row in wrong if row["examinee"] != judge]
    rates = [fpr(where(others, examinee=model)) for model in names(others, "examinee")]
    return fpr(own), mean(rates), len(own), len(others)


def agreement(rows: list[Row]) -> dict[str, Any]:
    """Of the trials of one judge's calls; rows: of one task and condition. Kappa is Fleiss', for varying numbers."""
    calls = defaultdict(list)
    for row in rows:
        if row["status"] is not None:
            calls[row["examinee"], row["item_id"]].append(row)
    asked = [call for call in calls.values() if len(call) > 1]
    said = [[r["verdict"] for r in call if r["status"] == "ok" and r["verdict"] is not None] for call in asked]
    told = [verdicts for verdicts in said if len(verdicts) > 1]
    pairs = [[a == b for at, a in enumerate(call) for b in call[at + 1 :]] for call in told]
    agreeing = mean(mean(each) for each in pairs)
    accepted = mean(mean(verdicts) for verdicts in told)
    chance = None if accepted is None else accepted**2 + (1 - accepted) ** 2
    return {
        "n_asked": len(asked),
        "n_calls": len(told),
        "n_left_out": len(asked) - len(told),
        "mean_trials": mean(len(verdicts) for verdicts in told),
        "agreement": agreeing,
        "unanimous": mean(len(set(verdicts)) == 1 for verdicts in told),
        "kappa": None if chance in (None, 1) else (agreeing - chance) / (1 - chance),
    }


def holm(p: Iterable[float]) -> list[float]:
    """The smallest p times the number of tests, the next times one fewer, …, rising; NaN is no test."""
    values = list(p)
    tested = sorted((value, place) for place, value in enumerate(values) if value == value)
    adjusted, least = [nan] * len(values), 0.0
    for rank, (value, place) in enumerate(tested):
        least = max(least, min(1.0, value * (len(tested) - rank)))
        adjusted[place] = least
    return adjusted


def resamples(rows: list[Row], n: int, seed: int, clusters: Iterable[Row] | None = None) -> Iterator[list[Row]]:
    """Rows of clusters drawn with replacement within each task; a cluster drawn twice is there twice, as other items.

    The draws are the library's: its weights, read as a list of drawn clusters. clusters: rows that know all of them.
    """
    drawn: list[list[Row]] = [[] for _ in range(n)]
    for task in names(rows, "task"):
        labels = names(where(rows if clusters is None else clusters, task=task), "cluster")
        inside = defaultdict(list)
        for row in where(rows, task=task):
            inside[row["cluster"]].append(row)
        chunks = list(weight_chunks(np.zeros(len(labels), int), n, task_seed(seed, task)))
        for sample, weights in zip(drawn, np.concatenate(chunks), strict=True):
            for label, times in zip(labels, weights, strict=True):
                for copy in range(int(times)):
                    sample += [{**row, "item_id": (row["item_id"], copy)} for row in inside[label]]
    yield from drawn


def percentile(samples: Iterable[Any], level: float = 0.95) -> tuple[float, float]:
    """Quantiles of the samples that exist, linear between neighbours; NaN of none."""
    values = sorted(float(value) for value in samples if value is not None and value == value)
    if not values:
        return nan, nan

    def quantile(share: float) -> float:
        place = share * (len(values) - 1)
        below = floor(place)
        above = min(below + 1, len(values) - 1)
        return values[below] + (values[above] - values[below]) * (place - below)

    return quantile((1 - level) / 2), quantile((1 + level) / 2)
