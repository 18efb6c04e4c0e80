"""Differences of rates over shared clusters."""

import numpy as np
import pandas as pd
import pytest

from voirdire.bias.contrast import Contrast, cluster_codes, compare, pool_tasks, summed
from voirdire.bias.counts import count
from voirdire.bias.rows import clusters_of, prepared
from voirdire.stats import bootstrap
from voirdire.stats.intervals import paired_difference, proportions_difference


def _contrast(first, second):
    ones = np.ones((1, len(first)))
    return Contrast("gsm8k", np.array([first], float), ones, np.array([second], float), ones)


@pytest.mark.parametrize(("paired", "method"), [(True, "mover_paired"), (False, "percentile")])
def test_few_differing_pairs_get_the_interval_of_pairs(paired, method):
    first = np.r_[np.ones(60), np.zeros(60)]
    second = np.r_[np.ones(56), np.zeros(64)]
    result = compare(_contrast(first, second), np.array([paired]), 200, 0, 0.95).interval
    assert result.estimate[0] == pytest.approx(4 / 120)
    assert result.method[0] == method
    if paired:
        assert (result.low[0], result.high[0]) == pytest.approx(tuple(map(float, paired_difference(56, 4, 0, 60))))


def test_small_counts_on_separate_clusters_add_the_squares_of_their_intervals():
    first, n_first = np.r_[1, 1, 0, np.zeros(20)][None], np.r_[1, 1, 1, np.zeros(20)][None]
    second, n_second = np.r_[0, 0, 0, np.ones(5), np.zeros(15)][None], np.r_[0, 0, 0, np.ones(20)][None]
    result = compare(Contrast("gsm8k", first, n_first, second, n_second), np.array([False]), 50, 0, 0.95).interval
    assert (result.low[0], result.high[0]) == pytest.approx(tuple(map(float, proportions_difference(2, 3, 5, 20))))


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


@pytest.mark.parametrize("paired", [True, False])
def test_no_clusters_have_no_rates_and_one_is_worth_one_trial(paired):
    none = compare(Contrast("gsm8k", *[np.zeros((1, 0))] * 4), np.array([paired]), 50, 0, 0.95)
    assert np.isnan([none.first[0], none.interval.estimate[0], none.interval.low[0]]).all()
    assert (none.n_first[0], none.interval.method[0]) == (0, "")
    assert np.isnan(pool_tasks([none], 0.95).interval.high[0])
    assert pool_tasks([none], 0.95).n_first[0] == 0

    sums = [np.array([[n]]) for n in (30.0, 500.0, 100.0, 500.0)]
    one = compare(Contrast("gsm8k", *sums), np.array([paired]), 50, 0, 0.95).interval
    assert one.estimate[0] == pytest.approx(-0.14)
    expected = tuple(map(float, proportions_difference(0.06, 1, 0.2, 1)))
    assert (one.low[0], one.high[0]) == pytest.approx(expected)
