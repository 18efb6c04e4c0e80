"""Is it preference? A judge's log-odds for its own wrong answers, beyond those of every author, judge and question."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.leniency_models import coefficient
from voirdire.bias.leniency_rows import FAMILY, OWN, wrong_responses
from voirdire.bias.power import with_power
from voirdire.stats.arrays import Array
from voirdire.stats.conditional import Conditional
from voirdire.stats.likelihood import Mask
from voirdire.stats.logit import Maximum, finite_maximum, separated, spread, told_apart
from voirdire.stats.significance import holm

MODEL_COLUMNS = [
    *("kind", "judge", "n_own", "n", "n_clusters", "log_odds", "low", "high", "p", "p_holm", "family", "interval"),
    *("reason", "detectable", "says", "simulated"),
]
OWN_MODEL, OWN_FAMILY = "own model", "own family"
KINDS = {OWN_MODEL: OWN, OWN_FAMILY: FAMILY}
# With fewer clusters there is no spread between them to be seen.
_FEWEST_CLUSTERS = 3
_EVERYBODY = "all"
_NOWHERE = "no question on which one judge gave both verdicts to wrong answers, such among them"
Name = tuple[str, str]


@dataclass(frozen=True)
class _Design:
    """x: (rows, names); names: of a kind and a judge, or of an author and a task; the rest (rows,)."""

    x: Array
    names: list[Name]
    accepted: Mask
    group: npt.NDArray[np.int64]
    unit: npt.NDArray[np.int64]

    def rows(self, chosen: Mask) -> "_Design":
        arrays = {name: getattr(self, name)[chosen] for name in ("x", "accepted", "group", "unit")}
        return replace(self, **arrays)

    def columns(self, chosen: Mask) -> "_Design":
        names = [name for name, kept in zip(self.names, chosen, strict=True) if kept]
        return replace(self, x=self.x[:, chosen], names=names)

    def likelihood(self) -> Conditional:
        return Conditional(self.x, self.accepted, self.group, self.unit)

    def n_clusters(self) -> int:
        return len(np.unique(self.unit))


def preference_model(
    verdicts: pd.DataFrame, main: str = "blind", families: Mapping[str, str] | None = None, level: float = 0.95
) -> pd.DataFrame:
    """How much a judge prefers its own, and its relatives', wrong answers to other authors', in log-odds of accepting.

    A logistic regression conditional on how many wrong answers to a question a judge accepted. What the answers to one
    question share before one judge (difficulty, the judge's strictness, whether it solved the question) cancels, and
    every author has an effect of its own on each task (how good its wrong answers look to all judges). What is left is
    whether a judge accepts its own answers, or its relatives', more than both together explain. One model has an effect
    for each judge, another one effect for all (judge "all"), per kind of preference, the other kind in the model too.

    verdicts: as `voirdire.tables.VERDICTS`; usable verdicts of condition `main` on wrong responses, all tasks together.
    families: model → family; a model that it lacks is a family of its own. One row per kind ("own model", "own family")
    and judge; n_own: verdicts on its own (relatives') answers among the n of questions on which a judge gave both
    verdicts, which alone tell something; n_clusters: questions (or clusters) with such. log_odds: 0 is no preference.

    Interval: Student's t of the item-clustered sandwich; p: score test, the items' signs flipped; p_holm: Holm over the
    judges of `family`, one kind; judge "all" is a family of one. detectable, says: `with_power`, in log-odds. A judge
    that accepted (or rejected) all its own answers that could be compared has no finite effect: NaN and a reason, as
    has one whose effect can't be told from the authors'. Without a pair of the kind: no rows of it, all columns.
    """
    wrong = wrong_responses(verdicts, main, families)
    frame = wrong.frame
    rows: list[dict[str, Any]] = []
    for kind, column in KINDS.items():
        judges = [str(judge) for judge in sorted(frame.loc[frame[column] == 1, "judge"].unique())]
        if judges:
            rows += _fitted(frame, kind, judges, level) + _fitted(frame, kind, [_EVERYBODY], level)
    if not rows:
        return pd.DataFrame(columns=MODEL_COLUMNS)
    table = pd.DataFrame(rows)
    table["family"] = table["kind"] + np.where(table["judge"] == _EVERYBODY, " over all judges", "")
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.to_numpy()))
    table = with_power(table, "log_odds", "interval", "n_clusters", p="p_holm", level=level)
    return table.assign(simulated=bool(wrong.simulated.any()))[MODEL_COLUMNS]


def model_row(table: pd.DataFrame, kind: str, judge: str) -> dict[Any, Any] | None:
    """A judge's row of `preference_model`; None where there is none."""
    rows = table[(table["kind"] == kind) & (table["judge"] == judge)].to_dict("records")
    return rows[0] if rows else None


def _fitted(frame: pd.DataFrame, kind: str, judges: list[str], level: float) -> list[dict[str, Any]]:
    """The rows of one model, which has an effect of this kind for each of these judges, or for all together."""
    design, at, why = _settled(_design(frame, kind, judges))
    numbers = [number for number, name in enumerate(design.names) if name[0] == kind and name not in why]
    few = design.n_clusters() < _FEWEST_CLUSTERS
    if at is None or few or not at.converged:
        text = "too few questions on which a judge gave both verdicts" if few else "the fit did not converge"
        why = {**{design.names[number]: text for number in numbers}, **why}
    found = {} if at is None or few or not at.converged else _coefficients(design, at, numbers, level)
    rows = []
    for judge in judges:
        name = (kind, judge)
        n_own = design.x[:, design.names.index(name)].sum() if name in design.names else 0
        row = {"kind": kind, "judge": judge, "n_own": int(n_own), "n": len(design.x), "n_clusters": design.n_clusters()}
        rows.append({**row, **found.get(name, {**_NOTHING, "reason": why.get(name, _NOWHERE)})})
    return rows


_NOTHING = {"log_odds": np.nan, "low": np.nan, "high": np.nan, "p": np.nan, "interval": ""}


def _design(frame: pd.DataFrame, kind: str, judges: list[str]) -> _Design:
    columns, names = [], []
    for each, column in KINDS.items():
        for judge in judges if each == kind else [_EVERYBODY]:
            of_judge = (frame["judge"] == judge).to_numpy() | (judge == _EVERYBODY)
            columns.append(frame[column].to_numpy() * of_judge)
            names.append((each, judge))
    for (task, author), rows in frame.groupby(["task", "examinee"], sort=True):
        columns.append(frame.index.isin(rows.index).astype(np.float64))
        names.append((f"author {author}", str(task)))
    numbers = (frame[name].to_numpy(np.int64) for name in ("group", "unit"))
    return _Design(np.stack(columns, axis=1), names, frame["verdict"].to_numpy(np.float64) == 1, *numbers)


def _settled(design: _Design) -> tuple[_Design, Maximum | None, dict[Name, str]]:
    """The design without what has no finite effect, its maximum, and by name why there is none, or none of its own.

    Rows that an infinite effect explains wholly tell nothing of the others': they go with it, again and again until
    there is a finite maximum; None where nothing is left. A column that others make up goes; authors' before judges',
    which come first.
    """
    why: dict[Name, str] = {}
    while design.names and len(design.x):
        design = design.rows(design.likelihood().kept)
        group = np.unique(design.group, return_inverse=True)[1]
        size = np.maximum(np.bincount(group), 1)
        within = design.x - np.stack([(np.bincount(group, column) / size)[group] for column in design.x.T], axis=1)
        apart = told_apart(within, np.zeros((len(within), 0)))
        for name, varies, own in zip(design.names, apart.varies, apart.own, strict=True):
            if varies and not own:
                why.setdefault(name, "can't be told from the authors' effects")
        if not apart.largest.all():
            design = design.columns(apart.largest)
            continue
        likelihood = design.likelihood()
        at = finite_maximum(likelihood)
        if at is not None:
            return design, at, why
        endless = separated(likelihood.margins())
        for name in (name for name, gone in zip(design.names, endless, strict=True) if gone):
            why[name] = "no finite effect: all such answers that could be compared were accepted, or rejected"
        design = design.rows(~(design.x[:, endless] != 0).any(axis=1)).columns(~endless)
    return design, None, why


def _coefficients(design: _Design, at: Maximum, numbers: list[int], level: float) -> dict[Name, dict[str, Any]]:
    likelihood = design.likelihood()
    around = spread(likelihood, at, numbers)
    found = {}
    for number in numbers:
        one = coefficient(likelihood, at, around, number, level)
        shown = {name: getattr(one, name) for name in ("low", "high", "p", "interval", "reason")}
        found[design.names[number]] = {"log_odds": one.estimate, **shown}
    return found
