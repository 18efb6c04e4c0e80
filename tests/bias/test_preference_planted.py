"""What the simulated panel's personas are given of preference for themselves and their families is found again.

The estimand is the same difference of the planted probabilities on endlessly many simulated items.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from preferring import study
from scipy import stats

from voirdire.bias import family_preference, preference_tables, self_preference
from voirdire.bias.preference_counts import RATES, VERSIONS
from voirdire.simulated import Persona
from voirdire.simulated.answers import SHARED_ERROR
from voirdire.simulated.draws import Draws, numbered_hashes
from voirdire.simulated.model import accepts, lengths, solves, verdict_probability

# name: family, ability. A judge that can't solve an item goes by looks, and by who wrote it.
PANEL = {"ann": ("x", 0.45), "bob": ("x", 0.5), "cas": ("y", 0.4), "dee": ("y", 0.55), "eve": ("z", 0.5)}
FAMILIES = {name: family for name, (family, _) in PANEL.items()}
WRONG_ANSWERS = 3


def personas(self_preference=0.0, family_preference=0.0):
    effects = {"self_preference": self_preference, "family_preference": family_preference}
    numbers = {"own_noise": 0.6, "strictness": 0.2, "plausibility": 0.1, "look_noise": 0.5, **effects}
    return [
        Persona.from_dict({"name": name, "family": family, "ability": {"quality": ability}, **numbers}, name)
        for name, (family, ability) in PANEL.items()
    ]


@dataclass(frozen=True)
class World:
    """Items and what all models make of them: right and answer by examinee, the draws behind them."""

    models: list[Persona]
    draws: Draws
    right: dict[str, np.ndarray]
    answer: dict[str, np.ndarray]

    @classmethod
    def of(cls, models, n, seed):
        draws = Draws(seed, "quality", numbered_hashes(n))
        right = {model.name: solves(model, draws) for model in models}
        answer = {}
        for model in models:
            tempted = draws.uniform("tempted", model.name) < SHARED_ERROR
            error = np.where(tempted, draws.uniform("tempting error"), draws.uniform("own error", model.name))
            answer[model.name] = np.where(right[model.name], -1, (error * WRONG_ANSWERS).astype(int))
        return cls(models, draws, right, answer)

    def verdicts(self):
        """A table of verdicts on all items."""
        frames = [
            pd.DataFrame(
                {
                    "item_id": np.arange(len(self.right[examinee.name])).astype(str),
                    "truth": self.right[examinee.name],
                    "answer": self.answer[examinee.name].astype(str),
                    "verdict": accepts(judge, self.draws, *self._seen(examinee)),
                }
            ).assign(task="quality", judge=judge.name, examinee=examinee.name, simulated=True)
            for judge in self.models
            for examinee in self.models
        ]
        return pd.concat(frames, ignore_index=True)

    def _seen(self, examinee):
        return examinee.look("quality"), self.right[examinee.name], lengths(examinee, self.draws)

    def probabilities(self):
        """Of a verdict "correct", by judge and examinee."""
        return {
            (judge.name, examinee.name): verdict_probability(judge, self.draws, *self._seen(examinee))
            for judge in self.models
            for examinee in self.models
        }


class Estimands:
    """Differences of the planted rates."""

    def __init__(self, world):
        self.world, self.accepted = world, world.probabilities()

    def difference(self, judge, first, second, others, version, rate):
        right, answer = ([table[name] for name in (first, second)] for table in (self.world.right, self.world.answer))
        wanted = rate == "fnr"
        here = [truth == wanted for truth in right]
        chosen = {
            "harmful": right[0] != right[1],
            "matched": here[0] & here[1],
            "same_answer": here[0] & here[1] & (answer[0] == answer[1]),
        }.get(version, True)
        sign = -1 if wanted else 1
        means = []
        for name, there in zip((first, second), here, strict=True):
            values = sign * self.accepted[judge, name]
            if version == "adjusted":
                values = values - sign * np.mean([self.accepted[other, name] for other in others], axis=0)
            means.append(values[there & chosen].mean())
        return means[0] - means[1]

    def own(self, judge, other, version, rate):
        return self.difference(judge, judge, other, set(PANEL) - {judge, other}, version, rate)

    def family(self, judge, version, rate):
        judges = [name for name in PANEL if name != "eve"] if judge == "all" else [judge]
        return np.mean(
            [
                self.difference(each, near, far, self.neutral(each, far), version, rate)
                for each in judges
                for near in PANEL
                for far in PANEL
                if near != each and FAMILIES[near] == FAMILIES[each] != FAMILIES[far]
            ]
        )

    @staticmethod
    def neutral(judge, far):
        return [name for name in PANEL if FAMILIES[name] not in (FAMILIES[judge], FAMILIES[far])]


def misses(table, estimands, of):
    """How many intervals miss the estimand, and of how many."""
    table = table[(table["task"] == "quality") & table["difference"].notna()]
    values = np.array([of(estimands, row) for row in table.itertuples(index=False)])
    return int(((values < table["low"]) | (values > table["high"])).sum()), len(table)


def most_misses(n):
    """The 99.9 % bound of a binomial."""
    return stats.binom.ppf(0.999, n, 0.05)


def of_family(estimands, row):
    return estimands.family(row.judge, row.version, row.rate)


def of_oneself(estimands, row):
    return estimands.own(row.judge, row.other, row.version, row.rate)


@pytest.fixture(
    scope="module",
    params=[pytest.param((900, 30_000), id="quick"), pytest.param((5000, 10**6), id="slow", marks=pytest.mark.slow)],
)
def sizes(request):
    return request.param


@pytest.mark.parametrize(
    ("effect", "of", "least"), [("family_preference", of_family, 45), ("self_preference", of_oneself, 180)]
)
def test_planted_preference_is_recovered(sizes, effect, of, least):
    n, endless = sizes
    verdicts = World.of(personas(**{effect: 1.0}), n, seed=3).verdicts()
    table = preference_tables(verdicts, families=FAMILIES, resamples=500)[effect]
    outside, rows = misses(table, Estimands(World.of(personas(**{effect: 1.0}), endless, seed=4)), of)
    assert rows >= least
    assert outside <= most_misses(rows)
    # A panel without it has another estimand, which the same intervals miss.
    wrong = table[table["rate"] == "fpr"]
    outside, rows = misses(wrong, Estimands(World.of(personas(), endless, seed=4)), of)
    assert outside > 0.8 * rows


def test_preference_for_oneself_is_not_taken_for_the_familys_nor_the_other_way(sizes):
    n, endless = sizes
    none = Estimands(World.of(personas(), endless, seed=4))
    for planted, found, of in (
        ("self_preference", "family_preference", of_family),
        ("family_preference", "self_preference", of_oneself),
    ):
        verdicts = World.of(personas(**{planted: 1.0}), n, seed=5).verdicts()
        table = preference_tables(verdicts, families=FAMILIES, resamples=500)[found]
        table = table[(table["rate"] == "fpr") & (table["version"] != "adjusted")]
        if found == "self_preference":
            # Against an outsider: a relative would be preferred as well.
            table = table[table["judge"].map(FAMILIES) != table["other"].map(FAMILIES)]
        outside, rows = misses(table, none, of)
        assert rows >= 20
        assert outside <= most_misses(rows)


def rejections(make, n_seeds):
    """The share of p below .05 by cell, of panels in which nothing is planted."""
    tables = [make(study(seed, sizes=(("aime", 30), ("gsm8k", 80))), seed) for seed in range(n_seeds)]
    table = pd.concat(tables).dropna(subset=["p"])
    keys = [name for name in ("task", "judge", "other", "version", "rate") if name in table]
    return table.assign(rejected=table["p"] < 0.05).groupby(keys)["rejected"].agg(["sum", "size"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            lambda frame, seed: family_preference(
                frame, families=dict(zip((f"m{i}" for i in range(6)), "xxxyyz", strict=True)), resamples=10, seed=seed
            ),
            id="family",
        ),
        pytest.param(lambda frame, seed: self_preference(frame, resamples=10, seed=seed), id="self"),
    ],
)
def test_where_nothing_is_planted_at_most_6_percent_are_rejected(make):
    found = rejections(make, n_seeds=200)
    assert {key[-2:] for key in found.index} >= {(version, "fpr") for version in VERSIONS}
    assert {key[-1] for key in found.index} == set(RATES)
    # 99.9 % for all cells together, as if they were independent.
    bound = stats.binom.ppf(1 - 0.001 / len(found), found["size"], 0.06)
    assert (found["sum"] <= bound).all(), found[found["sum"] > bound]
    # And on the whole: cells of one panel go together, so their mean can be as far off as that of the panels alone.
    by_version = found.groupby(["version", "rate"]).sum()
    assert (by_version["sum"] / by_version["size"] <= stats.binom.ppf(0.999, 200, 0.06) / 200).all()
