"""Arithmetic of arrays that every estimate needs."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Array:
    """numerator / denominator, elementwise; NaN, and no warning, where the denominator is 0.

    >>> ratio([1, 2], [4, 0])
    array([0.25,  nan])
    """
    above, below = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    result: Array = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below != 0)
    return result
