"""What became of every call."""

from voirdire.bias import ledger
from voirdire.bias.ledger import LEDGER_COLUMNS
from voirdire.tables import STATUSES


def test_each_call_has_one_fate(table):
    frame = table(
        verdict=[True, None, None, False],
        truth=[True, True, None, None],
        status=["ok", "unparsed", None, "ok"],
        generation_status=["ok", "ok", "empty", "ok"],
    )
    generation, verdict = (row for _, row in ledger(frame).iterrows())
    assert (generation["stage"], generation["judge"], generation["n"]) == ("generation", "", 4)
    assert (generation["ok"], generation["empty"], generation["truth_missing"]) == (3, 1, 1)
    assert (verdict["stage"], verdict["judge"], verdict["n"]) == ("verdict", "ann", 4)
    assert (verdict["not_judged"], verdict["ok"], verdict["unparsed"], verdict["truth_missing"]) == (1, 2, 1, 1)


def test_statuses_add_up(random_table):
    book = ledger(random_table(0))
    assert (book[["not_judged", *STATUSES]].sum(axis=1) == book["n"]).all()


def test_no_calls_give_a_ledger_without_rows(table):
    empty = ledger(table(verdict=[True], truth=[True]).iloc[:0])
    assert list(empty.columns) == LEDGER_COLUMNS
    assert empty.empty


def test_the_ledger_says_where_a_side_is_simulated(table):
    frame = table(judge=["ann", "cas"], verdict=[True, True], truth=[True, True], simulated=[True, False])
    book = ledger(frame).set_index(["stage", "judge"])["simulated"]
    assert book["verdict"].to_dict() == {"ann": True, "cas": False}
