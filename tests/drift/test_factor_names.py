from voirdire.drift import factors, grid


def test_the_configuration_offers_every_factor():
    assert tuple(factors.FACTORS) == grid.FACTORS
