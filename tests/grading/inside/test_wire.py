"""Values on their way across a sandbox's border, either way."""

import collections
import decimal
import fractions
import json
import time

import pytest

from voirdire.grading.inside.wire import NotALiteral, decode, encode, encode_within, from_json, gone_through, to_json


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {},
        ["i"],
        ["i", "z"],
        ["i", []],
        ["l", 5],
        ["e", [["l", [["n"]]]]],
        ["q", "0x1", "0x0"],
        ["c", "0x1"],
        {"r": 1, "0x0": 2, "0x9": 3, "0x1": 4},
        "n",
        ["l", {"n": 1}],
        ["z", [["l", []]]],
        ["k", 5],
        ["x", []],
    ],
)
def test_forged_messages_are_refused(message):
    with pytest.raises(ValueError, match="not a typed value"):
        decode(message)


def test_a_deep_value_is_refused():
    message: list[object] = ["n"]
    for _ in range(2000):
        message = ["l", [message]]
    with pytest.raises(ValueError, match="not a typed value"):
        decode(message)


@pytest.mark.parametrize(
    "value",
    [None, True, -3, 2**80, 1.5, float("inf"), 2j, "ü😀\n", b"\x00", [1, [2]], (1,), {1, 2}, {"a": (1,)},
     frozenset({1}), {frozenset({1}): {(1, frozenset())}}, collections.deque([1, [2]]), range(1, 9, 2),
     fractions.Fraction(1, 3), decimal.Decimal("0.1")],
)  # fmt: skip
def test_values_come_back_as_they_went(value):
    back = decode(from_json(to_json(encode(value))))
    assert (back, type(back)) == (value, type(value))


def test_json_without_json_is_the_same():
    value = {"a": ['\x00é\ud83d\ude00\ud800\u2028"\\', 1, -(2**70), True, False, None, {}, []]}
    assert to_json(value) == json.dumps(value)
    assert from_json(json.dumps(value)) == json.loads(json.dumps(value))


def test_what_a_value_says_of_itself_is_not_asked():
    class Liar:
        __class__ = int

        def __index__(self):
            return 5

        def __eq__(self, other):
            return True

        def __iter__(self):
            raise AssertionError

    class Text(str):
        def __str__(self):
            return "lie"

    class Items(list):
        def __iter__(self):
            return iter([9])

    class Real(float):
        def __float__(self):
            return 9.0

        def hex(self):
            return "0x9"

    assert encode(Liar())[0] == "o"
    assert encode(Text("a")) == ["s", "a"]
    assert encode(Items([1])) == ["l", [["i", "0x1"]]]
    assert encode(Real(1.0)) == ["f", (1.0).hex()]


def test_a_subclass_goes_as_what_its_base_type_holds():
    point = collections.namedtuple("Point", "x y")
    assert encode(point(1, 2)) == encode((1, 2))
    assert encode(collections.Counter("aa")) == encode({"a": 2})
    assert encode(True) != encode(1)


def test_what_is_no_literal_equals_nothing():
    value = decode(encode([object()]))
    assert isinstance(value[0], NotALiteral)
    assert value[0] != value[0]


def test_a_value_that_is_too_deep_or_holds_itself_is_not_written():
    deep, own = [], []
    own.append(own)
    for _ in range(600):
        deep = [deep]
    for value in (deep, own):
        with pytest.raises(RecursionError):
            encode_within(value)


@pytest.mark.parametrize("digits", ["1e999999999", "-1e-999999999", "1e5001"])
def test_a_decimal_of_endless_digits_is_refused(digits):
    start = time.process_time()
    with pytest.raises(ValueError, match="not a typed value"):
        decode(["m", digits])
    assert time.process_time() - start < 5


def test_what_is_gone_through_becomes_a_list():
    assert gone_through(map(abs, [-1])) == [1]
    assert gone_through({"a": 1}.keys()) == ["a"]
    assert gone_through(range(3)) == [0, 1, 2]
    assert gone_through("ab") == "ab"
    assert gone_through({"a": 1}) == {"a": 1}
    assert gone_through(5) == 5
