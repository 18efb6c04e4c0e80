"""Verdicts of single judges: the best on a golden set, and the examinee itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voirdire.errors import UserError
from voirdire.panel import best_judges, best_single, self_judge

NAN = np.nan
any_votes = arrays(float, (9, 4), elements=st.sampled_from([0.0, 1.0, NAN]))
any_labels = arrays(float, 9, elements=st.sampled_from([0.0, 1.0, NAN]))


def test_the_judge_that_agrees_most_with_the_golden_labels_decides():
    votes = [[1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]]
    labels = [1, 0, 1, NAN, NAN]
    np.testing.assert_array_equal(best_judges(votes, labels), [True, False, False])
    np.testing.assert_array_equal(best_single(votes, labels), [1, 0, 1, 0, 1])
    np.testing.assert_array_equal(best_single(votes, labels, among=[[0, 1, 1], [NAN, 1, 1]]), [0, NAN])


def test_equally_good_judges_decide_by_their_majority():
    golden, labels = [[1, 1, 0, NAN]], [1]
    among = [[1, 1, 0, 0], [1, 0, 0, 0], [NAN, 1, 0, 0], [NAN, NAN, 1, 1]]
    np.testing.assert_array_equal(best_single(golden, labels, among), [1, 0, 1, NAN])
    np.testing.assert_array_equal(best_single(golden, labels, among, tie="correct"), [1, 1, 1, NAN])


def test_one_label_does_not_beat_thirty():
    votes = np.ones((30, 2))
    votes[1:, 1] = NAN
    labels = np.ones(30)
    labels[5] = 0
    np.testing.assert_array_equal(best_judges(votes, labels), [True, False])


def test_judges_without_golden_labels_are_never_the_best():
    # The first judge is always wrong, and the only one of which anything is known.
    np.testing.assert_array_equal(best_judges([[0, NAN], [NAN, 1]], [1, NAN]), [True, False])
    np.testing.assert_array_equal(best_judges([[1, 1]], [NAN]), [False, False])
    np.testing.assert_array_equal(best_single([[1, 1]], [NAN], tie="correct"), [NAN])
    np.testing.assert_array_equal(best_single(np.zeros((0, 2)), [], [[1, 1]]), [NAN])


@given(any_votes, any_labels, st.permutations(range(4)), st.permutations(range(9)))
def test_order_of_judges_and_rows_does_not_matter(votes, labels, judges, rows):
    found = best_single(votes[rows][:, judges], labels[rows], votes[:, judges])
    np.testing.assert_array_equal(found, best_single(votes, labels))


@given(any_votes, any_labels)
def test_panels_side_by_side_are_independent(votes, labels):
    stacked = best_single(np.stack([votes, 1 - votes]), np.stack([labels, labels]))
    np.testing.assert_array_equal(stacked[0], best_single(votes, labels))
    np.testing.assert_array_equal(stacked[1], best_single(1 - votes, labels))


@given(any_votes, st.lists(st.integers(-1, 3), min_size=9, max_size=9))
def test_the_examinee_says_what_it_voted(votes, examinee):
    own = np.array(examinee)[:, None] == np.arange(4)
    expected = [NAN if judge < 0 else votes[row, judge] for row, judge in enumerate(examinee)]
    np.testing.assert_array_equal(self_judge(votes, own), expected)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: best_single([[1, 2]], [1]), "found 2"),
        (lambda: best_single([[1, 1]], [1, 0]), r"labels: the shape is \(2,\); .* have \(1,\)"),
        (lambda: best_single([[1, 1]], [0.5]), "found 0.5"),
        (lambda: best_single([[1, 1]], [1], [[1]]), "2 judges have golden votes, 1 are to decide"),
        (lambda: self_judge([[1, 1]], [[True, True]]), "more than one judge"),
        (lambda: self_judge([[1, 1]], [[True]]), r"own has shape \(1, 1\), votes \(1, 2\)"),
    ],
)
def test_bad_arguments_are_named(call, said):
    with pytest.raises(UserError, match=said):
        call()
