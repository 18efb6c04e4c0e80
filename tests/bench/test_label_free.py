"""How long it takes to say whether label-free estimates can be trusted."""

import time

import pandas as pd
import pytest

from voirdire.panel import label_free_trust
from voirdire.panel.matrix import ballots

# Of processor time, so that other work on the machine counts little; 1 to 3 s.
AT_MOST_S = 10.0


@pytest.mark.bench
@pytest.mark.parametrize("name", ["nus_feedback.parquet", "bluebird.csv", "rte.csv"])
def test_time_of_the_verdict_on_real_panels(shared_data, name):
    path = shared_data / "verdicts" / name
    verdicts = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    box = ballots(verdicts).without_self()
    start = time.process_time()
    trust = label_free_trust(box.votes)
    took = time.process_time() - start
    n_responses, n_judges = box.votes.shape
    print(
        f"{name}: {n_responses:,} responses × {n_judges} judges: {took:.1f} s, r {trust.statistic:.2f}, {trust.verdict}"
    )
    assert took < AT_MOST_S
