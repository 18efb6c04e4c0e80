"""How often the intervals of corrected accuracy hold the true share, on real verdicts of known truth.

"population": the panel's items are the population. A draw takes as many items from it, with replacement and whole (all
responses of a cluster with it), and labels some of the responses drawn; the true share is that of all real responses.
"set": labels are drawn among the real responses themselves, without replacement, and the true share is the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from voirdire.panel.corrected import estimates, recommended
from voirdire.panel.corrected_methods import METHODS, labels_of, stratified_of
from voirdire.panel.corrected_powered import powered_of
from voirdire.panel.corrected_sample import Corrected, Options, Sample
from voirdire.panel.matrix import ballots

PANELS = {"nus_feedback": "nus_feedback.parquet", "bluebird": "bluebird.csv", "rte": "rte.csv"}
SIZES = (50, 100, 200)
# Methods that no label enters.
WITHOUT_LABELS = ("raw", "dawid_skene")
# Of intervals that are drawn: fewer than in use, as there are thousands.
DRAWS = 4000


@dataclass(frozen=True)
class Panel:
    """A sample with all truths as labels."""

    name: str
    sample: Sample

    def truths(self) -> np.ndarray:
        """The true share of each examinee, and of all."""
        sample = self.sample
        cells = [sample.labels[sample.examinee == number].mean() for number in range(sample.n_examinees)]
        return np.array([*cells, sample.labels.mean()])


def read_panel(folder: Path, name: str) -> Panel:
    path = folder / PANELS[name]
    box = ballots(pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)).without_self()
    return Panel(name, Sample.of(box.votes, box.truth, box.examinee.astype(str), box.cluster))


def resampled(panel: Panel, rng: np.random.Generator) -> Sample:
    """As many clusters, drawn with replacement; each draw of a cluster is a cluster of its own."""
    sample = panel.sample
    order = np.argsort(sample.cluster, kind="stable")
    starts = np.searchsorted(sample.cluster[order], np.arange(sample.cluster.max() + 2))
    drawn = rng.integers(len(starts) - 1, size=len(starts) - 1)
    rows = [order[starts[each] : starts[each + 1]] for each in drawn]
    at = np.concatenate(rows)
    return replace(sample.take(at), cluster=np.repeat(np.arange(len(rows)), [len(each) for each in rows]))


def with_labels(sample: Sample, n: int, rng: np.random.Generator, unequal: bool = False) -> Sample:
    """The sample with the labels of n random responses, the others hidden.

    unequal: about n, each drawn by itself, where the panel is split up to five times as often as where it is unanimous.
    """
    if unequal:
        interest = 1 + 8 * np.minimum(sample.share, 1 - sample.share)
        chance = np.minimum(n * interest / interest.sum(), 1)
        seen = rng.random(sample.n) < chance
    else:
        chance = np.full(sample.n, n / sample.n)
        seen = np.isin(np.arange(sample.n), rng.choice(sample.n, n, replace=False))
    return replace(sample, labels=np.where(seen, sample.labels, np.nan), chance=np.where(seen, chance, np.nan))


def measured(
    panel: Panel, target: str, draws: int, seed: int = 0, sizes: Sequence[int] = SIZES, without: Sequence[str] = ()
) -> pd.DataFrame:
    """A row per draw, number of labels, cell and method: the error, and whether the interval holds the truth."""
    sizes = [n for n in sizes if n <= panel.sample.n]
    options, truths, rows = Options(target, draws=DRAWS), panel.truths(), []
    methods = [name for name in METHODS if name not in (*WITHOUT_LABELS, *without)]
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        sample = resampled(panel, rng) if target == "population" else panel.sample
        if target == "population" or not draw:
            free = estimates(sample, WITHOUT_LABELS, options)
        for n in sizes:
            labelled = with_labels(sample, n, rng)
            found = free | estimates(labelled, methods, options)
            rows += list(_rows(labelled, found, truths, n, draw))
    return pd.DataFrame(rows).assign(panel=panel.name, target=target)


WHOLE_PANEL = {
    "labels": labels_of,
    "ppi": lambda sample, options: powered_of(sample, sample.share, options),
    "poststratified": stratified_of,
}


def whole_panel(panel: Panel, target: str, draws: int, seed: int = 1, unequal: bool = False) -> pd.DataFrame:
    """As `measured`, of the whole panel alone by the methods that may be gone by: many draws cost little."""
    options, truth, rows = Options(target, draws=DRAWS), panel.truths()[-1], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        sample = resampled(panel, rng) if target == "population" else panel.sample
        for n in (size for size in SIZES if size <= panel.sample.n):
            labelled = with_labels(sample, n, rng, unequal)
            for method, estimate in WHOLE_PANEL.items():
                cell = estimate(labelled, options)
                held = float(cell.low - 1e-12 <= truth <= cell.high + 1e-12)
                rows.append(
                    {"n_labels": n, "draw": draw, "method": method, "held": held, "width": cell.high - cell.low}
                )
    return pd.DataFrame(rows).assign(panel=panel.name, target=target, unequal=unequal)


def _rows(
    labelled: Sample, found: dict[str, list[Corrected | None]], truths: np.ndarray, n: int, draw: int
) -> Iterator[dict]:
    known = labelled.known
    own = [*np.bincount(labelled.examinee[known], minlength=labelled.n_examinees), known.sum()]
    for method, cells in found.items():
        for number, cell in enumerate(cells):
            whole = number == labelled.n_examinees
            if cell is None or (labelled.n_examinees == 1 and not whole):
                continue
            there = np.isfinite(cell.low)
            yield {
                "n_labels": n,
                "draw": draw,
                "cell": "all" if whole else labelled.names[number],
                "method": method,
                "own": int(own[number]),
                "recommended": recommended(method, whole, int(own[number])),
                "error": cell.estimate - truths[number],
                "held": float(cell.low - 1e-12 <= truths[number] <= cell.high + 1e-12) if there else np.nan,
                "width": cell.high - cell.low,
                "clipped": cell.clipped,
            }
