"""A million simulated items are feasible."""

import time

import pytest

from voirdire.simulated import estimand


@pytest.mark.bench
def test_an_estimand_on_a_million_items_takes_seconds(persona):
    start = time.perf_counter()
    planted = estimand(persona("rook", second_look=0.5), persona("larch", look_noise=0.3), "gsm8k")
    seconds = time.perf_counter() - start
    print(f"estimand on 10^6 items: {seconds:.2f} s, Monte-Carlo error of the FPR {planted.fpr_se:.5f}")
    assert planted.fpr_se < 0.001
    assert seconds < 10
