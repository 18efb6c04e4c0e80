"""Designs of the models of accepting a wrong response: their rows, and which terms can be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.leniency_rows import ACCURACY, DIFFICULTY, FAMILY, LENGTH, OWN, TERMS, WORDS
from voirdire.stats.arrays import Array
from voirdire.stats.conditional import Conditional
from voirdire.stats.likelihood import Codes, Likelihood, Logistic, Mask
from voirdire.stats.logit import Apart, told_apart

POOLED, CONDITIONAL, LOGISTIC = "pooled", "conditional", "logistic"
MODEL_TERMS = {POOLED: (ACCURACY,), CONDITIONAL: (ACCURACY, LENGTH, OWN, FAMILY), LOGISTIC: TERMS}
# With fewer clusters there is no spread between them to be seen.
_FEWEST_CLUSTERS = 3


@dataclass(frozen=True)
class Rows:
    """`WrongResponses.frame` as arrays: terms (rows, 5), accepted (rows,), and numbers (rows,) by column name.

    labels: the judges' and tasks' names, by column and number.
    """

    terms: Array
    accepted: Mask
    numbers: dict[str, Codes]
    labels: dict[str, npt.NDArray[np.object_]]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> "Rows":
        numbers = {name: frame[name].to_numpy(np.int64) for name in ("unit", "group")}
        labels = {}
        for name in ("judge", "task", "examinee"):
            numbers[name], found = pd.factorize(frame[name], sort=True)
            labels[name] = np.asarray(found, dtype=object)
        return cls(frame[list(TERMS)].to_numpy(np.float64), frame["verdict"].to_numpy(np.float64) == 1, numbers, labels)

    def __len__(self) -> int:
        return len(self.accepted)

    def where(self, mask: Mask) -> "Rows":
        numbers = {name: codes[mask] for name, codes in self.numbers.items()}
        return replace(self, terms=self.terms[mask], accepted=self.accepted[mask], numbers=numbers)

    def columns(self, terms: Sequence[str]) -> Array:
        chosen: Array = self.terms[:, [TERMS.index(term) for term in terms]]
        return chosen

    def n_of(self, name: str) -> int:
        return int(np.count_nonzero(np.bincount(self.numbers[name]))) if len(self) else 0


@dataclass(frozen=True)
class Model:
    """A model of some rows. likelihood: of the coefficients `names`, which begin with the terms that can be told apart
    or stand for such as can't; None where there is nothing to fit. own: the terms whose coefficients are their own.
    why: term → why it has none. notes: what was left out, in words. n, n_clusters, n_groups: of the rows that tell.
    unknown: terms that are left out for being unknown in most rows.
    """

    likelihood: Likelihood | None
    names: list[str]
    own: list[str]
    why: dict[str, str]
    notes: list[str]
    n: int
    n_clusters: int
    n_groups: int
    unknown: tuple[str, ...] = ()


def model(rows: Rows, method: str, unknown: Sequence[str] | None = None) -> Model:
    """The model of `method` for verdicts of one task or several.

    Rows of which a term is unknown are left out; a term that is unknown for most rows is. Judges (and tasks) whose
    verdicts are all the same are left out of pooled and logistic, where their own effect would be infinite. unknown:
    the terms to be left out as those of another model of more rows were, so that both have the same.
    """
    terms = list(MODEL_TERMS[method])
    why: dict[str, str] = {}
    notes: list[str] = []
    for term in MODEL_TERMS[method]:
        missing = np.isnan(rows.columns([term])[:, 0])
        mostly = bool(len(rows)) and missing.mean() > 0.5
        if mostly if unknown is None else term in unknown:
            terms.remove(term)
            why[term] = _unknown(term, "all rows" if missing.all() else "most rows")
        elif missing.any():
            rows = rows.where(~missing)
            notes.append(f"{_unknown(term, f'{int(missing.sum())} rows')}: left out")
    gone = tuple(why)
    if method == CONDITIONAL:
        return replace(_conditional(rows, terms, why, notes), unknown=gone)
    rows, constant = _varied(rows)
    if constant:
        notes.append(f"left out as all their verdicts on wrong responses are the same: {', '.join(constant)}")
    return replace(_logistic(rows, terms, why, notes), unknown=gone)


def _unknown(term: str, where: str) -> str:
    return {
        DIFFICULTY: f"no graded response of a third model in {where}",
        LENGTH: f"length of the response unknown in {where}",
    }[term]


def _varied(rows: Rows) -> tuple[Rows, list[str]]:
    """The rows of judges and tasks that have both verdicts, and the names of the others."""
    constant: list[str] = []
    before = -1
    while len(rows) != before:
        before = len(rows)
        for column in ("judge", "task"):
            codes = rows.numbers[column]
            n, hits = np.bincount(codes), np.bincount(codes, rows.accepted)
            same = (n > 0) & ((hits == 0) | (hits == n))
            constant += [str(name) for name in rows.labels[column][np.flatnonzero(same)]]
            rows = rows.where(~same[codes])
    return rows, constant


def _conditional(rows: Rows, terms: list[str], why: dict[str, str], notes: list[str]) -> Model:
    likelihood = Conditional(rows.columns(terms), rows.accepted, rows.numbers["group"], rows.numbers["unit"])
    telling = rows.where(likelihood.kept)
    if not len(telling):
        none = "no judge both accepted and rejected wrong responses to the same question"
        return Model(None, [], [], {**dict.fromkeys(terms, none), **why}, notes, 0, 0, 0)
    group = np.unique(telling.numbers["group"], return_inverse=True)[1]
    size = np.bincount(group)
    x = telling.columns(terms)
    within = np.stack([column - (np.bincount(group, column) / size)[group] for column in x.T], axis=1)
    apart = told_apart(within, np.zeros((len(within), 0)))
    why = {**_why(terms, apart, "within judge and question"), **why}
    if not apart.largest.all():
        likelihood = Conditional(
            x[:, apart.largest], telling.accepted, telling.numbers["group"], telling.numbers["unit"]
        )
    return _model(likelihood, _named(terms, apart.largest), _named(terms, apart.own), why, notes, telling)


def _logistic(rows: Rows, terms: list[str], why: dict[str, str], notes: list[str]) -> Model:
    if not len(rows):
        none = "no judge both accepted and rejected wrong responses"
        return Model(None, [], [], {**dict.fromkeys(terms, none), **why}, notes, 0, 0, 0)
    effects, names = _effects(rows)
    x = rows.columns(terms)
    x = x - x.mean(axis=0)
    apart = told_apart(x, effects)
    why = {**_why(terms, apart, "beside the judges' and tasks' own effects"), **why}
    design = np.column_stack([x[:, apart.largest], effects])
    likelihood = Logistic(design, rows.accepted, rows.numbers["unit"])
    return _model(likelihood, [*_named(terms, apart.largest), *names], _named(terms, apart.own), why, notes, rows)


def _effects(rows: Rows) -> tuple[Array, list[str]]:
    """One column for each judge, and for each task as far as it isn't made up of the judges'; their names."""
    columns, names = [], []
    for column in ("judge", "task"):
        for number, label in enumerate(rows.labels[column]):
            here = rows.numbers[column] == number
            if here.any():
                columns.append(here.astype(np.float64))
                names.append(f"{column} {label}")
    every = np.stack(columns, axis=1)
    kept = told_apart(every, np.zeros((len(every), 0))).largest
    return every[:, kept], _named(names, kept)


def _model(
    likelihood: Likelihood, names: list[str], own: list[str], why: dict[str, str], notes: list[str], rows: Rows
) -> Model:
    n_clusters = rows.n_of("unit")
    if n_clusters < _FEWEST_CLUSTERS:
        few = f"{n_clusters} question{'' if n_clusters == 1 else 's'} with telling verdicts: too few for a model"
        why, own = {**dict.fromkeys(own, few), **why}, []
    return Model(likelihood if own else None, names, own, why, notes, len(rows), n_clusters, rows.n_of("group"))


def _named(terms: Sequence[str], chosen: Mask) -> list[str]:
    return [term for term, there in zip(terms, chosen, strict=True) if there]


def _why(terms: Sequence[str], apart: Apart, where: str) -> dict[str, str]:
    """Why terms without a coefficient of their own have none."""
    tangled = _named(terms, apart.varies & ~apart.own)
    why = {term: f"{WORDS[term]} doesn't vary {where}" for term in _named(terms, ~apart.varies)}
    for term in tangled:
        others = " and ".join(WORDS[other] for other in tangled if other != term)
        why[term] = f"{WORDS[term]} can't be told from {others}"
    return why
