"""From the table of verdicts to arrays of votes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from voirdire.errors import UserError
from voirdire.panel.votes import FloatArray
from voirdire.tables.checks import NAMES, Checked

_KEY = ["task", "item_id", "examinee", "trial"]
_NEEDED = ("item_id", "judge", "verdict")
_TRANSLATE = "Translate words and codes into true and false before calling this."


class NotEnoughVerdicts(UserError):  # noqa: N818 - a state of the data, told as a reason rather than a failure
    """Nothing is wrong with verdicts or settings; there are too few verdicts for what was asked."""


@dataclass(frozen=True)
class Ballots:
    """The votes on every response, sorted by task, item, examinee and trial; judges are sorted by name.

    votes: (responses, judges), 1, 0 or NaN, the examinees' votes on their own responses included;
    truth: (responses,), 1, 0 or NaN where unknown; task, item_id, examinee, trial: (responses,);
    cluster: (responses,), numbers from 0, one per task and item (or per task and `cluster` column, if there is one);
    can_vote: (responses, judges), whether the judge is on the panel of that task at all;
    simulated: whether any verdict is a persona's.
    """

    votes: FloatArray
    truth: FloatArray
    task: NDArray[np.object_]
    item_id: NDArray[np.object_]
    examinee: NDArray[np.object_]
    trial: NDArray[np.int64]
    cluster: NDArray[np.int64]
    can_vote: NDArray[np.bool_]
    judges: tuple[str, ...]
    simulated: bool

    @property
    def own(self) -> NDArray[np.bool_]:
        """(responses, judges): where the judge is the examinee itself."""
        return np.asarray(self.examinee[:, None] == np.array(self.judges, dtype=object)[None, :], dtype=np.bool_)

    def without_self(self) -> "Ballots":
        """The same ballots with no vote of an examinee on its own response."""
        own = self.own
        return replace(self, votes=np.where(own, np.nan, self.votes), can_vote=self.can_vote & ~own)

    def quorum(self, quorum: int) -> NDArray[np.int64]:
        """(responses,): the quorum, or the panel's size on that response where that is smaller."""
        panel_size: NDArray[np.int64] = self.can_vote.sum(axis=1)
        return np.minimum(quorum, panel_size)

    def take(self, rows: NDArray[np.bool_]) -> "Ballots":
        """The ballots of some responses."""
        fields = ("votes", "truth", "task", "item_id", "examinee", "trial", "cluster", "can_vote")
        return replace(self, **{name: getattr(self, name)[rows] for name in fields})


def ballots(verdicts: pd.DataFrame, condition: str | None = "blind") -> Ballots:
    """Arrange a table of verdicts (VERDICTS, or its columns item_id, judge, verdict and more) as ballots.

    Only verdicts with status ok are votes; a judged response without any stays, with no vote. Responses that are not ok
    themselves were not judged and are left out. `condition` picks one judge prompt; None takes all rows as one panel.

    Raises UserError, with all faults, where a column is missing, a name is missing or "all", a verdict or truth is not
    true, false or missing, a status is unknown, or a response is both right and wrong; where the condition is none of
    the verdicts' or a judge has two votes on one response and trial. NotEnoughVerdicts where no response was judged.
    """
    frame = _chosen(_plain(verdicts), condition)
    rows = frame.groupby(_KEY, sort=True).ngroup().to_numpy()
    judges, columns = np.unique(frame["judge"].to_numpy(dtype=object), return_inverse=True)
    first = np.unique(rows, return_index=True)[1]
    repeated = pd.MultiIndex.from_arrays([rows, columns]).duplicated()
    if repeated.any():
        row = frame.iloc[int(np.flatnonzero(repeated)[0])]
        raise UserError(
            f"verdicts: {int(repeated.sum())} repeat a judge, response and trial, first {row['judge']} on "
            f"{row['task']} {row['item_id']} by {row['examinee']}; keep one of each, or number them as trials"
        )
    votes = np.full((len(first), len(judges)), np.nan)
    votes[rows, columns] = frame["verdict"].to_numpy(dtype=np.float64, na_value=np.nan)
    truth = pd.Series(frame["truth"].to_numpy(dtype=np.float64, na_value=np.nan)).groupby(rows).first().to_numpy()
    task = frame["task"].to_numpy(dtype=object)
    cluster = frame.groupby(["task", "cluster"], sort=True).ngroup().to_numpy()[first]
    can_vote = pd.crosstab(task, columns).reindex(task[first]).to_numpy() > 0
    return Ballots(
        votes=votes,
        truth=truth,
        task=task[first],
        item_id=frame["item_id"].to_numpy(dtype=object)[first],
        examinee=frame["examinee"].to_numpy(dtype=object)[first],
        trial=frame["trial"].to_numpy(dtype=np.int64)[first],
        cluster=np.unique(cluster, return_inverse=True)[1],
        can_vote=can_vote,
        judges=tuple(judges),
        simulated=bool(frame["simulated"].any()),
    )


def _plain(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with names as text, and verdicts and truths as 1, 0 or NaN."""
    if missing := [name for name in _NEEDED if name not in verdicts]:
        raise UserError(f"verdicts: no column {', '.join(missing)}; at least {', '.join(_NEEDED)} are needed")
    checked = Checked(verdicts.reset_index(drop=True))
    plain: dict[str, Any] = {}
    for name in NAMES:
        if name in verdicts:
            plain[name] = checked.names(name)
        else:
            checked.codes[name] = np.zeros(len(verdicts), np.int64), 1
    plain["verdict"] = checked.binary("verdict", "verdicts", _TRANSLATE)
    if "truth" in verdicts:
        plain["truth"] = checked.binary("truth", "truths", _TRANSLATE)
    for name in ("status", "generation_status"):
        if name in verdicts:
            checked.words(name, may_miss=name == "status")
    checked.faults.raise_if_any()
    if "truth" in plain:
        checked.one_truth(plain["truth"])
        checked.faults.raise_if_any()
    return checked.frame.assign(**plain)


def _chosen(verdicts: pd.DataFrame, condition: str | None) -> pd.DataFrame:
    """The judged rows of one condition, with every column that the arrangement needs."""
    frame = verdicts
    if condition is not None and "condition" in frame and len(frame):
        frame = frame[(frame["condition"] == condition).to_numpy(dtype=bool)]
        if frame.empty:
            there = ", ".join(sorted(verdicts["condition"].unique()))
            raise UserError(f"verdicts: condition '{condition}' has no verdicts; conditions there: {there}")
    if "generation_status" in frame:
        frame = frame[(frame["generation_status"] == "ok").to_numpy(dtype=bool)]
    if frame.empty:
        raise NotEnoughVerdicts("verdicts: no response has been judged; nothing to vote on")
    absent: dict[str, Any] = {"task": "", "examinee": "", "trial": 0, "truth": np.nan, "simulated": False}
    frame = frame.assign(**{name: value for name, value in absent.items() if name not in frame})
    if "status" in frame:
        ok = (frame["status"] == "ok").to_numpy(dtype=bool, na_value=False)
        frame = frame.assign(verdict=frame["verdict"].where(ok))
    if "cluster" not in frame:
        return frame.assign(cluster=frame["item_id"])
    # A response without a cluster stands for its item alone; the prefix keeps it apart from clusters of that name.
    named = frame["cluster"].map(lambda cluster: f"c{cluster}", na_action="ignore")
    return frame.assign(cluster=named.where(frame["cluster"].notna(), "i" + frame["item_id"].astype(str)))
