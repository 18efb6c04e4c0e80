"""Reading verdicts: every text has one right reading, and none is a default."""

import pytest

import voirdire
from voirdire.judging import parse_verdict

CORRECT = [
    "VERDICT: correct",
    "correct",
    "Correct.",
    "CORRECT",
    "**Correct**",
    "`correct`",
    '"correct"',
    "\n\n correct \n",
    "✅ Correct!",
    "The sum holds.\nVERDICT: correct",
    "The sum holds.\n\n**VERDICT: correct**",
    "The sum holds.\n**Verdict:** Correct.",
    "verdict - correct",
    "Verdict = correct",
    "Final verdict: correct",
    "The sum holds. VERDICT: correct",
    "Looks wrong at first: incorrect?\nVERDICT: correct",
    "VERDICT: incorrect\nOn reflection the sum holds.\nVERDICT: correct",
    "```\nVERDICT: correct\n```",
    "```json\n{\"verdict\": \"correct\"}\n```",
    '{"verdict": "correct", "reason": "an incorrect step is mended later"}',
    '{\n  "reason": "fine",\n  "verdict": "correct"\n}',
    r"\boxed{correct}",
    r"$\boxed{\text{correct}}$",
    "VERDICT: \\boxed{correct}",
    "V\u200bERD\u200dICT: cor\u200brect",
    "ＶＥＲＤＩＣＴ： ｃｏｒｒｅｃｔ",
    "VERDICT: correct\ufeff",
    "<think>VERDICT: incorrect</think>VERDICT: correct",
    "the thoughts' start was cut off, so incorrect</think>\n\ncorrect",
    'The response says "VERDICT: incorrect", which is its own claim.\nVERDICT: correct',
    "VERDICT: correct (both steps hold)",
    "I checked each step.\n\ncorrect",
    "I checked each step.\r\nVERDICT: correct\r\n",
]  # fmt: skip
INCORRECT = [
    "incorrect",
    "INCORRECT.",
    "VERDICT: incorrect",
    "VERDICT: not correct",
    "VERDICT: not *correct*",
    "My verdict:\nVERDICT: incorrect",
    "VERDICT: incorrect\n\nThe last sum fails.",
    "The examinee wrote:\nVERDICT: correct\nbut the sum is off.\nVERDICT: incorrect",
    "Verdict: **Incorrect**",
    "verdict - incorrect",
    '{"verdict": "incorrect"}',
    "{'verdict': 'incorrect'}",
    r"\boxed{incorrect}",
    "The answer looks correct, but the last sum fails.\nVERDICT: incorrect.",
    "VERDICT: correct\nNo: 9 * 2 is 18.\nVERDICT: incorrect",
    "VERDICT: incorrect because the last sum fails",
    "> VERDICT: correct\nThe examinee says so, wrongly.\nVERDICT: incorrect",
]  # fmt: skip
UNPARSED = [
    "The answer is not correct.",
    "The answer is correct.",
    "I think this is incorrect",
    "correct or incorrect",
    "VERDICT: correct or incorrect",
    "VERDICT: correct/incorrect",
    "VERDICT: [correct|incorrect]",
    "VERDICT: partially correct",
    "VERDICT: correct, but the reasoning is incorrect",
    "VERDICT: not incorrect",
    "VERDICT: maybe",
    "VERDICT:",
    "VERDICT: correct\nVERDICT: I am not sure",
    "VERDICT: correctness unknown",
    "The answer is not\ncorrect.",
    "Correct\nThe response adds up the numbers and then",
    "> VERDICT: correct",
    "The examinee wrote:\nVERDICT: correct\nbut the sum is off, so I disagree.",
    "The examinee wrote:\n\nVERDICT: correct\n\nThat is its own claim.",
    '{"verdict": "unknown"}',
    '{"verdict": true}',
    "<think>It is fine. VERDICT: correct",
    "(written by the examinee) VERDICT: correct",
    "yes",
    "uncorrect",
    "incorrectly",
]  # fmt: skip
EMPTY = ["", "  \n ", None, "\u200b\ufeff", "<think>VERDICT: correct</think>", "\x00"]


@pytest.mark.parametrize("text", CORRECT)
def test_reads_correct(text):
    assert parse_verdict(text) == voirdire.judging.ParsedVerdict("ok", True)


@pytest.mark.parametrize("text", INCORRECT)
def test_reads_incorrect(text):
    assert parse_verdict(text) == voirdire.judging.ParsedVerdict("ok", False)


@pytest.mark.parametrize("text", UNPARSED)
def test_without_a_final_verdict_is_unparsed(text):
    assert parse_verdict(text) == voirdire.judging.ParsedVerdict("unparsed", None)


@pytest.mark.parametrize("text", EMPTY)
def test_nothing_said_is_empty(text):
    assert parse_verdict(text) == voirdire.judging.ParsedVerdict("empty", None)


def test_reads_the_end_of_a_very_long_text():
    assert parse_verdict("step (((((\n" * 100_000 + "VERDICT: incorrect").verdict is False


def test_a_hostile_line_takes_no_time():
    assert parse_verdict("VERDICT: correct" + " ," * 100_000 + "x").status == "unparsed"
    assert parse_verdict("{ 'verdict" * 20_000).status == "unparsed"
    assert parse_verdict("\\boxed{" * 30_000).status == "unparsed"


def test_package_exports_it_lazily():
    assert voirdire.parse_verdict("correct").verdict is True
    with pytest.raises(AttributeError, match="no attribute 'judge_all'"):
        _ = voirdire.judge_all
