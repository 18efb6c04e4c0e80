"""Does a judge that is asked the same again say the same?"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from voirdire.bias.contrast import cluster_codes, summed, weighted_sums
from voirdire.bias.rows import clusters_of, prepared
from voirdire.stats.arrays import Array, ratio
from voirdire.stats.bootstrap import percentile, rate_interval

AGREEMENT_COLUMNS = [
    *("condition", "task", "judge", "responses", "n_calls", "n_left_out", "mean_trials"),
    *("agreement", "low", "high", "unanimous", "kappa", "kappa_low", "kappa_high"),
    *("interval", "reason", "n_dropped", "seed", "simulated"),
]
# Which responses a row is about.
_TRUTHS = {"wrong": 0.0, "right": 1.0}
_CALL = ["condition", "task", "judge", "examinee", "item_id", "cluster"]


def trial_agreement(verdicts: pd.DataFrame, resamples: int = 1000, seed: int = 0, level: float = 0.95) -> pd.DataFrame:
    """How often two trials of one call agree: within-judge agreement, per condition, task and judge.

    verdicts: as `voirdire.tables.VERDICTS`; the truth may be missing. A call is one judge's on one response under one
    condition; those with at least two verdicts that are ok count (n_calls), whatever their number, the others that
    were asked for more than once are n_left_out. agreement: the share of pairs of a call's trials that agree, mean over
    calls; unanimous: the share of calls whose trials all agree; kappa: Fleiss' for a varying number of trials,
    (agreement − chance) / (1 − chance), chance the agreement of independent verdicts with the judge's own share of
    "correct". One row for all responses, and for the wrong and the right ones. Shares, 0-1. Nothing was repeated: no
    rows, all columns.

    Intervals: cluster bootstrap; of agreement, "mid-p" with the effective n where agreeing or disagreeing calls
    are fewer than 40. NaN and a reason where no call counts, and for kappa where all verdicts of a judge are equal.
    Source: Fleiss (1971), Psychological Bulletin 76, 378-382.
    """
    frame = prepared(verdicts)
    clusters = clusters_of(frame)
    groups = _repeated(frame).groupby(["condition", "task"], sort=True)
    tables = [_of_task(part, clusters, resamples, seed, level) for _, part in groups]
    if not tables:
        return pd.DataFrame(columns=AGREEMENT_COLUMNS)
    return pd.concat(tables, ignore_index=True).assign(seed=seed)[AGREEMENT_COLUMNS]


def _repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per call that was asked for more than once: its usable trials, and how many of them say correct."""
    judged = frame[frame["status"].notna()]
    asked = judged.groupby(_CALL)["trial"].transform("size")
    judged = judged[asked > 1]
    ok = judged[(judged["status"] == "ok") & judged["verdict"].notna()]
    said = ok.groupby(_CALL)["verdict"].agg(trials="size", accepted="sum")
    # "first" is the first that is known: a row may lack the truth that another trial's has.
    calls = judged.groupby(_CALL).agg(truth=("truth", "first"), simulated=("simulated", "any"))
    return calls.join(said.reindex(calls.index, fill_value=0)).reset_index()


def _members(calls: pd.DataFrame) -> tuple[pd.DataFrame, Array]:
    """The cells, a judge and a kind of response each, and which calls each holds: 1 or 0, (cells, calls)."""
    kinds = {"all": np.ones(len(calls), bool)} | {name: calls["truth"] == value for name, value in _TRUTHS.items()}
    cells = [(judge, kind) for judge in sorted(calls["judge"].unique()) for kind in kinds]
    member = np.array([(calls["judge"] == judge) & kinds[kind] for judge, kind in cells], dtype=float)
    there = np.flatnonzero(member.any(axis=1))
    return pd.DataFrame([cells[at] for at in there], columns=["judge", "responses"]), member[there]


def _of_task(
    calls: pd.DataFrame, clusters: dict[str, npt.NDArray[np.object_]], resamples: int, seed: int, level: float
) -> pd.DataFrame:
    """A row per judge and kind of response, for the calls of one task and condition."""
    task = str(calls["task"].iloc[0])
    cells, member = _members(calls)
    trials, accepted = calls["trials"].to_numpy(float), calls["accepted"].to_numpy(float)
    rejected = trials - accepted
    agree = ratio(accepted * (accepted - 1) + rejected * (rejected - 1), trials * (trials - 1))
    enough = trials > 1
    codes, size = cluster_codes(calls, task, clusters, seed)
    n, hits, share, unanimous, asked = (
        summed(member * np.where(enough, values, 0.0), codes, size)
        for values in (np.ones(len(calls)), agree, ratio(accepted, trials), agree == 1, trials)
    )
    drawn = weighted_sums([n, hits, share], task, resamples, seed)
    agreement = rate_interval(hits, n, ratio(drawn[1], drawn[0]), level)
    kappa = _kappa(n.sum(axis=1), hits.sum(axis=1), share.sum(axis=1))
    kappa_low, kappa_high, _ = percentile(_kappa(*drawn), level)
    in_all = n.sum(axis=1)
    reason = np.where(in_all > 0, "all verdicts are equal", "no call has two verdicts that are ok")
    return cells.assign(
        condition=calls["condition"].iloc[0],
        task=task,
        n_calls=in_all.astype(int),
        n_left_out=(member.sum(axis=1) - in_all).astype(int),
        mean_trials=ratio(asked.sum(axis=1), in_all),
        agreement=agreement.estimate,
        low=agreement.low,
        high=agreement.high,
        unanimous=ratio(unanimous.sum(axis=1), in_all),
        kappa=kappa,
        kappa_low=np.where(np.isnan(kappa), np.nan, kappa_low),
        kappa_high=np.where(np.isnan(kappa), np.nan, kappa_high),
        interval=agreement.method,
        reason=np.where(np.isnan(kappa), reason, ""),
        n_dropped=agreement.n_dropped,
        simulated=[bool(calls.loc[calls["judge"] == judge, "simulated"].any()) for judge in cells["judge"]],
    )


def _kappa(n: Array, agreeing: Array, accepted: Array) -> Array:
    """Fleiss' kappa of sums over calls: how many, their agreement, their share of "correct"; elementwise."""
    share = ratio(accepted, n)
    chance = share**2 + (1 - share) ** 2
    return ratio(ratio(agreeing, n) - chance, np.where(chance > 1 - 1e-12, 0.0, 1 - chance))
