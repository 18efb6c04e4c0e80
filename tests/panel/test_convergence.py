"""Where independent judges lead the estimators: to the truth, or to a limit known beforehand."""

import numpy as np
import pytest
from crowd import disagreement_limit, independent_panel

from voirdire.panel import ESTIMATORS, Oracle

STREAMS, SIZES = 24, (250, 4_000, 64_000)
FPR = np.array([0.1, 0.3, 0.2, 0.4, 0.25])
FNR = np.array([0.2, 0.1, 0.3, 0.15, 0.05])
PREVALENCE = 0.65


def estimates(name, n_judges=5):
    """Rates and prevalence of `name` on streams of independent judges, by the streams' length."""
    fpr, fnr = FPR[:n_judges], FNR[:n_judges]
    for size in SIZES:
        votes, truth = independent_panel(size, fpr, fnr, PREVALENCE, seed=size, batch=(STREAMS,))
        estimator = ESTIMATORS[name](n_judges, batch=(STREAMS,))
        for part in np.array_split(np.arange(size), 2):
            estimator.update(votes[:, part], truth[:, part], np.zeros((STREAMS, len(part)), int))
        rates = estimator.rates()
        yield np.concatenate([rates.fpr, rates.fnr, rates.prevalence[:, None]], axis=1)


def converges(found, limit):
    """Errors fall by the root of the size, and are within five standard errors of nothing in the longest streams."""
    errors = [np.sqrt(np.mean((each - limit) ** 2)) for each in found]
    falls = np.array(errors[:-1]) / errors[1:]
    # The sizes grow sixteenfold, so the errors fall to a quarter; more while a prior still counts.
    assert (falls > 3).all(), falls
    last = found[-1] - limit
    standard_error = last.std(axis=0, ddof=1) / np.sqrt(STREAMS)
    assert (np.abs(last.mean(axis=0)) < 5 * standard_error + 10 / SIZES[-1]).all()
    assert errors[-1] < 0.01


@pytest.mark.parametrize("name", ["bayesian", "stratified", "dawid_skene"])
def test_independent_judges_lead_to_the_truth(name):
    converges(list(estimates(name)), np.array([*FPR, *FNR, PREVALENCE]))


@pytest.mark.parametrize("n_judges", [3, 4, 5])
def test_disagreement_leads_to_its_analytic_limit_and_not_to_the_truth(n_judges):
    fpr, fnr, prevalence = disagreement_limit(FPR[:n_judges], FNR[:n_judges], PREVALENCE)
    converges(list(estimates("disagreement", n_judges)), np.array([*fpr, *fnr, prevalence]))
    assert np.abs(fpr - FPR[:n_judges]).max() > 0.03


def test_under_a_changing_mix_stratified_follows_the_oracle_to_the_truth():
    # The second task has other judges at fault, and more wrong responses; its share falls from 80 % to 20 %.
    fpr, fnr, prevalence = np.array([FPR, FPR[::-1]]), np.array([FNR, FNR[::-1]]), np.array([0.8, 0.4])
    oracle, stratified = Oracle(fpr, fnr, prevalence), ESTIMATORS["stratified"](5, n_tasks=2)
    for of_second in (0.8, 0.5, 0.2):
        task = (np.arange(60_000) < of_second * 60_000).astype(int)
        parts = [independent_panel(60_000, fpr[t], fnr[t], prevalence[t], seed=int(10 * of_second) + t) for t in (0, 1)]
        votes = np.where(task[:, None] == 1, parts[1][0], parts[0][0])
        truth = np.where(task == 1, parts[1][1], parts[0][1])
        for estimator in (oracle, stratified):
            estimator.update(votes, truth, task)
        seen_fpr, seen_fnr = votes[truth == 0].mean(axis=0), 1 - votes[truth == 1].mean(axis=0)
        n_wrong = (truth == 0).sum()
        for rates in (oracle.rates(), stratified.rates()):
            assert (np.abs(rates.fpr - seen_fpr) < 5 * np.sqrt(seen_fpr * (1 - seen_fpr) / n_wrong)).all()
            assert (np.abs(rates.fnr - seen_fnr) < 5 * np.sqrt(seen_fnr * (1 - seen_fnr) / (60_000 - n_wrong))).all()
            assert rates.prevalence == pytest.approx(truth.mean(), abs=5 * 0.5 / np.sqrt(60_000))
