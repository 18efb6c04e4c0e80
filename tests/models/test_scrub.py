"""No key, header or signed URL gets through."""

import pytest

from voirdire.models.scrub import Scrubber

SECRET = "planted+Secret/0123456789"


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {SECRET}.",
        f"{{'Authorization': 'Bearer {SECRET}'}}",
        "GET https://host/v1?key=planted%2BSecret%2F0123456789 failed",
    ],
)
def test_the_sent_key_is_removed(text):
    scrubbed = Scrubber([SECRET]).error(text)
    assert SECRET not in scrubbed
    assert "0123456789" not in scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Authorization: Bearer abcdefgh12345678", "Authorization: [secret]"),
        ('{"api-key": "abc123def"}', '{"api-key": "[secret]"}'),
        ("wrong: sk-proj-abcdefghijkl12345", "wrong: [secret]"),
        ("wrong: sk-abcd********wxyz", "wrong: [secret]"),
        ("at https://host/path?sig=abc&x=1 today", "at https://host/path today"),
        ("at https://me:word@host/path", "at https://host/path"),
        ("one\n  two", "one two"),
        ("no such model 'gpt-6'", "no such model 'gpt-6'"),
    ],
)
def test_what_looks_like_a_secret_is_removed_from_errors(text, scrubbed):
    assert Scrubber().error(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("bad \x1b[31mred\x07\x00 end", "bad [31mred end"),
        ("tab\tand\r\nlines\u2028and\x85more", "tab and lines and more"),
        ("right \u202e to \u2066 left", "right to left"),
        ("zero\u200bwidth, s\u00adoft, \ufeffmark", "zerowidth, soft, mark"),
        ("lone \ud800 and private \ue000", "lone and private"),
        ("数 é 😀 stay", "数 é 😀 stay"),
        ("wrong: sk-proj-abc\u200bdefghijkl12345", "wrong: [secret]"),
    ],
)
def test_control_characters_are_dropped_from_errors(text, scrubbed):
    assert Scrubber().error(text) == scrubbed


@pytest.mark.parametrize("split", ["planted+Sec\x00ret/0123456789", "planted+Sec\u200bret/0123456789"])
def test_a_key_that_control_characters_split_is_removed(split):
    assert Scrubber([SECRET]).error(f"got {split}") == "got [secret]"


def test_a_secret_of_several_lines_is_removed_whole(monkeypatch):
    monkeypatch.setenv("PRIVATE_KEY", "BEGIN\nfirst line\nsecond line\nEND")
    assert Scrubber().error("got BEGIN\nfirst line\nsecond line\nEND.") == "got [secret]."


def test_a_key_of_the_environment_is_removed(monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", SECRET)
    assert Scrubber().error(f"got {SECRET}") == "got [secret]"


def test_long_errors_are_cut():
    assert len(Scrubber().error("word " * 1000)) == 500


def test_an_answer_loses_only_the_sent_key():
    text = f"api_key=abcdefgh12345678\n{SECRET}\n"
    assert Scrubber([SECRET]).answer(text) == "api_key=abcdefgh12345678\n[secret]\n"
