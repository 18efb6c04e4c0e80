"""The standard normal quantile function, in NumPy alone.

`scipy.special.ndtri` would do, but importing it costs a simulated job a third of its time.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Coefficients of Wichura's rational approximations, highest power first: of the middle, the tails, the far tails.
_MIDDLE = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_TAIL = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
_FAR_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ),
)

_Coefficients = tuple[tuple[float, ...], tuple[float, ...]]


def quantile(share: ArrayLike) -> NDArray[np.float64]:
    """The values below which a standard normal draw lies with these probabilities, in the shape of `share`.

    0 and 1 give minus and plus infinity, what lies outside NaN. Relative accuracy about 1e-15. Algorithm AS 241:
    Wichura 1988, Applied Statistics 37, 477-484, doi:10.2307/2347330.

    >>> quantile([0, 0.025, 0.5, 0.975]).round(4)
    array([ -inf, -1.96,  0.  ,  1.96])
    """
    shares = np.asarray(share, dtype=np.float64)
    from_middle = shares - 0.5
    # NaN outside the tails' domain; the infinities are set below.
    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.sqrt(-np.log(np.minimum(shares, 1 - shares)))
    values = np.full(shares.shape, np.nan)
    middle = np.abs(from_middle) <= 0.425
    values[middle] = from_middle[middle] * _ratio(_MIDDLE, 0.180625 - from_middle[middle] ** 2)
    tail = ~middle & (depth <= 5)
    values[tail] = np.copysign(_ratio(_TAIL, depth[tail] - 1.6), from_middle[tail])
    far = (depth > 5) & np.isfinite(depth)
    values[far] = np.copysign(_ratio(_FAR_TAIL, depth[far] - 5), from_middle[far])
    values[shares == 0], values[shares == 1] = -np.inf, np.inf
    return values


def _ratio(coefficients: _Coefficients, at: NDArray[np.float64]) -> NDArray[np.float64]:
    above, below = coefficients
    return np.asarray(np.polyval(above, at) / np.polyval(below, at))
