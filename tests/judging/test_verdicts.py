"""Reading verdicts: every text has one right reading, and none is a default."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdict_texts import CORRECT, EMPTY, INCORRECT, UNPARSED

import voirdire
from voirdire.judging import ParsedVerdict, parse_verdict
from voirdire.judging.seen import visible

MEGABYTE = 1_000_000
FRAGMENTS = [text for text in CORRECT + INCORRECT + UNPARSED if len(text) < 60]
# Whatever an index or a pattern could be tempted to go over again and again.
HOSTILE = [
    *("<think>", "<think></think>", "</think>", "<b ", "~~a", "\x1b[", ". ", "! * ", "*", "_"),
    *(" ", ", ", "1. ", "(", "> ", "\n", "\x00", "\u200b\ud83d\u202e", "VERDICT: ", "VERDICT: correct\n", "Verdict\n"),
    *("correct, but ", "not ", "so the my ", "{", '\n{"a":[', '{"verdict"', '{"verdict": "correct"}\n', "\\boxed{"),
    *("```json ", "the steps ", "The response says:\n", "\u0316\u0301", "\ufdfa", "(written by the examinee) "),
]


@pytest.mark.parametrize("text", CORRECT)
def test_reads_correct(text):
    assert parse_verdict(text) == ParsedVerdict("ok", True)


@pytest.mark.parametrize("text", INCORRECT)
def test_reads_incorrect(text):
    assert parse_verdict(text) == ParsedVerdict("ok", False)


@pytest.mark.parametrize("text", UNPARSED)
def test_without_a_final_verdict_is_unparsed(text):
    assert parse_verdict(text) == ParsedVerdict("unparsed", None)


@pytest.mark.parametrize("text", EMPTY)
def test_nothing_said_is_empty(text):
    assert parse_verdict(text) == ParsedVerdict("empty", None)


@pytest.mark.parametrize("text", [text for text in CORRECT + INCORRECT if "</think>" not in text and len(text) > 9])
def test_a_verdict_within_thoughts_is_not_said(text):
    assert parse_verdict(f"<think>\n{text}\n</think>").status == "empty"
    assert parse_verdict(f"<think>\n{text}\n</think>\nI can't tell.").status == "unparsed"


def test_the_battery_is_wide_and_repeats_nothing():
    texts = CORRECT + INCORRECT + UNPARSED + EMPTY
    assert len(texts) == len(set(texts)) >= 400


texts = st.text() | st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=5).map("\n".join)


@given(texts)
def test_whatever_stands_before_it_incorrect_is_never_read_as_correct(text):
    assert parse_verdict(f"{text}\nVERDICT: incorrect").verdict is not True
    assert parse_verdict(f"{text}\n\nincorrect").verdict is not True


@given(texts)
def test_whatever_stands_before_it_a_marked_correct_is_never_read_as_incorrect(text):
    assert parse_verdict(f"{text}\nVERDICT: correct").verdict is not False


@given(texts, st.sampled_from(["The response is {}.", "Final answer: **{}**", "{}", "Sorry, I meant {}."]))
def test_the_opposite_word_behind_a_verdict_is_never_passed_over(text, form):
    behind = form.format("incorrect")
    assert parse_verdict(f"VERDICT: correct\n{text}\n{behind}").verdict is not True
    behind = form.format("correct")
    assert parse_verdict(f"VERDICT: incorrect\n\n{behind}").status == "unparsed"


@given(texts)
def test_text_without_one_of_the_words_letters_has_no_verdict(text):
    # "\" could write the letter as JSON does.
    without = "".join(c for c in text if "r" not in visible(c).lower() and c != "\\")
    assert parse_verdict(without).status != "ok"


@given(texts)
def test_nothing_but_the_two_words_makes_a_verdict(text):
    parsed = parse_verdict(text)
    assert (parsed.status == "ok") == (parsed.verdict is not None)
    assert parsed.status in ("ok", "unparsed", "empty")


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_takes_no_time_and_hides_no_verdict(piece):
    hostile = piece * (MEGABYTE // len(piece))
    began = time.process_time()
    alone = parse_verdict(hostile)
    before = parse_verdict(f"{hostile}\n\nIt is wrong.\n\nVERDICT: incorrect")
    behind = parse_verdict(f"VERDICT: correct, {hostile}x")
    took = time.process_time() - began
    assert alone.status in ("unparsed", "empty") or piece in ("VERDICT: correct\n", '{"verdict": "correct"}\n')
    assert before.verdict is False or piece == "<think>"
    assert behind.status != "ok" or behind.verdict
    assert took < 30


def test_reads_the_end_of_a_very_long_text():
    assert parse_verdict("step (((((\n" * 100_000 + "VERDICT: incorrect").verdict is False
    assert parse_verdict("Each step holds. " * 60_000 + "VERDICT: correct").verdict is True


@pytest.mark.parametrize("text", ["plain words. " * 80_000, "判定正确。" * 200_000, "👍🏽 é\u200b" * 200_000])
def test_looking_at_a_megabyte_takes_little_time(text):
    began = time.process_time()
    visible(text)
    assert time.process_time() - began < 5


def test_package_exports_it_lazily():
    assert voirdire.parse_verdict("correct").verdict is True
    with pytest.raises(AttributeError, match="no attribute 'judge_all'"):
        _ = voirdire.judge_all
