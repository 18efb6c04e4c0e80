import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.panel.few_labels import with_few_labels


def verdicts(n_items=20, judges=("a", "b")):
    return pd.DataFrame(
        {"task": task, "item_id": f"{item}", "examinee": examinee, "judge": judge, "truth": bool(item % 3)}
        for task in ("easy", "hard")
        for item in range(n_items)
        for examinee in ("x", "y")
        for judge in judges
    )


def labelled(frame):
    known = frame[frame["truth"].notna()]
    return {(row.task, row.item_id, row.examinee): row.truth for row in known.itertuples()}


def test_so_many_responses_of_each_task_keep_their_truth_under_every_judge():
    frame = verdicts()
    few = with_few_labels(frame, 7)
    known = labelled(few)
    assert [sum(task == name for name, *_ in known) for task in ("easy", "hard")] == [7, 7]
    assert few["truth"].notna().sum() == 2 * 14
    assert known == {key: truth for key, truth in labelled(frame).items() if key in known}


def test_what_is_drawn_depends_on_the_seed_and_not_on_the_order_of_rows():
    frame = verdicts()
    few = labelled(with_few_labels(frame, 7))
    assert labelled(with_few_labels(frame.sample(frac=1, random_state=1), 7)) == few
    assert labelled(with_few_labels(frame, 7, seed=1)) != few
    assert labelled(with_few_labels(frame[frame["task"] == "hard"], 7)).items() <= few.items()


@pytest.mark.parametrize(("n", "left"), [(0, 0), (40, 160), (1000, 160)])
def test_none_and_all(n, left):
    assert with_few_labels(verdicts(), n)["truth"].notna().sum() == left


def test_responses_of_unknown_truth_are_never_drawn():
    frame = verdicts()
    frame["truth"] = frame["truth"].where(frame["item_id"] == "3")
    assert labelled(with_few_labels(frame, 5)) == labelled(frame)
    assert with_few_labels(frame.assign(truth=None), 5)["truth"].isna().all()


def test_fewer_than_none_is_refused():
    with pytest.raises(UserError, match="n_labels: -1 is below 0"):
        with_few_labels(verdicts(), -1)
