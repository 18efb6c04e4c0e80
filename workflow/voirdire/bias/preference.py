"""A judge's rates on two models compared, all versions and tasks: what self- and family preference are made of."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from voirdire.bias.contrast import Compared, Contrast, Mask, compare, pool_tasks
from voirdire.bias.preference_counts import PAIRED, PARTS, RATES, VERSIONS, Panel, Triple, counted
from voirdire.stats.arrays import Array
from voirdire.stats.bootstrap import Interval, combined_interval, sample_correlation


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of all triples: cells by version, then rate, then triple; `tasks` ends with the pooled one.

    others: the judges of each triple's baseline; simulated: whether a row of the triple's is, (triples,); answered:
    whether a task's answers are known, (tasks,). Without triples there are no tasks either.
    """

    triples: list[Triple]
    others: list[list[str]]
    contrasts: list[Contrast]
    tasks: list[Compared]
    simulated: Mask
    answered: Mask

    def cells(self) -> pd.DataFrame:
        """version, rate, judge, first, second of each cell."""
        keys = [(version, rate, *triple) for version in VERSIONS for rate in RATES for triple in self.triples]
        return pd.DataFrame(keys, columns=["version", "rate", "judge", "first", "second"])

    def of_cells(self, per_triple: Mask) -> Mask:
        """What is known of each triple, for each cell."""
        return np.tile(per_triple, len(VERSIONS) * len(RATES))

    @property
    def known(self) -> Mask:
        """Whether a task has the cell's difference, (tasks, cells)."""
        return np.stack([~np.isnan(task.interval.estimate) for task in self.tasks[:-1]])

    def in_task(self, number: int) -> "Comparisons":
        """The same of one task alone, in the place of the pooled one too; itself for the number of the pooled one."""
        if number == len(self.contrasts):
            return self
        task = self.tasks[number]
        return replace(
            self,
            contrasts=[self.contrasts[number]],
            tasks=[task, task],
            answered=self.answered[number : number + 1],
        )


def own_triples(panel: Panel) -> tuple[list[Triple], list[list[str]]]:
    """Each judge that judged itself, itself, each other examinee that it judged.

    Baseline: all judges but the two.
    """
    judges, examinees = ({pair[role] for pair in panel.simulated} for role in (0, 1))
    pairs = sorted(
        (judge, other)
        for judge, other in panel.simulated
        if judge != other and judge in examinees and (judge, judge) in panel.simulated
    )
    others = [sorted(judges - set(pair)) for pair in pairs]
    return [(judge, judge, other) for judge, other in pairs], others


def compared(
    panel: Panel, triples: list[Triple], others: list[list[str]], resamples: int, seed: int, level: float
) -> Comparisons:
    """All versions and rates of the triples, per task and pooled."""
    simulated = np.array([panel.simulated[j, m] or panel.simulated[j, o] for j, m, o in triples], bool)
    answered = np.array([task.has_answers for task in panel.tasks], bool)
    if not triples:
        return Comparisons([], [], [], [], simulated, answered)
    size = len(RATES) * len(triples)
    paired = np.repeat(np.isin(PARTS, PAIRED), size)
    contrasts, tasks = [], []
    for verdicts in panel.tasks:
        contrast = counted(verdicts, triples, others)
        tasks.append(_adjusted(compare(contrast, paired, resamples, seed, level), size, level))
        contrasts.append(_adjusted_contrast(contrast, size))
    return Comparisons(triples, others, contrasts, [*tasks, pool_tasks(tasks, level)], simulated, answered)


def _split(values: Array, size: int) -> tuple[Array, Array, Array]:
    """Cells on the last axis: the versions but the adjusted one, and the two parts of that, raw and baseline."""
    plain = size * (len(VERSIONS) - 1)
    return values[..., :plain], values[..., plain : plain + size], values[..., plain + size :]


def _excess(values: Array, size: int) -> Array:
    rest, raw, baseline = _split(values, size)
    return np.concatenate([rest, raw - baseline], axis=-1)


def _adjusted_contrast(contrast: Contrast, size: int) -> Contrast:
    """The last two parts, raw and baseline, become one: what exceeds the baseline."""
    hits1, n1, hits2, n2 = contrast.arrays()
    cells = size * len(VERSIONS)
    return Contrast(contrast.task, _excess(hits1.T, size).T, n1[:cells], _excess(hits2.T, size).T, n2[:cells])


def _adjusted(both: Compared, size: int, level: float) -> Compared:
    fields = Interval.__dataclass_fields__
    parts = zip(*(_split(getattr(both.interval, name), size) for name in fields), strict=True)
    rest, raw, baseline = (Interval(*arrays) for arrays in parts)
    _, raw_samples, baseline_samples = _split(both.samples, size)
    # Both are measured on the same responses, and move together.
    together = np.nan_to_num(sample_correlation(raw_samples, baseline_samples))
    samples = raw_samples - baseline_samples
    adjusted = combined_interval([raw, baseline], [1.0, -1.0], samples, level, together)
    interval = Interval(*(np.concatenate([getattr(rest, name), getattr(adjusted, name)]) for name in fields))
    cells = size * len(VERSIONS)
    return replace(
        both,
        first=_excess(both.first, size),
        second=_excess(both.second, size),
        n_first=both.n_first[:cells],
        n_second=both.n_second[:cells],
        interval=interval,
        samples=_excess(both.samples, size),
    )
