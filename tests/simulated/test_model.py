"""Each planted effect comes back, and only where it was planted."""

import numpy as np
import pytest
from scipy.stats import norm

from voirdire.simulated import ExamineeLook, estimand
from voirdire.simulated.draws import Draws, numbered_hashes
from voirdire.simulated.model import accepts, lengths, solves, verdict_probability

N = 20_000
PLAIN = ExamineeLook("larch", "conifer", plausibility=0.0, look_noise=0.0)


@pytest.fixture
def draws():
    return Draws(5, "gsm8k", numbered_hashes(N))


def unsolved_rate(judge, draws, look=PLAIN, right=False, **options):
    """Share accepted of the responses to items that the judge cannot solve."""
    unsolved = ~solves(judge, draws, judging=True)
    truth = np.full(len(draws.items), right)
    return accepts(judge, draws, look, truth, np.zeros(len(draws.items)), **options)[unsolved].mean()


@pytest.mark.parametrize("ability", [0.15, 0.5, 0.97])
@pytest.mark.parametrize("own_noise", [0.0, 0.5, 1.0])
def test_a_persona_solves_its_ability_s_share(persona, draws, ability, own_noise):
    solved = solves(persona(ability=ability, own_noise=own_noise), draws)
    assert solved.mean() == pytest.approx(ability, abs=4 * np.sqrt(ability * (1 - ability) / N))


def test_difficulty_is_shared_and_own_noise_is_not(persona, draws):
    def agreement(own_noise):
        one, other = (solves(persona(name, ability=0.5, own_noise=own_noise), draws) for name in ("rook", "larch"))
        return np.corrcoef(one, other)[0, 1]

    assert agreement(0.0) == pytest.approx(1)
    # Of two normals cut at 0 with correlation 1/2 the signs correlate by (2/π) asin(1/2) = 1/3.
    assert agreement(0.5) == pytest.approx(1 / 3, abs=0.03)
    assert agreement(1.0) == pytest.approx(0, abs=0.03)


def test_without_a_second_look_a_judge_solves_what_it_solved_as_examinee(persona, draws):
    rook = persona()
    assert np.array_equal(solves(rook, draws), solves(rook, draws, judging=True))
    fresh = persona(own_noise=1.0, second_look=1.0)
    assert np.corrcoef(solves(fresh, draws), solves(fresh, draws, judging=True))[0, 1] == pytest.approx(0, abs=0.03)
    assert solves(fresh, draws, judging=True).mean() == pytest.approx(0.6, abs=0.015)


def test_a_judge_that_solves_the_item_errs_by_slips_only(persona, draws):
    judge = persona("rook", slip=0.05, strictness=3, self_preference=5)
    solved = solves(judge, draws, judging=True)
    for right in (True, False):
        verdicts = accepts(judge, draws, judge.look("gsm8k"), np.full(N, right), np.zeros(N), label="elite")
        assert (verdicts[solved] != right).mean() == pytest.approx(0.05, abs=0.008)


def test_strictness_lowers_acceptance_where_the_judge_cannot_solve(persona, draws):
    for strictness in (-0.5, 0.0, 1.0):
        rate = unsolved_rate(persona(strictness=strictness), draws)
        assert rate == pytest.approx(norm.cdf(-strictness), abs=0.02)


def test_discernment_raises_acceptance_of_right_responses_only(persona, draws):
    judge = persona(discernment=0.8)
    assert unsolved_rate(judge, draws, right=True) == pytest.approx(norm.cdf(0.8), abs=0.02)
    assert unsolved_rate(judge, draws, right=False) == pytest.approx(0.5, abs=0.02)


def test_plausible_errors_pass(persona, draws):
    look = ExamineeLook("larch", "conifer", plausibility=1.0, look_noise=0.75)
    assert unsolved_rate(persona(), draws, look) == pytest.approx(norm.cdf(1 / np.hypot(1, 0.75)), abs=0.02)


def test_look_noise_is_seen_by_all_judges(persona, draws):
    judges = [persona(name, ability=0.05) for name in ("rook", "stoat")]
    wrong = np.zeros(N, dtype=bool)

    def correlation(look_noise):
        look = ExamineeLook("larch", "conifer", 0.0, look_noise)
        return np.corrcoef(*(accepts(judge, draws, look, wrong, np.zeros(N)) for judge in judges))[0, 1]

    assert correlation(0.0) < 0.05
    assert correlation(1.0) > 0.25


def test_self_and_family_preference(persona, draws):
    judge = persona("rook", self_preference=1.0, family_preference=0.5)

    def rate(name, family):
        return unsolved_rate(judge, draws, ExamineeLook(name, family, 0.0, 0.0))

    assert rate("rook", "corvid") == pytest.approx(norm.cdf(1.0), abs=0.02)
    assert rate("jackdaw", "corvid") == pytest.approx(norm.cdf(0.5), abs=0.02)
    assert rate("larch", "conifer") == pytest.approx(0.5, abs=0.02)


def test_length_effect(persona, draws):
    judge = persona(length_effect=0.5, ability=0.05)
    length = lengths(persona("larch", verbosity=1.0), draws)
    assert length.mean() == pytest.approx(1.0, abs=0.03)
    verdicts = accepts(judge, draws, PLAIN, np.zeros(N, dtype=bool), length)
    assert length[verdicts].mean() - length[~verdicts].mean() > 0.5
    indifferent = accepts(persona(ability=0.05), draws, PLAIN, np.zeros(N, dtype=bool), length)
    assert length[indifferent].mean() == pytest.approx(length[~indifferent].mean(), abs=0.08)


def test_labels_move_verdicts_in_the_effect_s_direction_only(persona, draws):
    judge = persona(label_effects={"elite": -0.6, "author": 0.0}, template_noise=0.2, trial_noise=0.2)
    wrong, length = np.zeros(N, dtype=bool), np.zeros(N)
    blind = accepts(judge, draws, PLAIN, wrong, length)
    elite = accepts(judge, draws, PLAIN, wrong, length, label="elite")
    author = accepts(judge, draws, PLAIN, wrong, length, label="author")
    assert np.array_equal(blind, author)
    assert not (elite & ~blind).any()
    unsolved = ~solves(judge, draws, judging=True)
    assert elite[unsolved].mean() == pytest.approx(norm.cdf(-0.6), abs=0.02)


def test_a_template_under_its_label_is_paired_with_itself(persona, draws):
    judge = persona(template_noise=0.5)
    wrong, length = np.zeros(N, dtype=bool), np.zeros(N)
    reason = accepts(judge, draws, PLAIN, wrong, length, template="reason")
    labelled = accepts(judge, draws, PLAIN, wrong, length, label="elite", template="reason")
    assert np.array_equal(reason, labelled)


@pytest.mark.parametrize(
    ("effect", "other"), [("template_noise", {"template": "reason"}), ("trial_noise", {"trial": 1})]
)
def test_templates_and_trials_differ_by_their_noise(persona, draws, effect, other):
    wrong, length = np.zeros(N, dtype=bool), np.zeros(N)
    for noise, differ in ((0.0, 0.0), (1.0, 0.5)):
        judge = persona(ability=0.01, **{effect: noise})
        first = accepts(judge, draws, PLAIN, wrong, length)
        assert (accepts(judge, draws, PLAIN, wrong, length, **other) != first).mean() == pytest.approx(differ, abs=0.03)


def test_a_response_of_unknown_truth_is_judged_by_its_looks(persona, draws):
    judge = persona("rook", ability=0.99, slip=0.01)
    probability = verdict_probability(judge, draws, PLAIN, np.full(N, np.nan), np.zeros(N))
    assert probability == pytest.approx(0.5)


def test_estimand_is_the_closed_form_where_there_is_one(persona):
    judge = persona("rook", ability=0.7, own_noise=1.0, slip=0.02, strictness=0.4, discernment=1.1)
    examinee = persona("larch", family="conifer", ability=0.4, own_noise=1.0, plausibility=0.5, look_noise=0.5)
    planted = estimand(judge, examinee, "mbpp", n=200_000)
    fpr = 0.7 * 0.02 + 0.3 * norm.cdf((0.5 - 0.4) / np.hypot(1, 0.5))
    fnr = 0.7 * 0.02 + 0.3 * norm.cdf(-(0.5 - 0.4 + 1.1) / np.hypot(1, 0.5))
    assert planted.fpr == pytest.approx(fpr, abs=4 * planted.fpr_se)
    assert planted.fnr == pytest.approx(fnr, abs=4 * planted.fnr_se)
    assert planted.fpr_se < 0.001
    assert planted.bias == planted.fpr - planted.fnr


def test_estimand_is_what_verdicts_show(persona, draws):
    judge = persona("rook", second_look=0.5, self_preference=0.4, length_effect=0.2)
    planted = estimand(judge, judge, "gsm8k", n=100_000, label="elite")
    right = solves(judge, draws)
    verdicts = accepts(judge, draws, judge.look("gsm8k"), right, lengths(judge, draws), "elite", "elite")
    shown = verdicts[~right].mean()
    assert shown == pytest.approx(planted.fpr, abs=4 * np.sqrt(0.25 / (~right).sum()))
    assert 1 - verdicts[right].mean() == pytest.approx(planted.fnr, abs=4 * np.sqrt(0.25 / right.sum()))


def test_a_template_moves_acceptance_by_its_effect(persona, draws):
    judge = persona("rook", ability=0.01, strictness=0.4, template_effects={"reason": -0.5})
    wrong, length = np.zeros(N, dtype=bool), np.zeros(N)
    shares = {name: accepts(judge, draws, PLAIN, wrong, length, template=name).mean() for name in ("default", "reason")}
    planted = {name: estimand(judge, persona("larch", ability=0.5), "gsm8k", 50_000, template=name) for name in shares}
    assert planted["reason"].fpr == pytest.approx(0.99 * norm.cdf(-0.9), abs=0.01)
    assert planted["default"].fpr == pytest.approx(0.99 * norm.cdf(-0.4), abs=0.01)
    for name, share in shares.items():
        assert share == pytest.approx(planted[name].fpr, abs=4 * np.sqrt(0.25 / N))


def test_a_rate_without_denominator_is_missing(persona):
    planted = estimand(persona("rook"), persona("larch", ability=1e-12), "gsm8k", n=100)
    assert np.isnan(planted.fnr)
    assert planted.fpr >= 0
