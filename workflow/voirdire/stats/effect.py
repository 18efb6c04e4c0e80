"""Cohen's d from moments, and its interval."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cohen_d_from_moments(
    n_x: ArrayLike, sum_x: ArrayLike, squares_x: ArrayLike, n_y: ArrayLike, sum_y: ArrayLike, squares_y: ArrayLike
) -> NDArray[np.float64]:
    """Cohen's d from counts, sums and sums of squares, elementwise over arrays of any shape.

    So that d of every bootstrap resample is three matrix products away. Subtract a common constant from the
    values first where they are large beside their spread. NaN where n is below 2 or the pooled sd is zero.
    Cohen (1988), eq. 2.5.1 with the n − 1 denominators.

    >>> float(cohen_d_from_moments(3, 9, 29, 3, 3, 5))  # 2, 3, 4 against 0, 1, 2
    2.0
    """
    n1, s1, q1, n2, s2, q2 = (np.asarray(a, float) for a in (n_x, sum_x, squares_x, n_y, sum_y, squares_y))
    with np.errstate(invalid="ignore", divide="ignore"):
        within = (q1 - s1**2 / n1) + (q2 - s2**2 / n2)
        variance = within / (n1 + n2 - 2)
        # What is left of a constant sample after rounding is not a spread.
        usable = (np.minimum(n1, n2) >= 2) & (within > 1e-12 * (q1 + q2))
        return np.asarray(np.where(usable, (s1 / n1 - s2 / n2) / np.sqrt(variance), np.nan))


def cohen_d_interval(d: float, n_x: float, n_y: float, level: float = 0.95) -> tuple[float, float]:
    """Noncentral-t interval of Cohen's d; n_x, n_y may be effective (non-integer) sizes, each at least 2 in effect.

    Above 500 degrees of freedom the large-sample variance of Hedges & Olkin (1985, p. 86) takes over; there the two
    agree to the third decimal and the noncentral distribution is numerically fragile.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, norm

    tail = (1 - level) / 2
    df = n_x + n_y - 2
    if not np.isfinite(d) or df <= 0:
        return np.nan, np.nan
    half = norm.isf(tail) * np.sqrt((n_x + n_y) / (n_x * n_y) + d**2 / (2 * (n_x + n_y)))
    if df > 500:
        return float(d - half), float(d + half)
    root = np.sqrt(n_x * n_y / (n_x + n_y))

    def bound(share: float, side: int) -> float:
        def excess(shift: float) -> float:
            return float(nct.cdf(d * root, df, shift)) - share

        # Step outwards: far from t scipy's distribution function gives NaN.
        inner, step = d * root, side * half * root / 2
        while side * excess(inner + step) > 0:
            inner, step = inner + step, step * 1.5
        return float(brentq(excess, inner, inner + step))

    return bound(1 - tail, -1) / root, bound(tail, 1) / root
