"""Which examinees differ: the statistic beside McNemar's and by its own definition, pairing, Holm, few labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from voirdire.panel.examinees import COLUMNS, Difference, compare_examinees

NAMES = ("ann", "bob", "cat")


def verdicts(truths, judges=4, task="maths", seed=0, **columns):
    """A row per judge of each examinee's answers; truths: examinee -> (items,), NaN not answered."""
    rng = np.random.default_rng(seed)
    rows = []
    for examinee, right in truths.items():
        for item, truth in enumerate(right):
            if np.isnan(truth):
                continue
            for judge in range(judges):
                said = rng.random() < (0.9 if truth else 0.3)
                rows.append((f"q{item}", examinee, f"j{judge}", said, bool(truth)))
    frame = pd.DataFrame(rows, columns=["item_id", "examinee", "judge", "verdict", "truth"])
    return frame.assign(task=task, condition="blind", simulated=True, **columns)


def drawn(shares, n, seed=0):
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    return {
        name: (0.7 * hard + 0.3 * rng.random(n) < share).astype(float)
        for name, share in zip(NAMES, shares, strict=False)
    }


def test_pairs_beside_mcnemar():
    truths = drawn((0.5, 0.7), 300)
    (row,) = compare_examinees(verdicts(truths)).query("task == 'maths'").iloc
    first, second = truths["ann"], truths["bob"]
    table = pd.crosstab(first, second).to_numpy()
    assert row["difference"] == pytest.approx((first - second).mean())
    assert row["p"] == pytest.approx(mcnemar(table, exact=False, correction=False).pvalue, rel=0.2)
    assert (row["n_items"], row["n_labels"], row["method"]) == (300, 600, "paired labels")


@pytest.mark.parametrize(("only_first", "only_second", "n"), [(5, 0, 40), (12, 5, 100), (0, 0, 50), (30, 25, 80)])
def test_the_interval_is_that_of_the_score_test_with_the_likelihood_maximised(only_first, only_second, n):
    """By its definition (Tango 1998): the share of one-sided pairs is fitted for each supposed difference."""
    found = Difference((only_first - only_second) / n, (only_first + only_second) / n, n, 1e7)

    def score(supposed):
        def minus_likelihood(q):
            shares = np.array([q + supposed, q, 1 - 2 * q - supposed])
            counts = np.array([only_first, only_second, n - only_first - only_second])
            with np.errstate(divide="ignore"):
                return -(counts[counts > 0] * np.log(np.maximum(shares[counts > 0], 1e-300))).sum()

        bounds = (max(0, -supposed), (1 - supposed) / 2)
        q = minimize_scalar(minus_likelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        return (only_first - only_second - n * supposed) / np.sqrt(n * (2 * q + supposed - supposed**2))

    z = norm.ppf(0.975)
    middle = (only_first - only_second) / n
    low, high = found.interval()
    assert low == pytest.approx(brentq(lambda d: score(d) - z, -0.999, middle - 1e-6), abs=1e-4)
    assert high == pytest.approx(brentq(lambda d: score(d) + z, middle + 1e-6, 0.999), abs=1e-4)


@settings(max_examples=100)
@given(st.integers(-90, 90), st.floats(0, 1), st.floats(2, 500), st.floats(1, 500))
def test_p_and_interval_agree(points, more, n, freedom):
    difference = points / 100
    found = Difference(difference, abs(difference) + more * (1 - abs(difference)), n, freedom)
    low, high = found.interval()
    assert low <= difference <= high
    if abs(found.p() - 0.05) > 1e-6:
        assert (found.p() < 0.05) == (not low <= 0 <= high)


def test_turned_round_the_difference_changes_its_sign():
    truths = drawn((0.5, 0.7), 100)
    (one,) = compare_examinees(verdicts(truths)).query("task == 'maths'").iloc
    swapped = {"ann": truths["bob"], "bob": truths["ann"]}
    (other,) = compare_examinees(verdicts(swapped)).query("task == 'maths'").iloc
    assert (one["difference"], one["low"], one["high"]) == pytest.approx(
        (-other["difference"], -other["high"], -other["low"])
    )
    assert one["p"] == pytest.approx(other["p"])


def test_only_items_that_both_answered_count():
    truths = drawn((0.5, 0.7), 100)
    alone = {name: np.where(np.arange(100) < 60, right, np.nan) for name, right in truths.items()}
    alone["ann"][60:] = 1.0
    (row,) = compare_examinees(verdicts(alone)).query("task == 'maths'").iloc
    (expected,) = compare_examinees(verdicts({k: v[:60] for k, v in truths.items()})).query("task == 'maths'").iloc
    assert row["n_items"] == 60
    assert (row["difference"], row["p"]) == (expected["difference"], expected["p"])


def test_no_shared_items_is_a_reason():
    none = np.full(10, np.nan)
    truths = {"ann": np.r_[np.ones(10), none], "bob": np.r_[none, np.ones(10)]}
    for row in compare_examinees(verdicts(truths)).iloc:
        assert np.isnan(row["p"])
        assert row["note"] == "no item that both answered"
        assert row["differs"] == ""


def test_holm_over_the_pairs_of_a_task():
    table = compare_examinees(verdicts(drawn((0.4, 0.55, 0.7), 150))).query("task == 'maths'")
    assert len(table) == 3
    assert table["p_holm"].to_numpy() == pytest.approx(multipletests(table["p"], method="holm")[1])
    assert (table["differs"] == np.where(table["p_holm"] <= 0.05, "yes", "undecided")).all()
    assert "yes" in set(table["differs"])


def test_with_some_labels_each_ones_ppi_is_compared():
    held, rejected, n = 0, 0, 40
    for seed in range(n):
        frame = verdicts(drawn((0.6, 0.6), 200, seed), seed=seed)
        (row,) = compare_examinees(frame, n_labels=120, seed=seed).query("task == 'maths'").iloc
        assert row["method"] == "PPI++"
        held += row["low"] <= 0 <= row["high"]
        rejected += row["p"] < 0.05
    assert held >= 35
    assert rejected == n - held


def test_with_some_labels_a_large_difference_is_seen():
    frame = verdicts(drawn((0.3, 0.8), 300))
    (row,) = compare_examinees(frame, n_labels=150).query("task == 'maths'").iloc
    assert row["high"] < 0
    assert row["differs"] == "yes"
    # Fewer labels, less precision.
    (all_labels,) = compare_examinees(frame).query("task == 'maths'").iloc
    assert row["high"] - row["low"] > all_labels["high"] - all_labels["low"]


def test_few_labels_are_a_reason():
    table = compare_examinees(verdicts(drawn((0.5, 0.7), 50)), n_labels=12)
    assert set(table["note"]) == {"fewer than 10 labels of one of them"}
    assert table[["difference", "low", "high", "p", "p_holm"]].isna().all(axis=None)


def test_all_tasks_are_their_mean_with_a_shorter_interval():
    frame = pd.concat([verdicts(drawn((0.5, 0.65), 100, n), task=task) for n, task in enumerate("abcd")])
    table = compare_examinees(frame).set_index("task")
    assert table.loc["all", "difference"] == pytest.approx(table.loc[list("abcd"), "difference"].mean())
    widths = table["high"] - table["low"]
    assert widths["all"] == pytest.approx(widths[list("abcd")].mean() / 2, rel=0.1)
    assert table.loc["all", "n_items"] == 400


def test_clusters_of_items_widen_the_interval():
    truths = {name: np.repeat(right, 4) for name, right in drawn((0.5, 0.7), 40).items()}
    frame = verdicts(truths)
    together = frame.assign(cluster=frame["item_id"].str[1:].astype(int) // 4)
    apart, joined = (compare_examinees(each).query("task == 'maths'").iloc[0] for each in (frame, together))
    assert joined["difference"] == apart["difference"]
    assert joined["high"] - joined["low"] > 1.5 * (apart["high"] - apart["low"])


def test_no_difference_on_any_item_is_no_certainty():
    same = drawn((0.5,), 50)["ann"]
    (row,) = compare_examinees(verdicts({"ann": same, "bob": same})).query("task == 'maths'").iloc
    assert (row["difference"], row["p"]) == (0, 1)
    assert row["low"] < -0.03
    assert row["high"] > 0.03


def test_one_examinee_or_none_is_an_empty_table():
    frame = verdicts(drawn((0.5,), 5))
    for each in (frame, frame.iloc[:0]):
        table = compare_examinees(each)
        assert table.empty
        assert tuple(table.columns) == COLUMNS


def test_order_of_rows_is_no_matter():
    frame = verdicts(drawn((0.4, 0.55, 0.7), 80))
    shuffled = frame.sample(frac=1, random_state=0)
    for n_labels in (None, 100):
        pd.testing.assert_frame_equal(compare_examinees(frame, n_labels), compare_examinees(shuffled, n_labels))


def test_all_right_against_all_wrong_differs_with_few_labels_too():
    rows = [
        {"item_id": f"i{item}", "judge": f"j{judge}", "examinee": examinee, "verdict": truth, "truth": truth}
        for item in range(40)
        for judge in range(4)
        for examinee, truth in (("a", 1.0), ("b", 0.0))
    ]
    found = compare_examinees(pd.DataFrame(rows), n_labels=30).iloc[0]
    assert (found["difference"], found["high"]) == (1.0, 1.0)
    assert found["low"] > 0.6
    assert found["p"] < 0.001
