"""Agreement between halves of the judges: 1 where the model holds, less where groups share errors, blind to all's."""

import numpy as np
import pytest
from panel_zoo import Kind, blind_spot, families, independent

from voirdire.panel.halves import agreement, half_agreement


@pytest.mark.parametrize("kind", [Kind(9, 1500), Kind(8, 1500, 0.8, missing=0.3)])
def test_halves_of_independent_judges_agree_as_the_model_expects(kind):
    assert half_agreement(independent(kind, 0)[0]).ratio == pytest.approx(1, abs=0.05)


def test_halves_of_two_families_agree_less():
    assert half_agreement(families(Kind(10, 1500, 0.5), 1, factor=3.0)[0]).ratio < 0.8


def test_a_blind_spot_that_all_share_is_not_seen():
    votes, truth = blind_spot(Kind(9, 1500, 0.5, 0.1, 0.1, spread=0.2), 0)
    assert votes[truth == 0].mean() > 0.5
    assert half_agreement(votes).ratio == pytest.approx(1, abs=0.05)


def test_no_order_counts():
    votes = independent(Kind(8, 200, missing=0.2), 3)[0]
    rng = np.random.default_rng(0)
    other = votes[rng.permutation(200)][:, rng.permutation(8)]
    one, two = half_agreement(votes), half_agreement(other)
    assert (one.kappa, one.expected) == pytest.approx((two.kappa, two.expected), abs=1e-12)


def test_counted_patterns_are_responses():
    votes = independent(Kind(7, 100), 4)[0]
    counted = half_agreement(votes, np.full(100, 2.0))
    twice = half_agreement(np.concatenate([votes, votes]))
    assert (counted.kappa, counted.expected) == pytest.approx((twice.kappa, twice.expected), abs=1e-12)


@pytest.mark.parametrize(
    "votes",
    [np.zeros((0, 9)), np.ones((80, 6)), np.full((80, 9), np.nan), np.ones((49, 9))],
    ids=lambda v: str(v.shape),
)
def test_too_little_is_no_evidence(votes):
    assert np.isnan(agreement(votes))


def test_halves_that_accept_everything_have_no_kappa():
    assert np.isnan(half_agreement(np.ones((60, 8))).ratio)


def test_on_real_verdicts_it_is_low_where_dawid_skene_errs(shared_data):
    import pandas as pd

    from voirdire.panel.matrix import ballots

    found = {}
    for name in ("nus_feedback.parquet", "bluebird.csv", "rte.csv"):
        path = shared_data / "verdicts" / name
        read = pd.read_parquet if path.suffix == ".parquet" else pd.read_csv
        found[name] = agreement(ballots(read(path), None).without_self().votes)
    assert found["nus_feedback.parquet"] < 0.8
    assert found["bluebird.csv"] > 0.8
    assert found["rte.csv"] > 0.95
