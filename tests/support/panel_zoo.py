"""A zoo of simulated panels, of very different kinds: what a rule that is fitted to no panel should get along with.

Every animal is votes (responses, judges), 1, 0 or NaN, and truth (responses,), drawn from a seed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Drawn = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Kind:
    """judges, responses, share of right ones, mean FPR and FNR over judges, spread of their log-odds, missing votes."""

    judges: int = 7
    responses: int = 800
    prevalence: float = 0.6
    fpr: float = 0.3
    fnr: float = 0.15
    spread: float = 0.6
    missing: float = 0.0


def independent(kind: Kind, seed: int) -> Drawn:
    """Judges that err independently of each other given the truth."""
    return correlated(kind, seed, 0.0)


def correlated(kind: Kind, seed: int, factor: float = 1.0) -> Drawn:
    """Some responses mislead all judges more than others: a normal factor of this sd in their log-odds of an error."""
    rng = np.random.default_rng(seed)
    truth, error = _errors(kind, rng)
    error = error + factor * rng.normal(size=kind.responses)[:, None]
    return _cast(kind, truth, error, rng)


def blind_spot(kind: Kind, seed: int, share: float = 0.5) -> Drawn:
    """All judges take this share of the wrong responses for right ones, and err independently otherwise."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(kind.responses) < kind.prevalence).astype(float)
    looks = np.where(rng.random(kind.responses) < share, 1.0, truth)
    return _cast(kind, looks, _log_odds(kind, looks, rng), rng)[0], truth


def copies(kind: Kind, seed: int, copied: int = 3, noise: float = 0.05) -> Drawn:
    """The last judges are copies of one, but for some votes of their own."""
    rng = np.random.default_rng(seed)
    votes, truth = independent(kind, seed)
    changed = rng.random((kind.responses, copied)) < noise
    own = votes[:, -copied:]
    votes[:, -copied:] = np.where(np.isnan(own) | changed, own, votes[:, :1])
    return votes, truth


def odd_judges(kind: Kind, seed: int, adversarial: int = 1, random: int = 2) -> Drawn:
    """Among the judges some say the opposite of what they find, and some guess."""
    rng = np.random.default_rng(seed)
    votes, truth = independent(kind, seed)
    votes[:, :adversarial] = 1 - votes[:, :adversarial]
    guessed = votes[:, adversarial : adversarial + random]
    guessed[np.isfinite(guessed)] = rng.random(np.isfinite(guessed).sum()) < 0.6
    return votes, truth


def families(kind: Kind, seed: int, factor: float = 1.5) -> Drawn:
    """Judges of two families, each with a factor of its own."""
    rng = np.random.default_rng(seed)
    truth, error = _errors(kind, rng)
    family = np.arange(kind.judges) % 2
    return _cast(kind, truth, error + factor * rng.normal(size=(kind.responses, 2))[:, family], rng)


def _errors(kind: Kind, rng: np.random.Generator) -> Drawn:
    truth = (rng.random(kind.responses) < kind.prevalence).astype(float)
    return truth, _log_odds(kind, truth, rng)


def _log_odds(kind: Kind, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(responses, judges): log-odds of an error."""
    means = np.log([kind.fpr / (1 - kind.fpr), kind.fnr / (1 - kind.fnr)])
    rates = means[:, None] + kind.spread * rng.normal(size=(2, kind.judges))
    return rates[truth.astype(int)]


def _cast(kind: Kind, truth: np.ndarray, error: np.ndarray, rng: np.random.Generator) -> Drawn:
    errs = rng.random(error.shape) < 1 / (1 + np.exp(-error))
    votes = np.where(errs, 1 - truth[:, None], truth[:, None])
    return np.where(rng.random(votes.shape) < kind.missing, np.nan, votes), truth


_LENIENT = {"fpr": 0.6, "fnr": 0.05}
ZOO: dict[str, Callable[[int], Drawn]] = {
    "3 independent": lambda seed: independent(Kind(3), seed),
    "5 independent": lambda seed: independent(Kind(5), seed),
    "9 independent, few right": lambda seed: independent(Kind(9, prevalence=0.1), seed),
    "9 independent, most right": lambda seed: independent(Kind(9, prevalence=0.95), seed),
    "14 independent, very different": lambda seed: independent(Kind(14, spread=1.5), seed),
    "30 independent, 200 responses": lambda seed: independent(Kind(30, 200, fpr=0.4, fnr=0.3), seed),
    "5 lenient": lambda seed: independent(Kind(5, 2000, **_LENIENT), seed),
    "9 lenient, most right": lambda seed: independent(Kind(9, 3000, 0.9, **_LENIENT), seed),
    "crowd of 60, 5 votes each": lambda seed: independent(Kind(60, 500, missing=11 / 12, spread=1.0), seed),
    "7 with gaps": lambda seed: independent(Kind(7, missing=0.4), seed),
    "5 with a shared difficulty": lambda seed: correlated(Kind(5), seed),
    "9 with a shared difficulty": lambda seed: correlated(Kind(9), seed, 1.5),
    "14 with a strong shared difficulty": lambda seed: correlated(Kind(14, 3000, 0.85), seed, 2.5),
    "12 lenient with a shared difficulty": lambda seed: correlated(Kind(12, 2000, 0.8, **_LENIENT), seed, 1.5),
    "25 with a shared difficulty, 150 responses": lambda seed: correlated(Kind(25, 150, 0.5), seed, 1.5),
    "5 with a shared blind spot": lambda seed: blind_spot(Kind(5), seed),
    "9 with a shared blind spot": lambda seed: blind_spot(Kind(9, 2000, 0.5), seed),
    "14 with a shared blind spot, most right": lambda seed: blind_spot(Kind(14, 3000, 0.9), seed, 0.7),
    "7, 3 of them copies": lambda seed: copies(Kind(7), seed),
    "9, 5 of them copies": lambda seed: copies(Kind(9, 2000), seed, 5),
    "5, 2 of them copies": lambda seed: copies(Kind(5), seed, 2),
    "7, 2 of them guess, 1 adversarial": lambda seed: odd_judges(Kind(7), seed),
    "5, 1 of them adversarial": lambda seed: odd_judges(Kind(5), seed, 1, 0),
    "12, 6 of them guess": lambda seed: odd_judges(Kind(12, fpr=0.2), seed, 0, 6),
    "two families of 4": lambda seed: families(Kind(8), seed),
    "two families of 6, few right": lambda seed: families(Kind(12, 2000, 0.3), seed),
    "20 with gaps and a shared difficulty": lambda seed: correlated(Kind(20, 400, missing=0.5), seed, 1.5),
    "9 very lenient with a shared difficulty": lambda seed: correlated(
        Kind(9, 1000, 0.5, fpr=0.75, fnr=0.03), seed, 2.0
    ),
    "12 very strict with a shared difficulty": lambda seed: correlated(
        Kind(12, 1000, 0.8, fpr=0.05, fnr=0.6), seed, 2.0
    ),
    "4 strict": lambda seed: independent(Kind(4, fpr=0.05, fnr=0.4), seed),
}
