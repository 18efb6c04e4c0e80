"""Counts of patterns over batches and streams, beside plain counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voirdire.panel import Forgetting, pattern_counts
from voirdire.panel.pattern_counts import PatternCounts

KINDS = 3
any_votes = arrays(float, (4, 2, 5, 3), elements=st.sampled_from([0.0, 1.0, np.nan]))
any_kinds = arrays(int, (4, 2, 5), elements=st.integers(-1, KINDS - 1))


def counted(seen, stream):
    """Of one stream: how often each pattern was counted, by kind."""
    votes, counts = seen.table()
    votes = votes if votes.ndim == 2 else votes[stream]
    found = Counter()
    for kind in range(KINDS):
        for row, count in zip(votes, counts[kind, stream], strict=True):
            found[kind, str(row)] += count
    return +found


@given(any_votes, any_kinds, st.sampled_from([0, 10**9]))
def test_counts_are_those_of_plain_counting(votes, kinds, at_most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pattern_counts, "_SHARED_AT_MOST", at_most)
        seen = PatternCounts(3, batch=(2,), n_kinds=KINDS)
        for batch, kind in zip(votes, kinds, strict=True):
            seen.add(batch, kind)
        for stream in range(2):
            rows = zip(votes[:, stream].reshape(-1, 3), kinds[:, stream].ravel(), strict=True)
            assert counted(seen, stream) == Counter((int(kind), str(row)) for row, kind in rows if kind >= 0)


@given(any_votes, any_kinds, st.sampled_from([None, Forgetting(window=2), Forgetting(half_life=1)]))
def test_moved_is_as_if_known_at_once(votes, kinds, forgetting):
    at_once, moved, moved_late = (PatternCounts(3, (2,), KINDS, forgetting) for _ in range(3))
    known = np.maximum(kinds, 0)
    for batch, kind in zip(votes, known, strict=True):
        at_once.add(batch, kind)
        moved.add(batch)
        moved.move(batch, 0, np.where(kind == 0, -1, kind))
        moved_late.add(batch)
    for age, (batch, kind) in enumerate(zip(votes[::-1], known[::-1], strict=True)):
        moved_late.move(batch, 0, np.where(kind == 0, -1, kind), age)
    for stream in range(2):
        assert counted(moved, stream) == counted(at_once, stream) == counted(moved_late, stream)


def test_a_table_does_not_depend_on_the_order_of_batches():
    votes = np.random.default_rng(1).integers(0, 2, (60, 4)).astype(float)
    tables = []
    for rows in (np.arange(60), np.arange(60)[::-1]):
        seen = PatternCounts(4)
        for part in np.array_split(rows, 7):
            seen.add(votes[part])
        tables.append(seen.table())
    for one, other in zip(*tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_count_as_so_many_responses_and_no_count_falls_below_none():
    seen = PatternCounts(1, n_kinds=2)
    seen.add([[1], [1], [0]], weight=[0.5, 2, 1])
    seen.move([[0], [0]], 0, 1)
    seen.amend([[0], [0], [1]], [1, 1, -1], weight=2)
    votes, counts = seen.table()
    np.testing.assert_array_equal(votes, [[0], [1]])
    np.testing.assert_array_equal(counts, [[0, 2.5], [6, 0]])


def test_many_streams_of_many_judges_take_no_more_than_their_responses():
    rng = np.random.default_rng(2)
    seen = PatternCounts(14, batch=(200,), n_kinds=KINDS)
    for _ in range(3):
        seen.add(rng.integers(0, 2, (200, 40, 14)).astype(float))
    votes, counts = seen.table()
    # Nearly every response is a pattern of its own: a table of them all would be 8,000 patterns for every stream.
    assert votes.shape == (200, 120, 14)
    assert counts.shape == (KINDS, 200, 120)
    assert counts.sum() == 200 * 120


def test_more_judges_than_digits_fit_into_a_number():
    votes = np.random.default_rng(3).integers(0, 2, (50, 90)).astype(float)
    seen = PatternCounts(90)
    seen.add(votes)
    seen.add(votes[:20])
    table, counts = seen.table()
    assert len(table) == 50
    assert sorted(counts[0]) == [1.0] * 30 + [2.0] * 20


def test_nothing_seen_is_an_empty_table():
    for batch in ((), (2, 3), (0,)):
        votes, counts = PatternCounts(4, batch, 2).table()
        assert votes.shape[-2:] == (0, 4)
        assert counts.shape == (2, *batch, 0)
