"""Maximum and penalised likelihood of a logit, its cluster-robust spread, and whether there is a maximum at all.

Works on any `voirdire.stats.likelihood.Likelihood`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from voirdire.stats.arrays import Array
from voirdire.stats.likelihood import Evaluation, Likelihood, Mask, half_log_det
from voirdire.stats.significance import sign_flip_p

MAXIMUM = "maximum likelihood"
PENALISED = "penalised (Firth)"
# No step of a penalised fit is longer than this many log-odds, and no log-odds this large is taken for finite untested.
_LONGEST_STEP = 5.0
_LARGE = 10.0
# So many times the drop looked for is as far below the maximum as infinitely far.
_FAR = 10.0
_ROUNDING = 1e-9
_REDUNDANT = 1e-5


@dataclass(frozen=True)
class Maximum:
    """Coefficients (k,) that maximise a likelihood, penalised or not, and the likelihood there."""

    beta: Array
    evaluation: Evaluation
    penalised: bool
    converged: bool

    @property
    def objective(self) -> float:
        return _objective(self.evaluation, self.penalised)


@dataclass(frozen=True)
class Spread:
    """Around a maximum: covariance (k, k), by the model and by clusters, and (k,) the clusters' effective number."""

    by_model: Array
    by_cluster: Array
    effective_clusters: Array


def maximised(
    likelihood: Likelihood,
    start: Array | None = None,
    free: Mask | None = None,
    penalised: bool = False,
    most: int = 100,
    precision: float = 1e-10,
) -> Maximum:
    """Newton's method with halved steps, from `start` (default 0); coefficients that aren't free stay there.

    penalised adds ½ log det information, Jeffreys' prior: Firth (1993), Biometrika 80, 27-38; Heinze & Schemper (2002),
    Statistics in Medicine 21, 2409-2419. It has a maximum where the likelihood alone has none, unless a column is
    redundant. The penalty is of all coefficients, those that aren't free too. Not converged after `most` steps:
    `converged` is false, as it is where columns are redundant. precision: of the last step, in standard errors.
    """
    beta = np.zeros(likelihood.n_terms) if start is None else start.copy()
    open_ = np.ones(len(beta), bool) if free is None else free
    now = likelihood.evaluate(beta)
    for _ in range(most):
        if not np.isfinite(_objective(now, penalised)):
            break
        gradient = now.scores.sum(axis=0)
        if penalised:
            gradient = gradient + likelihood.penalty_gradient(beta)
        step = np.zeros(len(beta))
        step[open_] = _solved(now.information[np.ix_(open_, open_)], gradient[open_])
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max(initial=0.0)), _LONGEST_STEP))
        beta, now, moved = _climbed(likelihood, beta, now, step, penalised)
        if not moved or (np.abs(step) * np.sqrt(np.diag(now.information)) < precision).all():
            small = (np.abs(step) * np.sqrt(np.maximum(np.diag(now.information), 0)) < 1e-6).all()
            return Maximum(beta, now, penalised, bool(small))
    return Maximum(beta, now, penalised, False)


def _climbed(
    likelihood: Likelihood, beta: Array, now: Evaluation, step: Array, penalised: bool
) -> tuple[Array, Evaluation, bool]:
    """The step, halved until it doesn't lead downwards; whether there was any such."""
    before = _objective(now, penalised)
    for halvings in range(30):
        moved = beta + step / 2**halvings
        after = likelihood.evaluate(moved)
        if _objective(after, penalised) >= before - 1e-11 * (1 + abs(before)):
            return moved, after, True
    return beta, now, False


def _objective(evaluation: Evaluation, penalised: bool) -> float:
    if not np.isfinite(evaluation.loglik):
        return -np.inf
    return evaluation.loglik + (half_log_det(evaluation.information) if penalised else 0.0)


def _solved(information: Array, gradient: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(information, gradient), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(information) @ gradient, np.float64)


def finite_maximum(likelihood: Likelihood, start: Array | None = None, most: int = 30) -> Maximum | None:
    """The maximum of the likelihood; None where it has none because rows are separated (Albert & Anderson 1984)."""
    found = maximised(likelihood, start, most=most)
    if found.converged and float(np.abs(likelihood.margins() @ found.beta).max(initial=0.0)) < _LARGE:
        return found
    if separated(likelihood.margins()).any():
        return None
    return found if found.converged else maximised(likelihood, found.beta, most=300)


def penalised_maximum(likelihood: Likelihood) -> Maximum:
    """The maximum of the penalised likelihood, the highest that several starts lead to.

    With a handful of strata a conditional likelihood's penalised form may have two. Starts: 0, and 2, 4 and 6 steps on
    the way of the likelihood alone, which lead towards infinity where rows are separated.
    """
    starts = [np.zeros(likelihood.n_terms), *(maximised(likelihood, most=steps).beta for steps in (2, 4, 6))]
    found = [maximised(likelihood, start, penalised=True, most=300) for start in starts]
    return max(found, key=lambda one: (one.converged, one.objective))


def separated(margins: Array) -> Mask:
    """Which coefficients run off to infinity, (k,): none where the likelihood has a maximum.

    margins: `Likelihood.margins`. A linear programme (Konis 2007, Computational algorithms for detecting complete and
    quasi-complete separation, D.Phil. thesis, Oxford): is there a direction d, with z·d ≥ 0 for all rows z, and > 0 for
    some? No columns may be redundant.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    rows = np.unique(margins[np.abs(margins).max(axis=1, initial=0.0) > 0], axis=0)
    if not len(rows):
        return np.zeros(margins.shape[1], bool)
    scale = np.abs(rows).max(axis=0)
    scaled = rows / np.where(scale > 0, scale, 1.0)
    solution = linprog(-scaled.mean(axis=0), A_ub=-csr_array(scaled), b_ub=np.zeros(len(scaled)), bounds=(-1, 1))
    if solution.status != 0 or -solution.fun < _ROUNDING:
        return np.zeros(margins.shape[1], bool)
    return np.asarray(np.abs(solution.x) > 1e-6)


@dataclass(frozen=True)
class Apart:
    """Columns, (k,) each: that vary at all, whose coefficient is their own, and a largest set without redundancy."""

    varies: Mask
    own: Mask
    largest: Mask


def told_apart(terms: Array, nuisance: Array) -> Apart:
    """Which columns have a coefficient of their own, beside each other and the nuisance columns.

    terms: (rows, k); nuisance: (rows, any), without redundancy, what spans the constant included. A coefficient is a
    column's own where the others don't make the column up. The largest set contains all such columns, and those that
    stand for the rest. Sums of products decide: less than 1e-5 of a column left beside the others is rounding.
    """
    k = terms.shape[1]
    left = terms.T @ terms
    size = np.sqrt(np.diag(left))
    if nuisance.shape[1]:
        shared = nuisance.T @ terms
        left = left - shared.T @ _solved(nuisance.T @ nuisance, shared)
    varies = np.sqrt(np.maximum(np.diag(left), 0)) > _REDUNDANT * size
    scale = np.where(varies, 1 / np.sqrt(np.maximum(np.diag(left), 1e-300)), 0.0)
    correlation = scale[:, None] * left * scale

    def rank(columns: list[int]) -> int:
        within = np.linalg.eigvalsh(correlation[np.ix_(columns, columns)])
        return int((within > _REDUNDANT**2 * max(len(columns), 1)).sum())

    moving = [int(column) for column in np.flatnonzero(varies)]
    kept: list[int] = []
    for column in moving:
        if rank([*kept, column]) > len(kept):
            kept.append(column)
    own, largest = np.zeros(k, bool), np.zeros(k, bool)
    largest[kept] = True
    own[[column for column in moving if rank([other for other in moving if other != column]) < len(kept)]] = True
    return Apart(np.asarray(varies), own, largest)


def spread(likelihood: Likelihood, at: Maximum, terms: Sequence[int]) -> Spread:
    """Covariance around a maximum by the inverse information, and by the sandwich with units summed over clusters.

    The sandwich has the factor G / (G − 1) of G clusters (Liang & Zeger 1986, Biometrika 73, 13-22).
    effective_clusters, for the coefficients `terms`, NaN for others: (Σ v)² / Σ v² of what each cluster tells of the
    coefficient, v. Few clusters that tell nearly everything are worth few (Carter, Schnepel & Steigerwald 2017, Review
    of Economics and Statistics 99, 698-709).

    One cluster has no sandwich, as G − 1 is 0: by_cluster is NaN, effective_clusters 1. Without units, or for a term of
    which no unit tells, effective_clusters is NaN; by_model is the pseudo-inverse, 0 where there is no information.
    """
    bread: Array = np.asarray(np.linalg.pinv(at.evaluation.information), np.float64)
    sums = cluster_sums(likelihood, at.evaluation.scores)
    n_clusters = int(np.unique(likelihood.clusters).size)
    factor = n_clusters / (n_clusters - 1) if n_clusters > 1 else np.nan
    effective = np.full(likelihood.n_terms, np.nan)
    for term in terms:
        told = cluster_sums(likelihood, likelihood.unit_information(at.beta, bread[term])[:, None])
        total = float((told**2).sum())
        effective[term] = float(told.sum()) ** 2 / total if total > 0 else np.nan
    return Spread(bread, factor * bread @ (sums.T @ sums) @ bread, effective)


def cluster_sums(likelihood: Likelihood, values: Array) -> Array:
    """Columns of values (units, any) added up over the units of each cluster: (clusters, any), by ascending number.

    Without units (0, any); one cluster has one row, the columns' sums.
    """
    labels, codes = np.unique(likelihood.clusters, return_inverse=True)
    columns = [np.bincount(codes, column, minlength=len(labels)) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((len(labels), 0))


def score_p(likelihood: Likelihood, at: Maximum, term: int) -> float:
    """Two-sided p that a coefficient is 0: cluster-robust score test, its signs flipped cluster by cluster.

    The other coefficients are fitted with this one at 0; each cluster's score is rid of what the others explain
    (projected by the information), and `sign_flip_p` of the clusters' scores is the p: the normal limit, Σu / √Σu²,
    above 200 clusters, exact flips for few (Kline & Santos 2012, Journal of Econometric Methods 1, 23-41). NaN where
    the other coefficients can't be fitted.
    """
    others = np.arange(likelihood.n_terms) != term
    start = at.beta.copy()
    start[term] = 0.0
    null = maximised(likelihood, start, others, at.penalised)
    if not null.converged:
        return np.nan
    information = null.evaluation.information
    explained = _solved(information[np.ix_(others, others)], information[others, term])
    scores = null.evaluation.scores
    efficient = scores[:, term] - scores[:, others] @ explained
    return sign_flip_p(cluster_sums(likelihood, efficient[:, None])[:, 0])


def profile_bound(likelihood: Likelihood, at: Maximum, term: int, drop: float, side: int) -> float:
    """Where a coefficient's (penalised) profile likelihood has fallen by `drop` below its maximum; ±∞ if nowhere.

    side: −1 for the lower bound, 1 for the upper. Each point of the profile is a maximum over the other coefficients
    (Heinze & Schemper 2002, section 2.3); the root is found by the Illinois variant of false position. Clusters don't
    enter, so one is as good as many: they widen by `drop`. Without units the profile is flat, and the bound ±∞.
    """
    others = np.arange(likelihood.n_terms) != term
    last = at.beta.copy()

    def excess(value: float) -> float:
        nonlocal last
        start = last.copy()
        start[term] = value
        found = maximised(likelihood, start, others, at.penalised, precision=1e-6)
        if not np.isfinite(found.objective):
            return _FAR * drop
        last = found.beta
        return min(at.objective - found.objective, _FAR * drop) - drop

    width = float(np.sqrt(2 * drop * np.linalg.pinv(at.evaluation.information)[term, term]))
    inner, below = float(at.beta[term]), -drop
    outer = inner + side * width
    above = excess(outer)
    for _ in range(12):
        if above >= 0:
            return _false_position(excess, (inner, below), (outer, above), 1e-9 * width)
        inner, below, outer = outer, above, outer + 2 * (outer - inner)
        above = excess(outer)
    return side * np.inf


def _false_position(
    function: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], precision: float
) -> float:
    """A root between two points with their values, of which the first is below 0 and the second isn't."""
    (a, at_a), (b, at_b) = low, high
    point, kept = b, 0
    for _ in range(100):
        before, point = point, (a * at_b - b * at_a) / (at_b - at_a)
        value = function(point)
        if abs(point - before) < precision:
            break
        if value < 0:
            a, at_a = point, value
            at_b /= 2 if kept == 1 else 1
            kept = 1
        else:
            b, at_b = point, value
            at_a /= 2 if kept == -1 else 1
            kept = -1
    return point
