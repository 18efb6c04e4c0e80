"""The forecast of what is left: bounds, limits, and above all whether the truth lies inside, on skewed lengths."""

import math
from functools import partial

import numpy as np
import pytest

from voirdire.study.forecast import Range, Sample, forecast

CAP = 4096.0
# Monsters: `share` of the answers, so many times as long as the others.
LENGTHS = {
    "lognormal .3": lambda rng, n: np.exp(0.3 * rng.standard_normal(n)),
    "lognormal .7": lambda rng, n: np.exp(0.7 * rng.standard_normal(n)),
    "lognormal 1.2": lambda rng, n: np.exp(1.2 * rng.standard_normal(n)),
    "gamma 2": lambda rng, n: rng.gamma(2, 0.5, n),
    "gamma .7": lambda rng, n: rng.gamma(0.7, 1 / 0.7, n),
    "monsters .1 x 10": lambda rng, n: _bimodal(rng, n, 0.1, 10),
    "monsters .05 x 15": lambda rng, n: _bimodal(rng, n, 0.05, 15),
    "monsters .3 x 8": lambda rng, n: _bimodal(rng, n, 0.3, 8),
}


def _bimodal(rng, n, share, factor):
    return np.where(rng.random(n) < share, factor, 1.0) * np.exp(0.3 * rng.standard_normal(n))


def sample(values, left=100, **changes):
    """One job's lengths of answers, of which the values were seen."""
    values = np.asarray(values, float)
    given = {
        "pool": "judge owl",
        "stratum": "gsm8k",
        "source": "job",
        "questions": [str(number) for number in range(len(values))],
        "values": values,
        "sizes": np.ones(len(values)),
        "left": left,
        "left_size": left,
        "cap": CAP,
    }
    return Sample(**given | changes)


def study(draw, rng, jobs, n, left=100, cap=CAP):
    """Jobs whose typical lengths differ, of each of which n answers were seen, and what the others really take."""
    samples, truth = [], 0.0
    for job in range(jobs):
        lengths = np.minimum(np.ceil(200 * np.exp(0.7 * rng.standard_normal()) * draw(rng, n + left)), CAP)
        samples.append(sample(lengths[:n], left, source=str(job), cap=cap))
        truth += lengths[n:].sum()
    return samples, truth


def coverage(make, repetitions, seed=0):
    """How often the truth lies inside, and the median of high over low."""
    rng = np.random.default_rng(seed)
    inside, widths = 0, []
    for _ in range(repetitions):
        samples, truth = make(rng)
        found = forecast(samples, [1.0] * len(samples))
        inside += found.low <= truth <= found.high
        widths.append(found.high / found.low)
    return inside / repetitions, float(np.median(widths))


@pytest.mark.parametrize("jobs", [1, 12])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_the_truth_lies_inside(lengths, jobs):
    inside, _ = coverage(partial(study, LENGTHS[lengths], jobs=jobs, n=5), 100)
    assert inside >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("jobs", [1, 4, 12, 40])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_the_truth_lies_inside_whatever_the_size(lengths, jobs, n):
    inside, width = coverage(partial(study, LENGTHS[lengths], jobs=jobs, n=n), 500, seed=jobs + n)
    print(f"{lengths}, {jobs} jobs, {n} answers of each: {100 * inside:.1f} % inside, high / low {width:.1f}")
    assert inside >= 0.92


def test_questions_that_are_hard_for_all_are_not_taken_for_independent_calls():
    def correlated(rng, jobs=12, n=5, left=100):
        hard = rng.standard_normal(n + left)
        samples, truth = [], 0.0
        for job in range(jobs):
            lengths = 200 * np.exp(0.7 * np.sqrt(0.5) * (hard + rng.standard_normal(n + left)))
            samples.append(sample(lengths[:n], left, source=str(job)))
            truth += lengths[n:].sum()
        return samples, truth

    assert coverage(correlated, 150)[0] >= 0.92


def test_more_answers_and_more_jobs_narrow_the_range():
    def width(jobs, n):
        return coverage(partial(study, LENGTHS["lognormal .7"], jobs=jobs, n=n), 20)[1]

    assert width(1, 3) > width(1, 10) > width(12, 10) > width(40, 10)
    assert width(1, 5) < 20
    assert width(40, 10) < 1.5


def test_equal_answers_are_expected_to_go_on_but_not_for_certain():
    found = forecast([sample([100, 100, 100, 100, 100])], [1])
    assert found.expected == pytest.approx(10_000)
    assert 3000 < found.low < 10_000 < found.high < 100_000


def test_sizes_that_are_known_carry_the_forecast():
    lengths = np.array([100.0, 400, 150, 800])
    prompts = sample(1.2 * lengths, sizes=lengths, left=10, left_size=9000, skewed=False)
    found = forecast([prompts], [1])
    assert found.expected == pytest.approx(1.2 * 9000)
    assert found.high / found.low < 1.3


def test_weights_are_dollars():
    samples = [sample([10, 20, 30]), sample([1, 2, 3], pool="judge crow", source="other")]
    assert forecast(samples, [2, 0]).expected == pytest.approx(2 * 100 * 20)
    assert forecast(samples, [2, 5]).expected == pytest.approx(2 * 100 * 20 + 5 * 100 * 2)


def test_nothing_exceeds_the_caps():
    found = forecast([sample([40, 10, 50, 45], left=100, cap=50)], [1])
    assert found.low < found.expected < found.high == 100 * 50


def test_without_a_cap_the_range_is_wider_but_finite():
    capped, free = (forecast([sample([10, 12, 15], cap=cap)], [1]) for cap in (60, math.inf))
    assert capped.high < free.high < math.inf


def test_without_any_answer_there_are_bounds_only():
    unknown = forecast([sample([], left=7)], [2])
    assert (unknown.low, unknown.high) == (0, 2 * 7 * CAP)
    assert math.isnan(unknown.expected)
    prompts = sample([], left=7, left_size=700, skewed=False)
    found = forecast([prompts], [2])
    assert (found.low, found.high) == (1400, 1400)
    assert forecast([sample([], left=7, cap=math.inf)], [1]).high == math.inf


def test_a_job_without_answers_is_like_its_neighbours_and_less_certain():
    seen = sample([90, 100, 110, 95, 105], left=0, left_size=0)
    found = forecast([seen, sample([], source="unseen")], [1, 1])
    own = forecast([sample([90, 100, 110, 95, 105])], [1])
    assert found.expected == pytest.approx(own.expected)
    assert found.low < own.low


def test_a_neighbour_on_the_same_task_counts_before_others():
    near = sample([10, 10, 10], left=0)
    far = sample([1000, 1000, 1000], left=0, stratum="aime", source="far")
    found = forecast([near, far, sample([], source="unseen")], [1, 1, 1])
    assert found.expected == pytest.approx(100 * 10)


def test_the_same_values_in_several_samples_count_once():
    response = [90.0, 300, 40]
    shared = [sample(response, source="responses") for _ in range(6)]
    alone, joint = forecast(shared[:1], [1]), forecast(shared, [1] * 6)
    assert joint.expected == pytest.approx(6 * alone.expected)
    assert joint.high >= 5 * alone.high, "six judges of one response don't make it more certain"


def test_a_question_that_needed_no_call_counts_as_zero():
    found = forecast([sample([100, 0, 100, 0])], [1])
    assert found.expected == pytest.approx(100 * 50)


def test_one_answer_gives_a_wide_range_and_no_error():
    found = forecast([sample([100])], [1])
    assert found.expected == pytest.approx(10_000)
    assert found.high > 3 * found.low > 0


def test_nothing_left_is_nothing():
    assert forecast([sample([1, 2, 3], left=0)], [1]) == Range(0, 0, 0)
    assert forecast([], []) == Range(0, 0, 0)
