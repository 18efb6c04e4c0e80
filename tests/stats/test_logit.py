"""Logit likelihoods, their maxima and spreads, against enumeration, statsmodels, closed forms and numerical maxima."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.discrete.discrete_model import Logit

from voirdire.stats.conditional import Conditional
from voirdire.stats.likelihood import Likelihood, Logistic, half_log_det
from voirdire.stats.logit import (
    cluster_sums,
    finite_maximum,
    maximised,
    penalised_maximum,
    profile_bound,
    score_p,
    separated,
    spread,
    told_apart,
)


def quasi_separated():
    """79 rows; the 13 with the second column are all accepted, so that its coefficient has no finite maximum."""
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(79), np.arange(79) < 13, rng.gamma(4, 5, 79), rng.normal(1.7, 0.6, 79)])
    accepted = (x[:, 1] > 0) | (rng.random(79) < 1 / (1 + np.exp(2 * x[:, 3] - 3)))
    return Logistic(x, accepted, np.arange(79))


def penalised(likelihood, beta):
    """Firth's objective written out: log-likelihood + half the log determinant of X'WX."""
    predictor = likelihood.x @ beta
    share = 1 / (1 + np.exp(-predictor))
    loglik = np.log(np.where(likelihood.hits > 0, share, 1 - share)).sum()
    return loglik + np.linalg.slogdet(likelihood.x.T @ np.diag(share * (1 - share)) @ likelihood.x)[1] / 2


def strata_data(seed, n=120, n_strata=30, k=3, size=None):
    rng = np.random.default_rng(seed)
    strata = rng.integers(0, n_strata, n) if size is None else np.repeat(np.arange(n_strata), size)
    x = rng.normal(size=(len(strata), k))
    accepted = rng.random(len(strata)) < 1 / (1 + np.exp(-x[:, 0] - rng.normal(size=n_strata)[strata]))
    return x, accepted, strata


def enumerated(x, accepted, strata, beta):
    """The conditional log-likelihood, subset by subset."""
    total = 0.0
    for stratum in np.unique(strata):
        predictor, chosen = x[strata == stratum] @ beta, accepted[strata == stratum]
        subsets = combinations(range(len(chosen)), int(chosen.sum()))
        total += predictor[chosen].sum() - np.log(sum(np.exp(predictor[list(subset)].sum()) for subset in subsets))
    return total


def slopes(function, beta, width=1e-4):
    """Derivatives of a function of beta, by fourth-order differences."""
    columns = []
    for unit in np.eye(len(beta)) * width:
        near, far = (np.asarray(function(beta + k * unit)) - np.asarray(function(beta - k * unit)) for k in (1, 2))
        columns.append((8 * near - far) / (12 * width))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("seed", range(5))
def test_conditional_likelihood_is_that_of_all_subsets(seed):
    x, accepted, strata = strata_data(seed, n_strata=[5, 12, 30, 60, 100][seed], n=[50, 100, 120, 120, 120][seed])
    likelihood = Conditional(x, accepted, strata, strata)
    beta = np.array([0.7, -0.4, 0.2])
    found = likelihood.evaluate(beta)
    assert found.loglik == pytest.approx(enumerated(x, accepted, strata, beta), abs=1e-9)
    derivative = slopes(lambda b: likelihood.evaluate(b).loglik, beta)
    assert found.scores.sum(axis=0) == pytest.approx(derivative, abs=1e-8)
    curvature = -slopes(lambda b: likelihood.evaluate(b).scores.sum(axis=0), beta)
    assert found.information == pytest.approx(curvature, abs=1e-8)


def test_conditional_units_are_the_strata_with_both_verdicts():
    strata = np.array([3, 3, 5, 5, 7, 7, 7, 9])
    accepted = np.array([1, 0, 1, 1, 0, 0, 1, 0], bool)
    likelihood = Conditional(np.arange(8.0)[:, None], accepted, strata, strata * 10)
    assert sorted(likelihood.strata) == [3, 7]
    assert likelihood.kept.tolist() == [True, True, False, False, True, True, True, False]
    assert sorted(likelihood.clusters) == [30, 70]


def test_long_strata_do_not_overflow():
    x, accepted, strata = strata_data(1, n_strata=3, size=400)
    found = Conditional(x, accepted, strata, strata).evaluate(np.array([2.0, -1.0, 0.5]))
    assert np.isfinite(found.loglik)
    assert np.isfinite(found.information).all()


@pytest.mark.parametrize("seed", range(5))
def test_conditional_fit_agrees_with_statsmodels(seed):
    x, accepted, strata = strata_data(seed, n=300, n_strata=70)
    telling = Conditional(x, accepted, strata, strata).kept
    reference = ConditionalLogit(accepted[telling].astype(float), x[telling], groups=strata[telling])
    theirs = reference.fit(method="newton", disp=0)
    likelihood = Conditional(x, accepted, strata, strata)
    ours = finite_maximum(likelihood)
    assert ours.beta == pytest.approx(theirs.params, abs=1e-9)
    # Its standard errors come from numerical differences of its score; finer ones of the same score agree closer.
    errors = np.sqrt(np.diag(np.linalg.inv(-slopes(reference.score, theirs.params))))
    assert theirs.bse == pytest.approx(errors, rel=1e-6)
    assert np.sqrt(np.diag(spread(likelihood, ours, []).by_model)) == pytest.approx(errors, abs=1e-9)


@pytest.mark.parametrize("n_strata", [24, 70])
def test_conditional_sandwich_is_the_one_of_cluster_sums(n_strata):
    x, accepted, strata = strata_data(7, n=240, n_strata=n_strata)
    likelihood = Conditional(x, accepted, strata, strata // 3)
    at = finite_maximum(likelihood)

    def score(stratum):
        here = strata == stratum
        return slopes(lambda b: enumerated(x[here], accepted[here], strata[here], b), at.beta)

    clusters = np.unique(likelihood.clusters)
    sums = np.stack([sum(score(s) for s in np.unique(strata[strata // 3 == g])) for g in clusters])
    bread = np.linalg.inv(at.evaluation.information)
    expected = len(sums) / (len(sums) - 1) * bread @ sums.T @ sums @ bread
    found = spread(likelihood, at, [0])
    assert found.by_cluster == pytest.approx(expected, abs=1e-8)
    told = likelihood.unit_information(at.beta, bread[0])
    assert told.sum() == pytest.approx(bread[0, 0], rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_fit_agrees_with_statsmodels(seed):
    x, accepted, clusters = strata_data(seed, n=300, n_strata=40)
    x = np.column_stack([x, np.ones(len(x))])
    likelihood = Logistic(x, accepted, clusters)
    at = finite_maximum(likelihood)
    theirs = Logit(accepted.astype(float), x).fit(
        disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    n_clusters = len(np.unique(clusters))
    assert at.beta == pytest.approx(theirs.params, abs=1e-9)
    robust = spread(likelihood, at, []).by_cluster * (n_clusters - 1) / n_clusters
    assert robust == pytest.approx(theirs.cov_params(), abs=1e-9)


def test_separated_rows_have_no_maximum_and_the_column_is_found():
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(60), rng.normal(size=60), np.arange(60) < 5])
    accepted = (rng.random(60) < 0.5) | (x[:, 2] > 0)
    likelihood = Logistic(x, accepted, np.arange(60))
    assert finite_maximum(likelihood) is None
    assert separated(likelihood.margins()).tolist() == [False, False, True]
    assert not separated(Logistic(x[5:, :2], accepted[5:], np.arange(55)).margins()).any()


def test_separation_by_a_combination_of_columns_is_found():
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
    accepted = x[:, 1] + 2 * x[:, 2] > 0.3
    assert separated(Logistic(x, accepted, np.arange(40)).margins()).all()
    strata = np.arange(40) // 4
    assert finite_maximum(Conditional(x[:, 1:], accepted, strata, strata)) is None


def test_large_but_finite_coefficients_are_not_taken_for_separation():
    x = np.array([-3.0, -2, -1, 0.01, -0.01, 1, 2, 3])
    accepted = np.array([0, 0, 0, 0, 1, 1, 1, 1], bool)
    likelihood = Logistic(np.column_stack([np.ones(8), x]), accepted, np.arange(8))
    at = finite_maximum(likelihood)
    assert at.converged
    assert at.evaluation.scores.sum(axis=0) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("cells", [(7, 3, 5, 0), (1, 4, 0, 2), (0, 9, 6, 0)])
def test_firth_adds_a_half_to_the_cells_of_a_two_by_two_table(cells):
    exposed, accepted = np.repeat([0.0, 0, 1, 1], cells), np.repeat([False, True, True, False], cells)
    likelihood = Logistic(np.column_stack([np.ones(sum(cells)), exposed]), accepted, np.arange(sum(cells)))
    a, b, c, d = (cell + 0.5 for cell in cells)
    found = maximised(likelihood, penalised=True)
    assert found.beta == pytest.approx([np.log(b / a), np.log(c / d) - np.log(b / a)], abs=1e-9)


def test_firth_and_its_profile_bounds_are_those_of_a_numerical_maximisation():
    likelihood = quasi_separated()
    assert finite_maximum(likelihood) is None
    found = maximised(likelihood, penalised=True)
    scale = np.array([1.0, 1, 0.05, 1])

    def profile(term=None, value=0.0):
        free = np.arange(4) != term
        start = np.where(free, found.beta, value)

        def negative(part):
            beta = start.copy()
            beta[free] = part * scale[free]
            return -penalised(likelihood, beta)

        best = minimize(negative, start[free] / scale[free] + 0.05, method="BFGS", options={"gtol": 1e-9})
        return -best.fun, best.x * scale[free]

    top, beta = profile()
    assert found.beta == pytest.approx(beta, abs=1e-5)
    assert found.objective == pytest.approx(top, abs=1e-9)
    drop = norm.isf(0.025) ** 2 / 2
    for term in (1, 2, 3):
        for side in (-1, 1):
            bound = profile_bound(likelihood, found, term, drop, side)
            assert side * bound > side * found.beta[term]
            assert profile(term, bound)[0] == pytest.approx(top - drop, abs=1e-4)


def numerically_maximised(likelihood):
    def negative(beta):
        found = likelihood.evaluate(beta)
        return -found.loglik - half_log_det(found.information)

    start = np.zeros(likelihood.n_terms)
    rough = minimize(negative, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 9000})
    return minimize(negative, rough.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x


@pytest.mark.parametrize(("seed", "n_strata"), [(0, 8), (1, 12), (2, 8), (3, 20)])
def test_penalised_conditional_fit_is_the_numerical_maximum(seed, n_strata):
    x, _, strata = strata_data(seed, n_strata=n_strata, size=3, k=2)
    likelihood = Conditional(x, x[:, 0] > 0.1, strata, strata)
    assert finite_maximum(likelihood) is None
    found = penalised_maximum(likelihood)
    assert found.converged
    assert found.beta == pytest.approx(numerically_maximised(likelihood), abs=1e-5)


def test_penalty_gradient_is_the_derivative_of_half_the_log_determinant():
    likelihood = quasi_separated()
    beta = np.array([1.0, 0.5, -0.02, -0.7])
    derivative = slopes(lambda b: half_log_det(likelihood.evaluate(b).information), beta)
    assert likelihood.penalty_gradient(beta) == pytest.approx(derivative, abs=1e-8)
    assert Likelihood.penalty_gradient(likelihood, beta) == pytest.approx(derivative, abs=1e-5)


def test_profile_bound_without_penalty_is_where_the_likelihood_has_fallen():
    exposed, accepted = np.repeat([0.0, 0, 1, 1], (8, 4, 9, 5)), np.repeat([False, True, True, False], (8, 4, 9, 5))
    likelihood = Logistic(np.column_stack([np.ones(26), exposed]), accepted, np.arange(26))
    at = finite_maximum(likelihood)
    for side in (-1, 1):
        bound = profile_bound(likelihood, at, 1, 1.92, side)
        restricted = minimize(lambda a, b=bound: -likelihood.evaluate(np.array([a[0], b])).loglik, [0.0], tol=1e-10)
        assert at.evaluation.loglik + restricted.fun == pytest.approx(1.92, abs=1e-3)
        assert side * bound > side * at.beta[1]


def test_equal_clusters_count_whole_and_a_dominant_one_counts_alone():
    x, accepted = strata_data(3, n_strata=1, size=4, k=1)[0], np.array([True, False, True, False])
    many = Conditional(np.tile(x, (30, 1)), np.tile(accepted, 30), np.repeat(np.arange(30), 4), np.arange(120))
    at = maximised(many, penalised=True)
    many.clusters = np.arange(30)
    assert spread(many, at, [0]).effective_clusters[0] == pytest.approx(30)
    many.clusters = np.r_[np.zeros(28, int), 1, 2]
    assert spread(many, at, [0]).effective_clusters[0] == pytest.approx(30**2 / (28**2 + 2))


def test_score_test_of_many_clusters_is_the_robust_one():
    x, accepted, clusters = strata_data(4, n=2000, n_strata=400, k=2)
    x = np.column_stack([x, np.ones(len(x))])
    likelihood = Logistic(x, accepted, clusters)
    null = Logit(accepted.astype(float), x[:, [0, 2]]).fit(disp=0, tol=1e-12)
    residual, weight = accepted - null.predict(), null.predict() * (1 - null.predict())
    design, weighted = x[:, [0, 2]], (x[:, [0, 2]].T * weight).T
    rest = x[:, 1] - design @ np.linalg.solve(design.T @ weighted, weighted.T @ x[:, 1])
    units = np.bincount(clusters, rest * residual)
    expected = 2 * norm.sf(abs(units.sum()) / np.sqrt((units**2).sum()))
    assert score_p(likelihood, finite_maximum(likelihood), 1) == pytest.approx(expected, rel=1e-6)


def test_score_test_of_few_clusters_flips_their_signs():
    x = np.tile([1.0, 0.0], 5)[:, None]
    accepted = np.tile([True, False], 5)
    likelihood = Conditional(x, accepted, np.repeat(np.arange(5), 2), np.repeat(np.arange(5), 2))
    assert score_p(likelihood, maximised(likelihood, penalised=True), 0) == pytest.approx(2 / 2**5)


def test_columns_are_told_apart():
    rng = np.random.default_rng(0)
    a, b, one = rng.normal(size=50), rng.normal(size=50), np.ones((50, 1))
    apart = told_apart(np.column_stack([a, b, 2 * a + 3, np.full(50, 4.0)]), one)
    assert apart.varies.tolist() == [True, True, True, False]
    assert apart.own.tolist() == [False, True, False, False]
    assert apart.largest.tolist() == [True, True, False, False]
    assert told_apart(np.zeros((0, 2)), np.zeros((0, 0))).varies.tolist() == [False, False]


def test_cluster_sums_add_up_units():
    likelihood = Logistic(np.ones((4, 1)), np.array([True, False, True, True]), np.array([5, 2, 5, 2]))
    assert cluster_sums(likelihood, np.array([[1.0], [2], [3], [4]])).tolist() == [[6.0], [4.0]]


def test_one_cluster_has_no_sandwich_and_no_unit_tells_nothing():
    x, accepted = np.ones((4, 1)), np.array([True, False, True, True])
    one, four = Logistic(x, accepted, np.zeros(4, int)), Logistic(x, accepted, np.arange(4))
    around = spread(one, maximised(one), [0])
    assert (np.isnan(around.by_cluster).all(), around.effective_clusters[0]) == (True, 1.0)
    assert around.by_model[0, 0] == pytest.approx(4 / 3, abs=1e-9)
    assert profile_bound(one, maximised(one), 0, 1.92, 1) == profile_bound(four, maximised(four), 0, 1.92, 1)

    none = Logistic(x[:0], accepted[:0], np.zeros(0, int))
    assert cluster_sums(none, np.zeros((0, 2))).shape == (0, 2)
    assert np.isnan(spread(none, maximised(none), [0]).effective_clusters[0])
    assert profile_bound(none, maximised(none), 0, 1.92, -1) == -np.inf
