"""Is it leniency or difficulty: are stronger examinees' wrong responses accepted more, equal questions given?"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from voirdire.bias.families import known_families
from voirdire.bias.leniency_design import MODEL_TERMS, Model, Rows, model
from voirdire.bias.leniency_matched import matched
from voirdire.bias.leniency_models import Coefficient, Fitted, estimates, fitted
from voirdire.bias.leniency_noise import Noise, with_noise
from voirdire.bias.leniency_rows import ACCURACY, UNITS, wrong_responses
from voirdire.bias.power import MARGIN_SHARE, with_power

MATCHED = "matched"
METHODS = ("pooled", MATCHED, "conditional", "logistic")
MATCHED_FIT, MATCHED_UNIT = "difference of shares", "share of verdicts"
LENIENCY_COLUMNS = [
    *("task", "method", "judge", "term", "unit", "n", "n_clusters", "n_groups", "estimate", "low", "high", "p"),
    *("leave_out_low", "leave_out_high", "fit", "interval", "reason", "detectable", "says", "seed", "simulated"),
]


def leniency(
    verdicts: pd.DataFrame,
    main: str = "blind",
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """What an examinee's accuracy does for the acceptance of its wrong responses, harder questions set apart or not.

    verdicts: as `voirdire.tables.VERDICTS`; usable verdicts of condition `main` on wrong responses count. families:
    model → family; a model that isn't in it is a family of its own. An examinee's accuracy is that on the task, over
    its graded responses; its own error is in the models' intervals (`with_noise`; p is of no effect, where it matters
    not), but not that the examinees are a few of many.
    For that there is leave_out_low, leave_out_high: the smallest and largest estimate when any one examinee is left
    out; NaN where leaving one of them out leaves no estimate. (Difficulty is still of all models then.)

    One row per task (and "all"), method, judge and term; NaN and a reason where a term has no estimate.

      pooled       the paper's reading: log-odds of accepting on accuracy, with effects of judges (and tasks) alone.
                   Stronger examinees fail on harder questions, so it may be difficulty.
      matched      same judge, same question, both examinees wrong: share accepted of the more accurate one less that of
                   the less accurate one, over all such pairs (n; trials averaged, equal accuracies left out). Per
                   judge, and "all": the mean of the judges'; over all tasks the mean of the tasks'.
      conditional  the main estimate: logistic regression conditional on how many responses a judge accepted of a
                   question, so that all that they share, difficulty first, cancels. Terms: accuracy, log length, own
                   model, own family. Over all tasks one model, so large tasks count for more.
      logistic     accuracy, difficulty (share right among the models that are neither examinee nor judge), log length,
                   own model, own family, with effects of judges (and tasks).

    Units are those of the coefficients: log-odds per 0.1 of a share, per doubling of the length; own_model and
    own_family against responses of other families' models (own_family: of another model of the judge's family).
    n: verdicts (matched: pairs); n_clusters: items, or the verdicts' clusters; n_groups: judge × question, of the rows
    used. The conditional model only uses groups with both verdicts.

    fit: "maximum likelihood"; "penalised (Firth)" where rows are separated, as the maximum is infinite then;
    "difference of shares". Intervals of models: "t (clustered)", the item-clustered sandwich with t of the effective
    number of clusters; penalised "profile (penalised)"; of matched as in `voirdire.bias.contrast`. p: score test, the
    items' signs flipped; matched: the items' differences flipped. detectable, says: see `with_power`.
    """
    families = known_families(families)
    wrong = wrong_responses(verdicts, main, families)
    if not wrong.tasks:
        return pd.DataFrame(columns=LENIENCY_COLUMNS)
    rows, noise = Rows.of(wrong.frame), Noise.of(wrong.graded, wrong.units)
    parts = {task: (wrong.frame["task"] == task).to_numpy() for task in wrong.tasks}
    frames = [_by_models(rows.where(part), task, families, noise, level) for task, part in parts.items()]
    frames.append(_by_models(rows, "all", families, noise, level))
    paired = matched(wrong, resamples, seed, level).assign(
        method=MATCHED, term=ACCURACY, unit=MATCHED_UNIT, fit=MATCHED_FIT
    )
    paired["fit"] = paired["fit"].where(paired["estimate"].notna(), "")
    table = pd.concat([*frames, paired], ignore_index=True)
    simulated = {**wrong.simulated.to_dict(), "all": bool(wrong.simulated.any())}
    table = table.assign(seed=seed, simulated=table["task"].map(simulated).astype(bool))
    place = {name: number for number, name in enumerate([*wrong.tasks, "all"])}
    order = pd.DataFrame({"task": table["task"].map(place), "method": table["method"].map(METHODS.index)})
    table = table.loc[order.sort_values(["task", "method"], kind="stable").index].reset_index(drop=True)
    return _powered(table, level)[LENIENCY_COLUMNS]


def _powered(table: pd.DataFrame, level: float) -> pd.DataFrame:
    """Shares have a margin within which they don't matter, and log-odds have none."""
    pairs = (table["method"] == MATCHED).to_numpy()
    parts = [
        with_power(table[pairs], "estimate", "interval", "n_clusters", p="p", margin=MARGIN_SHARE, level=level),
        with_power(table[~pairs], "estimate", "interval", "n_clusters", p="p", level=level),
    ]
    return pd.concat(parts).sort_index()


def _by_models(rows: Rows, task: str, families: Mapping[str, str] | None, noise: Noise, level: float) -> pd.DataFrame:
    """The rows of all models of some tasks' verdicts."""
    parts = [_by_model(rows, method, families, noise, level) for method in MODEL_TERMS]
    return pd.concat(parts, ignore_index=True).assign(task=task, judge="all")


def _by_model(rows: Rows, method: str, families: Mapping[str, str] | None, noise: Noise, level: float) -> pd.DataFrame:
    built = model(rows, method)
    found = fitted(built, level, lambda around, at: with_noise(around, built, at, rows, method, noise))
    ranges, missing = _left_out(rows, method, found, built.unknown)
    lines = []
    for term in MODEL_TERMS[method]:
        one = found.coefficients[term]
        known = not np.isnan(one.estimate)
        low, high = ranges.get(term, (np.nan, np.nan)) if known else (np.nan, np.nan)
        lost = missing.get(term, []) if known else []
        lines.append(
            {
                "method": method,
                "term": term,
                "unit": UNITS[term],
                "n": built.n,
                "n_clusters": built.n_clusters,
                "n_groups": built.n_groups,
                **{name: getattr(one, name) for name in ("estimate", "low", "high", "p", "fit", "interval")},
                "leave_out_low": low,
                "leave_out_high": high,
                "reason": _reason(built, one, lost, term, families),
            }
        )
    return pd.DataFrame(lines)


def _left_out(
    rows: Rows, method: str, found: Fitted, unknown: tuple[str, ...]
) -> tuple[dict[str, tuple[float, float]], dict[str, list[str]]]:
    """Each term's smallest and largest estimate without any one examinee; and without whom there is none."""
    terms = [term for term, one in found.coefficients.items() if not np.isnan(one.estimate)]
    if not terms:
        return {}, {}
    examinee = rows.numbers["examinee"]
    labels = {int(number): str(rows.labels["examinee"][number]) for number in np.unique(examinee)}
    names = list(labels.values())
    without = {
        name: estimates(model(rows.where(examinee != number), method, unknown), found.place)
        for number, name in labels.items()
    }
    missing = {term: [name for name in names if term not in without[name]] for term in terms}
    values = {term: [without[name][term] for name in names] for term in terms if not missing[term]}
    return {term: (min(some), max(some)) for term, some in values.items()}, missing


def _reason(built: Model, one: Coefficient, lost: list[str], term: str, families: Mapping[str, str] | None) -> str:
    parts = [one.reason]
    if lost:
        parts.append(f"no estimate of it without {' or '.join(lost)}")
    if term == "own_family" and np.isnan(one.estimate) and not families:
        parts = ["no families are given"]
    return "; ".join(filter(None, [*parts, *built.notes]))
