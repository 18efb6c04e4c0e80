"""Real verdicts of 14 judges: the page in docs/ says what the tables say of them."""

import re
from pathlib import Path

import pandas as pd
import pytest
from nus_page import judges, page, read, width

from voirdire.bias import rates_by_examinee

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "nus_feedback.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"[+−-]?\d+\.\d+")


@pytest.fixture(scope="module")
def verdicts(shared_data):
    return read(shared_data / "verdicts")


def test_the_page_is_what_the_verdicts_give(verdicts):
    made = page(*verdicts)
    assert NUMBER.sub("N", made).split() == NUMBER.sub("N", PAGE).split()
    # To the last digit shown, which the order of a sum may move.
    pairs = zip(NUMBER.findall(made), NUMBER.findall(PAGE), strict=True)
    assert [
        (new, old) for new, old in pairs if abs(value(new) - value(old)) > 1.01 * 10 ** -len(old.split(".")[1])
    ] == []


def value(text):
    return float(text.replace("−", "-"))


def test_every_judges_rates_are_a_plain_count(verdicts):
    for frame in verdicts:
        found = judges(frame)
        wrong, right = (frame[frame["truth"] == truth].groupby("judge")["verdict"].mean() for truth in (0, 1))
        assert len(found) == 14
        assert found["fpr"].to_dict() == pytest.approx(wrong.to_dict(), abs=1e-12)
        assert found["fnr"].to_dict() == pytest.approx((1 - right).to_dict(), abs=1e-12)
        assert (found["n_right"] + found["n_wrong"]).to_dict() == frame["judge"].value_counts().to_dict()
    found = judges(verdicts[0])
    assert (found["fpr"].between(0.455, 0.875) & found["fnr"].between(0.015, 0.165)).all()


def test_programs_as_clusters_widen_the_intervals_and_move_no_estimate(verdicts):
    repaired, _ = verdicts
    clustered, apart = judges(repaired), judges(repaired.drop(columns="cluster"))
    for name in ("fpr", "fnr", "bias", "accuracy"):
        assert clustered[name].to_dict() == apart[name].to_dict()
    for name in ("fpr", "fnr", "bias"):
        ratio = width(clustered, name) / width(apart, name)
        assert ratio.median() > 1.1
        assert ratio.min() > 0.9


def test_clusters_are_named_by_anything(verdicts):
    repaired = verdicts[0]
    named = repaired.assign(cluster="program " + repaired["cluster"].astype(str).str.zfill(4))
    numbers = repaired.assign(cluster=repaired["cluster"].astype(str).str.zfill(4))
    pd.testing.assert_frame_equal(rates_by_examinee(named, 50), rates_by_examinee(numbers, 50))
