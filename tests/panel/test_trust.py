"""Whether label-free estimates can be trusted: real panels, planted errors of all kinds, and what the words promise."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_errors import blind_spot_panel, factor_panel, varied_panel, verdict_table

from voirdire.errors import UserError
from voirdire.panel import label_free_trust, trust_table
from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.independence import MOVE, THRESHOLD, independence
from voirdire.panel.labelled_check import MARGIN, gap
from voirdire.panel.matrix import ballots
from voirdire.panel.trust import decided_by_labels

NAN = np.nan
WITHOUT_LABELS = {"unusable", "doubtful", "no evidence against"}


def read(folder, name):
    path = folder / "verdicts" / name
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def labelled(truth, n, seed, n_wrong=0):
    """The truth of n responses at random, NaN of all others; drawn until so many are wrong."""
    rng = np.random.default_rng(seed)
    while True:
        labels = np.full(len(truth), NAN)
        chosen = rng.choice(len(truth), n, replace=False)
        labels[chosen] = truth[chosen]
        if (labels == 0).sum() >= n_wrong:
            return labels


@pytest.mark.parametrize(
    ("name", "verdict", "with_truth"),
    [
        ("nus_feedback.parquet", "unusable", "unusable"),
        ("bluebird.csv", "no evidence against", "usable"),
        ("rte.csv", "no evidence against", "usable"),
    ],
)
def test_real_panels(shared_data, name, verdict, with_truth):
    (found,) = trust_table(read(shared_data, name)).to_dict("records")
    assert (found["without_labels"], found["verdict"], found["basis"]) == (verdict, with_truth, "labels")
    assert (found["r"] < THRESHOLD) == (verdict == "unusable")
    assert found["null_low"] < 1 < found["null_high"]


def test_thirty_labels_of_a_real_panel_hold_too_few_wrong_answers(shared_data):
    box = ballots(read(shared_data, "nus_feedback.parquet")).without_self()
    fitted, n_wrong = fit(box.votes), []
    for seed in range(12):
        labels = labelled(box.truth, 30, seed)
        found = gap(box.votes, labels, box.cluster, fitted, right=False)
        n_wrong.append(found.n)
        assert found.n_items >= 5 or not (found.off or found.within)
    assert np.median(n_wrong) == 2
    labels = labelled(box.truth, 30, n_wrong.index(2))
    trust = label_free_trust(box.votes, labels, box.cluster)
    assert (trust.verdict, trust.without_labels) == ("too few wrong answers labelled", "unusable")
    assert trust.reason.startswith("2 wrong answers are labelled")


def test_errors_shared_less_than_where_rates_failed_are_told(shared_data):
    box = ballots(read(shared_data, "bluebird.csv")).without_self()
    trust = label_free_trust(box.votes)
    assert (trust.verdict, trust.independence.bound) == ("no evidence against", THRESHOLD)
    assert THRESHOLD <= trust.statistic < trust.null.min()
    assert f"agree {trust.statistic:.2f} times" in trust.reason
    assert f"was {trust.null.min():.2f} to {trust.null.max():.2f}: judges share errors" in trust.reason
    assert "the three of nine real panels in which label-free rates failed, all below 0.80" in trust.reason
    assert "speaks against independence, and is no evidence for the rates" in trust.reason
    independent = label_free_trust(varied_panel(300, 9, 0.2, 0.15)[0])
    assert independent.verdict == "no evidence against"
    assert "share errors" not in independent.reason


def test_a_blind_spot_of_all_judges_is_missed_without_labels_and_caught_by_thirty():
    caught = 0
    for seed in range(5):
        votes, truth = blind_spot_panel(600, 9, seed=seed)
        trust = label_free_trust(votes, labelled(truth, 30, seed, n_wrong=10), seed=seed)
        assert trust.without_labels == "no evidence against"
        assert trust.statistic == pytest.approx(1, abs=0.06)
        # Half of the wrong answers are accepted, of which the model knows nothing.
        assert fit(votes).fpr.mean() < 0.2
        assert votes[truth == 0].mean() > 0.45
        assert trust.verdict in ("unusable", "too few wrong answers labelled")
        caught += trust.verdict == "unusable"
    assert caught >= 4


def test_no_word_without_labels_promises_anything():
    found = {}
    for trust in (
        label_free_trust(blind_spot_panel(300, 9)[0]),
        label_free_trust(varied_panel(300, 7, 0.6, 0.05, prevalence=0.8)[0]),
        label_free_trust(varied_panel(400, 5, 0.3, 0.1)[0]),
        label_free_trust(factor_panel(400, [0.3] * 12, [0.2] * 12, 0.85, groups=np.arange(12) % 3)[0]),
    ):
        found[trust.verdict] = trust.reason
    assert set(found) == WITHOUT_LABELS
    for reason in found.values():
        assert not any(
            word in reason.lower() for word in ("reliable", "trustworthy", "safe", "valid", "good", "usable")
        )
    assert "no evidence for it" in found["no evidence against"]
    assert "blind spot" in found["no evidence against"]
    for verdict in ("no evidence against", "doubtful"):
        assert (
            "30 labels can show that the rates are wrong; to show that they are right takes about a hundred"
            in (found[verdict])
        )
        assert "would tell" not in found[verdict]


@pytest.mark.parametrize("n_judges", [1, 2, 3, 6])
def test_fewer_than_seven_judges_cannot_be_checked(n_judges):
    trust = label_free_trust(varied_panel(200, n_judges, 0.3, 0.2)[0])
    assert (trust.verdict, trust.n_judges) == ("doubtful", n_judges)
    assert trust.reason.startswith("cannot be checked")
    assert np.isnan(trust.statistic)


def test_judges_that_always_say_the_same_do_not_count():
    votes = np.hstack([varied_panel(200, 6, 0.3, 0.2)[0], np.ones((200, 3))])
    assert label_free_trust(votes).reason.startswith("cannot be checked: 6 judges")
    assert label_free_trust(np.ones((200, 9))).reason.startswith("cannot be checked: 0 judges")
    assert label_free_trust(np.full((200, 9), NAN)).n_responses == 0
    assert label_free_trust(np.zeros((0, 9))).verdict == "doubtful"


def test_halves_that_find_one_label_alone_cannot_be_checked():
    votes = np.ones((40, 8))
    votes[np.arange(8), np.arange(8)] = 0
    trust = label_free_trust(votes)
    assert (trust.verdict, trust.n_judges) == ("doubtful", 8)
    assert trust.reason.startswith("cannot be checked")


def test_errors_shared_in_groups_are_seen():
    seen = []
    for seed in range(5):
        votes, _ = factor_panel(400, [0.3] * 12, [0.2] * 12, 0.85, groups=np.arange(12) % 3, seed=seed)
        seen.append(label_free_trust(votes, seed=seed).verdict)
    assert seen.count("unusable") >= 4


def test_doubtful_is_where_power_is_low():
    lenient = label_free_trust(varied_panel(300, 7, 0.6, 0.05, prevalence=0.8)[0])
    assert lenient.verdict == "doubtful"
    assert lenient.power < 0.5
    assert abs(lenient.independence.moved) >= MOVE
    assert 0.1 <= lenient.independence.correlation <= 0.9
    # Judges of few errors have none to share that would matter.
    strict = label_free_trust(varied_panel(300, 7, 0.05, 0.2)[0])
    assert strict.verdict == "no evidence against"
    assert np.isnan([strict.power, strict.independence.correlation]).all()
    assert abs(strict.independence.moved) < MOVE


@pytest.mark.slow
def test_power_is_how_often_a_panel_with_that_correlation_is_called_unusable():
    votes, _ = varied_panel(1500, 14, 0.6, 0.05, prevalence=0.92, spread=0.3, seed=0)
    checked, fitted = independence(votes), fit(votes)
    unusable = 0
    for seed in range(30):
        correlated, _ = factor_panel(
            1500, fitted.fpr, fitted.fnr, checked.correlation, float(fitted.prevalence), seed=seed
        )
        found = independence(correlated, seed=seed)
        unusable += found.r < found.bound
    print(f"power {checked.power}, at latent correlation {checked.correlation}; called unusable: {unusable} of 30")
    assert checked.power > 0.2
    assert unusable / 30 == pytest.approx(checked.power, abs=0.3)


def test_independent_judges_are_rarely_called_unusable():
    panels = [varied_panel(200, n_judges, 0.3, 0.2, seed=n_judges)[0] for n_judges in (7, 12, 20)]
    assert all(label_free_trust(votes).verdict != "unusable" for votes in panels)


@pytest.mark.slow
def test_independent_judges_are_called_unusable_in_at_most_five_percent():
    unusable = with_labels = 0
    rng = np.random.default_rng(0)
    for seed in range(200):
        n, n_judges, gaps = int(rng.choice([100, 300, 1000])), int(rng.integers(7, 21)), float(rng.choice([0.0, 0.3]))
        rates = rng.uniform(0.1, 0.5), rng.uniform(0.05, 0.35)
        votes, truth = varied_panel(n, n_judges, *rates, prevalence=rng.uniform(0.3, 0.9), gaps=gaps, seed=seed)
        trust = label_free_trust(votes, labelled(truth, 60, seed), seed=seed)
        unusable += trust.without_labels == "unusable"
        with_labels += trust.verdict == "unusable"
    print(f"called unusable: {unusable} of 200 without labels, {with_labels} with 60 labels")
    assert unusable <= 10
    assert with_labels <= 10


def test_labels_show_that_rates_are_usable():
    votes, truth = varied_panel(1500, 10, 0.3, 0.15, seed=3)
    trust = label_free_trust(votes, labelled(truth, 200, 1))
    assert trust.verdict == "usable"
    assert trust.n_labels == 200
    for each in (trust.wrong, trust.right):
        low, high = each.interval(0.9)
        assert -MARGIN < low < high < MARGIN


@pytest.mark.parametrize("n_labels", [30, 100])
def test_rates_that_a_blind_spot_moves_beyond_the_margin_are_called_usable_in_five_percent(n_labels):
    """Few labels often hold none of the seventh of wrong responses that all judges take for right."""
    usable = draws = 0
    for seed in range(5):
        votes, truth = blind_spot_panel(2000, 9, prevalence=0.7, share=0.15, spread=0, seed=seed)
        fitted, rng = fit(votes), np.random.default_rng(seed)
        assert votes[truth == 0].mean() - fitted.fpr.mean() > MARGIN
        for _ in range(20):
            labels = labelled(truth, n_labels, rng)
            wrong, right = (gap(votes, labels, np.arange(2000), fitted, side) for side in (False, True))
            usable += decided_by_labels(wrong, right)[0] == "usable"
            draws += 1
    assert usable / draws <= 0.05


def test_one_response_more_may_not_undo_what_labels_show():
    # 16 labelled wrong responses are accepted as predicted: one more, of a blind spot, would change that.
    votes, truth = varied_panel(2000, 9, 0.1, 0.1, prevalence=0.5, seed=4)
    fitted, wrong = fit(votes), np.flatnonzero(truth == 0)
    wrong = wrong[votes[wrong].sum(axis=1).argsort(kind="stable")]
    found = {}
    for n in (16, 200):
        labels = np.full(2000, NAN)
        labels[wrong[np.linspace(0, len(wrong) - 1, n).astype(int)]] = 0
        found[n] = gap(votes, labels, np.arange(2000), fitted, right=False)
        low, high = found[n].interval(0.9)
        assert -MARGIN < low < high < MARGIN
    assert found[16].bounds[1] > MARGIN
    assert not found[16].within
    assert found[200].within
    # The bounds are those of the interval with the response added.
    added = np.vstack([votes, np.ones(9)]), np.append(labels, 0), np.arange(2001)
    assert found[200].bounds[1] == pytest.approx(gap(*added, fitted, right=False).interval(0.9)[1], abs=1e-4)


def test_fewer_than_thirty_labels_are_not_looked_at():
    votes, truth = blind_spot_panel(500, 9)
    trust = label_free_trust(votes, labelled(truth, 29, 0))
    assert (trust.verdict, trust.wrong, trust.n_labels) == ("no evidence against", None, 29)
    assert label_free_trust(votes, labelled(truth, 30, 0)).wrong is not None


@pytest.mark.parametrize(("prevalence", "side"), [(0.97, "wrong"), (0.03, "right")])
def test_classes_with_few_labels_are_named(prevalence, side):
    votes, truth = varied_panel(1000, 9, 0.3, 0.2, prevalence=prevalence)
    trust = label_free_trust(votes, labelled(truth, 40, 2))
    assert trust.verdict == f"too few {side} answers labelled"


def test_the_gaps_interval_is_statsmodels_clustered_one():
    votes, truth = factor_panel(300, [0.4] * 6, [0.2] * 6, 0.5, gaps=0.2, seed=4)
    item, fitted = np.arange(300) // 4, fit(votes)
    for right, rate in ((False, fitted.fpr), (True, 1 - fitted.fnr)):
        found = gap(votes, truth, item, fitted, right)
        rows = (truth == right) & np.isfinite(votes).any(axis=1)
        predicted = np.nanmean(np.where(np.isfinite(votes), rate, NAN)[rows], axis=1)
        difference = np.nanmean(votes[rows], axis=1) - predicted
        ols = sm.OLS(difference, np.ones(rows.sum())).fit(
            cov_type="cluster", cov_kwds={"groups": item[rows]}, use_t=True
        )
        assert found.estimate == pytest.approx(ols.params[0])
        assert found.error == pytest.approx(ols.bse[0])
        assert found.interval() == pytest.approx(tuple(ols.conf_int()[0]))


def test_equal_votes_on_few_labels_prove_nothing():
    votes, truth = varied_panel(400, 8, 0.3, 0.2, seed=5)
    unanimous = (votes == 0).all(axis=1) & (truth == 0)
    labels = np.where(unanimous & (np.cumsum(unanimous) <= 6), 0.0, NAN)
    found = gap(votes, labels, np.arange(400), fit(votes), right=False)
    assert found.n == min(6, unanimous.sum())
    # Six times the same share has no spread of its own.
    assert found.error > 0.03


@settings(max_examples=5)
@given(st.permutations(range(8)), st.integers(0, 99))
def test_no_order_of_judges_or_rows_counts(judges, seed):
    votes, _ = varied_panel(60, 8, 0.3, 0.2, gaps=0.1, seed=6)
    rows = np.random.default_rng(seed).permutation(60)
    first, other = (independence(each, panels=3, splits=4) for each in (votes, votes[rows][:, judges]))
    assert (other.r, other.power, other.moved) == pytest.approx((first.r, first.power, first.moved), nan_ok=True)
    np.testing.assert_allclose(other.null, first.null)


def test_rows_that_occur_often_are_so_many_rows():
    votes, _ = varied_panel(50, 8, 0.3, 0.2, seed=7)
    counted = independence(votes, np.full(50, 3), panels=3, splits=4)
    repeated = independence(np.repeat(votes, 3, axis=0), panels=3, splits=4)
    assert (counted.r, counted.bound) == (repeated.r, repeated.bound)


def test_large_panels_are_simulated_in_part():
    votes, _ = varied_panel(30_000, 8, 0.2, 0.2, seed=8)
    found = independence(votes, panels=3, splits=4)
    assert found.r == pytest.approx(1, abs=0.03)


def test_the_table_has_a_row_per_task_and_its_seed():
    tables = [verdict_table(*varied_panel(150, 7 - 2 * number, 0.3, 0.2), task) for number, task in enumerate("ab")]
    table = trust_table(pd.concat(tables).assign(simulated=True), seed=3)
    assert table["task"].tolist() == ["a", "b"]
    assert table["n_judges"].tolist() == [7, 5]
    assert (table["seed"] == 3).all()
    assert table["simulated"].all()
    alone = trust_table(tables[0].assign(simulated=True), seed=3)
    pd.testing.assert_frame_equal(table.iloc[:1], alone)


def test_names_of_judges_and_order_of_rows_change_no_table():
    votes, truth = varied_panel(100, 8, 0.3, 0.2, seed=9)
    frame = verdict_table(votes, truth)
    names = [f"judge {number}" for number in (3, 1, 7, 2, 0, 6, 5, 4)]
    other = verdict_table(votes, truth, judges=names).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(trust_table(frame), trust_table(other))


@pytest.mark.parametrize("wrong", [{"labels": np.zeros(3)}, {"cluster": np.zeros(3)}])
def test_arrays_that_do_not_fit_are_refused(wrong):
    with pytest.raises(UserError, match="there are 4 responses"):
        label_free_trust(np.ones((4, 8)), **wrong)


def test_rates_of_a_model_that_is_turned_round_are_unusable():
    """Four judges of eight are inverted: the mean votes are what the mirrored rates predict."""
    rng = np.random.default_rng(3)
    truth = (rng.random(400) < 0.6).astype(float)
    votes = (rng.random((400, 8)) < np.where(truth == 1, 0.85, 0.2)[:, None]).astype(float)
    votes[:, 4:] = 1 - votes[:, 4:]
    assert np.mean((posterior_logit(votes, *_rates(votes)) > 0) == truth) < 0.1
    trust = label_free_trust(votes, np.where(np.arange(400) < 100, truth, np.nan))
    assert trust.verdict == "unusable"
    assert "takes labelled wrong answers for right more than right ones" in trust.reason


def _rates(votes):
    fitted = fit(votes)
    return fitted.fpr, fitted.fnr, fitted.prevalence


@pytest.mark.parametrize("label", [2, -1, 0.5, np.inf])
def test_a_label_that_is_none_is_refused(label):
    votes = np.tile([[1.0, 1, 0], [1, 0, 0]], (20, 1))
    with pytest.raises(UserError, match=r"labels: found .*; a label is 1"):
        label_free_trust(votes, np.full(40, label))
