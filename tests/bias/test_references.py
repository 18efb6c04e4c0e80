"""Every estimate against a second, plain calculation; intervals and tests against scipy and statsmodels.

The tables are random and awkward (`random_verdicts`), the plain calculation is loops over dicts (`plainly`).
"""

import re
from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import plainly
import pytest
from hypothesis import example, given, settings
from plainly import number, where
from random_verdicts import CONDITIONS, MODELS, Shape, shapes, verdicts_of
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import fleiss_kappa
from tails import squares_added, tails_interval

from voirdire.bias import (
    ablation_difficulty,
    ablation_identity,
    ablation_length,
    ablation_template,
    correlations,
    rates,
    rates_by_examinee,
    self_preference,
    task_accuracy,
    trial_agreement,
)
from voirdire.bias.rates import METRICS
from voirdire.stats.effect import cohen_d_interval

some_tables = settings(max_examples=5)
FEW = 12  # resamples, where only estimates are looked at
EMPTY, ONE_RESPONSE = Shape(n_items=0), Shape(n_items=1, examinees=MODELS[:1], missing=0, failed=0, ungraded=0)
ALL_RIGHT, ALL_WRONG = Shape(right=1.0, missing=0), Shape(right=0.0, missing=0)
CONSTANT = Shape(accepts=1.0, missing=0, failed=0)
NO_DIAGONAL = Shape(judges=MODELS[:2], examinees=MODELS[2:])


def awkward(test):
    for shape in (EMPTY, ONE_RESPONSE, ALL_RIGHT, ALL_WRONG, CONSTANT, NO_DIAGONAL):
        test = example(shape)(test)
    return some_tables(given(shapes())(test))


def same(value, expected):
    assert float(value) == pytest.approx(number(expected), abs=1e-9, nan_ok=True)


NAMES = ("condition", "task", "judge", "examinee")


def by_names(rows):
    """Rows by condition, task, judge and examinee, and by "all" in place of any of the last three."""
    found = defaultdict(list)
    for row in rows:
        for key in product([row["condition"]], *((row[name], "all") for name in NAMES[1:])):
            found[key].append(row)
    return found


def main_rows(frame, condition="blind"):
    """As the library reads it: of several conditions only the main one; else whatever there is."""
    rows = plainly.rows_of(frame)
    return where(rows, condition=condition) if len(plainly.names(rows, "condition")) > 1 else rows


def has_main(frame):
    return "blind" in set(frame["condition"]) or frame["condition"].nunique() <= 1


# Rates


@awkward
def test_rates_and_counts(shape):
    frame = verdicts_of(replace(shape, conditions=shape.conditions[:2]))
    rows = plainly.rows_of(frame)
    tasks, found = plainly.names(rows, "task"), by_names(rows)
    for table in (rates(frame, FEW), rates_by_examinee(frame, FEW)):
        for row in table.to_dict("records"):
            asked = found[tuple(row[name] for name in NAMES)]
            used = plainly.counted(asked, row["reading"])
            means = row["pooling"] == "task_mean"
            expected = plainly.task_means(used, tasks) if means else plainly.metrics(used)
            for metric in METRICS:
                same(row[metric], expected[metric])
            right = sum(r["truth"] for r in used)
            assert (row["n_right"], row["n_wrong"]) == (right, len(used) - right)
            in_tasks = [where(used, task=task) for task in tasks]
            there = [plainly.metrics(r)["bias"] is not None if means else bool(r) for r in in_tasks]
            assert row["pooling"] == "none" or row["n_tasks"] == sum(there)
            not_judged = len(where(asked, status=None))
            failed = sum(r["status"] not in ("ok", None) for r in asked) if row["reading"] == "main" else 0
            left = len(asked) - len(used) - not_judged - failed
            assert [row["n_not_judged"], row["n_not_ok"], row["n_truth_missing"]] == [not_judged, failed, left]
    # Everybody who was asked has a row.
    cells = table.query("pooling == 'none' and reading == 'main' and judge != 'all'")[list(NAMES)]
    assert {tuple(row[name] for name in NAMES) for row in rows} == set(cells.itertuples(index=False, name=None))
    assert not cells.duplicated().any()


@awkward
def test_task_accuracy_of_each_response_once(shape):
    frame = verdicts_of(shape)
    rows = plainly.rows_of(frame)
    for row in task_accuracy(frame, FEW).to_dict("records"):
        tasks = plainly.names(where(rows, examinee=row["examinee"]), "task") if row["task"] == "all" else [row["task"]]
        each = [where(plainly.responses(rows), task=task, examinee=row["examinee"]) for task in tasks]
        same(row["accuracy"], plainly.mean(plainly.task_accuracy(part) for part in each))
        failed = [[r for r in part if r["generation_status"] != "ok"] for part in each]
        graded = [[r for r in part if r["generation_status"] == "ok" and r["truth"] is not None] for part in each]
        assert row["n_not_ok"] == sum(map(len, failed))
        assert (row["n"], row["n_right"]) == (sum(map(len, graded)), sum(r["truth"] for part in graded for r in part))
        counted_wrong = [
            plainly.mean([r["truth"] for r in good] + [False] * len(bad))
            for good, bad in zip(graded, failed, strict=True)
        ]
        same(row["accuracy_counting_not_ok_wrong"], plainly.mean(counted_wrong))


# An interval method's name, and what gives it, from hits and trials.
OF_ONE_RATE = {"mid-p": tails_interval}
OF_DIFFERENCES = {"mover": lambda hits1, n1, hits2, n2: squares_added((hits1, n1), (hits2, n2))}


@awkward
def test_closed_form_intervals_where_every_item_has_one_verdict(shape):
    frame = verdicts_of(replace(shape, trials=1, items_per_cluster=1, conditions=shape.conditions[:1]))
    checked, found = 0, by_names(plainly.rows_of(frame))
    for row in rates_by_examinee(frame, FEW).query("pooling == 'none' and judge != 'all'").to_dict("records"):
        used = plainly.counted(found[tuple(row[name] for name in NAMES)], row["reading"])
        wrong, right = where(used, truth=False), where(used, truth=True)
        hits = {
            "fpr": (sum(r["verdict"] for r in wrong), len(wrong)),
            "fnr": (sum(not r["verdict"] for r in right), len(right)),
            "accuracy": (sum(r["verdict"] == r["truth"] for r in used), len(used)),
        }
        for metric, method in methods_of(row).items():
            if metric in hits and method in OF_ONE_RATE:
                expected = OF_ONE_RATE[method](*hits[metric])
            elif metric == "bias" and method in OF_DIFFERENCES:
                expected = OF_DIFFERENCES[method](*hits["fpr"], *hits["fnr"])
            else:
                continue
            assert (row[f"{metric}_low"], row[f"{metric}_high"]) == pytest.approx(expected, abs=1e-9)
            checked += 1
    assert checked or frame["verdict"].isna().all() or frame["truth"].isna().all()


def methods_of(row):
    """The interval method of each metric of a row of rates."""
    if ":" not in row["interval"]:
        return {metric: row["interval"] for metric in METRICS if not np.isnan(row[metric])}
    return {
        metric: method
        for method, metrics in re.findall(r"([\w -]+): ([\w ]+)", row["interval"])
        for metric in metrics.split()
    }


# Correlations


@awkward
def test_correlations(shape):
    frame = verdicts_of(replace(shape, n_items=min(shape.n_items, 3)))
    if not has_main(frame):
        return
    rows = main_rows(frame)
    points = {}
    for row in correlations(frame, resamples=FEW).to_dict("records"):
        key = row["table"], row["anchor"], row["task"]
        points[key] = points.get(key) or plainly.correlation_points(rows, *key)
        chosen = {
            model: xy
            for model, xy in points[key].items()
            if model != row["left_out"] and (row["self_point"] == "with" or model != row["anchor"]) and None not in xy
        }
        x, y = zip(*chosen.values(), strict=True) if chosen else ((), ())
        assert row["n"] == len(x)
        r = plainly.pearson(x, y)
        same(row["r"], r)
        if np.isnan(r):
            assert row["reason"]
            assert np.isnan([row["low"], row["high"], row["p"]]).all()
        else:
            same(row["p"], plainly.permutation_p(x, y))


@pytest.mark.parametrize("seed", range(3))
def test_correlations_as_scipy_gives_them(seed):
    frame = verdicts_of(Shape(seed=seed, n_items=12, judges=(*MODELS, "eve", "fay"), examinees=(*MODELS, "eve")))
    rows = plainly.rows_of(frame)
    table = correlations(frame, resamples=FEW).query("left_out == '' and n > 3 and self_point == 'with'")
    assert table["table"].unique().tolist() == [6, 7, 8, 9]
    for row in table.iloc[::3].to_dict("records"):
        points = plainly.correlation_points(rows, row["table"], row["anchor"], row["task"]).values()
        x, y = np.array([[float(value) for value in point] for point in points if None not in point]).T
        r, interval = stats.pearsonr(x, y).statistic, stats.pearsonr(x, y).confidence_interval()
        assert (row["r"], row["low"], row["high"]) == pytest.approx((r, *interval), abs=1e-9)
        exact = stats.permutation_test(
            (x,),
            lambda order, y=y: abs(stats.pearsonr(order, y).statistic),
            permutation_type="pairings",
            n_resamples=np.inf,
            alternative="greater",
        )
        assert row["p"] == pytest.approx(exact.pvalue, abs=1e-9)


# Self-preference


@awkward
def test_self_preference(shape):
    frame = verdicts_of(shape)
    if not has_main(frame):
        return
    rows = main_rows(frame)
    table = self_preference(frame, resamples=FEW)
    pairs = plainly.preferring_pairs(rows)
    assert sorted(set(zip(table["judge"], table["other"], strict=True))) == pairs
    for (judge, other, version, rate), cells in table.groupby(["judge", "other", "version", "rate"]):
        by_task = {
            task: plainly.preference(where(rows, task=task), judge, other, version, rate)
            for task in plainly.names(rows, "task")
        }
        known = [value for value in by_task.values() if None not in value]
        by_task["all"] = (
            plainly.mean(own for own, *_ in known),
            plainly.mean(theirs for _, theirs, *_ in known),
            *(sum(value[place] for value in known) for place in (2, 3)),
        )
        for row in cells.to_dict("records"):
            own, theirs, n_own, n_other = by_task[row["task"]]
            same(row["difference"], plainly.minus(own, theirs))
            assert (row["n_own"], row["n_other"]) == (n_own, n_other)
            same(row["own"], own)
            same(row["other_value"], theirs)
            assert (row["difference"] == row["difference"]) == (own is not None and theirs is not None)


@awkward
def test_tests_of_self_preference_on_independent_items(shape):
    frame = verdicts_of(replace(shape, trials=1, items_per_cluster=1))
    if not has_main(frame):
        return
    rows = main_rows(frame)
    table = self_preference(frame, resamples=FEW).query("task != 'all' and difference.notna()")
    for row in table.query("version == 'matched'").to_dict("records"):
        assert row["p"] == pytest.approx(mcnemar(matched_verdicts(rows, row), exact=True).pvalue, abs=1e-9)
    # Items on which exactly one is wrong: nothing is shared, so the conditional test is Fisher's.
    for row in table.query("version == 'harmful' and p.notna()").to_dict("records"):
        counts = [
            [round(share * n), n - round(share * n)]
            for share, n in ((row["own"], row["n_own"]), (row["other_value"], row["n_other"]))
        ]
        assert row["p"] == pytest.approx(stats.fisher_exact(counts).pvalue, abs=1e-9)


def matched_verdicts(rows, row):
    used = where(plainly.counted(rows), task=row["task"], judge=row["judge"], truth=row["rate"] == "fnr")
    own, theirs = (
        {r["item_id"]: bool(r["verdict"]) for r in where(used, examinee=row[name])} for name in ("judge", "other")
    )
    table = np.zeros((2, 2))
    for item in own.keys() & theirs.keys():
        table[int(own[item]), int(theirs[item])] += 1
    return table


def test_holm_over_each_named_family():
    frame = verdicts_of(Shape(conditions=CONDITIONS[:2]))
    for table in (self_preference(frame, resamples=FEW), ablation_identity(frame, resamples=FEW)):
        for _, family in table.groupby("family"):
            assert family["p_holm"].to_numpy() == pytest.approx(plainly.holm(family["p"]), abs=1e-9, nan_ok=True)


# Ablations


def paired_rows(frame, other):
    rows = plainly.rows_of(frame)
    return plainly.paired(where(rows, condition="blind"), where(rows, condition=other))


@pytest.mark.parametrize(
    ("table_of", "condition", "columns"),
    [(ablation_identity, "elite", ("blind", "labelled")), (ablation_template, "reason", ("main", "other"))],
    ids=["identity", "template"],
)
@awkward
def test_what_another_condition_changes(table_of, condition, columns, shape):
    frame = verdicts_of(replace(shape, conditions=CONDITIONS))
    pairs = paired_rows(frame, condition)
    judges, tasks = ([p for p, _ in pairs] and plainly.names((p for p, _ in pairs), c) for c in ("judge", "task"))
    for row in table_of(frame, resamples=FEW).to_dict("records"):
        chosen = [pair for pair in pairs if row.get("examinee", "all") in ("all", pair[0]["examinee"])]

        def by_task(judge, row=row, chosen=chosen):
            each = [
                plainly.change([p for p in chosen if (p[0]["judge"], p[0]["task"]) == (judge, task)], row["rate"])
                for task in (tasks if row["task"] == "all" else [row["task"]])
            ]
            known = [values for values in each if None not in values]
            before, after = (plainly.mean(values[side] for values in known) for side in (0, 1))
            return before, after, sum(n for *_, n in (known if row["task"] == "all" else each))

        each = [by_task(judge) for judge in (judges if row["judge"] == "all" else [row["judge"]])]
        known = [values for values in each if None not in values]
        before, after = (plainly.mean(values[side] for values in known) for side in (0, 1))
        same(row["difference"], plainly.minus(after, before))
        if known:
            same(row[columns[0]], before)
            same(row[columns[1]], after)
            assert row["n_pairs"] == sum(n for *_, n in known)


@awkward
def test_mcnemar_of_labels_on_independent_items(shape):
    frame = verdicts_of(replace(shape, conditions=CONDITIONS, trials=1, items_per_cluster=1))
    pairs = paired_rows(frame, "elite")
    table = ablation_identity(frame, resamples=FEW)
    single = table.query("task != 'all' and judge != 'all' and examinee != 'all' and rate != 'bias' and p.notna()")
    for row in single.to_dict("records"):
        verdicts = np.zeros((2, 2))
        for first, second in pairs:
            if (first["task"], first["judge"], first["examinee"]) == (row["task"], row["judge"], row["examinee"]):
                verdicts[int(first["verdict"]), int(second["verdict"])] += first["truth"] == (row["rate"] == "fnr")
        assert row["p"] == pytest.approx(mcnemar(verdicts, exact=True).pvalue, abs=1e-9)


@awkward
def test_cohens_d_of_lengths(shape):
    frame = verdicts_of(shape)
    if not has_main(frame):
        return
    rows = main_rows(frame)
    wrong = where(plainly.counted(rows), truth=False)
    judges, tasks = plainly.names(rows, "judge"), plainly.names(rows, "task")

    def d_of(judge, task):
        mine = where(wrong, judge=judge, task=task)
        return plainly.cohen_d(*([r["response_chars"] for r in where(mine, verdict=v)] for v in (True, False)))

    d = {(judge, task): d_of(judge, task) for judge in judges for task in tasks}
    for judge in judges:
        d[judge, "all"] = plainly.mean_of_known(d[judge, task] for task in tasks)
    for task in [*tasks, "all"]:
        d["all", task] = plainly.mean_of_known(d[judge, task] for judge in judges)
    table = ablation_length(frame, resamples=FEW)
    assert len(table) == (len(d) if wrong else 0)
    for row in table.to_dict("records"):
        same(row["d"], d[row["judge"], row["task"]])
        assert bool(row["reason"]) or not np.isnan(row["d"])


@pytest.mark.parametrize(("d", "n_x", "n_y"), [(0.0, 2, 2), (0.8, 12, 7), (-2.5, 5, 30), (0.1, 61.5, 40.25)])
def test_noncentral_t_interval_of_cohens_d(d, n_x, n_y):
    root = np.sqrt(n_x * n_y / (n_x + n_y))
    for bound, share in zip(cohen_d_interval(d, n_x, n_y), (0.975, 0.025), strict=True):
        assert noncentral_t_below(d * root, n_x + n_y - 2, bound * root) == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_few_lengths_get_that_interval_or_a_wider_one(seed):
    shape = Shape(seed=seed, n_items=15, judges=("ann",), examinees=("bob",), tasks=("aime",), right=0, missing=0)
    row = ablation_length(verdicts_of(shape)).query("task == 'aime' and judge == 'ann'").iloc[0]
    low, high = cohen_d_interval(row["d"], row["n_accepted"], row["n_rejected"])
    assert row["interval"] == "noncentral t"
    assert row["low"] <= low + 1e-9
    assert row["high"] >= high - 1e-9


def noncentral_t_below(t, df, shift):
    """P(T ≤ t) by integrating over the chi-squared variable under the root."""
    from scipy.integrate import quad

    def density(v):
        return stats.norm.cdf(t * np.sqrt(v / df) - shift) * stats.chi2.pdf(v, df)

    return quad(density, 0, np.inf, epsabs=1e-12, epsrel=1e-12)[0]


@awkward
def test_difficulty(shape):
    frame = verdicts_of(shape)
    if not has_main(frame):
        return
    rows = main_rows(frame)
    judges = plainly.names([r for r in rows if r["judge"] == r["examinee"]], "judge")
    table = ablation_difficulty(frame, resamples=FEW)
    tasks = [task for task in plainly.names(rows, "task") if task in set(table["task"])]
    expected = {}
    for task in tasks:
        bins = plainly.items_by_bin(where(rows, task=task))
        for name in ("hard", "medium", "easy"):
            inside = [r for r in where(rows, task=task) if bins.get(r["item_id"]) == name]
            each = [plainly.own_and_other(inside, judge) for judge in judges]
            known = [values for values in each if None not in values]
            weight = sum(n_own for *_, n_own, _ in known)
            pooled = [sum(v[side] * v[2] for v in known) / weight if known else None for side in (0, 1)]
            counts = [sum(v[place] for v in known) for place in (2, 3)]
            n_items = sum(found == name for found in bins.values())
            for judge, values in zip([*judges, "all"], [*each, (*pooled, *counts)], strict=True):
                expected[task, judge, name] = (*values, n_items)
    for row in table.query("task != 'all'").to_dict("records"):
        own, theirs, n_own, n_other, n_items = expected[row["task"], row["judge"], row["bin"]]
        same(row["gap"], plainly.minus(own, theirs))
        same(row["own"], own)
        same(row["other_value"], theirs)
        assert (row["n_own"], row["n_other"], row["n_items"]) == (n_own, n_other, n_items)
    for row in table.query("task == 'all'").to_dict("records"):
        each = [expected[task, row["judge"], row["bin"]] for task in tasks]
        same(row["gap"], plainly.mean(plainly.minus(own, theirs) for own, theirs, *_ in each))


# Trials


def where_known(rows):
    """The judged rows whose truth is known."""
    return [row for row in rows if row["status"] is not None and row["truth"] is not None]


@awkward
def test_agreement_of_trials(shape):
    frame = verdicts_of(replace(shape, trials=max(shape.trials, 2)))
    rows = plainly.rows_of(frame)
    for row in trial_agreement(frame, FEW).to_dict("records"):
        asked = where(rows, condition=row["condition"], task=row["task"], judge=row["judge"])
        known = {(r["examinee"], r["item_id"]): r["truth"] for r in where_known(asked)}
        wanted = {"right": [True], "wrong": [False], "all": [True, False, None]}[row["responses"]]
        asked = [r for r in asked if known.get((r["examinee"], r["item_id"])) in wanted]
        expected = plainly.agreement(asked)
        for name in ("n_calls", "n_left_out", "mean_trials", "agreement", "unanimous", "kappa"):
            same(row[name], expected[name])


@some_tables
@given(shapes())
def test_kappa_is_fleiss(shape):
    frame = verdicts_of(replace(shape, trials=3, missing=0.0, failed=0.0, n_items=8))
    for row in trial_agreement(frame, FEW).query("responses == 'all' and kappa.notna()").to_dict("records"):
        mine = frame.query(
            f"condition == '{row['condition']}' and task == '{row['task']}' and judge == '{row['judge']}'"
        )
        accepted = mine.groupby(["examinee", "item_id"])["verdict"].sum().to_numpy(int)
        assert row["kappa"] == pytest.approx(fleiss_kappa(np.column_stack([accepted, 3 - accepted])), abs=1e-9)
