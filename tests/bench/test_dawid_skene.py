"""How much faster Dawid-Skene is than crowd-kit's, and how its time grows with the responses."""

import os
import time

import numpy as np
import pytest
from crowd import fit_crowd_kit, independent_panel, long
from scipy.special import expit

from voirdire.panel.dawid_skene import fit, posterior_logit

pytestmark = pytest.mark.bench

RESPONSES, JUDGES, ROUNDS, GOAL = 100_000, 20, 50, 30
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def drawn(n, n_judges, gaps, seed=0):
    fpr, fnr = np.random.default_rng(seed).uniform(0.05, 0.4, (2, n_judges))
    return independent_panel(n, fpr, fnr, gaps=gaps, seed=seed)[0]


def rounds(votes, n):
    return fit(votes, smoothing=0, tolerance=-1, max_iter=n)


def timed(repeats, run):
    """The shortest of some times, in seconds, as others share the cores; and what was made."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        made = run()
        times.append(time.perf_counter() - start)
    return min(times), made


@pytest.mark.parametrize("gaps", [0.0, 0.1, 0.5], ids=["complete", "a tenth missing", "half missing"])
def test_time_beside_crowd_kit(gaps):
    votes = drawn(RESPONSES, JUDGES, gaps)
    frame = long(votes)
    # What is imported at first use is not timed.
    fit_crowd_kit(frame[:100], 1)
    rounds(votes[:100], 1)
    ours_s, _ = timed(3, lambda: rounds(votes, ROUNDS))
    theirs_s, theirs = timed(1, lambda: fit_crowd_kit(frame, ROUNDS))
    before = rounds(votes, ROUNDS - 1)
    right = expit(posterior_logit(votes, before.fpr, before.fnr, before.prevalence))
    voted = np.isfinite(votes).any(axis=1)
    apart = np.abs(theirs.probas_[1].sort_index().to_numpy() - right[voted]).max()
    ratio = theirs_s / ours_s
    print(
        f"\n{RESPONSES:,} responses × {JUDGES} judges, {gaps:.0%} of the votes missing, {ROUNDS} rounds:\n"
        f"crowd-kit {theirs_s:.2f} s, ours {ours_s:.3f} s: {ratio:.0f} times as fast; "
        f"the goal of {GOAL} times: {'met' if ratio >= GOAL else 'missed'}; posteriors apart by at most {apart:.0e}"
    )
    assert apart < 1e-6


@pytest.mark.parametrize(("n_judges", "gaps"), [(5, 0.0), (20, 0.1)], ids=["few patterns", "as many as responses"])
def test_growth_with_the_responses(n_judges, gaps):
    busy, seconds = os.getloadavg()[0], []
    rounds(drawn(100, n_judges, gaps), 1)
    print(f"\n{n_judges} judges, {gaps:.0%} of the votes missing, {ROUNDS} rounds")
    for size in SIZES:
        votes = drawn(size, n_judges, gaps)
        seconds.append(timed(3, lambda votes=votes: rounds(votes, ROUNDS))[0])
        print(f"{size:9,} responses: {seconds[-1]:7.3f} s, {seconds[-1] / size * 1e6:6.2f} µs each")
    slope = np.polyfit(np.log10(SIZES[1:]), np.log10(seconds[1:]), 1)[0]
    print(f"from {SIZES[1]:,} on the time grows as the {slope:.2f}th power of the responses")
    if busy > 1:
        print(f"{busy:.0f} processes waited for the cores already: the times are worth little")
    assert slope < 1.25


def test_time_of_many_streams():
    votes = np.stack([drawn(480, 5, 0.1, seed) for seed in range(20)])
    streams = np.concatenate([votes] * 50)
    fit(votes[:1])
    seconds, fitted = timed(2, lambda: fit(streams))
    print(f"\n1,000 streams of 480 responses × 5 judges, until nothing changes by 1e-6: {seconds:.2f} s")
    assert fitted.converged.all()
