"""What verdicts that people bring must be, before any of them is counted; all faults are told together."""

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.errors import Faults
from voirdire.tables.contracts import STATUSES

NAMES = ("condition", "task", "item_id", "judge", "examinee")
# What rows over all tasks, judges or examinees are called in the tables.
POOLED = "all"
_POOLED_ROLES = ("task", "judge", "examinee")
_KEY = ("condition", "trial", "task", "item_id", "judge", "examinee")
_RESPONSE = ("task", "item_id", "examinee")
# No response is longer, in characters: what says so is a code for an unknown length.
_LONGEST = 1e12
_SHOWN = 5
# Combinations of names are numbered as they come as long as there may be no more: a mask of them is small.
_LARGEST = 2**24

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]


@dataclass
class Checked:
    """The columns of a frame, brought to plain types one by one; what they must not be is collected in `faults`.

    codes: of columns that were read as names or as words, the number of each row's value (−1 missing), and how many
    values there are.
    """

    frame: pd.DataFrame
    faults: Faults = field(default_factory=Faults)
    codes: dict[str, tuple[Codes, int]] = field(default_factory=dict)

    def refuse(self, column: str, wrong: Mask, problem: str, remedy: str, values: bool = True) -> None:
        """Adds a fault where any row is wrong."""
        if not wrong.any():
            return
        at = np.flatnonzero(wrong)
        shown = ", ".join(map(str, at[:_SHOWN])) + (", …" if len(at) > _SHOWN else "")
        found = ""
        if values:
            seen = list(dict.fromkeys(map(_shown, self.frame[column].iloc[at[:1000]])))
            found = f"; found {', '.join(seen[:_SHOWN])}{', …' if len(seen) > _SHOWN else ''}"
        rows = "1 row" if len(at) == 1 else f"{len(at)} rows"
        self.faults.add(f"verdicts: {column}: {problem}{found} in {rows} (counted from 0: {shown}). {remedy}")

    def names(self, column: str) -> "pd.Series[Any]":
        """Names as strings. Whole numbers become strings, 7 and 7.0 both "7"; a missing or empty name is refused."""
        values = self.frame[column]
        codes, uniques = _factorized(values)
        texts = [plain_name(value) for value in uniques]
        known = np.array([text is not None for text in texts] + [True])
        self.refuse(column, ~known[codes], "must be text or whole numbers", "Write them as text before calling this.")
        empty = np.array([text is not None and not text.strip() for text in texts] + [True])
        self.refuse(
            column, empty[codes], "is missing", "Fill it in, or leave these rows out before calling this.", values=False
        )
        if column in _POOLED_ROLES:
            pooled = np.array([text == POOLED for text in texts] + [False])
            remedy = f"Give it another name: rows over all of them are called {POOLED!r}."
            self.refuse(column, pooled[codes], f"none may be called {POOLED!r}", remedy, values=False)
        if all(text is value for text, value in zip(texts, uniques, strict=True)) and _is_plain(values):
            self.codes[column] = codes, len(uniques)
            return values
        places, distinct = pd.factorize(np.array([*texts, None], object))
        self.codes[column] = places[codes].astype(np.int64, copy=False), len(distinct)
        return pd.Series(np.array([*texts, None], object)[codes], index=values.index, dtype="str")

    def clusters(self, tasks: "pd.Series[Any]", items: "pd.Series[Any]") -> "pd.Series[Any]":
        """Clusters as strings; an item whose cluster is missing or empty is one of its own, called as the item is.

        An item with several is refused: its rows would be drawn apart here, and together there.
        """
        codes, uniques = _factorized(self.frame["cluster"])
        texts = [plain_name(value) or str(value) for value in uniques]
        known = np.array([bool(text.strip()) for text in texts] + [False])[codes]
        named = pd.Series(np.array([*texts, None], object)[codes], index=items.index)
        named = named.where(known, items).astype(str)
        places, distinct = pd.factorize(_combined([self.codes["task"], self.codes["item_id"]])[0])
        cluster = pd.factorize(named)[0]
        first = np.zeros(len(distinct), np.int64)
        first[places[::-1]] = cluster[::-1]
        several = np.unique(places[cluster != first[places]])
        if len(several):
            shown = []
            for place in several[:_SHOWN]:
                rows = np.flatnonzero(places == place)
                found = ", ".join(map(repr, dict.fromkeys(named.iloc[rows])))
                shown.append(f"{items.iloc[rows[0]]!r} of task {tasks.iloc[rows[0]]!r} has {found}")
            self.faults.add(
                f"verdicts: cluster: all rows of an item (task, item_id) must be in one cluster; "
                f"{'; '.join(shown)}{'; …' if len(several) > _SHOWN else ''}. Give each item one cluster: "
                "where two clusters share an item, they are one. A missing cluster counts as the item's own."
            )
        return named

    def answers(self) -> npt.NDArray[np.object_]:
        """Answers as text without outer blanks and case, so that equal ones compare equal; None where there is none."""
        codes, uniques = _factorized(self.frame["answer"])
        texts = [(plain_name(value) or str(value)).strip().casefold() or None for value in uniques]
        return np.array([*texts, None], object)[codes]

    def trial(self) -> None:
        codes, uniques = _factorized(self.frame["trial"])
        self.refuse("trial", codes < 0, "is missing", "Number the repetitions of a call from 0.", values=False)
        self.codes["trial"] = codes, len(uniques)

    def binary(self, column: str, what: str, remedy: str) -> Array:
        """1, 0, or NaN where missing."""
        values = self.frame[column]
        if pd.api.types.is_numeric_dtype(values.dtype):  # of booleans too
            numbers = values.to_numpy(np.float64, na_value=np.nan)
            bad = ~(np.isnan(numbers) | (numbers == 0) | (numbers == 1))
        else:
            codes, uniques = _factorized(values)
            numbers = np.array([*map(_bit, uniques), np.nan])[codes]
            bad = np.isinf(numbers)
        self.refuse(column, bad, f"{what} must be true or false, or 1 or 0, or missing", remedy)
        return numbers

    def words(self, column: str, may_miss: bool) -> None:
        values = self.frame[column]
        if isinstance(values.dtype, pd.StringDtype) and values.isin(STATUSES).all():
            return
        codes, uniques = _factorized(values)
        unknown = np.array([value not in STATUSES for value in uniques] + [not may_miss])
        remedy = f"Allowed are {', '.join(STATUSES)}" + (", or missing: not judged." if may_miss else ".")
        self.refuse(column, unknown[codes], "unknown status", remedy)

    def lengths(self, column: str) -> Array:
        """Numbers; negative ones, infinite ones and those above 10¹² are unknown."""
        values = self.frame[column]
        if not pd.api.types.is_numeric_dtype(values.dtype):
            numbers = pd.to_numeric(values.astype(object), errors="coerce")
            bad = (numbers.isna() & values.notna()).to_numpy(bool)
            self.refuse(column, bad, "must be numbers", "Count the characters, or leave it missing.")
            values = numbers
        chars: Array = values.to_numpy(np.float64, na_value=np.nan)
        return np.where((chars >= 0) & (chars <= _LONGEST), chars, np.nan)

    def verdict_there(self, verdict: Array) -> None:
        ok = (self.frame["status"] == "ok").fillna(False).to_numpy(bool)
        remedy = "Set the status to unparsed where no verdict was read, or leave it missing where none was asked for."
        self.refuse("verdict", ok & np.isnan(verdict), "is missing though status is ok", remedy, values=False)

    def one_truth(self, truth: Array) -> None:
        """Refuses a response that is both right and wrong."""
        places, n = _combined([self.codes[column] for column in _RESPONSE])
        right, wrong = (_marked(places[truth == value], n) for value in (1, 0))
        remedy = "Grade each response (task, item_id, examinee) once, and give all its rows that truth."
        both = (right & wrong)[places] & ~np.isnan(truth)
        self.refuse("truth", both, "a response is both right and wrong", remedy, values=False)

    def repeated(self, verdict: Array, truth: Array) -> Mask:
        """Which rows say once more what an earlier row says; those that contradict an earlier row are refused."""
        call, n = _combined([self.codes[column] for column in _KEY])
        if _marked(call, n).sum() == len(call):
            return np.zeros(len(call), bool)
        again = pd.Series(call).duplicated().to_numpy()
        status = self.frame["status"].astype(object).where(self.frame["status"].notna(), "")
        said = pd.DataFrame({"call": call, "verdict": verdict, "truth": truth, "status": status.to_numpy()})
        same = said.duplicated().to_numpy()
        conflicting = said["call"].isin(said.loc[again & ~same, "call"]).to_numpy()
        remedy = "Number repetitions of a call in the column trial, or leave out the rows that are wrong."
        what = f"rows with the same {', '.join(_KEY)} have different verdicts, truths or statuses"
        self.refuse("verdict", conflicting, what, remedy)
        return same


def _is_plain(values: "pd.Series[Any]") -> bool:
    return values.dtype == object or isinstance(values.dtype, pd.StringDtype)


def _marked(places: Codes, n: int) -> Mask:
    mask = np.zeros(n, bool)
    mask[places] = True
    return mask


def _combined(columns: list[tuple[Codes, int]]) -> tuple[Codes, int]:
    """A number for each row, the same for the same combination of codes, and how many numbers there may be."""
    combined, size = np.zeros(len(columns[0][0]), np.int64), 1
    for codes, n in columns:
        combined, size = combined * (n + 1) + codes + 1, size * (n + 1)
        if size > _LARGEST:
            combined, distinct = pd.factorize(combined)
            size = len(distinct)
    return combined, size


def _factorized(values: "pd.Series[Any]") -> tuple[Codes, list[Any]]:
    """The number of each row's value, −1 where missing, and the values. What has no hash is taken by its text."""
    try:
        codes, uniques = pd.factorize(values)
    except TypeError:
        codes, uniques = pd.factorize(values.astype(object).map(_hashable))
    return codes.astype(np.int64, copy=False), np.asarray(uniques, object).tolist()


def _bit(value: Any) -> float:
    """1, 0, or infinity for what is neither."""
    return float(value) if isinstance(value, Real | np.bool_) and value in (0, 1) else np.inf


def _hashable(value: Any) -> Any:
    return value if pd.api.types.is_scalar(value) else (repr(value),)


def plain_name(value: Any) -> str | None:
    """The text of a name: text itself, a whole number written out, and None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_) and float(value).is_integer():
        return str(int(float(value))) if isinstance(value, float | np.floating) else str(value)
    return None


def _shown(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:40]}…"
