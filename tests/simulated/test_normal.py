"""The normal quantile function against scipy's."""

import numpy as np
from scipy.special import ndtri

from voirdire.simulated.normal import quantile


def test_quantiles_are_scipys():
    shares = np.concatenate([np.linspace(0, 1, 20_001), np.logspace(-300, -1, 2_000), 1 - np.logspace(-15, -1, 500)])
    np.testing.assert_allclose(quantile(shares), ndtri(shares), rtol=4e-15, atol=1e-15)


def test_a_single_share_has_a_single_quantile():
    assert quantile(0.5).shape == ()
    assert float(quantile(0.3)) == -float(quantile(0.7))


def test_no_share_of_a_whole_has_no_quantile():
    assert np.isnan(quantile([-0.1, 1.1, np.nan])).all()
