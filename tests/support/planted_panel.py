"""A panel of simulated judges and examinees straight from its personas, and what is planted in it.

What is planted is what the tables would say of endlessly many items: the same definitions, of the probabilities of
verdicts instead of verdicts, over 10⁶ items that the panel doesn't have.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from voirdire.simulated.draws import Draws, numbered_hashes
from voirdire.simulated.model import accepts, lengths, solves, verdict_probability
from voirdire.simulated.persona import Persona

CONFIG = Path(__file__).resolve().parents[2] / "config" / "config.yaml"
LABELS = ("elite", "author")
LABELLED = "larch"  # the examinee whose responses the default study judges under labels, too
PANEL_SEED, ENDLESS_SEED = 1, 0
_CHUNK = 100_000


def personas(**changed: Any) -> list[Persona]:
    """The default configuration's, each with these numbers in place of its own."""
    numbers = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["personas"]
    return [Persona.from_dict({**own, **changed, "name": name}, name) for name, own in numbers.items()]


def families() -> dict[str, str]:
    return {persona.name: persona.family for persona in personas()}


def chars(length: np.ndarray) -> np.ndarray:
    """Characters of a response, from standard deviations of log length."""
    return np.exp(np.log(400) + 0.35 * length).astype(int)


def panel(models: Sequence[Persona], sizes: Mapping[str, int], seed: int = PANEL_SEED) -> pd.DataFrame:
    """Verdicts of all on all, blind, and on one examinee under both labels. sizes: items per task."""
    return pd.concat([_of_task(models, task, n, seed) for task, n in sizes.items()], ignore_index=True)


def _of_task(models: Sequence[Persona], task: str, n: int, seed: int) -> pd.DataFrame:
    draws = _Remembered(seed, task, numbered_hashes(n))
    items = [f"{task}-{number}" for number in range(n)]
    parts = []
    for examinee in models:
        right, length = solves(examinee, draws), lengths(examinee, draws)
        for judge in models:
            for label in (None, *LABELS) if examinee.name == LABELLED else (None,):
                said = accepts(judge, draws, examinee.look(task), right, length, label)
                columns = {"item_id": items, "verdict": said, "truth": right, "response_chars": chars(length)}
                names = {"condition": label or "blind", "label": label, "judge": judge.name, "examinee": examinee.name}
                parts.append(pd.DataFrame(columns).assign(**names))
    table = pd.concat(parts, ignore_index=True).astype({"verdict": "boolean", "truth": "boolean"})
    return table.assign(
        task=task, template="default", trial=0, generation_status="ok", status="ok", answer=None, simulated=True
    )


@dataclass(frozen=True)
class _Remembered(Draws):
    """Draws that are made once, though 36 pairs ask for them."""

    known: dict[Any, np.ndarray] = field(default_factory=dict)

    def normal(self, role: str, *names: str | int) -> np.ndarray:
        if (role, names) not in self.known:
            self.known[role, names] = super().normal(role, *names)
        return self.known[role, names]


@dataclass(frozen=True)
class Planted:
    """Sums over endlessly many items of one task, and what the tables say of them. All rates are "fpr" or "fnr"."""

    models: list[str]
    sums: Mapping[Any, np.ndarray]

    def share(self, *key: Any) -> float:
        hits, n = self.sums[key]
        return float(hits / n)

    def rate(self, judge: str, examinee: str, rate: str, label: str | None = None) -> float:
        if rate == "bias":
            return self.rate(judge, examinee, "fpr", label) - self.rate(judge, examinee, "fnr", label)
        return self.share("rate", rate, judge, examinee, label)

    def label_effect(self, judge: str, label: str, rate: str) -> float:
        return self.rate(judge, LABELLED, rate, label) - self.rate(judge, LABELLED, rate)

    def preference(self, judge: str, other: str, version: str, rate: str) -> float:
        if version == "all":
            return self.rate(judge, judge, rate) - self.rate(judge, other, rate)
        return self.share(version, rate, judge, other, "own") - self.share(version, rate, judge, other, "other")

    def matched_leniency(self, judge: str) -> float:
        return self.share("lenient", judge, "better") - self.share("lenient", judge, "worse")

    def d(self, judge: str) -> float:
        """Cohen's d of the lengths of accepted against rejected wrong responses."""
        (n1, s1, q1), (n2, s2, q2) = (self.sums["length", judge, side] for side in (True, False))
        variance = (q1 - s1**2 / n1 + q2 - s2**2 / n2) / (n1 + n2)
        return float((s1 / n1 - s2 / n2) / np.sqrt(variance))

    def wrong(self, examinee: str) -> float:
        return float(self.sums["rate", "fpr", self.models[0], examinee, None][1])


def planted(
    models: Sequence[Persona],
    task: str,
    n: int,
    accuracy: Mapping[str, float] | None = None,
    seed: int = ENDLESS_SEED,
) -> Planted:
    """What is planted in one task. accuracy: of each examinee, for which of two is the better; default its ability."""
    known = {one.name: one.ability_on(task) for one in models} if accuracy is None else accuracy
    sums: dict[Any, np.ndarray] = defaultdict(lambda: np.zeros(2))
    for name in known:
        for side in (True, False):
            sums["length", name, side] = np.zeros(3)
    hashes = numbered_hashes(n)
    for start in range(0, n, _CHUNK):
        draws = _Remembered(seed, task, hashes[start : start + _CHUNK])
        _add(sums, models, draws, known)
    return Planted([one.name for one in models], dict(sums))


def _add(sums: dict[Any, np.ndarray], models: Sequence[Persona], draws: Draws, accuracy: Mapping[str, float]) -> None:
    right = {one.name: solves(one, draws) for one in models}
    length = {one.name: lengths(one, draws) for one in models}

    def accepting(judge: Persona, examinee: Persona, label: str | None = None) -> np.ndarray:
        name = examinee.name
        return verdict_probability(judge, draws, examinee.look(draws.task), right[name], length[name], label)

    chance = {(j.name, e.name): accepting(j, e) for j in models for e in models}
    for judge in models:
        name = judge.name
        for examinee in models:
            _add_rates(sums, (name, examinee.name, None), chance[name, examinee.name], right[examinee.name])
            _add_lengths(sums, name, chance[name, examinee.name], right[examinee.name], chars(length[examinee.name]))
            if examinee.name == LABELLED:
                for label in LABELS:
                    _add_rates(sums, (name, LABELLED, label), accepting(judge, examinee, label), right[LABELLED])
        _add_leniency(sums, name, chance, right, accuracy)
    for judge, other in permutations(accuracy, 2):
        _add_preference(sums, judge, other, chance, right)


def _add_rates(sums: dict[Any, np.ndarray], key: Any, chance: np.ndarray, right: np.ndarray) -> None:
    _put(sums, ("rate", "fpr", *key), chance, ~right)
    _put(sums, ("rate", "fnr", *key), 1 - chance, right)


def _put(sums: dict[Any, np.ndarray], key: Any, values: np.ndarray, where: np.ndarray) -> None:
    sums[key] = sums[key] + (values[where].sum(), where.sum())


def _add_lengths(
    sums: dict[Any, np.ndarray], judge: str, chance: np.ndarray, right: np.ndarray, size: np.ndarray
) -> None:
    size = size[~right] - 400.0
    for side, weight in ((True, chance[~right]), (False, 1 - chance[~right])):
        sums["length", judge, side] += [(weight * size**power).sum() for power in (0, 1, 2)]


def _add_leniency(
    sums: dict[Any, np.ndarray],
    judge: str,
    chance: Mapping[tuple[str, str], np.ndarray],
    right: Mapping[str, np.ndarray],
    accuracy: Mapping[str, float],
) -> None:
    for better, worse in permutations(accuracy, 2):
        if accuracy[better] > accuracy[worse]:
            both = ~right[better] & ~right[worse]
            _put(sums, ("lenient", judge, "better"), chance[judge, better], both)
            _put(sums, ("lenient", judge, "worse"), chance[judge, worse], both)


def _add_preference(
    sums: dict[Any, np.ndarray],
    judge: str,
    other: str,
    chance: Mapping[tuple[str, str], np.ndarray],
    right: Mapping[str, np.ndarray],
) -> None:
    thirds = [name for name in right if name not in (judge, other)]
    for rate, truth in (("fpr", False), ("fnr", True)):

        def hit(who: str, model: str, rate: str = rate) -> np.ndarray:
            return chance[who, model] if rate == "fpr" else 1 - chance[who, model]

        for side, model, rival in (("own", judge, other), ("other", other, judge)):
            here, there = right[model] == truth, right[rival] == truth
            excess = hit(judge, model) - np.mean([hit(third, model) for third in thirds], axis=0)
            _put(sums, ("harmful", rate, judge, other, side), hit(judge, model), here & ~there)
            _put(sums, ("matched", rate, judge, other, side), hit(judge, model), here & there)
            _put(sums, ("adjusted", rate, judge, other, side), excess, here)
