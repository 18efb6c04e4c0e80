"""Votes: ties, quorum, abstentions, weights, and that no order matters."""

from itertools import product

import numpy as np
import pytest
from crowd import all_patterns
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voirdire.errors import UserError
from voirdire.panel import majority, minority_veto, tally, weigh, weighted

NAN = np.nan
# Round numbers make sums that are equal on paper and not in binary: .1 + .2 against .3.
decimal_rates = st.integers(0, 100).map(lambda percent: percent / 100)
below_half = st.integers(0, 49).map(lambda percent: percent / 100)


@st.composite
def panels(draw, rates=decimal_rates):
    n_judges = draw(st.integers(1, 7))
    votes = draw(arrays(float, (draw(st.integers(1, 12)), n_judges), elements=st.sampled_from([0.0, 1.0, NAN])))
    fpr, fnr = (np.array(draw(st.lists(rates, min_size=n_judges, max_size=n_judges))) for _ in range(2))
    return votes, fpr, fnr


@pytest.mark.parametrize(("tie", "meaning"), [("incorrect", 0.0), ("correct", 1.0), ("abstain", NAN)])
def test_tie_means_what_is_configured(tie, meaning):
    np.testing.assert_array_equal(majority([[1, 0], [1, 0]], tie=tie), [meaning, meaning])
    np.testing.assert_array_equal(weighted([[1, 0]], [0.3, 0.3], [0.3, 0.3], tie=tie), [meaning])


def test_tie_is_incorrect_by_default():
    assert majority([[1, 1, 0, 0]]) == 0


def test_fewer_votes_than_the_quorum_abstain_whatever_the_tie_rule():
    votes = [[1, 1, 1], [1, NAN, 1], [NAN, NAN, NAN]]
    for tie in ("incorrect", "correct", "abstain"):
        np.testing.assert_array_equal(majority(votes, quorum=3, tie=tie), [1, NAN, NAN])
        np.testing.assert_array_equal(weighted(votes, [0.1] * 3, [0.1] * 3, quorum=3, tie=tie), [1, NAN, NAN])
        np.testing.assert_array_equal(minority_veto(votes, quorum=3), [1, NAN, NAN])


def test_nobody_voting_is_no_verdict_even_without_a_quorum():
    np.testing.assert_array_equal(majority([[NAN, NAN]], quorum=0, tie="correct"), [NAN])


def test_quorum_may_differ_by_response():
    np.testing.assert_array_equal(majority([[1, NAN], [1, NAN]], quorum=[1, 2]), [1, NAN])


def test_ties_and_votes_are_counted():
    counted = tally([[1, 0, NAN], [1, 1, 0], [NAN, NAN, NAN], [1, 0, 1]])
    np.testing.assert_array_equal(counted.n_votes, [2, 3, 0, 3])
    np.testing.assert_array_equal(counted.tied(), [True, False, False, False])
    np.testing.assert_array_equal(counted.tied(quorum=3), [False, False, False, False])


def test_sums_that_are_equal_on_paper_are_a_tie():
    # 1 - FPR: .1 + .2 for "correct"; 1 - FNR: .3 for "incorrect"; in binary .1 + .2 > .3.
    tally = weigh([[1, 1, 0]], fpr=[0.9, 0.8, 0.5], fnr=[0.5, 0.5, 0.7])
    assert tally.tied().all()
    # The same against .3 and a little: no tie.
    assert weigh([[1, 1, 0]], fpr=[0.9, 0.8, 0.5], fnr=[0.5, 0.5, 0.7001]).margin > 0


def test_linear_weights_are_the_papers():
    margin = weigh([[1, 1, 0]], fpr=[0.4, 1.0, 0.5], fnr=[0.1, 0.1, 0.25]).margin
    np.testing.assert_allclose(margin, 0.6 + 0.02 - 0.75, atol=1e-8)


def test_log_odds_with_prevalence_is_bayes_rule_for_independent_judges():
    fpr, fnr, prevalence = np.array([0.1, 0.35, 0.6, 0.25]), np.array([0.3, 0.05, 0.2, 0.45]), 0.3
    votes = np.array(list(product([0.0, 1.0], repeat=4)))
    if_right = prevalence * np.where(votes == 1, 1 - fnr, fnr).prod(axis=1)
    if_wrong = (1 - prevalence) * np.where(votes == 1, fpr, 1 - fpr).prod(axis=1)
    tally = weigh(votes, fpr, fnr, "log_odds", prevalence)
    np.testing.assert_allclose(tally.margin, np.log(if_right / if_wrong), atol=1e-8)
    np.testing.assert_array_equal(tally.decide(), if_right > if_wrong)


@st.composite
def true_panels(draw):
    """Judges' true rates, within the weights' floor, and the prevalence."""
    within = st.floats(0.02, 0.98)
    n_judges = draw(st.integers(1, 7))
    fpr, fnr = (np.array(draw(st.lists(within, min_size=n_judges, max_size=n_judges))) for _ in range(2))
    return fpr, fnr, draw(within)


@given(true_panels())
def test_log_odds_with_prevalence_is_at_least_as_good_as_every_other_rule(panel):
    fpr, fnr, prevalence = panel
    votes, if_right, if_wrong = all_patterns(fpr, fnr, prevalence)

    def accuracy(verdict):
        return np.where(verdict == 1, if_right, if_wrong).sum()

    others = {
        "majority": majority(votes),
        "linear": weighted(votes, fpr, fnr),
        "linear, ties correct": weighted(votes, fpr, fnr, tie="correct"),
        "log-odds alone": weighted(votes, fpr, fnr, "log_odds"),
        "all correct": np.ones(len(votes)),
        "all incorrect": np.zeros(len(votes)),
        **{f"veto of {k}": minority_veto(votes, k) for k in range(1, len(fpr) + 1)},
        **{f"judge {judge}": votes[:, judge] for judge in range(len(fpr))},
        **{f"not judge {judge}": 1 - votes[:, judge] for judge in range(len(fpr))},
    }
    for tie in ("incorrect", "correct"):
        best = accuracy(weighted(votes, fpr, fnr, "log_odds", prevalence, tie=tie))
        # A margin within rounding is a tie: 2e-10 of log odds for a judge, and less of accuracy.
        assert best == pytest.approx(np.maximum(if_right, if_wrong).sum(), abs=1e-9)
        for name, verdict in others.items():
            assert best >= accuracy(verdict) - 1e-9, name


@given(panels(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_order_does_not_matter_to_a_veto(panel, k, random):
    votes = panel[0]
    judges, rows = list(range(votes.shape[1])), list(range(votes.shape[0]))
    random.shuffle(judges)
    random.shuffle(rows)
    np.testing.assert_array_equal(minority_veto(votes[rows][:, judges], k, 2), minority_veto(votes, k, 2)[rows])


@given(panels(), st.integers(2, 4), st.sampled_from(["linear", "log_odds"]), st.sampled_from(["incorrect", "correct"]))
def test_every_judge_as_often_changes_no_vote(panel, times, rule, tie):
    votes, fpr, fnr = panel
    often = [np.repeat(each, times, axis=-1) for each in panel]
    np.testing.assert_array_equal(weighted(*often, rule, tie=tie), weighted(votes, fpr, fnr, rule, tie=tie))
    np.testing.assert_array_equal(majority(often[0], tie=tie), majority(votes, tie=tie))


@given(panels(), st.sampled_from(["linear", "log_odds"]), st.integers(1, 4))
def test_every_response_stays_and_without_a_quorum_abstains(panel, rule, quorum):
    votes, fpr, fnr = panel
    enough = np.isfinite(votes).sum(axis=1) >= quorum
    for verdict in (majority(votes, quorum), weighted(votes, fpr, fnr, rule, quorum=quorum)):
        np.testing.assert_array_equal(np.isfinite(verdict), enough)


@pytest.mark.parametrize("votes", [np.zeros((0, 3)), np.full((2, 3), NAN), np.zeros((2, 0))])
def test_without_votes_every_rule_abstains(votes):
    rates = np.full(votes.shape[1], 0.2)
    for verdict in (majority(votes), minority_veto(votes), weighted(votes, rates, rates, "log_odds", 0.9)):
        np.testing.assert_array_equal(verdict, np.full(len(votes), NAN))


@given(panels(), st.randoms(use_true_random=False), st.sampled_from(["linear", "log_odds"]))
def test_order_of_judges_and_rows_does_not_matter(panel, random, rule):
    votes, fpr, fnr = panel
    judges, rows = list(range(votes.shape[1])), list(range(votes.shape[0]))
    random.shuffle(judges)
    random.shuffle(rows)
    for tie in ("incorrect", "correct", "abstain"):
        expected = weighted(votes, fpr, fnr, rule, prevalence=0.4, tie=tie)[rows]
        shuffled = weighted(votes[rows][:, judges], fpr[judges], fnr[judges], rule, prevalence=0.4, tie=tie)
        np.testing.assert_array_equal(shuffled, expected)
    np.testing.assert_array_equal(majority(votes[rows][:, judges]), majority(votes)[rows])


@given(panels(), below_half, st.sampled_from(["linear", "log_odds"]), st.sampled_from(["incorrect", "correct"]))
def test_equal_rates_with_fpr_as_fnr_give_the_majority(panel, rate, rule, tie):
    votes = panel[0]
    rates = np.full(votes.shape[1], rate)
    np.testing.assert_array_equal(weighted(votes, rates, rates, rule, tie=tie), majority(votes, tie=tie))


@given(panels(), decimal_rates, st.sampled_from([0.0, 1.0]))
def test_a_judge_with_fpr_and_fnr_adding_to_one_has_no_log_odds_weight(panel, rate, vote):
    votes, fpr, fnr = panel
    without = weigh(votes, fpr, fnr, "log_odds").margin
    joined = np.column_stack([votes, np.full(len(votes), vote)])
    margin = weigh(joined, np.append(fpr, rate), np.append(fnr, 1 - rate), "log_odds").margin
    np.testing.assert_allclose(margin, without, atol=1e-8)
    np.testing.assert_array_equal(np.sign(margin), np.sign(without))


@given(panels())
def test_other_panels_on_leading_axes_do_not_matter(panel):
    votes, fpr, fnr = panel
    stacked = weighted(np.stack([votes, 1 - votes]), np.stack([fpr, fnr]), np.stack([fnr, fpr]), "log_odds")
    np.testing.assert_array_equal(stacked[0], weighted(votes, fpr, fnr, "log_odds"))
    np.testing.assert_array_equal(stacked[1], weighted(1 - votes, fnr, fpr, "log_odds"))


def test_a_judge_without_rates_has_no_vote():
    np.testing.assert_array_equal(weighted([[1, 0]], [NAN, 0.1], [0.1, 0.1]), [0])
    np.testing.assert_array_equal(weighted([[1, 0]], [NAN, 0.1], [0.1, 0.1], quorum=2), [NAN])


def test_minority_veto_rejects_on_k_objections():
    votes = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_array_equal(minority_veto(votes, k=1), [1, 0, 0, 0])
    np.testing.assert_array_equal(minority_veto(votes, k=2), [1, 1, 0, 0])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: majority([[0.5, 1]]), "found 0.5; a vote is 1"),
        (lambda: majority([[1, 0]], tie="reject"), "'reject' is unknown; use one of incorrect, correct, abstain"),
        (lambda: weighted([[1]], [0.1], [0.1], "squared"), "'squared' is unknown; use one of linear, log_odds"),
        (lambda: weighted([[1, 0]], [0.1], [0.1]), r"fpr: the shape is \(1,\); there are 2 judges"),
        (lambda: weighted([[1, 0]], [0.1, 0.1], 0.1), r"fnr: the shape is \(\); there are 2 judges"),
        (lambda: minority_veto([[1]], k=0), "k is 0"),
        (lambda: minority_veto([[-1]]), "found -1"),
    ],
)
def test_bad_arguments_are_named(call, said):
    with pytest.raises(UserError, match=said):
        call()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fpr": [2.0, 0.1], "fnr": [0.1, 0.1]}, r"fpr: found 2; a rate lies in \[0, 1\]"),
        ({"fpr": [0.1, 0.1], "fnr": [0.1, -1.0]}, r"fnr: found -1; a rate lies in \[0, 1\]"),
        ({"fpr": [0.1, 0.1], "fnr": [0.1, 0.1], "floor": float("nan")}, "floor: nan must lie between 0 and 0.5"),
    ],
)
def test_rates_and_floors_that_are_none_are_refused(given, message):
    with pytest.raises(UserError, match=message):
        weighted([[1, 0]], **given)
