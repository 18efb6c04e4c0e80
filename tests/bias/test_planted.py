"""What is planted in the default configuration's personas is what the tables find: their intervals cover it.

Of many 95 % intervals some miss. How many may is the 99.9 % bound of a binomial, and every bound is shown to be passed
by a panel that lacks the effect.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from planted_panel import LABELS, PANEL_SEED, Planted, panel, personas, planted
from scipy import stats

from voirdire.bias import ablation_identity, ablation_length, leniency, rates_by_examinee, self_preference
from voirdire.simulated import estimand

WITHOUT = {
    "self_preference": {"self_preference": 0.0},
    "leniency": {"polish": 0.0},
    "labels": {"label_effects": {}},
    "length": {"length_effect": 0.0},
}


@dataclass(frozen=True)
class Study:
    """A panel with what is planted in it, and what would be without an effect; tables are made when asked for."""

    sizes: dict[str, int]
    endless: int
    worlds: dict[str, dict[str, Planted]] = field(default_factory=dict)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        return panel(personas(), self.sizes, PANEL_SEED)

    def world(self, without: str = "") -> dict[str, Planted]:
        """By task."""
        if without not in self.worlds:
            models = personas(**WITHOUT.get(without, {}))
            right = self.verdicts.groupby(["task", "examinee"])["truth"].mean()
            self.worlds[without] = {
                task: planted(models, task, self.endless, right[task].astype(float).to_dict()) for task in self.sizes
            }
        return self.worlds[without]

    @cached_property
    def self_preference(self) -> pd.DataFrame:
        return self_preference(self.verdicts, resamples=1000)

    @cached_property
    def identity(self) -> pd.DataFrame:
        return ablation_identity(self.verdicts, resamples=1000)

    @cached_property
    def lengths(self) -> pd.DataFrame:
        return ablation_length(self.verdicts, resamples=1000)

    @cached_property
    def rates(self) -> pd.DataFrame:
        return rates_by_examinee(self.verdicts.query("condition == 'blind'"), resamples=1000)

    @cached_property
    def leniency(self) -> pd.DataFrame:
        return leniency(self.verdicts, resamples=1000)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(({"quality": 700}, 50_000), id="one task"),
        pytest.param(
            (dict.fromkeys(("gsm8k", "mbpp", "aime", "quality"), 2000), 10**6), id="four tasks", marks=pytest.mark.slow
        ),
    ],
)
def study(request):
    sizes, endless = request.param
    return Study(sizes, endless)


def missed(table, truth, names=("low", "high")):
    """Of each row, whether its interval misses what `truth` says of it; rows without an interval are left out."""
    low, high = (table[name].to_numpy(float) for name in names)
    value = np.array([truth(row) for row in table.itertuples(index=False)])
    there = ~np.isnan(low)
    return ((value < low) | (value > high))[there]


def most_misses(n):
    return stats.binom.ppf(0.999, n, 0.05)


def assert_covered(outside, least):
    assert len(outside) >= least
    assert outside.sum() <= most_misses(len(outside))


def assert_not_covered(outside):
    assert outside.sum() > most_misses(len(outside))


def of_tasks(world, task, value):
    """A quantity of one task, or its mean over them."""
    return np.mean([value(part) for part in world.values()]) if task == "all" else value(world[task])


def test_sums_over_the_items_are_the_panels_own_estimands():
    models = {one.name: one for one in personas()}
    sums = planted(list(models.values()), "mbpp", 20_000)
    for judge, examinee in (("rook", "rook"), ("stoat", "larch"), ("juniper", "jackdaw")):
        expected = estimand(models[judge], models[examinee], "mbpp", n=20_000)
        found = [sums.rate(judge, examinee, rate) for rate in ("fpr", "fnr")]
        assert found == pytest.approx([expected.fpr, expected.fnr], abs=1e-12)
    labelled = estimand(models["rook"], models["larch"], "mbpp", n=20_000, label="elite")
    assert sums.rate("rook", "larch", "fnr", "elite") == pytest.approx(labelled.fnr, abs=1e-12)


@pytest.mark.parametrize("rate", ["fpr", "fnr", "bias"])
def test_rates_of_every_pair(study, rate):
    table = study.rates.query("pooling == 'none' and judge != 'all'")
    worlds = [study.world(), study.world("leniency")]
    outside, without = (
        missed(table, lambda row, w=w: w[row.task].rate(row.judge, row.examinee, rate), (f"{rate}_low", f"{rate}_high"))
        for w in worlds
    )
    assert_covered(outside, least=36 * len(study.sizes))
    if rate != "fnr":  # which how errors look has no part in
        assert_not_covered(without)


@pytest.mark.parametrize("version", ["all", "harmful", "matched", "adjusted"])
def test_self_preference(study, version):
    table = study.self_preference.query(f"version == '{version}'")

    def of(world):
        def truth(row):
            return of_tasks(world, row.task, lambda part: part.preference(row.judge, row.other, row.version, row.rate))

        return truth

    for task in ("all", *study.sizes):
        rows = table[table["task"] == task]
        assert_covered(missed(rows, of(study.world())), least=40)
    if version in ("matched", "adjusted"):
        assert_not_covered(missed(table.query("rate == 'fpr'"), of(study.world("self_preference"))))


def test_labels(study):
    table = study.identity.query("judge != 'all'")
    assert set(table["label"]) == set(LABELS)

    def of(world):
        return lambda row: of_tasks(world, row.task, lambda part: part.label_effect(row.judge, row.label, row.rate))

    assert_covered(missed(table, of(study.world())), least=72)
    assert_not_covered(missed(table.query("rate == 'fpr'"), of(study.world("labels"))))


def test_lengths(study):
    table = study.lengths.query("judge != 'all'")

    def of(world):
        return lambda row: of_tasks(world, row.task, lambda part: part.d(row.judge))

    assert_covered(missed(table, of(study.world())), least=12)
    # Only one of the personas looks at the length at all; and does so the less plainly the fewer items there are.
    juniper = table.query("judge == 'juniper'")
    assert not missed(juniper, of(study.world())).all()
    if len(study.sizes) > 1:
        assert_not_covered(missed(juniper, of(study.world("length"))))


def test_leniency_on_matched_items(study):
    table = study.leniency.query("method == 'matched'")

    def of(world):
        def truth(row):
            judges = next(iter(world.values())).models if row.judge == "all" else [row.judge]
            each = [of_tasks(world, row.task, lambda part, j=j: part.matched_leniency(j)) for j in judges]
            return np.mean(each)

        return truth

    assert_covered(missed(table, of(study.world())), least=12)
    assert_not_covered(missed(table, of(study.world("leniency"))))
