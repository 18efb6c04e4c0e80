"""Each examinee's accuracy, and the whole panel's, from the verdicts of judges that err and a few labels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.errors import UserError
from voirdire.panel import corrected_model, corrected_powered, corrected_rates, corrected_shrunk  # noqa: F401 - registered
from voirdire.panel.corrected_folds import fold_probability
from voirdire.panel.corrected_methods import METHODS
from voirdire.panel.corrected_sample import Corrected, Options, Sample, Target
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots
from voirdire.panel.votes import FloatArray, Tie, tally
from voirdire.stats.bootstrap import task_seed
from voirdire.stats.intervals import square_and_add

COLUMNS = (
    *("task", "examinee", "method", "n_responses", "n_labels", "estimate", "low", "high", "clipped", "recommended"),
    *("truth", "interval", "note", "target", "seed", "simulated"),
)
# From so many labels of a cell on, the votes are let in.
ENOUGH_LABELS = 10
WHOLE, EXAMINEE, FEW = "poststratified", "ppi", "labels"
_BY_PROBABILITY = {"hybrid", "ppi_hybrid"}
_KEY = ("task", "item_id", "examinee", "trial")


def corrected_accuracy(
    verdicts: pd.DataFrame,
    n_labels: int | None = None,
    seed: int = 0,
    condition: str | None = "blind",
    quorum: int = 5,
    tie: Tie = "incorrect",
    include_self: bool = False,
    target: Target = "population",
    methods: Sequence[str] | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """The share of right responses by every method, per task (and "all") and examinee (and "all", the whole panel).

    verdicts: a VERDICTS table; where truth is missing there is no label. A column label_probability says how likely a
    response was to be labelled; without it all were equally likely to be.
    n_labels: for a table whose truths are all known: hide all of them but those of so many responses of each task,
    drawn at random, and give the true share in column truth, which is missing otherwise.
    condition, quorum, tie, include_self: as in `static_majority`, for the panel's own verdict.
    target: "population", the accuracy on all items that might have been asked, or "set", the share among exactly these
    responses, whose interval has no width once all are labelled. methods: some of `METHODS`; default all.

    Returns a row per task, examinee and method. n_responses and n_labels count votes taken, a response in three trials
    thrice. estimate, low, high: NaN where there is none, and note says why; clipped: the estimate was outside [0, 1];
    interval: how it was made. recommended: one method of each task and examinee, none without labels: labels alone with
    fewer than 10 of them, otherwise post-stratification for the whole panel, PPI++ for an examinee. Task "all" is the
    mean over the tasks that have the estimate. No row, but all columns, where no response has been judged.

    Raises UserError where an argument can't be what it should.
    """
    chosen = _methods(methods)
    options = Options(target, level, seed=seed)
    if n_labels is not None and n_labels < 0:
        raise UserError(f"n_labels: {n_labels} is below 0")
    try:
        box = ballots(verdicts, condition)
    except NotEnoughVerdicts:
        return _empty()
    chance = label_chances(verdicts, box) if n_labels is None else None
    box, labels = (box, box.truth) if n_labels is None else hidden(box, n_labels, seed)
    panel = box if include_self else box.without_self()
    verdict = tally(panel.votes).decide(panel.quorum(quorum), tie)
    rows: list[dict[str, object]] = []
    for task in sorted(set(box.task)):
        at = box.task == task
        sample = Sample.of(
            panel.votes[at],
            labels[at],
            box.examinee[at].astype(str),
            box.cluster[at],
            None if chance is None else chance[at],
            verdict[at],
        )
        rows += _task_rows(task, sample, box.truth[at] if n_labels is not None else None, chosen, options)
    if not rows:
        return _empty()
    table = pd.DataFrame(rows)
    table = pd.concat([table, pd.DataFrame(_over_tasks(table))], ignore_index=True)
    return table.assign(target=target, seed=seed, simulated=box.simulated)[list(COLUMNS)]


def hidden(box: Ballots, n_labels: int, seed: int) -> tuple[Ballots, FloatArray]:
    """The ballots of known truth, and the truths of `n_labels` random responses of each task, NaN elsewhere.

    A response's trials are labelled together. What is drawn depends on the seed and on the task's own responses.
    """
    box = box.take(np.isfinite(box.truth))
    labels = np.full(len(box.truth), np.nan)
    for task in sorted(set(box.task)):
        at = np.flatnonzero(box.task == task)
        response = pd.MultiIndex.from_arrays([box.item_id[at], box.examinee[at]]).factorize()[0]
        count = int(response.max()) + 1
        drawn = np.random.default_rng(task_seed(seed, str(task))).permutation(count)[:n_labels]
        seen = at[np.isin(response, drawn)]
        labels[seen] = box.truth[seen]
    return box, labels


def label_chances(verdicts: pd.DataFrame, box: Ballots) -> FloatArray | None:
    """(responses,): the column label_probability by response, NaN where it is missing; None without the column."""
    if "label_probability" not in verdicts:
        return None
    absent: dict[str, Any] = {"task": "", "examinee": "", "trial": 0}
    frame = verdicts.assign(**{name: value for name, value in absent.items() if name not in verdicts})
    known = frame[frame["label_probability"].notna()]
    keys = zip(*(known[name].to_numpy(dtype=object) for name in _KEY), strict=True)
    chances = dict(zip(keys, known["label_probability"].to_numpy(dtype=np.float64), strict=True))
    rows = zip(*(getattr(box, name) for name in _KEY), strict=True)
    return np.array([chances.get(key, np.nan) for key in rows], dtype=np.float64)


def recommended(method: str, whole: bool, n_labels: int) -> bool:
    """Whether this is the method to go by, for a cell with so many labels of its own."""
    if not n_labels:
        return False
    if n_labels < ENOUGH_LABELS:
        return method == FEW
    return method == (WHOLE if whole else EXAMINEE)


def _methods(methods: Sequence[str] | None) -> list[str]:
    unknown = [name for name in methods or () if name not in METHODS]
    if unknown:
        raise UserError(f"methods: '{unknown[0]}' is unknown; use some of {', '.join(METHODS)}")
    return list(METHODS if methods is None else methods)


def _empty() -> pd.DataFrame:
    return pd.DataFrame(columns=list(COLUMNS))


def estimates(sample: Sample, methods: Sequence[str], options: Options) -> dict[str, list[Corrected | None]]:
    """Each method's estimate for each examinee, and for the whole panel last."""
    if _BY_PROBABILITY & set(methods) and sample.probability is None:
        sample = replace(sample, probability=fold_probability(sample))
    return {name: METHODS[name](sample, options) for name in methods}


def _task_rows(
    task: str, sample: Sample, truth: FloatArray | None, methods: Sequence[str], options: Options
) -> list[dict[str, object]]:
    found = estimates(sample, methods, options)
    cells: list[tuple[str, NDArray[np.bool_]]] = [
        *((name, sample.examinee == number) for number, name in enumerate(sample.names)),
        ("all", np.ones(sample.n, dtype=np.bool_)),
    ]
    rows = []
    for number, (examinee, at) in enumerate(cells):
        n_labels = int(sample.known[at].sum())
        for method, by_cell in found.items():
            cell = by_cell[number]
            if cell is None:
                continue
            row = {"task": task, "examinee": examinee, "method": method, "n_responses": int(at.sum())}
            row |= {"n_labels": n_labels, **vars(cell)}
            row["recommended"] = recommended(method, examinee == "all", n_labels)
            row["truth"] = np.nan if truth is None else float(truth[at].mean())
            rows.append(row)
    return rows


def _over_tasks(table: pd.DataFrame) -> list[dict[str, object]]:
    """Each examinee's and method's mean over the tasks that have the estimate."""
    tasks = table["task"].nunique()
    rows: list[dict[str, object]] = []
    for (examinee, method), part in table.groupby(["examinee", "method"], sort=False):
        there = part["estimate"].notna().to_numpy()
        known = part[there]
        row: dict[str, object] = {"task": "all", "examinee": examinee, "method": method}
        row |= {name: int(part[name].sum()) for name in ("n_responses", "n_labels")}
        row |= _mean_of(known) if len(known) else vars(Corrected())
        notes = list(dict.fromkeys(note for note in (known if len(known) else part)["note"] if note))
        if len(known) and len(known) < tasks:
            notes.insert(0, f"mean of {len(known)} of {tasks} tasks")
        row["note"] = "; ".join(notes)
        row["truth"] = float(known["truth"].mean()) if len(known) else np.nan
        # Where tasks differ in what to go by, or in what can be had, the labels are common to all.
        fewest = int(part["n_labels"].min()) if len(part) == tasks else 0
        row["recommended"] = _for_all(str(method), examinee == "all", int(part["n_labels"].sum()), fewest)
        rows.append(row)
    return rows


def _for_all(method: str, whole: bool, n_labels: int, fewest: int) -> bool:
    return recommended(method, whole, n_labels and min(max(fewest, 1), n_labels))


def _mean_of(known: pd.DataFrame) -> dict[str, object]:
    """Means over tasks, independent of each other."""
    estimate, below, above = (known[name].to_numpy(np.float64)[:, None] for name in ("estimate", "low", "high"))
    low, high = square_and_add(estimate, below, above, np.full(len(known), 1 / len(known)))
    return {
        "estimate": float(estimate.mean()),
        "low": float(np.clip(low[0], 0, 1)),
        "high": float(np.clip(high[0], 0, 1)),
        "clipped": bool(known["clipped"].any()),
        "interval": known["interval"].iloc[0] if len(known) == 1 else "square-and-add",
    }
