"""Items and their table."""

import pandas as pd

from voirdire.benchmarks import Item, frame_from_items, items_from_frame
from voirdire.tables import ITEMS

ITEM = Item("gsm8k", "a", "How many?", answer="1")
CODE = Item("mbpp", "b", "Write f.", tests=("assert f() == 1",), setup_code="import math", reference="def f(): ...")
CHOICE = Item("quality", "c", "Who?", answer="A", options=("w", "x", "y", "z"), article="Text.")


def test_items_of_mixed_tasks_make_a_table_and_back():
    frame = frame_from_items([ITEM, CODE, CHOICE])
    assert list(frame.columns) == ITEMS.names
    assert items_from_frame(frame) == [ITEM, CODE, CHOICE]


def test_what_an_item_does_not_have_is_missing():
    frame = frame_from_items([ITEM, CODE])
    assert frame["options"].isna().all()
    assert frame["article"].isna().all()
    assert frame["setup_code"].isna().tolist() == [True, False]


def test_no_items_make_an_empty_table():
    assert items_from_frame(frame_from_items([])) == []


def test_missing_lists_may_be_nan():
    frame = frame_from_items([ITEM]).assign(options=float("nan"), tests=pd.Series([None], dtype=object))
    assert items_from_frame(frame) == [ITEM]
