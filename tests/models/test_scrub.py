"""No key, header or signed URL gets through."""

import base64
import json
from urllib.parse import quote

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


def json_escaped(secret):
    """As encoders write it that trust no character but letters and digits."""
    return "".join(char if char.isalnum() else f"\\u{ord(char):04x}" for char in secret)


def in_base64(before, secret):
    return base64.b64encode(f"{before}{secret}:".encode()).decode()


DISGUISES = {
    "as it is": SECRET,
    "percent": quote(SECRET, safe=""),
    "percent twice": quote(quote(SECRET, safe=""), safe=""),
    "percent in lower case": quote(SECRET, safe="").lower().replace("planted%2bsecret", "planted%2bSecret"),
    "JSON": json_escaped(SECRET),
    "JSON in JSON": json_escaped(SECRET).replace("\\", "\\\\"),
    "JSON's slash": SECRET.replace("/", "\\/"),
    "Python": SECRET.replace("+", "\\x2b"),
    "HTML": SECRET.replace("+", "&#43;").replace("/", "&#x2F;"),
    "NUL": SECRET.replace("S", "S\x00"),
    "zero width": SECRET.replace("S", "S\u200b"),
    "hexadecimal": SECRET.encode().hex(),
    "Base64": in_base64("", SECRET),
    "Base64 after a name": in_base64("me:", SECRET),
    "Base64 after two": in_base64("ab", SECRET),
    "Base64 after one": in_base64("a", SECRET),
    "Base64 of URLs": base64.urlsafe_b64encode(f"x{SECRET}".encode()).decode(),
    "Base64 in a URL": quote(base64.b64encode(SECRET.encode()).decode(), safe=""),
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_the_sent_key_is_removed_from_errors_and_answers_however_it_is_written(disguise):
    scrubber, text = Scrubber([SECRET]), f"before {DISGUISES[disguise]} after"
    for scrubbed in (scrubber.error(text), scrubber.answer(text)):
        assert scrubbed.startswith("before ")
        assert scrubbed.endswith(" after")
        # Of Base64, characters may be left that the neighbours share.
        assert len(scrubbed.replace("[secret]", "")) <= len("before  after") + 7
        assert "[secret]" in scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "50% of 8 & \\\\frac{1}{2} is \\\\u{4} at C:\\\\x, &amp; &#45; %2B \\\\u002d \x00 \u200b stay",
        "",
        json.dumps({"text": "é \u2028"}),
    ],
)
def test_what_holds_no_key_is_left_as_it_is(text):
    assert Scrubber([SECRET]).answer(text) == text


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Authorization: Bearer abcdefgh12345678", "Authorization: [secret]"),
        ("headers {'authorization': 'Bearer abc.def'}", "headers {'authorization': '[secret]'}"),
        ("[(b'Authorization', b'Bearer abcdefgh')]", "[(b'Authorization', b'[secret]')]"),
        (r"{\"api-key\": \"abc123def\", \"x\": 1}", r"{\"api-key\": \"[secret]\", \"x\": 1}"),
        ("Cookie: session=abcdef12; path=/", "Cookie: [secret]; path=/"),
        ("to /v1/x?a=1&sig=abcdef&x=2 next", "to /v1/x?a=1&sig=[secret]&x=2 next"),
        ("next=https%3A%2F%2Fh%2F%3Fsig%3Dabc", "next=https%3A%2F%2Fh%2F%3Fsig%3D[secret]"),
        (r"at https:\/\/host\/path?sig=abc today", r"at https:\/\/host\/path today"),
        ("at https://host/path#access_token=abc today", "at https://host/path today"),
        ("at socks5://me:word@host/path", "at socks5://host/path"),
        ("got eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc_def", "got [secret]"),
        (r"wrong: sk\u002dproj\u002dabcdefghijkl12345", "wrong: [secret]"),
        ("max_tokens: 123456 is too large, unexpected token: abcdefgh", None),
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
    assert Scrubber().error(text) == (text if scrubbed is None else scrubbed)


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


@pytest.mark.parametrize(
    "name",
    ["OTHER_API_KEY", "AZURE_AD_TOKEN", "my_secret", "DB_PASSWORD", "DB_PWD", "NPM_AUTH", "SENTRY_DSN", "GH_PAT"],
)
def test_a_secret_of_the_environment_is_removed(monkeypatch, name):
    monkeypatch.setenv(name, SECRET)
    assert Scrubber().error(f"got {SECRET}") == "got [secret]"
    assert Scrubber().answer(f"got {SECRET}") == "got [secret]", "litellm may have sent it"


@pytest.mark.parametrize("name", ["PATH", "COMPASS_X", "OLDPWD", "SSH_AUTH_SOCK", "AUTHOR"])
def test_another_value_of_the_environment_is_not(monkeypatch, name):
    monkeypatch.setenv(name, "/usr/share/somewhere")
    assert Scrubber().error("in /usr/share/somewhere") == "in /usr/share/somewhere"


def test_a_short_value_of_the_environment_stays_in_answers(monkeypatch):
    monkeypatch.setenv("OTHER_TOKEN", "correct")
    assert Scrubber().answer("VERDICT: correct") == "VERDICT: correct"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "DATABASE_URL"])
@pytest.mark.parametrize("said", ["word%21word", "word!word", "{basic}"])
def test_the_password_of_an_address_is_removed(monkeypatch, name, said):
    monkeypatch.setenv(name, "http://me:word%21word@proxy:3128")
    basic = base64.b64encode(b"me:word!word").decode()
    assert Scrubber().error(f"Proxy refused {said.format(basic=basic)}!").startswith("Proxy refused [secret]")


def test_a_key_that_a_server_has_cut_is_removed():
    assert Scrubber(["0123456789-planted-key"]).error("got 0123456789-plant… what?") == "got [secret]… what?"


def test_long_errors_are_cut():
    assert len(Scrubber().error("word " * 1000)) == 500


def test_a_cut_leaves_no_half_of_a_key():
    hidden = "\x00" * (8000 - len(SECRET) // 2)
    assert Scrubber([SECRET]).error(f"got {hidden}{SECRET}") == "got"


def test_an_answer_loses_only_known_keys():
    text = f"api_key=abcdefgh12345678\n{SECRET}\n"
    assert Scrubber([SECRET]).answer(text) == "api_key=abcdefgh12345678\n[secret]\n"
