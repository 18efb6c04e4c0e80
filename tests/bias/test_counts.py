"""Counts per cell and cluster, and their resamples."""

import numpy as np
import pandas as pd
import pytest

from voirdire.bias.counts import count
from voirdire.bias.rows import READINGS, clusters_of, prepared, responses_of, usable
from voirdire.stats import bootstrap
from voirdire.stats.bootstrap import cluster_weights, task_seed


def test_counts_are_those_of_a_group_by(random_table):
    frame = prepared(random_table(0))
    used = usable(frame)
    for counts in count(frame):
        totals = counts.totals()
        for position, cell in counts.cells.iterrows():
            rows = used[
                (used["task"] == counts.task)
                & (used["judge"] == cell["judge"])
                & (used["examinee"] == cell["examinee"])
            ]
            assert totals.right[position] == (rows["truth"] == 1).sum()
            assert totals.wrong[position] == (rows["truth"] == 0).sum()
            assert totals.accepted_wrong[position] == ((rows["truth"] == 0) & (rows["verdict"] == 1)).sum()
            assert totals.rejected_right[position] == ((rows["truth"] == 1) & (rows["verdict"] == 0)).sum()


def test_only_ok_verdicts_with_a_known_truth_are_counted(table):
    frame = prepared(
        table(
            verdict=[True, None, True, True, None],
            truth=[False, False, None, False, None],
            status=["ok", "unparsed", "ok", "ok", None],
            generation_status=["ok", "ok", "ok", "ok", "refused"],
        )
    )
    assert [count(frame, reading=r)[0].totals().accepted_wrong[0] for r in READINGS] == [2, 3, 2]
    assert [count(frame, reading=r)[0].totals().wrong[0] for r in READINGS] == [2, 3, 3]


def test_a_cell_without_a_usable_verdict_stays_with_counts_of_zero(table):
    counts = count(
        prepared(table(verdict=[None, True], truth=[True, True], status=["error", "ok"], judge=["ann", "cas"]))
    )
    assert counts[0].cells["judge"].tolist() == ["ann", "cas"]
    assert counts[0].totals().n.tolist() == [0, 1]
    assert np.isnan(counts[0].totals().fnr[0])


def test_trials_of_one_item_share_its_cluster(table):
    frame = table(verdict=[True] * 6, truth=[False] * 6, item_id=["a", "a", "a", "b", "b", "b"], trial=[0, 1, 2] * 2)
    counts = count(prepared(frame))[0]
    assert counts.wrong.tolist() == [[3, 3]]


def test_a_cluster_column_decides_what_is_resampled(table):
    frame = table(verdict=[True] * 4, truth=[False] * 4, cluster=[7, 7, 8, 8])
    assert count(prepared(frame))[0].wrong.tolist() == [[2, 2]]


def test_row_order_changes_nothing(random_table):
    frame = random_table(1)
    shuffled = frame.sample(frac=1, random_state=3)
    for first, second in zip(count(prepared(frame)), count(prepared(shuffled)), strict=True):
        assert np.array_equal(first.resampled(20, 5).fpr, second.resampled(20, 5).fpr, equal_nan=True)


def test_resamples_are_weighted_sums(random_table):
    for counts in count(prepared(random_table(2))):
        weights = cluster_weights(np.zeros(len(counts.clusters), int), 30, task_seed(4, counts.task))
        assert np.array_equal(counts.resampled(30, 4).accepted_wrong, weights @ counts.accepted_wrong.T)


def test_margins_are_sums_and_resample_with_their_cells(random_table):
    counts = count(prepared(random_table(3)))[0]
    margins = counts.margins([("judge", "examinee"), ("judge",), ()])
    assert margins.cells.iloc[-1]["judge"] == "all"
    assert np.array_equal(margins.arrays()[0][-1], counts.right.sum(axis=0))
    of_ann = (margins.cells["judge"] == "ann") & (margins.cells["examinee"] != "all")
    total = (margins.cells["judge"] == "ann") & (margins.cells["examinee"] == "all")
    drawn = margins.resampled(10, 0).wrong
    assert np.array_equal(drawn[:, of_ann].sum(axis=1), drawn[:, total][:, 0])


def test_subsets_that_know_the_same_clusters_resample_together(random_table):
    frame = prepared(random_table(4, tasks=("aime",)))
    known = clusters_of(frame)
    part = frame[frame["judge"] == "ann"].iloc[3:]
    whole, subset = count(frame, ("examinee",), clusters=known)[0], count(part, ("examinee",), clusters=known)[0]
    assert whole.right.shape == subset.right.shape


def test_a_task_has_the_same_resamples_whatever_other_tasks_there_are(random_table):
    frame = prepared(random_table(5))
    alone = count(frame[frame["task"] == "gsm8k"])[0].resampled(10, 0)
    assert np.array_equal(alone.right, count(frame)[1].resampled(10, 0).right)


def test_many_clusters_are_pooled_into_blocks(table, monkeypatch):
    monkeypatch.setattr(bootstrap, "MANY_CLUSTERS", 500)
    monkeypatch.setattr(bootstrap, "BLOCKS", 20)
    frame = prepared(table(verdict=[True] * 990, truth=[False, True, False] * 330))
    counts = count(frame)[0]
    assert counts.wrong.shape == (1, 20)
    assert counts.totals().wrong[0] == 660
    assert set(counts.n[0]) == {49, 50}


def test_each_response_is_counted_once_for_task_accuracy(random_table):
    frame = random_table(6, missing=0)
    once = frame.drop_duplicates(["task", "item_id", "examinee"])
    twice = pd.concat([frame, frame.assign(condition="elite")])
    for counts in count(responses_of(prepared(twice)), ("examinee",)):
        expected = once[once["task"] == counts.task].groupby("examinee")["truth"].mean()
        assert counts.totals().share_right == pytest.approx(expected.to_numpy(float))
