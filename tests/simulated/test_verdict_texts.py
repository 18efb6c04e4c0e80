"""What a simulated judge writes."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import voirdire
from voirdire.benchmarks import Item
from voirdire.simulated import ExamineeLook, judge, phrases, respond

ITEMS = [Item("gsm8k", f"gsm8k-{number:04d}", "How many?", answer="18") for number in range(1, 601)]


@pytest.fixture
def answered(persona):
    """Responses of an examinee and whether they are right."""
    responses = respond(persona("larch", 0.4, "conifer"), ITEMS, seed=2)
    return [response.text for response in responses], np.array([response.right for response in responses])


def verdicts(texts):
    return [voirdire.parse_verdict(text).verdict for text in texts]


@pytest.mark.parametrize("text", sorted({*phrases.CORRECT, *phrases.INCORRECT, *phrases.UNDECIDED}))
def test_every_text_is_read_as_meant(text):
    parsed = voirdire.parse_verdict(text)
    expected = {True: phrases.CORRECT, False: phrases.INCORRECT, None: phrases.UNDECIDED}[parsed.verdict]
    assert text in expected
    assert parsed.status == ("unparsed" if parsed.verdict is None else "ok")


def test_a_perfect_judge_says_what_is_true(persona, answered):
    texts, right = answered
    sure = persona(ability=1 - 1e-12, slip=1e-9)
    assert verdicts(judge(sure, ITEMS, texts, right, persona("larch", 0.4, "conifer"), seed=2)) == right.tolist()


def test_verdicts_depend_on_their_response_alone(persona, answered):
    texts, right = answered
    look = ExamineeLook.from_accuracy("recorded", "gpt", 0.4)
    rook = persona(length_effect=0.5, trial_noise=0.3, unparsable=0.1)
    together = judge(rook, ITEMS, texts, right, look, seed=2)
    assert judge(rook, ITEMS[::-1], texts[::-1], right[::-1], look, seed=2) == together[::-1]
    assert judge(rook, ITEMS[5:6], texts[5:6], right[5:6], look, seed=2) == together[5:6]
    assert judge(rook, ITEMS, texts, right, look, seed=3) != together
    assert judge(rook, ITEMS, texts, right, look, trial=1, seed=2) != together
    assert judge(rook, ITEMS, texts, right, dataclasses.replace(look, name="other"), seed=2) != together


def test_the_planted_share_is_unparsable_under_every_label_alike(persona, answered):
    texts, right = answered
    rook = persona(unparsable=0.2, label_effects={"elite": -1})
    examinee = persona("larch", 0.4, "conifer")
    blind = judge(rook, ITEMS, texts, right, examinee, seed=2)
    elite = judge(rook, ITEMS, texts, right, examinee, label="elite", seed=2)
    silent = [text in phrases.UNDECIDED for text in blind]
    assert np.mean(silent) == pytest.approx(0.2, abs=0.07)
    assert silent == [text in phrases.UNDECIDED for text in elite]
    assert blind != elite


def test_missing_truth_is_accepted_in_every_spelling(persona, answered):
    texts, right = answered
    unknown = [None if number % 7 == 0 else value for number, value in enumerate(right.tolist())]
    look = ExamineeLook.from_accuracy("recorded", "gpt", 0.4)
    spellings = (
        np.array(unknown, dtype=object),
        np.array([np.nan if value is None else value for value in unknown], dtype=float),
        pd.Series(unknown, dtype="boolean"),
    )
    first, *others = (judge(persona(), ITEMS, texts, spelling, look, seed=2) for spelling in spellings)
    assert all(other == first for other in others)


def test_the_length_of_a_recorded_response_is_measured(persona):
    look = ExamineeLook("recorded", "gpt", 0.0)
    rook = persona(ability=0.01, length_effect=1.0)
    wrong = np.zeros(len(ITEMS), dtype=bool)
    shares = [np.mean(verdicts(judge(rook, ITEMS, ["x" * n] * len(ITEMS), wrong, look))) for n in (0, 200, 420, 900)]
    assert shares == sorted(shares)
    assert shares[0] < 0.05
    assert shares[-1] > 0.9


def test_nothing_to_judge_gives_nothing(persona):
    assert judge(persona(), [], [], np.array([]), persona("larch")) == []


def test_items_of_two_tasks_are_refused(persona):
    items = [ITEMS[0], Item("aime", "aime-01", "How many?", answer="70")]
    with pytest.raises(ValueError, match="one task"):
        judge(persona(), items, ["a", "b"], np.array([True, True]), persona("larch"))
