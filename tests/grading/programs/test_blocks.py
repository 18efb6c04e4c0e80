"""Code comes out of a response as the model wrote it, and out of what it said rather than thought."""

import time

import pytest

from voirdire.benchmarks import Item
from voirdire.grading.programs.blocks import code_blocks
from voirdire.grading.programs.code import grade_programs

# Each is left as it is in a fence.
PROGRAMS = [
    's = s.replace("<think>", "").replace("</think>", "")',
    's = re.sub("<think>.*?</think>", "", s)',
    "s = s.split('</think>')[-1]",
    "s = re.sub(r'\\[THINK\\].*?[/THINK]', '', s)  # not <thinking>, nor </reasoning>",
    's = """<think>\n</think>\n"""',
    "s = '''\n[CODE]\n[/CODE]\n'''",
    "family = '👨\u200d👩\u200d👧'",
    'word = "नमस्\u200dते"',
    "BLANKS = ['\u200b', '\ufeff', '\u2060', \"\u00ad\"]",
    'flag = "🏴\U000e0067\U000e0062\U000e007f"',
    "heart = '❤\ufe0f'  # ❤\ufe0f, not ❤",
    'ends = """a\u2028b\x85c\x0bd"""',
    "page = 1\n\x0c\nother = 2",
    "red = '\x1b[31mred\x1b[0m'",
    'nested = f"{\'👩\u200d🔬\'}"',
    "quoted = 'it\\'s 👩\u200d🔬'",
    "def f():\n\treturn '\u200b'",
    's = """\n```x = 1```\n"""',
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=ascii)
def test_fenced_code_is_left_as_it_is(program):
    assert code_blocks(f"```python\n{program}\n```")[0] == [program]
    after_thoughts = f"<think>\n```\nx\n```\n</think>\nSo:\n```python\n{program}\n```\nDone."
    assert code_blocks(after_thoughts)[0] == [program]
    # In a fence that is never closed, a line that is a closing tag and nothing else closes it.
    if "\n</think>" not in program and "\n[/CODE]" not in program:
        assert code_blocks(f"So:\n```python\n{program}")[0] == [program]


@pytest.mark.parametrize("program", PROGRAMS, ids=ascii)
def test_thoughts_that_end_behind_a_program_take_it_along(program):
    response = f"<think>\n```python\nx = 1\n```\nor\n```python\n{program}\n```\nWait.\n</think>\n```python\ny = 2\n```"
    if "think" not in program.lower():
        assert code_blocks(response)[0] == ["y = 2"]
    assert code_blocks(response)[0][-1] == "y = 2"


@pytest.mark.parametrize(
    ("response", "blocks"),
    [
        ("<think>\n```python\nx = 1\n```\n</think>\n```python\ny = 2\n```", ["y = 2"]),
        ("```python\nx = 1\n```\n</think>\n```python\ny = 2\n```", ["y = 2"]),
        ("<think>```python\nx = 1\n</think>\n```python\ny = 2\n```", ["y = 2"]),
        ("```python\nx = 1\n</think>\n\n```python\ny = 2\n```", ["y = 2"]),
        ("[THINK]\n```\nx = 1\n```\n[/THINK]\n```\ny = 2\n```", ["y = 2"]),
        ("◁think▷\n```\nx = 1\n```\n◁/think▷\n```\ny = 2\n```", ["y = 2"]),
        ("<reasoning>\n```\nx = 1\n```\n</reasoning>\n```\ny = 2\n```", ["y = 2"]),
        ("<thought>\n```\nx = 1\n```\n</thought>\n```\ny = 2\n```", ["y = 2"]),
        (
            "<|channel|>analysis<|message|>```\nx = 1\n```<|end|><|start|>assistant<|channel|>final<|message|>"
            "```\ny = 2\n```",
            ["y = 2"],
        ),
        ("<think>\n```\nx = 1\n```\n</think>\nNo idea.", []),
        ("<think>\n```python\nx = 1\n```\nOr", []),
        ("It strips `<think>`:\n```python\ny = 2\n```", ["y = 2"]),
        ("Without <think> tags:\n```python\ny = 's</think>'\n```", ["y = 's</think>'"]),
        ("It ends.\n<think>Or\n```python\ny = 2\n```", ["y = 2"]),
        ("```python\ny = 2\x00\n```", ["y = 2"]),
        ("```python\ny = '\ud83d'\n```", ["y = ''"]),
        ("\ufeff```python\n\ufeffy\u200b = 2  # \u200b\n```", ["y = 2  # \u200b"]),
        ("```python\r\nx = 1\r\ny = 2\r\n```", ["x = 1\ny = 2"]),
        ("[PYTHON]\ny = 2\n[/PYTHON]", ["y = 2"]),
        ("[PYTHON]\n```python\ny = 2\n```\n[/PYTHON]\nDone.", ["y = 2"]),
        ("[PYTHON]\n```\ny = 2\n```\n[/PYTHON]\nDone.", ["y = 2"]),
        ("```python\ny = 2\n[DONE]", ["y = 2"]),
        ("[begin]\ny = 2\n[done]\nThat is it.", ["y = 2"]),
        ("```python y = 2```\nor\n```x = 1```", ["y = 2", "x = 1"]),
    ],
    ids=ascii,
)
def test_finds_what_was_said_in_fences(response, blocks):
    assert [block.strip() for block in code_blocks(response)[0]] == blocks


def test_unfenced_code_keeps_what_its_strings_hold():
    prose = code_blocks("It's so:\n\ndef f(s):\u200b\n    return s.replace('<think>', '👩\u200d🔬')\n")[1]
    assert prose == "It's so:\n\ndef f(s):\n    return s.replace('<think>', '👩\u200d🔬')\n"


def test_programs_about_tags_and_joined_characters_pass_their_tests(sandbox):
    item = Item("mbpp", "m1", "Strip.", tests=("assert strip('<think>a</think>👩\\u200d🔬') == 'a'",))
    program = "def strip(s):\n    s = s.replace('<think>', '').replace('</think>', '')\n"
    program += "    return s.replace('👩\u200d🔬', '')"
    graded = grade_programs([item], [f"<think>Hm.</think>\n```python\n{program}\n```"], sandbox, 1)
    assert graded[0].truth is True, graded[0].how


@pytest.mark.parametrize(
    "piece",
    ["</think>\n", "<think>\n```\n", "```\n</think>\n", '"""', "'\u200b", '"\\', "#\n", "[DONE]\n", "<|channel|>"],
)
def test_a_megabyte_of_tags_and_quotes_takes_no_time(piece):
    began = time.process_time()
    code_blocks(piece * (1_000_000 // len(piece)))
    assert time.process_time() - began < 20
