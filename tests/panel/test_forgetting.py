"""What estimators forget: a window's batches at once, others by halves, and by default nothing."""

import numpy as np
import pytest
from crowd import independent_panel

from voirdire.errors import UserError
from voirdire.panel import ESTIMATORS, Forgetting
from voirdire.panel.dawid_skene import fit
from voirdire.panel.forgetting import Memory
from voirdire.panel.rates import beta_mean

NAMES = ["bayesian", "stratified", "disagreement", "dawid_skene"]
FIELDS = ("fpr", "fnr", "prevalence", "n_wrong", "n_right", "fell_back")


def batches(batch=(), n_batches=6):
    """Votes, labels of a third of the responses, and tasks, batch by batch; the judges change all the time."""
    rng = np.random.default_rng(8)
    for number in range(n_batches):
        fpr, fnr = rng.uniform(0.05, 0.5, (2, 4))
        votes, truth = independent_panel(25, fpr, fnr, 0.6, gaps=0.1, seed=number, batch=batch)
        labels = np.where(rng.random(truth.shape) < 1 / 3, truth, np.nan)
        yield votes, labels, rng.integers(0, 2, truth.shape)


def fed(name, some, forgetting=None, batch=()):
    estimator = ESTIMATORS[name](4, n_tasks=2, batch=batch, forgetting=forgetting)
    for votes, labels, task in some:
        # As in a week: verdicts, and later the labels, which are of the same batch.
        if estimator.learns_from == "labels":
            estimator.update(votes, None, task)
        estimator.update(votes, labels, task)
    return estimator.rates()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("window", [1, 3, 6, 100])
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_a_window_is_a_fresh_estimator_of_the_last_batches(name, window, batch):
    some = list(batches(batch))
    found = fed(name, some, Forgetting(window=window), batch)
    expected = fed(name, some[-window:], batch=batch)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field), err_msg=field)


@pytest.mark.parametrize("name", NAMES)
def test_a_window_forgets(name):
    some = list(batches())
    assert (fed(name, some, Forgetting(window=2)).fpr != fed(name, some).fpr).any()


@pytest.mark.parametrize("half_life", [0.7, 2, 5])
def test_a_half_life_weighs_labels_by_their_age(half_life):
    some = list(batches())
    n, accepted = np.zeros(4), np.zeros(4)
    for age, (votes, labels, _) in enumerate(reversed(some)):
        wrong, weight = (labels == 0)[:, None], 2 ** (-age / half_life)
        n += weight * (wrong & np.isfinite(votes)).sum(axis=0)
        accepted += weight * (wrong & (votes == 1)).sum(axis=0)
    found = fed("bayesian", some, Forgetting(half_life=half_life))
    np.testing.assert_allclose(found.n_wrong, n, rtol=1e-12)
    np.testing.assert_allclose(found.fpr, beta_mean(accepted, n, 0.4, 10), rtol=1e-12)


@pytest.mark.parametrize("half_life", [0.7, 2, 5])
def test_a_half_life_weighs_votes_by_their_age(half_life):
    some = list(batches())
    votes = np.concatenate([each for each, _, _ in some])
    weights = np.repeat(2 ** (-np.arange(len(some))[::-1] / half_life), 25)
    found, expected = fed("dawid_skene", some, Forgetting(half_life=half_life)), fit(votes, weights)
    np.testing.assert_allclose(found.fpr, expected.fpr, atol=1e-8)
    np.testing.assert_allclose(found.prevalence, expected.prevalence, atol=1e-8)
    alone = [fed("disagreement", [each]) for each in some]
    ages = 2 ** (-np.arange(len(some))[::-1, None] / half_life)
    n_wrong, rates = np.stack([each.n_wrong for each in alone]), np.stack([each.fpr for each in alone])
    found = fed("disagreement", some, Forgetting(half_life=half_life))
    np.testing.assert_allclose(found.n_wrong, (ages * n_wrong).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.fpr, (ages * n_wrong * rates).sum(axis=0) / (ages * n_wrong).sum(axis=0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("forgetting", [Forgetting(window=2), Forgetting(half_life=2)])
def test_streams_forget_side_by_side(name, forgetting):
    some = list(batches((3,)))
    together = fed(name, some, forgetting, (3,))
    for stream in range(3):
        alone = fed(name, [tuple(part[stream] for part in each) for each in some], forgetting)
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(together, field)[stream], getattr(alone, field))


@pytest.mark.parametrize("name", NAMES)
def test_a_long_half_life_is_no_forgetting(name):
    some = list(batches())
    np.testing.assert_allclose(fed(name, some, Forgetting(half_life=1e9)).fpr, fed(name, some).fpr, atol=1e-7)


@pytest.mark.parametrize("forgetting", [None, Forgetting(window=3), Forgetting(half_life=2)])
def test_a_batch_may_be_corrected_later(forgetting):
    at_once, later = Memory(np.zeros(1), forgetting), Memory(np.zeros(1), forgetting)
    for batch in range(5):
        at_once.add(np.array([batch + (10.0 if batch in (1, 3) else 0.0)]))
        later.add(np.array([float(batch)]))
    later.amend(np.array([10.0]), age=1)
    later.amend(np.array([10.0]), age=3)
    np.testing.assert_allclose(later.total, at_once.total)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 3, "half_life": 2}, "not both"),
        ({"window": 0}, "window is 0"),
        ({"window": 1.5}, "window is 1.5"),
        ({"half_life": 0}, "half-life is 0"),
        ({"half_life": float("nan")}, "half-life is nan"),
        ({"half_life": float("inf")}, "half-life is inf"),
    ],
)
def test_bad_settings_are_named(options, said):
    with pytest.raises(UserError, match=said):
        Forgetting(**options)
