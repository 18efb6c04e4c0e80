"""Differences of rates over shared clusters, and means of dependent ones."""

import numpy as np
import pandas as pd
import pytest

from voirdire.bias.contrast import Contrast, cluster_codes, compare, dependent_mean, summed
from voirdire.bias.counts import count
from voirdire.bias.rows import clusters_of, prepared
from voirdire.stats import bootstrap
from voirdire.stats.bootstrap import Interval, percentile
from voirdire.stats.effect import newcombe_paired
from voirdire.stats.intervals import newcombe


def intervals(method="newcombe"):
    return Interval(
        np.array([0.2, 0.4, np.nan]),
        np.array([0.1, 0.1, np.nan]),
        np.array([0.4, 0.6, np.nan]),
        np.array([method, method, ""], object),
        np.zeros(3, int),
    )


def test_fully_correlated_cells_get_the_mean_of_their_bounds():
    draws = np.random.default_rng(0).normal(size=400)
    samples = np.column_stack([draws, 3 * draws + 1, np.full(400, np.nan)])
    assert dependent_mean(intervals(), samples, 0.95) == (
        pytest.approx(0.3),
        pytest.approx(0.1),
        pytest.approx(0.5),
        "mover",
    )


def test_uncorrelated_cells_add_their_squares():
    samples = np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0.0]])
    mean, low, high, _ = dependent_mean(intervals(), samples, 0.95)
    assert (mean - low, high - mean) == pytest.approx((np.hypot(0.1, 0.3) / 2, np.hypot(0.2, 0.2) / 2))


def test_constant_samples_count_as_fully_correlated():
    assert dependent_mean(intervals(), np.ones((50, 3)), 0.95)[1:3] == pytest.approx((0.1, 0.5))
    assert dependent_mean(intervals(), np.full((50, 3), np.nan), 0.95)[1:3] == pytest.approx((0.1, 0.5))


def test_percentile_cells_get_the_percentile_interval_of_their_mean():
    samples = np.random.default_rng(1).normal(size=(500, 3))
    low, high, _ = percentile(samples[:, :2].mean(axis=1))
    assert dependent_mean(intervals("percentile"), samples, 0.95)[1:] == (
        pytest.approx(low),
        pytest.approx(high),
        "percentile",
    )


def test_nothing_known_has_no_mean():
    nothing = Interval(*(np.full(2, np.nan) for _ in range(3)), np.array(["", ""], object), np.zeros(2, int))
    assert np.isnan(dependent_mean(nothing, np.zeros((5, 2)), 0.95)[:3]).all()


def _contrast(first, second):
    ones = np.ones((1, len(first)))
    return Contrast("gsm8k", np.array([first], float), ones, np.array([second], float), ones)


@pytest.mark.parametrize(("paired", "method"), [(True, "newcombe_paired"), (False, "percentile")])
def test_few_differing_pairs_get_newcombes_interval(paired, method):
    first = np.r_[np.ones(30), np.zeros(30)]
    second = np.r_[np.ones(28), np.zeros(32)]
    result = compare(_contrast(first, second), np.array([paired]), 200, 0, 0.95).interval
    assert result.estimate[0] == pytest.approx(2 / 60)
    assert result.method[0] == method
    if paired:
        assert (result.low[0], result.high[0]) == pytest.approx(newcombe_paired(28, 2, 0, 30))


def test_small_counts_on_separate_clusters_get_newcombes_interval():
    first, n_first = np.r_[1, 1, 0, np.zeros(20)][None], np.r_[1, 1, 1, np.zeros(20)][None]
    second, n_second = np.r_[0, 0, 0, np.ones(5), np.zeros(15)][None], np.r_[0, 0, 0, np.ones(20)][None]
    result = compare(Contrast("gsm8k", first, n_first, second, n_second), np.array([False]), 50, 0, 0.95).interval
    assert (result.low[0], result.high[0]) == pytest.approx(tuple(map(float, newcombe(2, 3, 5, 20))))


def test_summed_adds_columns_by_code():
    assert summed(np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([1, 0, 1]), 3).tolist() == [[2, 4, 0], [5, 10, 0]]


def test_many_clusters_are_pooled_into_the_blocks_of_the_counts(monkeypatch):
    monkeypatch.setattr(bootstrap, "MANY_CLUSTERS", 20)
    monkeypatch.setattr(bootstrap, "BLOCKS", 7)
    frame = pd.DataFrame({"task": "gsm8k", "item_id": [f"i{i}" for i in range(50)], "judge": "ann", "examinee": "bob"})
    rows = prepared(frame.assign(verdict=True, truth=np.arange(50) % 3 == 0))
    codes, size = cluster_codes(rows, "gsm8k", clusters_of(rows), seed=3)
    right = summed(rows["truth"].to_numpy()[None], codes, size)
    assert right.tolist() == count(rows, seed=3)[0].right.tolist()
