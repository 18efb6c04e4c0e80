"""The simple calibrations between which labels choose, and how likely each is before any label.

See `voirdire.panel.calibration` for the model. A zoo of simulated panels (independent judges, shared difficulty, blind
spots, copies, guessing) decided what is here: twenty-six models do as well as sixty, and naive Bayes on the labels adds
nothing to the judges' deviations.
"""

from dataclasses import dataclass

import numpy as np

from voirdire.panel.votes import FloatArray

# Deviations have their variance for up to so many votes on a response; with more it is less, lest their sum grow.
FULL_DEVIATION_VOTES = 10.0

# Prior means of the coefficients of D and S, with sd 1 where not 0. Alone they are the defaults': the standard
# deviation of D is at most 1, so that 2 D says some percent of errors where Dawid-Skene says a few per mille.
_DAWID_SKENE, _SHARE = (2.0, 0.0), (0.0, 1.5)
_MIXES = (_DAWID_SKENE, _SHARE, (1.6, 0.3), (0.4, 1.2))
# (sd of the intercept, prior odds): a threshold as of most panels, or of very lenient or strict ones.
_INTERCEPTS = ((0.5, 2.0), (1.5, 1.0))
_DEVIATIONS = (0.0, 0.1, 0.5)
# What all looser models share, and what each default has unless there is evidence for or against Dawid-Skene.
_LOOSER, _DEFAULT = 2.0, 4.0
# Of D and of S alone, where halves of the panel find different truths; and where those of 25 judges or more find one.
_DIFFERENT, _ONE_OF_MANY, _MANY = (0.5, 8.0), (56.0, 1.0), 25


@dataclass(frozen=True)
class Models:
    """odds (models,) before any label; normal priors of intercept, D and S, mean and sd (models, 3).

    deviation (models,): the variance of the judges' deviations.
    """

    odds: FloatArray
    mean: FloatArray
    sd: FloatArray
    deviation: FloatArray


def models(agreement: float, n_judges: int) -> Models:
    """The models for a panel of so many judges; agreement: the ratio of `voirdire.panel.halves`, NaN if not known."""
    rows: list[tuple[float, tuple[float, ...], tuple[float, ...], float]] = [
        (odds, (0.0, *mix), (0.0, *_sds(mix)), 0.0)
        for odds, mix in zip(_default_odds(agreement, n_judges), (_DAWID_SKENE, _SHARE), strict=True)
    ]
    total = len(_MIXES) * len(_DEVIATIONS) * sum(odds for _, odds in _INTERCEPTS)
    for mix in _MIXES:
        for sd, odds in _INTERCEPTS:
            each = _LOOSER * odds / total
            rows += [(each, (0.0, *mix), (sd, *_sds(mix)), variance) for variance in _DEVIATIONS]
    return Models(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def _sds(mix: tuple[float, float]) -> tuple[float, ...]:
    return tuple(float(mean > 0) for mean in mix)


def _default_odds(agreement: float, n_judges: int) -> tuple[float, float]:
    """Prior odds of D alone and of S alone.

    On real panels a ratio below .8 went with wrong rates by Dawid-Skene, and a higher one of many judges with right
    ones. The ratio is known to some .02, so that the odds change by degrees.
    """
    if not np.isfinite(agreement):
        return _DEFAULT, _DEFAULT
    trusted = _ONE_OF_MANY if n_judges >= _MANY else (_DEFAULT, _DEFAULT)
    sure = float(np.clip((agreement - 0.75) / 0.1, 0, 1))
    dawid_skene, share = (yes**sure * no ** (1 - sure) for yes, no in zip(trusted, _DIFFERENT, strict=True))
    return dawid_skene, share
