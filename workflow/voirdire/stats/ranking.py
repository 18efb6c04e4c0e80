"""Do two measurements put the same judges in the same order?"""

import numpy as np
import numpy.typing as npt

from voirdire.stats.arrays import Array

# Values closer than this are tied: means of equal rates differ in the last bit.
_SAME = 1e-12


def kendall_tau(x: npt.ArrayLike, y: npt.ArrayLike) -> Array:
    """Kendall's tau-b of many samples at once.

    x, y: (samples, n), two measurements of the same n things. Returns (samples,), in [−1, 1]: 1 for the same order,
    ties apart. NaN where a value is missing, n < 2, or all of x or of y are tied.
    Source: Kendall (1945), Biometrika 33, 239-251.

    >>> kendall_tau([[1, 2, 3]], [[1, 3, 2]])
    array([0.33333333])
    """
    first, second = np.atleast_2d(np.asarray(x, float)), np.atleast_2d(np.asarray(y, float))
    above, below = np.triu_indices(first.shape[1], 1)
    signs_x, signs_y = (_signs(values[:, above] - values[:, below]) for values in (first, second))
    untied = np.sqrt((signs_x**2).sum(axis=1) * (signs_y**2).sum(axis=1))
    known = ~np.isnan(first).any(axis=1) & ~np.isnan(second).any(axis=1) & (untied > 0)
    tau: Array = np.full(len(first), np.nan)
    np.divide((signs_x * signs_y).sum(axis=1), untied, out=tau, where=known)
    return tau


def _signs(differences: Array) -> Array:
    signs: Array = np.where(np.abs(differences) > _SAME, np.sign(differences), 0.0)
    return signs
