"""The tables on judges and on the panel: plain counts, three-valued answers, bases, and small or odd verdicts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_errors import factor_panel, phi, varied_panel, verdict_table

from voirdire.panel import judge_diagnostics, panel_diagnostics, trust_table
from voirdire.panel.diagnostics import JUDGE_COLUMNS, PANEL_COLUMNS
from voirdire.panel.error_correlation import effective_votes
from voirdire.panel.trust import COLUMNS as TRUST_COLUMNS

NAN = np.nan
FPR, FNR = [0.3, 0.2, 0.6, 0.5], [0.1, 0.2, 0.7, 0.5]


@pytest.fixture(scope="module")
def verdicts():
    """Two tasks; the third judge is worse than chance, the fourth guesses."""
    tables = []
    for seed, task in enumerate(("maths", "prose")):
        votes, truth = factor_panel(300, FPR, FNR, 0.0, seed=seed)
        tables.append(verdict_table(votes, truth, task, simulated=True, examinee_of=task))
    return pd.concat(tables, ignore_index=True).drop(columns="examinee_of")


def test_rates_are_plain_counts(verdicts):
    table = judge_diagnostics(verdicts, resamples=50).set_index(["task", "judge"])
    for (task, judge), rows in verdicts.groupby(["task", "judge"]):
        found = table.loc[task, judge]
        wrong, right = rows[~rows["truth"].astype(bool)], rows[rows["truth"].astype(bool)]
        assert found["fpr"] == pytest.approx(wrong["verdict"].mean())
        assert found["fnr"] == pytest.approx(1 - right["verdict"].mean())
        assert (found["n_wrong"], found["n_right"]) == (len(wrong), len(right))
        assert found["youden"] == pytest.approx(1 - found["fpr"] - found["fnr"])
        assert found["youden_low"] < found["youden"] < found["youden_high"]


def test_all_tasks_are_the_mean_of_tasks(verdicts):
    table = judge_diagnostics(verdicts, resamples=200).set_index("judge")
    for name in ("fpr", "fnr", "youden", "adds"):
        pooled = table.query("task == 'all'")[name]
        by_task = table.query("task != 'all'").groupby("judge")[name].mean()
        assert pooled.to_dict() == pytest.approx(by_task.to_dict())
    width = table["youden_high"] - table["youden_low"]
    assert (width[table["task"] == "all"].mean()) == pytest.approx(
        width[table["task"] != "all"].mean() / 2**0.5, rel=0.1
    )
    panel = panel_diagnostics(verdicts, resamples=50).set_index(["basis", "task"])
    for basis in ("truth", "model"):
        rho = panel.loc[basis]["rho_wrong"]
        assert rho["all"] == pytest.approx((rho["maths"] + rho["prose"]) / 2)


def test_a_judge_is_worse_than_chance_or_not_or_nobody_knows(verdicts):
    table = judge_diagnostics(verdicts).query("task == 'maths'").set_index("judge")
    assert table["worse_than_chance"].to_dict() == {"j00": "no", "j01": "no", "j02": "yes", "j03": "undecided"}
    assert table["adds_nothing"]["j01"] == "no"
    votes, truth = factor_panel(20_000, FPR, FNR, 0.0, seed=3)
    many = judge_diagnostics(verdict_table(votes, truth), resamples=200).set_index("judge")
    assert many["adds_nothing"].to_dict() == {"j00": "no", "j01": "no", "j02": "no", "j03": "yes"}


def test_simulated_and_seeds_are_carried(verdicts):
    for made in (judge_diagnostics, panel_diagnostics):
        assert made(verdicts, resamples=20, seed=3)[["simulated", "seed"]].drop_duplicates().to_numpy().tolist() == [
            [True, 3]
        ]
        assert not made(verdicts.assign(simulated=False), resamples=20)["simulated"].any()
    table = panel_diagnostics(verdicts, resamples=500)
    assert table.groupby("basis")["resamples"].unique().to_dict() == {"truth": [500], "model": [200]}


def test_the_truth_speaks_where_enough_of_it_is_known(verdicts):
    maths = verdicts[verdicts["task"] == "maths"]

    def basis(n_known):
        known = maths["item_id"].isin([f"i{number:05d}" for number in range(n_known)])
        table = judge_diagnostics(maths.assign(truth=maths["truth"].where(known)), resamples=20)
        return set(table["basis"]), set(panel_diagnostics(maths[known], resamples=20)["basis"])

    assert basis(300)[0] == basis(30)[0] == {"truth"}
    assert basis(29)[0] == {"model"}
    assert judge_diagnostics(maths[maths["item_id"] < "i00010"], resamples=20)["basis"].eq("truth").all()
    unknown = panel_diagnostics(maths.assign(truth=None), resamples=20)
    assert unknown["basis"].tolist() == ["model"]


def test_tasks_of_both_bases_are_pooled_and_marked(verdicts):
    mixed = verdicts.assign(truth=verdicts["truth"].where(verdicts["task"] == "maths"))
    table = judge_diagnostics(mixed, resamples=20)
    assert table.groupby("task")["basis"].unique().map(list).to_dict() == {
        "maths": ["truth"],
        "prose": ["model"],
        "all": ["truth and model"],
    }


def test_the_models_values_are_right_where_judges_err_independently():
    votes, truth = varied_panel(3000, 8, 0.25, 0.15, seed=1)
    frame = verdict_table(votes, truth)
    by_truth, by_model = (
        judge_diagnostics(frame.assign(truth=given), resamples=100).set_index("judge")
        for given in (frame["truth"], None)
    )
    for name in ("fpr", "fnr"):
        assert (by_model[name] - by_truth[name]).abs().max() < 0.03
        low, high, width = by_model[f"{name}_low"], by_model[f"{name}_high"], by_truth[f"{name}_high"]
        assert ((low < by_model[name]) & (by_model[name] < high)).all()
        assert ((high - low) > 0.8 * (width - by_truth[f"{name}_low"])).all()
    panel = panel_diagnostics(frame, resamples=100).set_index("basis")
    assert panel.loc["model", "rho_wrong"] == pytest.approx(0, abs=0.02)
    assert panel.loc["model", "rho_wrong_low"] < 0 < panel.loc["model", "rho_wrong_high"]


def test_a_factor_of_all_judges_is_seen_by_the_truth_and_explained_away_by_the_model():
    votes, truth = factor_panel(4000, [0.4] * 8, [0.1] * 8, 0.6, seed=2)
    panel = panel_diagnostics(verdict_table(votes, truth), resamples=100).set_index("basis")
    planted = phi(0.4, 0.4, 0.6)
    assert panel.loc["truth", "rho_wrong_low"] < planted < panel.loc["truth", "rho_wrong_high"]
    assert panel.loc["model", "rho_wrong_high"] < planted / 2
    assert panel.loc["truth", "effective_votes_wrong"] == pytest.approx(effective_votes(8, planted), rel=0.1)
    assert panel.loc["model", "effective_votes_wrong"] > 1.8 * panel.loc["truth", "effective_votes_wrong"]


def test_groups_of_judges_that_share_errors_are_seen_by_the_model_too():
    votes, truth = factor_panel(4000, [0.3] * 12, [0.2] * 12, 0.6, groups=np.arange(12) % 3, seed=2)
    panel = panel_diagnostics(verdict_table(votes, truth), resamples=100).set_index("basis")
    # 3 pairs of 11 are of one group.
    planted = phi(0.3, 0.3, 0.6) * 3 / 11
    assert panel.loc["truth", "rho_wrong"] == pytest.approx(planted, abs=0.02)
    assert panel.loc["model", "rho_wrong"] > planted / 2


def test_examinees_do_not_judge_themselves_unless_asked():
    rng = np.random.default_rng(0)
    keys = [(f"i{i:03d}", e, j) for i in range(40) for e in "abc" for j in "abc"]
    frame = pd.DataFrame(keys, columns=["item_id", "examinee", "judge"]).assign(task="t")
    frame = frame.assign(verdict=rng.random(len(frame)) < 0.6, truth=frame["item_id"] < "i020")
    assert judge_diagnostics(frame, resamples=10)["n_wrong"].tolist() == [40, 40, 40]
    assert judge_diagnostics(frame, include_self=True, resamples=10)["n_wrong"].tolist() == [60, 60, 60]
    assert panel_diagnostics(frame, resamples=10)["votes_wrong"].iloc[0] == 2


def small(**columns):
    keys = [(t, f"i{i}", e, j) for t in "ab" for i in range(5) for e in ("m1", "m2", "m3") for j in ("m1", "m2", "m3")]
    frame = pd.DataFrame(keys, columns=["task", "item_id", "examinee", "judge"])
    rng = np.random.default_rng(0)
    frame = frame.assign(
        verdict=rng.random(len(frame)) < 0.6, truth=frame["item_id"].isin(["i1", "i3"]), simulated=True
    )
    return frame.assign(**columns)


@pytest.mark.parametrize(
    "frame",
    [
        small(),
        small().iloc[:0],
        small().iloc[:1],
        small().query("judge == 'm1'"),
        small().query("task == 'a' and item_id == 'i0'"),
        small(verdict=True),
        small(truth=None),
        small(truth=True),
        small(truth=False, verdict=False),
        small(status="error"),
        small(generation_status="empty"),
    ],
    ids=[
        "small",
        "none",
        "one",
        "one judge",
        "one item",
        "yes-sayers",
        "no truth",
        "all right",
        "no",
        "failed",
        "empty",
    ],
)
def test_small_and_odd_verdicts_make_tables_without_a_warning(frame):
    for made, columns in (
        (judge_diagnostics, JUDGE_COLUMNS),
        (panel_diagnostics, PANEL_COLUMNS),
        (trust_table, TRUST_COLUMNS),
    ):
        table = made(frame)
        assert tuple(table.columns) == columns
        assert table["simulated"].all()


def test_missing_values_have_reasons():
    table = judge_diagnostics(small(truth=True)).query("task == 'a'")
    assert table["reason"].eq("no votes on wrong responses").all()
    assert table["fpr"].isna().all()
    assert table["worse_than_chance"].eq("undecided").all()
    assert judge_diagnostics(small(truth=None, verdict=True))["reason"].str.contains("fewer than three judges").all()
    panel = panel_diagnostics(small()).set_index(["basis", "task"])
    assert panel.loc[("truth", "a"), "reason_wrong"].endswith("fewer than 10")
    assert panel["rho_wrong"].isna().all()


def test_a_judge_that_is_not_on_a_tasks_panel_has_no_row_there(verdicts):
    table = judge_diagnostics(verdicts[(verdicts["task"] != "prose") | (verdicts["judge"] != "j03")], resamples=20)
    assert table.groupby("task").size().to_dict() == {"maths": 4, "prose": 3, "all": 4}
    last = table[table["judge"] == "j03"].set_index("task")
    assert last.loc["all", "adds"] == last.loc["maths", "adds"]


@settings(max_examples=6)
@given(st.permutations(range(4)), st.integers(0, 99))
def test_no_order_of_rows_and_no_name_of_a_judge_counts(names, seed):
    votes, truth = factor_panel(60, FPR, FNR, 0.3, gaps=0.1, seed=5)
    frame = verdict_table(votes, truth, cluster=np.arange(60) // 2)
    new = {f"j{number:02d}": f"judge {names[number]}" for number in range(4)}
    other = frame.sample(frac=1, random_state=seed).assign(judge=lambda rows: rows["judge"].map(new))
    for known in (True, False):
        first, second = (
            judge_diagnostics(each.assign(truth=each["truth"] if known else None), resamples=10)
            for each in (frame, other)
        )
        expected = first.assign(judge=first["judge"].map(new)).sort_values("judge").reset_index(drop=True)
        pd.testing.assert_frame_equal(second, expected)
    pd.testing.assert_frame_equal(panel_diagnostics(other, resamples=10), panel_diagnostics(frame, resamples=10))
