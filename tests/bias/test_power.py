"""What a row of a comparison says: a difference, none that matters, nothing, or not yet."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from voirdire.bias.contrast import Contrast, compare
from voirdire.bias.power import MARGIN_D, MARGIN_SHARE, in_words, with_power
from voirdire.stats.effect import cohen_d_from_moments, cohen_d_interval
from voirdire.stats.intervals import fisher_z, paired_difference, proportions_difference
from voirdire.stats.power import detectable_flips
from voirdire.stats.significance import equal_proportions_p, sign_flip_p

GROUPS = ("n_own", "n_other")


def _groups(hits_own, n_own, hits_other, n_other):
    """A table of differences of two proportions with its interval and Fisher's p."""
    columns = [np.atleast_1d(np.asarray(values, float)) for values in (hits_own, n_own, hits_other, n_other)]
    x, n, y, m = np.broadcast_arrays(*columns)
    low, high = proportions_difference(x, n, y, m)
    p = [fisher_exact([[a, b - a], [c, d - c]]).pvalue for a, b, c, d in zip(x, n, y, m, strict=True)]
    return pd.DataFrame(
        {"n_own": n, "n_other": m, "other_value": y / m, "difference": x / n - y / m, "low": low, "high": high, "p": p}
    )


def _judged(table, p="p", **options):
    return with_power(
        table, "difference", "proportions", GROUPS, base="other_value", p=p, margin=MARGIN_SHARE, **options
    )


def _one(estimate, low, high, design="interval", n=(), **options):
    """The two columns of a table of one row."""
    table = pd.DataFrame({"d": [estimate], "low": [low], "high": [high]})
    return with_power(table, "d", design, [[size] for size in n], **options).iloc[0]


def test_two_wrong_answers_against_31_say_nothing():
    row = _judged(_groups([0, 1, 2], 2, 9, 31)).says.tolist()
    assert row == ["nothing"] * 3


def test_where_enough_was_seen_a_difference_is_one_and_its_absence_is_bounded():
    table = _judged(_groups([200, 80, 20], [400, 400, 40], [80, 80, 20], [400, 400, 40]))
    assert table.says.tolist() == ["difference", "no difference beyond 0.1", "undecided"]
    assert table.detectable.iloc[1] == pytest.approx(0.086, abs=0.002)
    # 80 % power of two groups of 40 around a half, by any textbook: about 31 points.
    assert table.detectable.iloc[2] == pytest.approx(0.31, abs=0.02)


def test_neither_a_wide_interval_nor_few_answers_are_no_difference():
    few = _judged(_groups([0, 0, 1], [1, 2, 3], [0, 1, 1], [3, 2, 3]))
    assert few.says.tolist() == ["nothing"] * 3
    assert few.detectable.isna().all()


@pytest.mark.parametrize(("n_own", "n_other"), [(1, 5), (1, 18), (2, 4), (3, 3), (2, 2)])
def test_what_cannot_reject_says_nothing_whatever_was_seen(n_own, n_other):
    hits = np.array(list(product(range(n_own + 1), range(n_other + 1))))
    table = _groups(hits[:, 0], n_own, hits[:, 1], n_other)
    assert table.p.min() > 0.05
    assert set(_judged(table).says) == set(_judged(table, p=None).says) == {"nothing"}


@pytest.mark.parametrize("n", range(1, 6))
def test_no_signs_of_fewer_than_six_pairs_reject_and_so_they_say_nothing(n):
    for signs in product((-1, 0, 1), repeat=n):
        assert sign_flip_p(np.array(signs)) > 0.05
    low, high = paired_difference(0, n, 0, 0)
    row = _one(1.0, low, high, "pairs", [n], margin=MARGIN_SHARE)
    assert row.says == "nothing"
    assert np.isnan(row.detectable)


def test_six_pairs_that_all_changed_are_a_difference():
    low, high = paired_difference(0, 6, 0, 0)
    assert _one(1.0, low, high, "pairs", [6], p=[sign_flip_p(np.ones(6))]).says == "difference"


def test_changes_that_all_go_one_way_are_not_known_to_be_without_noise():
    low, high = paired_difference(0, 3, 0, 97)
    found = _one(0.03, low, high, "pairs", [100], margin=MARGIN_SHARE).detectable
    assert found >= detectable_flips(100, 1 / 101) > detectable_flips(100, 0.0) + 0.005


def test_an_interval_alone_is_not_believed_where_nothing_could_have_been_relied_on_to_show():
    table = _groups(3, 3, 9, 31).assign(low=0.01)
    assert table.p.item() < 0.05
    assert _judged(table).says.item() == "difference"
    assert _judged(table, p=None).says.item() == "nothing"


def test_a_difference_needs_the_test_as_well_as_the_interval():
    assert _one(0.3, 0.1, 0.5, p=[0.2]).says == "undecided"
    assert _one(0.3, 0.1, 0.5, p=[np.nan]).says == "undecided"
    assert _one(0.3, 0.1, 0.5, p=[0.05]).says == "undecided"
    assert _one(0.3, -0.1, 0.7, p=[0.01]).says == "undecided"
    assert _one(0.3, 0.1, 0.5, p=[0.04]).says == _one(-0.3, -0.5, -0.1, p=[0.04]).says == "difference"
    assert _one(0.3, 0.1, 0.5).says == "difference"


def test_a_small_but_certain_difference_is_a_difference_and_not_none_that_matters():
    assert _one(0.03, 0.01, 0.05, margin=MARGIN_SHARE).says == "difference"
    assert _one(0.03, -0.01, 0.07, margin=MARGIN_SHARE).says == "no difference beyond 0.1"
    assert _one(0.03, -0.01, 0.07).says == "undecided"
    assert _one(0.03, -0.01, 0.1, margin=MARGIN_SHARE).says == "undecided"
    assert _one(0.03, -0.15, 0.15, margin=MARGIN_D).says == "no difference beyond 0.2"


def test_without_an_estimate_nothing_is_said():
    row = _one(np.nan, np.nan, np.nan)
    assert row.says == "nothing"
    assert np.isnan(row.detectable)


@pytest.mark.parametrize("design", ["proportions", "pairs", "means", "interval"])
def test_an_interval_of_no_width_says_nothing(design):
    table = pd.DataFrame({"n_own": [50], "n_other": [50], "d": [0.0], "low": [0.0], "high": [0.0]})
    row = with_power(table, "d", design, GROUPS, base=[0.5], margin=MARGIN_SHARE).iloc[0]
    assert row.says == "nothing"
    assert np.isnan(row.detectable)


def test_by_interval_it_is_2_8_standard_errors_at_its_own_level():
    assert _one(0.5, 0.304, 0.696).detectable == pytest.approx(0.28016, abs=1e-4)
    # The same standard error, 0.1, seen through a 90 % interval, is tested at 10 %.
    assert _one(0.5, 0.5 - 0.16449, 0.5 + 0.16449, level=0.9).detectable == pytest.approx(0.24865, abs=1e-4)


def test_a_detectable_effect_that_there_cannot_be_is_none():
    assert _one(0.0, -0.6, 0.6, room=0.8).says == "nothing"
    assert _one(0.0, -0.5, 0.5, room=0.8).detectable == pytest.approx(0.715, abs=0.001)


def test_points_of_a_correlation():
    table = pd.DataFrame(
        {"r": [0.99, 0.99, 0.99, 0.6, np.nan], "n": [3, 4, 6, 6, 2], "p": [1 / 3, 0.083, 0.01, 0.2, np.nan]}
    )
    table["low"], table["high"] = fisher_z(table.r, table.n)
    found = with_power(table, "r", "points", "n", p="p")
    assert found.says.tolist() == ["nothing", "nothing", "difference", "undecided", "nothing"]
    assert found.detectable.iloc[2:4].tolist() == pytest.approx([0.91, 0.91], abs=0.005)
    assert found.detectable[[0, 1, 4]].isna().all()


def test_each_row_by_its_own_design_and_the_rest_as_it_was():
    table = _groups([10, 10], [40, 40], [10, 10], [40, 40]).set_index(pd.Index([7, 3]))
    found = _judged(table.assign(says="")[[*table.columns]])
    mixed = with_power(table, "difference", ["proportions", "pairs"], GROUPS, base="other_value", p="p")
    assert mixed.detectable.iloc[0] == found.detectable.iloc[0] != mixed.detectable.iloc[1]
    pd.testing.assert_frame_equal(mixed[table.columns], table)
    assert mixed.columns[-2:].tolist() == ["detectable", "says"]


def test_an_empty_table_gains_the_columns():
    found = _judged(_groups([], [], [], []))
    assert found.columns[-2:].tolist() == ["detectable", "says"]
    assert found.empty


def test_nullable_columns_are_read_too():
    table = _groups([10], [40], [10], [40]).astype({"difference": "Float64", "p": "Float64", "n_own": "Int64"})
    assert _judged(table).says.item() == "undecided"


@pytest.mark.parametrize(("n_own", "n_other", "base"), [(40, 40, 0.3), (15, 150, 0.2), (200, 300, 0.1)])
def test_a_true_difference_of_the_detectable_size_is_shown_four_times_in_five(n_own, n_other, base):
    planned = _judged(_groups(base * n_own, n_own, base * n_other, n_other))
    rng = np.random.default_rng(5)
    hits = rng.binomial(n_own, base + planned.detectable.item(), 600), rng.binomial(n_other, base, 600)
    assert 0.7 <= (_judged(_groups(hits[0], n_own, hits[1], n_other)).says == "difference").mean() <= 0.9


@pytest.mark.parametrize(("pairs", "noise"), [(30, 0.0), (100, 0.1), (300, 0.05)])
def test_a_true_change_of_the_detectable_size_is_shown_four_times_in_five(pairs, noise):
    """Verdicts of 30 % accepted; `noise` of the pairs change either way whatever the label does."""

    def changes(shift, rng):
        kept, gained, lost = 0.3 - noise / 2, noise / 2 + shift, noise / 2
        both, more, fewer, neither = rng.multinomial(pairs, [kept, gained, lost, 1 - kept - gained - lost])
        low, high = paired_difference(both, more, fewer, neither)
        p = sign_flip_p(np.repeat([1, -1, 0], [more, fewer, pairs - more - fewer]))
        return {"d": (more - fewer) / pairs, "low": low, "high": high, "p": p}

    flat = changes(0, _AsExpected())
    detectable = with_power(pd.DataFrame([flat]), "d", "pairs", [[pairs]]).detectable.item()
    rng = np.random.default_rng(6)
    found = pd.DataFrame([changes(detectable, rng) for _ in range(400)])
    says = with_power(found, "d", "pairs", [np.full(400, pairs)], p="p").says
    assert 0.7 <= (says == "difference").mean() <= 0.95


class _AsExpected:
    """Draws what is expected, so that the table planned with is no matter of luck."""

    @staticmethod
    def multinomial(n, shares):
        return [n * share for share in shares]


@pytest.mark.parametrize("sizes", [(12, 30), (60, 200)])
def test_a_true_d_of_the_detectable_size_is_shown_four_times_in_five(sizes):
    def measured(d):
        low, high = zip(*(cohen_d_interval(one, *sizes) for one in d), strict=True)
        return with_power(
            pd.DataFrame({"d": d, "low": low, "high": high}), "d", "means", [np.full(len(d), n) for n in sizes]
        )

    detectable = measured([0.0]).detectable.item()
    rng = np.random.default_rng(7)
    first, second = (rng.standard_normal((300, size)) for size in sizes)
    moments = [(len(x.T), x.sum(axis=1), (x**2).sum(axis=1)) for x in (first + detectable, second)]
    d = cohen_d_from_moments(*moments[0], *moments[1])
    assert 0.7 <= (measured(d).says == "difference").mean() <= 0.9


def test_repeats_of_one_item_make_nothing_more_detectable():
    rng = np.random.default_rng(8)
    hits = rng.random((2, 60)) < [[0.3], [0.3]]

    def detectable(repeats):
        n = np.full(60, float(repeats))[None]
        # The first 30 items are the own ones, the last 30 the other's.
        own, other = (n * (np.arange(60) < 30)), (n * (np.arange(60) >= 30))
        contrast = Contrast("gsm8k", own * hits[0], own, other * hits[1], other)
        found = compare(contrast, np.zeros(1, bool), 1000, 0, 0.95)
        interval = found.interval
        table = pd.DataFrame({"d": interval.estimate, "low": interval.low, "high": interval.high})
        sizes = [found.n_first, found.n_second]
        return with_power(table, "d", "proportions", sizes, base=found.second).detectable.item()

    assert detectable(20) == pytest.approx(detectable(1), abs=0.06)


def test_what_shared_items_with_few_hits_test_is_never_said_to_be_impossible():
    """The test of shared items is a mid-p, which rejects with fewer than Fisher's."""
    for n_own, n_other in product(range(1, 6), repeat=2):
        own = np.array([1.0] * n_own + [0.0] * 5)
        other = np.array([0.0] * (n_own - 1) + [1.0] * n_other + [0.0] * (6 - n_other))
        p = equal_proportions_p([(own, own, 0 * other, other)])
        table = _groups(n_own, n_own, 0, n_other).assign(p=p)
        if p < 0.05 and table.low.item() > 0:
            assert _judged(table).says.item() == "difference"


@pytest.mark.parametrize(
    ("says", "detectable", "unit", "counted", "expected"),
    [
        (
            "nothing",
            np.nan,
            "points",
            "2 and 31 wrong responses",
            "2 and 31 wrong responses: too few to have shown any difference",
        ),
        ("nothing", np.nan, "points", "", "too few to have shown any difference"),
        ("undecided", 0.183, "points", "", "undecided: a difference of 18 points or more would have shown"),
        ("undecided", 0.91, "r", "", "undecided: a correlation of 0.91 or more would have shown"),
        ("undecided", 0.534, "sd", "", "undecided: a difference of 0.53 sd or more would have shown"),
        ("undecided", np.nan, "points", "", "undecided"),
        ("no difference beyond 0.1", 0.08, "points", "", "no difference beyond 10 points"),
        ("no difference beyond 0.2", 0.16, "sd", "", "no difference beyond 0.2 sd"),
        ("difference", 0.08, "points", "", "difference"),
    ],
)
def test_in_words(says, detectable, unit, counted, expected):
    assert in_words(says, detectable, unit, counted) == expected
