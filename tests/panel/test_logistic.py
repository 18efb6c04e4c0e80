"""Small Bayesian logistic regressions beside scipy's optimiser, statsmodels, and integrals."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from voirdire.panel.logistic import Priors, modes


def data(n_panels=3, rows=40, terms=4, seed=0):
    rng = np.random.default_rng(seed)
    x = np.concatenate([np.ones((n_panels, rows, 1)), rng.normal(size=(n_panels, rows, terms - 1))], axis=-1)
    n = rng.integers(0, 4, (n_panels, rows)).astype(float)
    right = rng.binomial(n.astype(int), expit(x @ rng.normal(size=terms)))
    return x, right.astype(float), n - right


def reference(x, right, wrong, mean, sd):
    """The maximum by scipy, over the coefficients that are free."""
    free = sd > 0

    def minus(beta):
        full = np.where(free, 0.0, mean)
        full[free] = beta
        fitted = right @ log_expit(x @ full) + wrong @ log_expit(-(x @ full))
        return -fitted + (((beta - mean[free]) / sd[free]) ** 2).sum() / 2

    found = minimize(minus, mean[free], method="BFGS", options={"gtol": 1e-9})
    full = mean.copy()
    full[free] = found.x
    return full, -found.fun


def test_each_maximum_is_the_one_that_scipy_finds():
    x, right, wrong = data()
    priors = Priors(
        mean=np.array([[0.0, 2.0, 0.0, 0.5], [0.3, 0.0, 1.5, 0.0], [0.0, 1.0, 1.0, 0.0]]),
        sd=np.array([[0.0, 1.0, 0.0, 2.0], [0.5, 0.2, 1.0, 0.7], [3.0, 3.0, 3.0, 0.0]]),
    )
    found = modes(x, right, wrong, priors)
    for panel in range(3):
        for model in range(3):
            mean, sd = priors.mean[model], priors.sd[model]
            beta, objective = reference(x[panel], right[panel], wrong[panel], mean, sd)
            np.testing.assert_allclose(found.coefficients[panel, model], beta, atol=1e-6)
            # Laplace, written out with the information of the free coefficients in their own units.
            free = sd > 0
            share = expit(x[panel] @ beta)
            told = ((right + wrong)[panel] * share * (1 - share))[:, None] * x[panel][:, free]
            information = x[panel][:, free].T @ told + np.diag(1 / sd[free] ** 2)
            evidence = objective - np.log(sd[free]).sum() - np.linalg.slogdet(information)[1] / 2
            assert found.log_evidence[panel, model] == pytest.approx(evidence, abs=1e-6)


def test_a_wide_prior_leads_to_the_maximum_likelihood_of_statsmodels():
    x, right, wrong = data(1, 200)
    found = modes(x, right, wrong, Priors(np.zeros((1, 4)), np.full((1, 4), 1e4)))
    there = right[0] + wrong[0] > 0
    model = sm.GLM(np.column_stack([right[0], wrong[0]])[there], x[0][there], family=sm.families.Binomial()).fit()
    np.testing.assert_allclose(found.coefficients[0, 0], model.params, atol=1e-6)


@pytest.mark.parametrize(("right", "wrong"), [(3.0, 1.0), (20.0, 2.0), (0.0, 0.0), (0.0, 5.0)])
def test_the_evidence_of_one_coefficient_is_its_integral(right, wrong):
    x = np.array([[1.0], [-2.0], [0.5]])
    counts = np.array([right, wrong, 1.0]), np.array([wrong, right, 1.0])
    found = modes(x, *counts, Priors(np.array([[1.0]]), np.array([[0.8]])))

    def density(beta):
        fitted = counts[0] @ log_expit(x[:, 0] * beta) + counts[1] @ log_expit(-x[:, 0] * beta)
        return np.exp(fitted - ((beta - 1) / 0.8) ** 2 / 2) / (0.8 * np.sqrt(2 * np.pi))

    assert found.log_evidence[0] == pytest.approx(np.log(quad(density, -10, 10, points=[0, 1])[0]), abs=0.02)


def test_many_terms_are_fitted_like_few():
    """Beyond some number of terms the information is added up another way."""
    x, right, wrong = data(2, 30, 40)
    mean, sd = np.zeros((2, 40)), np.full((2, 40), 0.7)
    sd[1, 10:] = 0.0
    found = modes(x, right, wrong, Priors(mean, sd))
    few = modes(x[..., :10], right, wrong, Priors(mean[1:, :10], sd[1:, :10]))
    np.testing.assert_allclose(found.coefficients[:, 1, :10], few.coefficients[:, 0], atol=1e-9)
    np.testing.assert_allclose(found.log_evidence[:, 1], few.log_evidence[:, 0], atol=1e-9)
    beta, _ = reference(x[0], right[0], wrong[0], mean[0], sd[0])
    np.testing.assert_allclose(found.coefficients[0, 0], beta, atol=1e-5)


def test_the_maximum_is_found_from_far_away_and_with_all_of_one_kind():
    x = np.array([[[1.0, 9.0], [1.0, -9.0], [1.0, 3.0]]])
    far = Priors(np.array([[0.0, 30.0], [-20.0, 0.0]]), np.array([[5.0, 50.0], [40.0, 5.0]]))
    for right, wrong in (([0, 900, 1], [900, 0, 0]), ([50, 50, 50], [0, 0, 0]), ([0, 0, 0], [0, 0, 1])):
        found = modes(x, np.array([right], float), np.array([wrong], float), far)
        beta, share = found.coefficients[0], expit(x[0] @ found.coefficients[0].T)
        n = np.add(right, wrong)[:, None]
        gradient = x[0].T @ (np.array(right)[:, None] - n * share) - ((beta - far.mean) / far.sd**2).T
        np.testing.assert_allclose(gradient, 0, atol=1e-5)
