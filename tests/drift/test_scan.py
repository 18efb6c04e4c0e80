"""The statistic of the change-point test against its definition, and its permutations against chance's laws."""

import numpy as np
import pytest

from voirdire.drift.scan import LEAST, READINGS, Blocks, Scan, deviations, largest, scan


def made(n=240, n_periods=6, strata=2, judges=4, seed=0):
    rng = np.random.default_rng(seed)
    votes = (rng.random((n, judges)) < 0.7).astype(float)
    votes[rng.random(votes.shape) < 0.1] = np.nan
    return votes, rng.integers(strata, size=n), np.sort(rng.integers(n_periods, size=n))


def test_deviations_are_each_judges_less_the_others_mean():
    votes = made()[0]
    found = deviations(votes)
    assert found.shape == (240, 2, 4)
    for row, said in zip(found, votes, strict=True):
        others = [np.delete(said, judge) for judge in range(4)]
        sides = [np.sign(np.nansum(2 * other - 1)) for other in others]
        agrees = [
            np.nan if np.isnan(vote) or side == 0 else float((2 * vote - 1) == side)
            for vote, side in zip(said, sides, strict=True)
        ]
        for reading, values in enumerate((np.array(agrees), said)):
            for judge in range(4):
                rest = np.delete(values, judge)
                rest = rest[np.isfinite(rest)]
                expected = values[judge] - rest.mean() if len(rest) else np.nan
                np.testing.assert_allclose(row[reading, judge], expected)


def by_definition(deviation, stratum, period, column, now, split):
    """|z| of a change before period `split`, seen in period `now`."""
    excess = variance = 0.0
    sides = np.zeros(2)
    for number in np.unique(stratum):
        values = deviation[stratum == number][:, column]
        when = period[stratum == number]
        spread = np.nanvar(values, ddof=1)
        there = np.isfinite(values) & (when <= now)
        after, before = values[there & (when >= split)], values[there & (when < split)]
        n = len(after) + len(before)
        excess += after.sum() - len(after) * np.concatenate([after, before]).mean()
        variance += spread * len(after) * len(before) / n
        sides += len(before), len(after)
    return abs(excess) / np.sqrt(variance) if sides.min() >= LEAST else 0.0


@pytest.mark.parametrize("clustered", [False, True])
def test_z_is_the_stratified_difference_over_its_permutation_spread(clustered):
    votes, stratum, period = made()
    cluster = np.arange(240) // 3 if clustered else None
    deviation = deviations(votes)
    blocks = Blocks.of(deviation, stratum, period, 6, cluster)
    z, since = largest(*blocks.observed(), blocks.variance)
    flat = deviation.reshape(240, -1)
    for column in range(flat.shape[1]):
        for now in range(1, 6):
            each = [by_definition(flat, stratum, period, column, now, split) for split in range(1, now + 1)]
            assert z[now, column] == pytest.approx(max(each), abs=1e-9)
            if max(each) > 0:
                assert since[now, column] == 1 + int(np.argmax(each))
    assert (z[0] == 0).all()


def test_permutations_keep_every_periods_numbers_and_every_stratums_sums():
    votes, stratum, period = made()
    blocks = Blocks.of(deviations(votes), stratum, period, 6, np.arange(240) // 2)
    sums, counts = blocks.observed()
    parts = list(blocks.permuted(50, np.random.default_rng(0)))
    shuffled, numbers = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    assert shuffled.shape == (50, *sums.shape)
    np.testing.assert_allclose(shuffled.sum(axis=1), np.broadcast_to(sums.sum(axis=0), (50, *sums.shape[1:])))
    np.testing.assert_allclose(numbers.sum(axis=1), np.broadcast_to(counts.sum(axis=0), (50, *counts.shape[1:])))
    assert np.abs(shuffled - sums).max() > 1
    # What a period holds on average is its share of the stratum.
    size = np.array([[(stratum[period == p] == s).sum() for s in (0, 1)] for p in range(6)])
    expected = sums.sum(axis=0) * (size / size.sum(axis=0))[..., None]
    spread = shuffled.std(axis=0).max()
    np.testing.assert_allclose(shuffled.mean(axis=0), expected, atol=5 * spread / np.sqrt(50))


def test_few_permutations_at_a_time_are_the_same_as_all_at_once(monkeypatch):
    votes, stratum, period = made()
    blocks = Blocks.of(deviations(votes), stratum, period, 6)
    at_once = scan(blocks, 20, np.random.default_rng(1)).by_chance
    assert len(at_once) == 20
    monkeypatch.setattr("voirdire.drift.scan._CELLS", 1)
    one_by_one = scan(blocks, 20, np.random.default_rng(1)).by_chance
    assert len(one_by_one) == 20
    assert abs(np.median(at_once) - np.median(one_by_one)) < 1


def test_p_and_threshold_say_the_same():
    rng = np.random.default_rng(0)
    by_chance = rng.random(99)
    for top in (*np.sort(by_chance)[[90, 93, 94, 95, 97]], 2.0):
        found = Scan(np.full((2, len(READINGS), 1), top + 1e-6), np.zeros((2, 2, 1), int), by_chance)
        assert (found.p()[0] <= 0.05) == (top + 1e-6 > found.threshold(0.05))
    assert Scan(found.z, found.since, by_chance[:10]).threshold(0.05) == float("inf")
