"""Each method of corrected accuracy beside an independent reference, and where it has nothing to say."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import beta, betabinom
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from voirdire.errors import UserError
from voirdire.panel import corrected  # noqa: F401 - registers the methods
from voirdire.panel.corrected_methods import METHODS
from voirdire.panel.corrected_sample import Options, Sample, design_effect, kish, labels_worth

NAN = np.nan
RNG = np.random.default_rng(7)


def whole(sample, method, **options):
    return METHODS[method](sample, Options(**options))[-1]


def drawn(n=400, n_labels=80, prevalence=0.7, fpr=0.4, fnr=0.1, judges=5, seed=0):
    """A sample of judges that err independently, with some labels, and the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < prevalence).astype(float)
    votes = (rng.random((n, judges)) < np.where(truth == 1, 1 - fnr, fpr)[:, None]).astype(float)
    labels = np.where(np.arange(n) < n_labels, truth, NAN)
    return Sample.of(votes, labels), truth


def ppi_by_hand(labels, labelled, unlabelled):
    """PPI++'s mean and variance as its paper writes them, tuned by the moments of the labelled."""
    n, more = len(labels), len(unlabelled)
    tuning = np.cov(labels, labelled)[0, 1] / ((1 + n / more) * labelled.var(ddof=1))
    mean = tuning * unlabelled.mean() + (labels - tuning * labelled).mean()
    variance = tuning**2 * unlabelled.var() / more + (labels - tuning * labelled).var() / n
    return mean, variance


def test_raw_is_the_share_that_the_majority_accepts():
    sample = Sample.of([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 1]], [NAN] * 4)
    found = whole(sample, "raw")
    assert found.estimate == 0.5
    assert (found.low, found.high) == pytest.approx(proportion_confint(2, 4, method="wilson"))


def test_labels_alone_are_wilsons_interval():
    sample, truth = drawn(n_labels=60)
    found = whole(sample, "labels")
    right = truth[:60].sum()
    assert found.estimate == right / 60
    assert (found.low, found.high) == pytest.approx(proportion_confint(right, 60, method="wilson"))


def test_ppi_is_the_regression_estimator_of_survey_statistics():
    sample, truth = drawn()
    line = sm.OLS(truth[:80], sm.add_constant(sample.share[:80])).fit()
    found = whole(sample, "ppi")
    assert found.estimate == pytest.approx(line.predict(sm.add_constant(sample.share)).mean())
    variance = line.mse_resid / 80 + line.params[1] ** 2 * sample.share.var() / 400
    worth = found.estimate * (1 - found.estimate) / variance
    scaled = worth * (1.959964 / student.ppf(0.975, 78)) ** 2
    expected = proportion_confint(found.estimate * scaled, scaled, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-3)


def test_ppi_is_that_of_its_paper():
    sample, truth = drawn(n=4000, n_labels=400)
    mean, variance = ppi_by_hand(truth[:400], sample.share[:400], sample.share[400:])
    found = whole(sample, "ppi")
    assert found.estimate == pytest.approx(mean, abs=1e-12)
    assert (found.high - found.low) / (2 * 1.96 * np.sqrt(variance)) == pytest.approx(1, abs=0.02)


def test_weighted_ppi_is_statsmodels_weighted_regression():
    sample, truth = drawn(n=300, n_labels=100)
    chance = np.where(np.arange(300) < 100, RNG.uniform(0.1, 0.9, 300), NAN)
    weighted = Sample.of(sample.votes, sample.labels, label_probability=chance)
    weights = 1 / chance[:100]
    line = sm.WLS(truth[:100], sm.add_constant(sample.share[:100]), weights=weights).fit()
    assert whole(weighted, "ppi").estimate == pytest.approx(line.predict(sm.add_constant(sample.share)).mean())
    assert whole(weighted, "labels").estimate == pytest.approx(np.average(truth[:100], weights=weights))


def test_poststratified_with_one_stratum_is_jeffreys_interval():
    sample = Sample.of(np.ones((1000, 3)), np.r_[np.ones(12), np.zeros(8), np.full(980, NAN)])
    found = whole(sample, "poststratified", draws=200_000)
    assert found.estimate == 0.6
    assert (found.low, found.high) == pytest.approx(beta(12.5, 8.5).ppf([0.025, 0.975]), abs=2e-3)


def test_poststratified_of_this_set_is_the_beta_binomial():
    sample = Sample.of(np.ones((60, 3)), np.r_[np.ones(12), np.zeros(8), np.full(40, NAN)])
    found = whole(sample, "poststratified", target="set", draws=200_000)
    low, high = betabinom(40, 12.5, 8.5).ppf([0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(((12 + low) / 60, (12 + high) / 60), abs=1e-9)


def test_poststratified_with_two_strata_is_the_convolution():
    """Of two betas, the strata's sizes being all but certain."""
    votes = np.repeat([[1.0, 1.0], [0.0, 0.0]], [60_000, 40_000], axis=0)
    labels = np.full(100_000, NAN)
    labels[:20], labels[60_000:60_010] = [1] * 17 + [0] * 3, [1] * 2 + [0] * 8
    found = whole(Sample.of(votes, labels), "poststratified", draws=400_000)
    assert found.estimate == pytest.approx(0.6 * 0.85 + 0.4 * 0.2)
    first, second = beta(17.5, 3.5), beta(2.5, 8.5)

    def below(x):
        return quad(lambda p: second.pdf(p) * first.cdf((x - 0.4 * p) / 0.6), 0, 1)[0]

    expected = [brentq(lambda x, q=q: below(x) - q, 0.2, 0.99) for q in (0.025, 0.975)]
    assert (found.low, found.high) == pytest.approx(expected, abs=2e-3)


def test_rogan_gladen_is_the_analytic_correction():
    sample, truth = drawn(n_labels=200)
    accepted = (sample.share > 0.5).astype(float)
    fpr = accepted[:200][truth[:200] == 0].mean()
    fnr = 1 - accepted[:200][truth[:200] == 1].mean()
    found = whole(sample, "rogan_gladen")
    assert found.estimate == pytest.approx((accepted.mean() - fpr) / (1 - fpr - fnr))
    # The delta method.
    told = 1 - fpr - fnr
    share, n_wrong, n_right = found.estimate, (truth[:200] == 0).sum(), (truth[:200] == 1).sum()
    variance = (
        accepted.var() / 400 + (1 - share) ** 2 * fpr * (1 - fpr) / n_wrong + share**2 * fnr * (1 - fnr) / n_right
    )
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.sqrt(variance) / told, rel=0.1)


def test_rogan_gladen_of_a_panel_that_tells_nothing_is_undefined_with_a_reason():
    """It accepts wrong responses more often than right ones."""
    votes = np.r_[np.ones((50, 3)), np.zeros((50, 3))]
    sample = Sample.of(votes, np.r_[np.zeros(30), np.full(20, NAN), np.ones(30), np.full(20, NAN)])
    for method in ("rogan_gladen", "rogan_gladen_pooled"):
        for found in (cell for cell in METHODS[method](sample, Options()) if cell):
            assert np.isnan([found.estimate, found.low, found.high]).all()
            assert "FPR + FNR are 1 or more" in found.note


def test_what_the_panel_hardly_tells_has_an_interval_of_everything():
    rng = np.random.default_rng(0)
    votes = (rng.random((400, 1)) < 0.5).astype(float)
    labels = np.where(np.arange(400) < 40, (rng.random(400) < 0.5).astype(float), NAN)
    found = [whole(Sample.of(votes, np.roll(labels, 40 * k)), "rogan_gladen") for k in range(10)]
    widths = [each.high - each.low for each in found if np.isfinite(each.estimate)]
    assert len(widths) >= 2
    assert min(widths) > 0.9


def test_estimates_outside_are_clipped_and_flagged():
    """All are accepted among the unlabelled, but half of the labelled right ones were rejected."""
    votes = np.r_[np.zeros((10, 3)), np.ones((10, 3)), np.zeros((20, 3)), np.ones((400, 3))]
    sample = Sample.of(votes, np.r_[np.ones(20), np.zeros(20), np.full(400, NAN)])
    found = whole(sample, "rogan_gladen")
    assert (found.estimate, found.high, found.clipped) == (1, 1, True)
    assert not whole(sample, "labels").clipped


@pytest.mark.parametrize("method", ["labels", "ppi", "ppi_hybrid", "poststratified", "rogan_gladen"])
def test_without_labels_nothing_is_estimated_and_the_reason_is_given(method):
    sample, _ = drawn(n_labels=0)
    given = Sample.of(sample.votes, sample.labels, probability=sample.share)
    for found in METHODS[method](given, Options()):
        assert np.isnan([found.estimate, found.low, found.high]).all()
        assert found.note == "no labels"


@pytest.mark.parametrize("method", ["labels", "ppi", "ppi_hybrid", "hybrid", "poststratified", "rogan_gladen"])
def test_with_all_labelled_the_estimate_is_the_truth_and_of_this_set_certain(method):
    sample, truth = drawn(n_labels=400)
    given = Sample.of(sample.votes, sample.labels, probability=np.clip(sample.share, 0.1, 0.9))
    of_set, of_population = whole(given, method, target="set"), whole(given, method)
    assert of_set.estimate == pytest.approx(truth.mean())
    assert of_set.high - of_set.low == pytest.approx(0, abs=1e-4)
    assert of_population.estimate == pytest.approx(truth.mean())
    # Of the population as much is unknown as after so many independent labels; more by a method that takes the rates'
    # errors and the accepted share's for independent.
    expected = np.diff(proportion_confint(truth.sum(), 400, method="wilson"))[0]
    width = of_population.high - of_population.low
    assert width > expected if method == "rogan_gladen" else width == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_all_of_one_kind(label):
    sample, _ = drawn(n_labels=30)
    sample = Sample.of(sample.votes, np.where(np.isfinite(sample.labels), label, NAN), probability=sample.share)
    for method in ("labels", "ppi", "ppi_hybrid", "poststratified"):
        found = whole(sample, method)
        assert found.estimate == pytest.approx(label)
        assert found.high - found.low > 0.03
        assert found.low == pytest.approx(0) if label == 0 else found.high == pytest.approx(1)
    rogan_gladen = whole(sample, "rogan_gladen")
    assert np.isnan(rogan_gladen.estimate)
    assert f"no {'right' if label == 0 else 'wrong'} response among the labels" in rogan_gladen.note


def test_this_set_has_shorter_intervals_than_the_population():
    sample, _ = drawn(n=160, n_labels=80)
    given = Sample.of(sample.votes, sample.labels, probability=sample.share)
    for method in ("labels", "ppi", "ppi_hybrid", "hybrid", "poststratified", "rogan_gladen", "dawid_skene"):
        of_set, of_population = whole(given, method, target="set"), whole(given, method)
        assert of_set.high - of_set.low < of_population.high - of_population.low
    # Half of the responses are labelled: half of the variance is left.
    labels = whole(given, "labels", target="set")
    right = np.nansum(sample.labels)
    assert (labels.low, labels.high) == pytest.approx(proportion_confint(2 * right, 160, method="wilson"))


def test_clusters_that_agree_widen_every_interval():
    sample, _ = drawn(n=40, n_labels=20)
    five = {
        "votes": np.repeat(sample.votes, 5, axis=0),
        "labels": np.repeat(sample.labels, 5),
        "probability": np.repeat(sample.share, 5),
    }
    for method in METHODS:
        apart = whole(Sample.of(**five), method)
        together = whole(Sample.of(**five, cluster=np.repeat(np.arange(40), 5)), method)
        if apart is not None:
            assert together.high - together.low > 1.3 * (apart.high - apart.low)
            assert together.estimate == pytest.approx(apart.estimate)


def test_the_worth_of_labels():
    sample, _ = drawn(n_labels=80)
    assert labels_worth(sample) == pytest.approx(80)
    chance = np.where(np.isfinite(sample.labels), np.where(np.arange(400) % 2, 0.1, 0.4), NAN)
    weighted = Sample.of(sample.votes, sample.labels, label_probability=chance)
    assert labels_worth(weighted) <= kish(1 / chance[:80]) < 80
    assert design_effect(np.repeat(np.arange(10), 4), np.repeat(RNG.normal(size=10), 4)) == pytest.approx(4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"votes": [1, 0], "labels": [1, 0]}, "responses × judges"),
        ({"votes": [[2.0]], "labels": [1]}, "found 2"),
        ({"votes": [[1.0]], "labels": [0.5]}, "found 0.5"),
        ({"votes": [[1.0]], "labels": [1, 0]}, "labels: the shape"),
        ({"votes": [[1.0]], "labels": [1], "label_probability": [0]}, "in \\(0, 1\\]"),
        ({"votes": [[1.0]], "labels": [1], "label_probability": [NAN]}, "in \\(0, 1\\]"),
        ({"votes": [[1.0]], "labels": [1], "probability": [NAN]}, "every response needs one"),
        ({"votes": [[1.0]], "labels": [1], "cluster": [1, 2]}, "cluster: the shape"),
    ],
)
def test_arguments_that_cannot_be(arguments, words):
    with pytest.raises(UserError, match=words):
        Sample.of(**arguments)


def test_an_unknown_target_is_refused():
    with pytest.raises(UserError, match="population, set"):
        Options(target="sample")


def test_a_response_without_votes_counts_by_its_label_alone():
    sample, truth = drawn(n_labels=400)
    votes = sample.votes.copy()
    votes[:100] = NAN
    for method in ("labels", "ppi", "poststratified"):
        assert whole(Sample.of(votes, sample.labels), method).estimate == pytest.approx(truth.mean(), abs=0.02)


def test_for_the_set_itself_chances_within_a_stratum_leave_no_bias():
    """What is labelled often is often wrong, whatever the votes say: known labels aren't like the others."""
    off, held = [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 1])
        often = rng.random(400) < 0.5
        truth = (rng.random(400) < np.where(often, 0.35, 0.85)).astype(float)
        votes = (rng.random((400, 5)) < np.where(truth == 1, 0.85, 0.25)[:, None]).astype(float)
        chance = np.where(often, 0.9, 0.1)
        labels = np.where(rng.random(400) < chance, truth, np.nan)
        sample = Sample.of(votes, labels, label_probability=chance)
        found = METHODS["poststratified"](sample, Options("set", draws=500))[-1]
        off.append(found.estimate - truth.mean())
        held.append(found.low <= truth.mean() <= found.high)
    assert abs(np.mean(off)) < 0.012
    assert sum(held) >= 50


def test_clusters_that_move_strata_and_labels_together_widen_the_interval():
    held = []
    for seed in range(60):
        rng = np.random.default_rng([seed, 7])
        cluster = np.repeat(np.arange(12), 30)
        truth = (rng.random(360) < rng.beta(0.7, 0.3, 12)[cluster]).astype(float)
        votes = (rng.random((360, 7)) < np.where(truth == 1, 0.9, 0.3)[:, None]).astype(float)
        labels = np.full(360, np.nan)
        drawn = rng.choice(360, 100, replace=False)
        labels[drawn] = truth[drawn]
        found = METHODS["poststratified"](Sample.of(votes, labels, cluster=cluster), Options(draws=500))[-1]
        held.append(found.low <= 0.7 <= found.high)
    assert sum(held) >= 50
