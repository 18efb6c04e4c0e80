"""What calls that are still to do will take, from the few that are done: arrays in, numbers out.

Lengths of answers are skewed to the right, a job of the pilot shows three to ten of them, and one in twenty may be a
hundred times as long as its neighbours. What that does to each part of the forecast:

- The point is what survey samplers use: in each job the ratio of what was seen to its known size, times the size of
  what is left (Cochran 1977, Sampling Techniques, ch. 6). It is right on average whatever the distribution.
- The relative variance of a value is estimated twice, and the larger counts: from the squares, which is right for many
  values of any distribution and too small for few skewed ones; and as exp(s²) - 1 from the variance s² of the
  logarithms, as a lognormal has it (compare Zhou and Gao 1997, Statistics in Medicine 16:783-790); the more questions,
  the less may it exceed the first. Both are pooled over the jobs of one role and model, with a prior worth a few
  values, and partly a job's own.
- One question is asked in many jobs, and a hard one makes all answers long. So errors are added up by question over all
  jobs, as in cluster-robust variances, and what that says beyond independent calls multiplies the variance (Kish's
  design effect); never less than 1, as a few questions can't show that errors cancel. The degrees of freedom are
  Satterthwaite's, between those of questions and those of calls.
- What is left scatters, too (1/n + 1/left). The interval is symmetric in the logarithm, with quantiles of Student's t.
- A few monsters may not have been seen at all. Among n calls none shows with chance .05 what 1 - .05^(1/n) of all calls
  do; the upper limit adds this share of the calls, as long as halfway (in logarithms) between the longest seen and the
  cap.

tests/study/test_forecast.py measures the coverage of all this together.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

_LEVEL = 0.95
# Variance of the logarithms before any value is seen, and the values that this is worth: of answers' lengths, and of
# tokens per character, which vary little.
_PRIOR_DF = 4.0
_PRIOR_SKEWED, _PRIOR_EVEN = 0.16, 0.01
# Values that the other jobs' spread is worth beside a job's own.
_PARTIAL = 4.0
# Of a job of which nothing was seen: variance of the logarithm of its mean about those of its neighbours.
_BETWEEN_SKEWED, _BETWEEN_EVEN = 0.25, 0.02
_UNSEEN = 0.05
# Among answers to so many questions the variance by the squares may be too small by half.
_DOUBT = 20.0
# Where no cap is set, monsters are feared up to so many times the longest seen; in any case up to the second factor.
_FEARED, _FARTHEST = 10.0, 30.0


@dataclass(frozen=True)
class Sample:
    """One quantity in one job: what the answered calls took, and how much is left.

    Parameters
    ----------
    pool : samples of one pool scatter alike: one role's prompts or answers of one model.
    stratum : the task.
    source : where the values come from; samples of one source have the same values, which count once.
    questions : (n,), of the answered calls; the same question in several samples of a stratum links their errors.
    values : (n,) tokens. Zero: this question needed no call.
    sizes : (n,), to which the values are about proportional; positive.
    left, left_size : the calls still to do, and the sum of their sizes.
    cap : the most tokens of one call; infinite where that isn't known.
    skewed : whether values differ as lengths of answers do, or only by the tokenizer's doing.
    """

    pool: str
    stratum: str
    source: str
    questions: Sequence[str]
    values: NDArray[np.float64]
    sizes: NDArray[np.float64]
    left: float
    left_size: float
    cap: float = math.inf
    skewed: bool = True

    @property
    def ratio(self) -> float:
        return float(self.values.sum() / self.sizes.sum()) if self.values.any() else math.nan


@dataclass(frozen=True)
class Range:
    """A prediction: 95 % of the truths are to lie between low and high, bounds included."""

    low: float
    expected: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.expected + other.expected, self.high + other.high)


@dataclass(frozen=True)
class _Spread:
    """How the values of a pool scatter about their jobs' ratios; `prior`: as far as no value has shown it."""

    log_variance: float
    relative_variance: float
    longest: float
    n: int
    n_questions: int
    prior: float


@dataclass(frozen=True)
class _Part:
    """The prediction for one sample."""

    stratum: str
    total: float
    variance: float
    df: float
    errors: dict[str, float]


def forecast(samples: Sequence[Sample], weights: Sequence[float]) -> Range:
    """Predict the weighted sum of what is left in all samples.

    A sample of which neither itself nor its pool has shown anything has bounds only: even sizes are taken at their
    word, skewed ones lie between 0 and their caps. Such bounds are added to the interval of the rest.

    Parameters
    ----------
    samples : at least those that share a pool or questions with one another.
    weights : one per sample, not negative; dollars per token, or 1 for tokens.

    >>> seen = Sample("judge owl", "gsm8k", "a", list("pqr"), np.array([90.0, 100, 110]), np.ones(3), 50, 50, 400)
    >>> found = forecast([seen], [1])
    >>> round(found.expected), found.low < 5000 < found.high < 50 * 400
    (5000, True)
    """
    spreads = {name: _spread(pool) for name, pool in _pools(samples).items()}
    total = Range(0.0, 0.0, 0.0)
    parts: dict[bool, list[_Part]] = {True: [], False: []}
    unseen: dict[str, float] = defaultdict(float)
    highest = 0.0
    for sample, weight in zip(samples, weights, strict=True):
        if not sample.left or not weight:
            continue
        part = _part(sample, weight, samples, spreads.get(sample.pool))
        if part is None:
            total += _bounds(sample, weight)
            continue
        parts[sample.skewed].append(part)
        if sample.skewed:
            highest += weight * sample.left * sample.cap
            ratio = part.total / weight / sample.left_size
            unseen[sample.pool] += weight * sample.left * _monsters(sample, ratio, spreads[sample.pool])
    even, skewed = (_interval(parts[kind]) for kind in (False, True))
    # A cap in the provider's tokens may be below what was seen in estimated ones.
    upper = max(skewed.expected, min(skewed.high + math.hypot(*unseen.values()), highest))
    expected = even.expected + skewed.expected
    below = math.hypot(even.expected - even.low, skewed.expected - skewed.low)
    above = math.hypot(even.high - even.expected, upper - skewed.expected)
    return total + Range(expected - below, expected, expected + above)


def _pools(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """The samples with values by pool, one per source."""
    pools: dict[str, dict[str, Sample]] = defaultdict(dict)
    for sample in samples:
        best = pools[sample.pool].get(sample.source)
        if sample.values.any() and (best is None or len(best.values) < len(sample.values)):
            pools[sample.pool][sample.source] = sample
    return {name: list(pool.values()) for name, pool in pools.items() if pool}


def _spread(pool: Sequence[Sample]) -> _Spread:
    squares = prior = _PRIOR_DF * (_PRIOR_SKEWED if pool[0].skewed else _PRIOR_EVEN)
    df = _PRIOR_DF
    own: list[tuple[float, int]] = []
    scaled = np.zeros(2)
    for sample in pool:
        log_squares, log_df, relative, relative_df = _scatter(sample)
        squares += log_squares
        df += log_df
        own.append((relative, relative_df))
        scaled += _moments(sample)
    n_relative = sum(each for _, each in own)
    pooled = sum(each for each, _ in own) / n_relative if n_relative else 0.0
    return _Spread(
        log_variance=squares / df,
        relative_variance=max(pooled, scaled[0] / scaled[1]),
        longest=max(float((each.values / each.sizes).max() / each.ratio) for each in pool),
        n=sum(len(each.values) for each in pool),
        n_questions=len({(each.stratum, question) for each in pool for question in each.questions}),
        prior=math.expm1(prior / df),
    )


def _scatter(sample: Sample) -> tuple[float, int, float, int]:
    """Sum of squares and degrees of freedom: of the logarithms, and of the ratios relative to their mean."""
    each = sample.values / sample.sizes
    logs = np.log(each[each > 0])
    relative = each / each.mean() - 1 if each.any() else each
    log_df, df = max(0, len(logs) - 1), max(0, len(each) - 1)
    return float(logs.var() * len(logs)) if log_df else 0.0, log_df, float((relative**2).sum()), df


def _moments(sample: Sample) -> NDArray[np.float64]:
    """Variance and squared mean of the ratios, (2,), in units of a typical one.

    The quotient of their sums over many jobs is right even where one job's own can't be: of three values the largest
    relative variance possible is three. Half of the squared mean is kept in any case, so that it stays positive.
    """
    each = sample.values / sample.sizes
    each = each / np.exp(np.log(each[each > 0]).mean())
    square = each.mean() ** 2
    if len(each) < 2:
        return np.array([0.0, square])
    variance = each.var(ddof=1)
    return np.array([variance, max(square - variance / len(each), square / 2)])


def _part(sample: Sample, weight: float, samples: Sequence[Sample], spread: _Spread | None) -> _Part | None:
    if spread is None:
        return None
    if not sample.values.any():
        return _from_neighbours(sample, weight, samples)
    n = len(sample.values)
    scale = weight * sample.left_size
    scatter = 1 / n + 1 / sample.left
    log_squares, log_df, relative, df = _scatter(sample)
    by_logs = math.expm1((_PARTIAL * spread.log_variance + log_squares) / (_PARTIAL + log_df))
    by_squares = (_PARTIAL * spread.relative_variance + relative) / (_PARTIAL + df)
    by_logs = min(by_logs, by_squares * (1 + _DOUBT / spread.n_questions) + spread.prior)
    total = scale * sample.ratio
    residuals = (sample.values - sample.ratio * sample.sizes) / sample.sizes.sum() * math.sqrt(n / max(1, n - 1))
    errors = scale * residuals * math.sqrt(n * scatter)
    by_question: dict[str, float] = defaultdict(float)
    for question, error in zip(sample.questions, errors, strict=True):
        by_question[question] += error
    variance = total**2 * max(by_logs, by_squares) * scatter
    return _Part(sample.stratum, total, variance, max(0.5, len(by_question) - 1), by_question)


def _from_neighbours(sample: Sample, weight: float, samples: Sequence[Sample]) -> _Part:
    """A sample of which nothing was seen: like those of its pool, of the same task where there are some."""
    pool = [each for each in samples if each.pool == sample.pool and each.values.any()]
    ratios = np.array([each.ratio for each in pool if each.stratum == sample.stratum] or [each.ratio for each in pool])
    between = math.expm1(_BETWEEN_SKEWED if sample.skewed else _BETWEEN_EVEN)
    if len(ratios) > 1:
        between = max(between, float(ratios.var(ddof=1) / ratios.mean() ** 2))
    total = weight * sample.left_size * float(ratios.mean())
    variance = total**2 * between * (1 + 1 / len(ratios))
    return _Part(f"{sample.stratum} {sample.source}", total, variance, max(0.5, len(ratios) - 1), {})


def _bounds(sample: Sample, weight: float) -> Range:
    if not sample.skewed:
        known = weight * sample.left_size
        return Range(known, known, known)
    return Range(0.0, math.nan, weight * sample.left * sample.cap)


def _monsters(sample: Sample, ratio: float, spread: _Spread) -> float:
    """What calls of a kind that was never seen may add to the mean of the calls left."""
    longest = ratio * sample.left_size / sample.left * spread.longest
    cap = max(sample.cap, longest) if math.isfinite(sample.cap) else _FEARED * longest
    return float((1 - _UNSEEN ** (1 / spread.n)) * math.sqrt(longest * min(cap, _FARTHEST * longest)))


def _interval(parts: Sequence[_Part]) -> Range:
    total = sum(part.total for part in parts)
    if total == 0:
        return Range(0.0, 0.0, 0.0)
    variance = sum(part.variance for part in parts)
    effect = _design_effect(parts)
    by_calls = variance**2 / sum(part.variance**2 / part.df for part in parts)
    by_questions = _df_of_questions(parts)
    df = _PRIOR_DF + by_questions + max(0.0, by_calls - by_questions) / effect
    reach = stats.t.ppf((1 + _LEVEL) / 2, df) * math.sqrt(math.log1p(variance * effect / total**2))
    return Range(total * math.exp(-reach), total, total * math.exp(reach))


def _design_effect(parts: Sequence[_Part]) -> float:
    """How much the variance grows since errors on one question go together in all its calls."""
    joint: dict[tuple[str, str], float] = defaultdict(float)
    for part in parts:
        for question, error in part.errors.items():
            joint[part.stratum, question] += error
    alone = sum(error**2 for part in parts for error in part.errors.values())
    return max(1.0, sum(error**2 for error in joint.values()) / alone) if alone else 1.0


def _df_of_questions(parts: Sequence[_Part]) -> float:
    """Degrees of freedom if all calls on one question went together."""
    strata: dict[str, list[_Part]] = defaultdict(list)
    for part in parts:
        strata[part.stratum].append(part)
    return sum(part.variance for part in parts) ** 2 / sum(_over_df(group) for group in strata.values())


def _over_df(group: Sequence[_Part]) -> float:
    """Squared variance over degrees of freedom of one stratum; these are the parts' harmonic mean, by variance."""
    variance = sum(part.variance for part in group)
    return variance * sum(part.variance / part.df for part in group)
