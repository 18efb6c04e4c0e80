"""Rows of verdicts made ready for counting."""

import pandas as pd
import pytest

from voirdire.bias.rows import of_condition, prepared
from voirdire.errors import UserError


def test_verdicts_of_the_main_condition_are_chosen(table):
    frame = prepared(table(verdict=[True, False], truth=[True, True], condition=["blind", "elite"]))
    assert len(of_condition(frame, "blind")) == 1
    assert len(of_condition(frame[frame["condition"] == "elite"], "blind")) == 1
    with pytest.raises(UserError, match="no condition 'reason'; choose the main condition among blind, elite"):
        of_condition(frame, "reason")


def test_a_missing_column_is_named():
    with pytest.raises(UserError, match="missing columns: judge, truth"):
        prepared(pd.DataFrame(columns=["task", "item_id", "examinee", "verdict"]))
