"""Draws depend on their names and items alone, and have the distribution that they claim."""

import numpy as np
import pytest
from scipy import stats

from voirdire.simulated.draws import Draws, item_hashes, mix, numbered_hashes, stream_key


def test_mix_is_splitmix64():
    # The first outputs of the reference implementation for seed 0 are the mixed multiples of its step.
    step = 0x9E3779B97F4A7C15
    states = np.array([0, step, (2 * step) % 2**64], dtype=np.uint64)
    assert [hex(value) for value in mix(states)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f"]


def test_draws_of_an_item_do_not_depend_on_the_other_items_or_their_order():
    ids = [f"item-{number}" for number in range(50)]
    together = Draws.of_items(3, "gsm8k", ids).normal("solve", "rook")
    backwards = Draws.of_items(3, "gsm8k", ids[::-1]).normal("solve", "rook")
    alone = Draws.of_items(3, "gsm8k", ids[7:8]).normal("solve", "rook")
    assert np.array_equal(together, backwards[::-1])
    assert alone[0] == together[7]


def test_draws_are_the_same_on_every_machine():
    # A change here changes every simulated study that anybody has run.
    assert stream_key(20260912, "gsm8k", "verdict") == 0x61F261504ABDAD98
    assert Draws.of_items(1, "aime", ["aime-01"]).uniform("x")[0] == 0.5066053850769309


@pytest.mark.parametrize(
    "other",
    [
        lambda items: Draws(2, "gsm8k", items).uniform("verdict", "rook", "larch"),
        lambda items: Draws(1, "aime", items).uniform("verdict", "rook", "larch"),
        lambda items: Draws(1, "gsm8k", items).uniform("look", "rook", "larch"),
        lambda items: Draws(1, "gsm8k", items).uniform("verdict", "larch", "rook"),
        lambda items: Draws(1, "gsm8k", items).uniform("verdict", "rooklarch"),
    ],
)
def test_streams_are_unrelated(other):
    items = numbered_hashes(20_000)
    stream = Draws(1, "gsm8k", items).uniform("verdict", "rook", "larch")
    # Standard error of a correlation of 20,000 pairs is 0.007.
    assert abs(np.corrcoef(stream, other(items))[0, 1]) < 0.03


@pytest.mark.parametrize("items", [numbered_hashes(50_000), item_hashes([f"gsm8k-{n:04d}" for n in range(5_000)])])
def test_draws_have_their_distributions(items):
    draws = Draws(11, "gsm8k", items)
    assert stats.kstest(draws.uniform("a"), "uniform").pvalue > 1e-3
    assert stats.kstest(draws.normal("b"), "norm").pvalue > 1e-3


def test_extreme_bits_stay_inside_the_open_interval():
    class Extreme(Draws):
        def bits(self, role, *names):
            return np.array([0, 2**64 - 1], dtype=np.uint64)

    draws = Extreme(0, "gsm8k", numbered_hashes(2))
    assert 0 < draws.uniform("a")[0] < draws.uniform("a")[1] < 1
    assert np.isfinite(draws.normal("a")).all()
