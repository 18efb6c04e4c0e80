"""Bootstrap intervals against a plain one: the same draws, read as a list of clusters, and everything counted anew."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import plainly
import pytest
from plainly import where
from random_verdicts import CONDITIONS, Shape, verdicts_of
from scipy import stats

from voirdire.bias import (
    ablation_difficulty,
    ablation_identity,
    ablation_length,
    correlations,
    rates,
    self_preference,
    trial_agreement,
)
from voirdire.bias.rates import METRICS

MANY = Shape(seed=5, n_items=110, right=0.5, accepts=0.5, missing=0.1, conditions=CONDITIONS[:2])
CLUSTERED = replace(MANY, seed=6, n_items=120, items_per_cluster=2, trials=2, conditions=CONDITIONS[:1])
DRAWS, SEED = 8, 3


@pytest.fixture(scope="module", autouse=True)
def few_suffice():
    """The bootstrap's intervals from 10 verdicts of a kind on, so that small tables have them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("stats.bootstrap", "bias.contrast", "bias.ablation_difficulty"):
            patch.setattr(import_module(f"voirdire.{name}"), "SMALL_COUNT", 10)
        patch.setattr(import_module("voirdire.bias.ablation_length"), "_ENOUGH_CLUSTERS", 10)
        yield


@pytest.fixture(scope="module", params=[MANY, CLUSTERED], ids=["items", "clusters and trials"])
def drawn(request):
    """A table in which bootstrap intervals are used, its rows, and the rows of every resample of them."""
    frame = verdicts_of(request.param)
    rows = plainly.rows_of(frame)
    return frame, rows, list(plainly.resamples(rows, DRAWS, SEED))


def equal_intervals(table, columns, expected, least):
    """Every percentile interval of a table, against percentiles of what `expected` says of each resample."""
    checked = 0
    for row in table.to_dict("records"):
        if row["interval"] == "percentile":
            bounds = plainly.percentile(expected(row))
            assert tuple(row[name] for name in columns) == pytest.approx(bounds, abs=1e-9)
            checked += 1
    assert checked >= least


def test_bootstrap_of_rates(drawn):
    frame, _, samples = drawn
    table = rates(frame, DRAWS, SEED).query("reading == 'main' and condition == 'blind'")
    used = [plainly.counted(where(sample, condition="blind")) for sample in samples]

    def of_metric(metric):
        def expected(row):
            for sample in used:
                mine = [r for r in sample if row["judge"] in ("all", r["judge"]) and row["task"] in ("all", r["task"])]
                means = row["pooling"] == "task_mean"
                yield (plainly.task_means(mine, plainly.names(mine, "task")) if means else plainly.metrics(mine))[
                    metric
                ]

        return expected

    for metric in METRICS:
        equal_intervals(table, (f"{metric}_low", f"{metric}_high"), of_metric(metric), least=10)


def test_bootstrap_of_self_preference(drawn):
    frame, rows, samples = drawn
    judge, other = "bob", "cas"
    table = self_preference(frame, resamples=DRAWS, seed=SEED).query(f"judge == '{judge}' and other == '{other}'")

    def expected(row):
        for sample in samples:
            each = [
                plainly.preference(
                    where(sample, condition="blind", task=task), judge, other, row["version"], row["rate"]
                )
                for task in plainly.names(rows, "task")
                if row["task"] in ("all", task)
            ]
            yield plainly.mean(plainly.minus(own, theirs) for own, theirs, *_ in each)

    equal_intervals(table, ("low", "high"), expected, least=9)


def test_bootstrap_of_correlations(drawn):
    frame, _, samples = drawn
    used = [where(sample, condition="blind") for sample in samples]
    table = correlations(frame, resamples=DRAWS, seed=SEED).query(
        "self_point == 'with' and left_out == '' and r.notna()"
    )
    for row in table.groupby("table").head(2).to_dict("records"):
        each = []
        for sample in used:
            points = plainly.correlation_points(sample, row["table"], row["anchor"], row["task"]).values()
            each.append(plainly.pearson(*zip(*points, strict=True)))
        assert (row["boot_low"], row["boot_high"]) == pytest.approx(plainly.percentile(each), abs=1e-9)


def test_bootstrap_of_what_a_label_changes(drawn):
    frame, _, samples = drawn
    table = ablation_identity(frame, resamples=DRAWS, seed=SEED)
    if table.empty:
        return
    pairs = [plainly.paired(where(s, condition="blind"), where(s, condition="elite")) for s in samples]

    def expected(row):
        for sample in pairs:
            mine = [p for p in sample if p[0]["judge"] == row["judge"] and row["examinee"] in ("all", p[0]["examinee"])]
            changes = [
                plainly.change([pair for pair in mine if pair[0]["task"] == task], row["rate"])
                for task in plainly.names((first for first, _ in mine), "task")
                if row["task"] in ("all", task)
            ]
            yield plainly.mean(plainly.minus(after, before) for before, after, _ in changes)

    single = table.query("judge != 'all' and examinee == 'all'")
    equal_intervals(single, ("low", "high"), expected, least=6)


def test_bootstrap_of_lengths(drawn):
    frame, _, samples = drawn

    def expected(row):
        for sample in samples:
            wrong = where(plainly.counted(where(sample, condition="blind", judge=row["judge"])), truth=False)
            yield plainly.mean_of_known(
                plainly.cohen_d(
                    *([r["response_chars"] for r in where(wrong, task=task, verdict=v)] for v in (True, False))
                )
                for task in ("aime", "gsm8k")
                if row["task"] in ("all", task)
            )

    table = ablation_length(frame, resamples=DRAWS, seed=SEED).query("judge != 'all'")
    equal_intervals(table, ("low", "high"), expected, least=9)


def test_bootstrap_of_difficulty(drawn):
    frame, rows, samples = drawn
    bins = plainly.items_by_bin(where(rows, condition="blind", task="aime"))

    def expected(row):
        for sample in samples:
            here = where(sample, condition="blind", task="aime")
            inside = [r for r in here if bins.get(r["item_id"][0]) == row["bin"]]
            own, theirs, *_ = plainly.own_and_other(inside, row["judge"])
            yield plainly.minus(own, theirs)

    table = ablation_difficulty(frame, resamples=DRAWS, seed=SEED).query("task == 'aime' and judge != 'all'")
    equal_intervals(table, ("low", "high"), expected, least=3)


def test_bootstrap_of_trials_agreement():
    frame = verdicts_of(CLUSTERED)
    rows = plainly.rows_of(frame)
    samples = list(plainly.resamples(rows, DRAWS, SEED))
    table = trial_agreement(frame, DRAWS, SEED).query("responses == 'all'")

    def expected(row, name):
        return [plainly.agreement(where(sample, task=row["task"], judge=row["judge"]))[name] for sample in samples]

    equal_intervals(table, ("low", "high"), lambda row: expected(row, "agreement"), least=6)
    for row in table.to_dict("records"):
        bounds = plainly.percentile(expected(row, "kappa"))
        assert (row["kappa_low"], row["kappa_high"]) == pytest.approx(bounds, abs=1e-9)


def test_many_resamples_are_near_scipys_bootstrap():
    frame = verdicts_of(replace(CLUSTERED, n_items=400, missing=0.0))
    row = rates(frame, resamples=4000).query("task == 'aime' and judge == 'ann' and reading == 'main'").iloc[0]
    wrong = where(plainly.counted(plainly.rows_of(frame)), task="aime", judge="ann", truth=False)
    per_cluster = pd.DataFrame(wrong).groupby("cluster")["verdict"].agg(["sum", "size"]).astype(float)
    known = plainly.names(plainly.rows_of(frame.query("task == 'aime'")), "cluster")
    hits, n = per_cluster.reindex(known, fill_value=0.0).to_numpy().T
    reference = stats.bootstrap(
        (hits, n),
        lambda h, m, axis: h.sum(axis) / m.sum(axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=4000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    # Of two sets of 4,000 resamples each bound has an error of some .04 standard errors.
    assert (row["fpr_low"], row["fpr_high"]) == pytest.approx(
        reference, abs=0.25 * (reference.high - reference.low) / 4
    )
