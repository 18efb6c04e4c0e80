"""Verdicts on wrong responses, and what may explain that they were accepted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.families import known_families, same_family
from voirdire.bias.rows import clusters_of, of_condition, prepared, responses_of, usable
from voirdire.stats.arrays import Array, ratio

ACCURACY, DIFFICULTY, LENGTH, OWN, FAMILY = "examinee_accuracy", "difficulty", "log_length", "own_model", "own_family"
TERMS = (ACCURACY, DIFFICULTY, LENGTH, OWN, FAMILY)
UNITS = {
    ACCURACY: "log-odds per 0.1 of accuracy",
    DIFFICULTY: "log-odds per 0.1 more of the other models right",
    LENGTH: "log-odds per doubling of length",
    OWN: "log-odds",
    FAMILY: "log-odds",
}
# As sentences call them.
WORDS = {ACCURACY: "accuracy", DIFFICULTY: "difficulty", LENGTH: "length", OWN: "own authorship", FAMILY: "own family"}
STEP = 0.1


@dataclass(frozen=True)
class WrongResponses:
    """frame: one row per usable verdict on a wrong response; columns task, item_id, cluster, judge, examinee, verdict,
    `TERMS` in the units of their coefficients (NaN unknown), and numbers: unit (task × cluster), group (judge × item ×
    trial).

    accuracy: task accuracy, a share, indexed by (task, examinee). graded: each response whose truth is known, once:
    task, item_id, cluster, examinee, truth. units: (task, cluster) by number, those without a wrong response too.
    simulated: whether any verdict of a task is, by task. clusters: of each task, from `clusters_of`. judges, examinees:
    all, sorted, as tasks are; some may have no row.
    """

    frame: pd.DataFrame
    accuracy: "pd.Series[float]"
    graded: pd.DataFrame
    units: "pd.MultiIndex"
    simulated: "pd.Series[bool]"
    clusters: dict[str, npt.NDArray[np.object_]]
    judges: list[str]
    examinees: list[str]

    @property
    def tasks(self) -> list[str]:
        """All tasks of the verdicts, sorted, whether or not they have a wrong response."""
        return [str(task) for task in self.simulated.index]


def wrong_responses(verdicts: pd.DataFrame, main: str, families: Mapping[str, str] | None) -> WrongResponses:
    """What `voirdire.bias.leniency` is made of; arguments are described there."""
    frame = prepared(verdicts)
    rows = of_condition(frame, main)
    simulated = rows.groupby("task")["simulated"].any()
    responses = responses_of(frame)
    graded = responses[responses["truth"].notna()]
    accuracy = graded.groupby(["task", "examinee"])["truth"].mean()
    used = usable(rows)
    used = used[used["truth"] == 0].reset_index(drop=True)
    chosen = used[["task", "item_id", "cluster", "judge", "examinee", "verdict"]]
    own, family = _kinship(chosen, families)
    place = accuracy.index.get_indexer(pd.MultiIndex.from_frame(chosen[["task", "examinee"]]))
    terms = {
        ACCURACY: accuracy.to_numpy(np.float64)[place] / STEP if len(chosen) else np.zeros(0),
        DIFFICULTY: _others_right(chosen, graded) / STEP,
        LENGTH: _log_length(used),
        OWN: own,
        FAMILY: family,
    }
    clusters = clusters_of(frame)
    named = [(task, label) for task, labels in clusters.items() for label in labels]
    units = pd.MultiIndex.from_frame(pd.DataFrame(named, columns=["task", "cluster"], dtype=object))
    numbers = {
        "unit": units.get_indexer(pd.MultiIndex.from_frame(used[["task", "cluster"]])).astype(np.int64),
        # Trials apart: repeats of a verdict are no more rows to choose the accepted ones from.
        "group": used.groupby(["task", "item_id", "judge", "trial"]).ngroup().to_numpy(np.int64),
    }
    models = [sorted(str(name) for name in rows[role].unique()) for role in ("judge", "examinee")]
    known = graded[["task", "item_id", "cluster", "examinee", "truth"]]
    return WrongResponses(chosen.assign(**terms, **numbers), accuracy, known, units, simulated, clusters, *models)


def _others_right(chosen: pd.DataFrame, graded: pd.DataFrame) -> Array:
    """Share right on the item among the models that are neither the row's examinee nor its judge; NaN without any."""
    key = ["task", "item_id"]
    item = graded.groupby(key)["truth"].agg(["sum", "count"])
    seen = item.reindex(pd.MultiIndex.from_frame(chosen[key]))
    judge = graded.set_index([*key, "examinee"])["truth"]
    names = pd.MultiIndex.from_frame(chosen[[*key, "judge"]])
    place = judge.index.get_indexer(names)
    truth = np.where(place >= 0, judge.to_numpy(np.float64)[place], np.nan) if len(judge) else np.zeros(len(chosen))
    apart = ~np.isnan(truth) & (chosen["judge"] != chosen["examinee"]).to_numpy()
    # The examinee's own response is wrong: it adds nothing to the sum, and one to the count.
    right = seen["sum"].to_numpy(np.float64) - np.where(apart, truth, 0.0)
    return ratio(right, seen["count"].to_numpy(np.float64) - 1 - apart)


def _log_length(used: pd.DataFrame) -> Array:
    if "response_chars" not in used.columns:
        return np.full(len(used), np.nan)
    chars = used["response_chars"].astype("Float64").to_numpy(np.float64, na_value=np.nan)
    length: Array = np.log2(np.maximum(chars, 1.0))
    return length


def _kinship(chosen: pd.DataFrame, families: Mapping[str, str] | None) -> tuple[Array, Array]:
    """1 where the judge is the examinee; 1 where it is another model of the examinee's family."""
    family = known_families(families)
    judge, examinee = (chosen[role].astype(object) for role in ("judge", "examinee"))
    own: npt.NDArray[np.bool_] = (judge == examinee).to_numpy(bool)
    kin = [same_family(a, b, family) for a, b in zip(judge.tolist(), examinee.tolist(), strict=True)]
    return own.astype(np.float64), (np.array(kin, bool) & ~own).astype(np.float64)
