"""Leniency towards stronger examinees: against loops and statsmodels, planted, and where there is little to see."""

import numpy as np
import pandas as pd
import pytest
from lenient import FAMILIES, MODELS, panel
from scipy.special import stdtrit
from scipy.stats import binom
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.discrete.discrete_model import Logit

from voirdire.bias import explain_absent
from voirdire.bias.leniency import LENIENCY_COLUMNS, METHODS, leniency
from voirdire.bias.leniency_design import Rows, model
from voirdire.bias.leniency_models import estimates, fitted
from voirdire.bias.leniency_rows import TERMS, wrong_responses
from voirdire.stats.logit import finite_maximum, spread

SLOW = pytest.mark.slow
KIN = {"ann": "a", "bob": "a"}


def one(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def accuracy_row(table, method, task="gsm8k", judge="all"):
    return one(table, method=method, task=task, judge=judge, term="examinee_accuracy")


def wrong(frame):
    """Usable verdicts on wrong responses, with the terms, row by row."""
    frame = frame.assign(condition="blind") if "condition" not in frame else frame
    graded = frame[frame["truth"].notna()].drop_duplicates(["task", "item_id", "examinee"])
    accuracy = graded.groupby(["task", "examinee"])["truth"].mean()
    truth = graded.set_index(["task", "item_id", "examinee"])["truth"].to_dict()
    used = frame[(frame["status"] == "ok") & frame["verdict"].notna() & (frame["truth"] == False)].copy()  # noqa: E712
    used["y"] = used["verdict"].astype(float)
    used["accuracy"] = [accuracy[key] / 0.1 for key in zip(used["task"], used["examinee"], strict=True)]
    used["log_length"] = np.log2(used["response_chars"])
    used["own"] = (used["judge"] == used["examinee"]).astype(float)
    shares, names = [], set(graded["examinee"])
    for task, item, judge, examinee in used[["task", "item_id", "judge", "examinee"]].itertuples(index=False):
        others = [truth[task, item, name] for name in names - {judge, examinee} if (task, item, name) in truth]
        shares.append(np.mean(others) / 0.1 if others else np.nan)
    return used.assign(difficulty=shares, stratum=used["task"] + used["item_id"] + used["judge"])


@pytest.fixture(scope="module")
def random_frame(random_table):
    frame = random_table(3, n_items=80)
    rng = np.random.default_rng(0)
    return frame.assign(response_chars=np.rint(400 * 2 ** rng.normal(0, 0.5, len(frame))))


@pytest.fixture(scope="module")
def random_leniency(random_frame):
    return leniency(random_frame, families=KIN, resamples=50)


@pytest.mark.parametrize("task", ["aime", "gsm8k"])
@pytest.mark.parametrize("judge", ["ann", "bob", "cas", "dee"])
def test_matched_is_the_difference_over_pairs_of_examinees(random_frame, random_leniency, task, judge):
    used = wrong(random_frame)
    used = used[(used["task"] == task) & (used["judge"] == judge)]
    pairs = used.merge(used, on="item_id")
    pairs = pairs[pairs["accuracy_x"] > pairs["accuracy_y"]]
    row = accuracy_row(random_leniency, "matched", task, judge)
    assert row["estimate"] == pytest.approx((pairs["y_x"] - pairs["y_y"]).mean(), abs=1e-9)
    assert (row["n"], row["n_clusters"]) == (len(pairs), pairs["item_id"].nunique())
    without = [
        pairs[(pairs["examinee_x"] != name) & (pairs["examinee_y"] != name)] for name in used["examinee"].unique()
    ]
    differences = [(part["y_x"] - part["y_y"]).mean() for part in without]
    assert row["leave_out_low"] == pytest.approx(min(differences), abs=1e-9)
    assert row["leave_out_high"] == pytest.approx(max(differences), abs=1e-9)


def test_matched_over_judges_and_tasks_is_the_mean(random_leniency):
    table = random_leniency[random_leniency["method"] == "matched"]
    cells = table.pivot(index="judge", columns="task", values="estimate")
    assert cells.loc["all"].to_numpy() == pytest.approx(cells.drop(index="all").mean().to_numpy(), abs=1e-9)
    assert cells["all"].to_numpy() == pytest.approx(cells[["aime", "gsm8k"]].mean(axis=1).to_numpy(), abs=1e-9)


def test_conditional_estimates_are_statsmodels(random_frame, random_leniency):
    used = wrong(random_frame)
    x = used[["accuracy", "log_length", "own"]].assign(
        kin=used["judge"].isin(["ann", "bob"]) & used["examinee"].isin(["ann", "bob"]) & (used["own"] == 0)
    )
    telling = used.groupby("stratum")["y"].transform("nunique") == 2
    theirs = ConditionalLogit(
        used.loc[telling, "y"].to_numpy(), x[telling].to_numpy(float), groups=used.loc[telling, "stratum"].to_numpy()
    ).fit(method="newton", disp=0)
    rows = random_leniency.query("task == 'all' and method == 'conditional'")
    assert rows["term"].tolist() == ["examinee_accuracy", "log_length", "own_model", "own_family"]
    assert rows["estimate"].to_numpy() == pytest.approx(theirs.params, abs=1e-9)
    assert set(rows["n"]) == {telling.sum()}
    assert set(rows["n_groups"]) == {used.loc[telling, "stratum"].nunique()}


@pytest.mark.parametrize("method", ["pooled", "logistic"])
def test_logistic_estimates_and_intervals_are_statsmodels(random_frame, random_leniency, method):
    used = wrong(random_frame)
    kin = used["judge"].isin(["ann", "bob"]) & used["examinee"].isin(["ann", "bob"]) & (used["own"] == 0)
    terms = {"examinee_accuracy": used["accuracy"]}
    if method == "logistic":
        terms |= {"difficulty": used["difficulty"], "log_length": used["log_length"]}
        terms |= {"own_model": used["own"], "own_family": kin.astype(float)}
    x = pd.DataFrame(terms).join(pd.get_dummies(used["judge"], dtype=float))
    x["task"] = (used["task"] == "aime").astype(float)
    known = x.notna().all(axis=1)
    clusters = (used["task"] + used["item_id"])[known]
    theirs = Logit(used.loc[known, "y"], x[known]).fit(
        method="newton",
        disp=0,
        tol=1e-12,
        cov_type="cluster",
        cov_kwds={"groups": pd.factorize(clusters)[0], "use_correction": False},
    )
    built = model(Rows.of(wrong_responses(random_frame, "blind", KIN).frame), method)
    at = finite_maximum(built.likelihood)
    numbers = [built.names.index(term) for term in built.own]
    around = spread(built.likelihood, at, numbers)
    n_clusters = len(set(clusters))
    # statsmodels leaves out the factor G / (G - 1) too.
    covariance = np.asarray(theirs.cov_params())[: len(numbers), : len(numbers)] * n_clusters / (n_clusters - 1)
    assert around.by_cluster[np.ix_(numbers, numbers)] == pytest.approx(covariance, abs=1e-9)

    rows = random_leniency.query("task == 'all' and method == @method")
    assert rows["estimate"].to_numpy() == pytest.approx(theirs.params[: len(rows)].to_numpy(), abs=1e-9)
    reach = stdtrit(around.effective_clusters[numbers] - 1, 0.975) * np.sqrt(np.diag(covariance))
    known_accuracy = fitted(built, 0.95).coefficients
    half = [known_accuracy[term].high - known_accuracy[term].estimate for term in built.own]
    assert half == pytest.approx(reach, abs=1e-9)
    # The table's intervals have the accuracies' own error besides.
    assert (rows["high"] - rows["estimate"]).iloc[0] > reach[0]


def test_the_accuracies_own_error_is_what_drawing_the_questions_anew_gives():
    frame = panel(150, 3, slope=0.5)
    rows = leniency(frame, families=FAMILIES, resamples=2)
    found = rows[(rows["task"] == "all") & (rows["term"] == "examinee_accuracy")].set_index("method")
    rng, items = np.random.default_rng(0), frame["item_id"].unique()
    by_item = dict(list(frame.groupby("item_id")))
    drawn = {"pooled": [], "conditional": [], "logistic": []}
    for _ in range(60):
        parts = [by_item[item].assign(item_id=f"{item} {n}") for n, item in enumerate(rng.choice(items, len(items)))]
        again = Rows.of(wrong_responses(pd.concat(parts, ignore_index=True), "blind", FAMILIES).frame)
        for method, values in drawn.items():
            values.append(estimates(model(again, method), {})["examinee_accuracy"])
    for method, values in drawn.items():
        half = (found.loc[method, "high"] - found.loc[method, "low"]) / 2
        # The standard deviation of 60 draws is known to about a tenth.
        assert half == pytest.approx(1.97 * np.std(values), rel=0.3)


def test_three_trials_of_the_same_verdicts_change_no_model():
    frame = panel(80, 5, slope=0.4)
    once = leniency(frame, families=FAMILIES, resamples=2)
    thrice = leniency(pd.concat([frame.assign(trial=trial) for trial in range(3)]), families=FAMILIES, resamples=2)
    models = once["method"] != "matched"
    for column in ("estimate", "p"):
        expected = pytest.approx(once.loc[models, column].to_numpy(), abs=1e-6, nan_ok=True)
        assert thrice.loc[models, column].to_numpy() == expected
    # Those of terms with few clusters are the model's own at least, which does count repeats.
    accuracy = models & (once["term"] == "examinee_accuracy")
    assert thrice.loc[accuracy, "low"].to_numpy() == pytest.approx(once.loc[accuracy, "low"].to_numpy(), abs=1e-6)
    assert (thrice.loc[models, "n"] == 3 * once.loc[models, "n"]).all()


def test_leaving_an_examinee_out_is_refitting_without_its_responses():
    frame = panel(40, 1, slope=0.2)
    row = accuracy_row(leniency(frame, resamples=10), "conditional")
    parts = []
    for name in MODELS:
        rest = frame.assign(verdict=frame["verdict"].astype(object).where(frame["examinee"] != name, None))
        rest["status"] = np.where(frame["examinee"] == name, "refused", "ok")
        parts.append(accuracy_row(leniency(rest, resamples=10), "conditional")["estimate"])
    assert row["leave_out_low"] == pytest.approx(min(parts), abs=1e-9)
    assert row["leave_out_high"] == pytest.approx(max(parts), abs=1e-9)
    assert row["leave_out_low"] < row["estimate"] < row["leave_out_high"]


@pytest.fixture(scope="module")
def by_accuracy():
    return panel(700, 20, slope=0.3, difficulty=0.5, own=0.6, length=0.2)


def test_leniency_by_accuracy_is_recovered(by_accuracy):
    """Given judge and question the log-odds grow by the planted amounts; for the logistic one a large draw tells."""
    table = leniency(by_accuracy, families=FAMILIES, resamples=100)
    planted = {"examinee_accuracy": 0.3, "log_length": 0.2, "own_model": 0.6, "own_family": 0.0}
    for term, value in planted.items():
        row = one(table, task="gsm8k", method="conditional", term=term)
        assert row["low"] < value < row["high"], term
    large = Rows.of(
        wrong_responses(panel(12_000, 6, slope=0.3, difficulty=0.5, own=0.6, length=0.2), "blind", FAMILIES).frame
    )
    for term, value in estimates(model(large, "logistic"), {}).items():
        row = one(table, task="gsm8k", method="logistic", term=term)
        assert row["low"] < value < row["high"], term
    assert accuracy_row(table, "matched")["low"] > 0
    assert set(table.loc[table["term"] == "examinee_accuracy", "says"]) == {"difference"}


def test_difficulty_alone_looks_like_leniency_until_questions_are_matched():
    table = leniency(panel(900, 7, difficulty=1.5), resamples=200)
    assert accuracy_row(table, "pooled")["low"] > 0.05
    conditional, matched = (accuracy_row(table, method) for method in ("conditional", "matched"))
    for row in (conditional, matched):
        assert row["low"] < 0 < row["high"]
    assert abs(conditional["estimate"]) < 0.06
    assert matched["says"] == "no difference beyond 0.1"


def test_trials_are_rows_of_the_same_question_and_shrink_nothing():
    once = panel(60, 2, slope=0.3)
    four = pd.concat([once.assign(trial=trial) for trial in range(4)], ignore_index=True)
    tables = [leniency(frame, resamples=200) for frame in (once, four)]
    for method in METHODS:
        first, second = (accuracy_row(table, method) for table in tables)
        assert second["high"] - second["low"] > 0.8 * (first["high"] - first["low"]), method
        assert first["n_clusters"] == second["n_clusters"]
    assert accuracy_row(tables[0], "pooled")["estimate"] == pytest.approx(accuracy_row(tables[1], "pooled")["estimate"])


def test_clusters_are_those_of_the_cluster_column():
    frame = panel(80, 3, slope=0.2)
    paired = frame.assign(cluster=frame["item_id"].str.extract(r"(\d+)")[0].astype(int) // 8)
    rows = [accuracy_row(leniency(f, resamples=50), "conditional") for f in (frame, paired)]
    assert rows[1]["n_clusters"] == 10
    assert rows[0]["estimate"] == rows[1]["estimate"]
    assert rows[0]["low"] != rows[1]["low"]


def test_the_order_of_rows_and_names_of_other_columns_change_nothing():
    frame = panel(30, 4, slope=0.2).assign(extra=1)
    shuffled = frame.sample(frac=1, random_state=0).reset_index(drop=True)
    first, second = (leniency(f, resamples=20) for f in (frame, shuffled))
    pd.testing.assert_frame_equal(first, second, atol=1e-8, rtol=1e-8)


def test_separated_rows_are_fitted_with_firths_penalty_and_said():
    frame = panel(25, 8, slope=0.2)
    own = (frame["judge"] == frame["examinee"]) & ~frame["truth"]
    frame.loc[own, "verdict"] = True
    table = leniency(frame, resamples=20)
    # The logistic model also has the judges' effects, of which one may grow with it.
    for method, alone in (("conditional", " alone"), ("logistic", "")):
        row = one(table, task="gsm8k", method=method, term="own_model")
        assert (row["fit"], row["interval"]) == ("penalised (Firth)", "profile (penalised)")
        assert row["reason"] == f"own authorship{alone} separates accepted from rejected answers: a penalised fit"
        assert 0 < row["low"] < row["estimate"] < row["high"]
        assert np.isfinite(row["estimate"])
        near = accuracy_row(table, method)
        assert near["low"] < near["estimate"] < near["high"] < 2
    assert accuracy_row(table, "pooled")["fit"] == "maximum likelihood"


def test_a_judge_with_one_verdict_is_left_out_by_name():
    frame = panel(40, 9, slope=0.2)
    frame.loc[frame["judge"] == "cas", "verdict"] = True
    frame["judge"] = frame["judge"].replace("cas", "zoe")
    row = accuracy_row(leniency(frame, resamples=20), "logistic")
    assert row["reason"] == "left out as all their verdicts on wrong responses are the same: zoe"
    rest = accuracy_row(leniency(frame[frame["judge"] != "zoe"], resamples=20), "logistic")
    assert row["estimate"] == pytest.approx(rest["estimate"], abs=1e-9)


def test_terms_that_are_one_and_the_same_are_refused():
    """One judge and two examinees, of which it is one: whether a response is its own is which examinee it is of."""
    frame = panel(400, 10, slope=0.2)
    frame = frame[frame["examinee"].isin(["ann", "cas"]) & (frame["judge"] == "ann")]
    table = leniency(frame, resamples=20).query("task == 'gsm8k' and method == 'conditional'").set_index("term")
    words = {"examinee_accuracy": "accuracy", "own_model": "own authorship"}
    for term, other in (("examinee_accuracy", "own_model"), ("own_model", "examinee_accuracy")):
        assert np.isnan(table.loc[term, "estimate"])
        assert table.loc[term, "reason"] == f"{words[term]} can't be told from {words[other]}"
    assert np.isfinite(table.loc["log_length", "estimate"])
    assert table.loc["own_family", "reason"] == "no families are given"


def test_unknown_lengths_leave_their_rows_out_or_the_term():
    frame = panel(50, 11, slope=0.2)
    frame.loc[frame.index[::10], "response_chars"] = np.nan
    row = accuracy_row(leniency(frame, resamples=20), "conditional")
    assert "length of the response unknown in" in row["reason"]
    assert row["reason"].endswith("rows: left out")
    table = leniency(frame.drop(columns="response_chars"), resamples=20)
    assert np.isfinite(accuracy_row(table, "conditional")["estimate"])
    length = one(table, task="gsm8k", method="conditional", term="log_length")
    assert length["reason"] == "length of the response unknown in all rows"


def without(frame, **where):
    for column, names in where.items():
        frame = frame[frame[column].isin(names)]
    return frame


DEGENERATE = {
    "all right": lambda f: f.assign(truth=True),
    "all wrong": lambda f: f.assign(truth=False),
    "all accepted": lambda f: f.assign(verdict=True),
    "all rejected": lambda f: f.assign(verdict=False),
    "one judge": lambda f: without(f, judge=["ann"]),
    "one examinee": lambda f: without(f, examinee=["ann"]),
    "two examinees": lambda f: without(f, examinee=["ann", "bob"]),
    "one judge, one examinee": lambda f: without(f, judge=["ann"], examinee=["bob"]),
    "one item": lambda f: without(f, item_id=["item-0"]),
    "two items": lambda f: without(f, item_id=["item-0", "item-1"]),
    "two rows": lambda f: f[~f["truth"]].head(2),
    "one row": lambda f: f.head(1),
    "no verdict": lambda f: f.assign(status="error", verdict=pd.array([None] * len(f), dtype="boolean")),
    "unknown truth": lambda f: f.assign(truth=pd.array([None] * len(f), dtype="boolean")),
    "no rows": lambda f: f.head(0),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_little_data_gives_a_number_or_a_reason(name):
    table = leniency(DEGENERATE[name](panel(12, 12, slope=0.3)), families=FAMILIES, resamples=20)
    assert table.columns.tolist() == LENIENCY_COLUMNS
    assert len(table) == 0 if name == "no rows" else set(table["task"]) == {"gsm8k", "all"}
    known = table["estimate"].notna()
    assert (table.loc[~known, "reason"] != "").all()
    assert (
        table.loc[~known, ["low", "high", "p", "leave_out_low", "leave_out_high", "detectable"]].isna().all(axis=None)
    )
    assert (table.loc[~known, "says"] == "nothing").all()
    assert (table.loc[known, "estimate"].abs() < 30).all()
    assert (table.loc[known, "low"] <= table.loc[known, "estimate"]).all()
    assert (table.loc[known, "estimate"] <= table.loc[known, "high"]).all()


def test_one_examinee_has_no_slope_and_two_have_none_when_one_is_left_out():
    frame = panel(60, 13, slope=0.3)
    alone = leniency(without(frame, examinee=["bob"]), resamples=20)
    row = accuracy_row(alone, "conditional")
    assert row["reason"] == "accuracy doesn't vary within judge and question" or row["n"] == 0
    row = accuracy_row(leniency(without(frame, examinee=["ann", "fay"]), resamples=20), "conditional")
    assert np.isfinite(row["estimate"])
    assert np.isnan(row["leave_out_low"])
    assert "no estimate of it without ann or fay" in row["reason"]


def test_too_few_examinees_are_explained_among_the_absent_tables():
    frame = pd.DataFrame({"task": "t", "item_id": ["a", "b"], "judge": "j", "examinee": ["x", "y"], "verdict": True})
    assert "leniency" not in explain_absent(frame.assign(truth=False))
    one_wrong = explain_absent(frame.assign(truth=[True, False]))["leniency"]
    assert one_wrong.startswith("Wrong responses of one examinee only were judged")
    assert explain_absent(frame.assign(truth=True))["leniency"].startswith("No wrong response was judged")


def binomial_range(n, rate, level=0.999):
    return binom.interval(level, n, rate)


@SLOW
@pytest.mark.parametrize("n_items", [12, 40, 150, 400])
def test_intervals_cover_though_judges_share_responses_and_accuracies_are_measured(n_items):
    """Each response has something that all judges see, so their verdicts on a question hang together."""
    planted = {"slope": 0.25, "difficulty": 0.5, "own": 0.5, "response": 1.0}
    large = [Rows.of(wrong_responses(panel(20_000, seed, **planted), "blind", FAMILIES).frame) for seed in range(10)]
    seeds = 200
    tables = [leniency(panel(n_items, 1000 + seed, **planted), families=FAMILIES, resamples=2) for seed in range(seeds)]
    for method in ("conditional", "logistic"):
        found = [estimates(model(rows, method), {}) for rows in large]
        truth = {term: np.mean([one[term] for one in found]) for term in found[0]}
        hits = dict.fromkeys(truth, 0)
        for table in tables:
            rows = table[(table["task"] == "all") & (table["method"] == method)].set_index("term")
            for term, value in truth.items():
                hits[term] += rows.loc[term, "low"] <= value <= rows.loc[term, "high"]
        least = binomial_range(seeds, 0.93)[0]
        print(n_items, method, {term: count / seeds for term, count in hits.items()})
        assert all(count >= least for count in hits.values()), (method, hits)


@SLOW
def test_without_effects_the_tests_reject_rarely():
    seeds = 200
    rejected = dict.fromkeys(("conditional", "matched"), 0)
    for seed in range(seeds):
        table = leniency(panel(40, seed, difficulty=1.0, response=1.0), families=FAMILIES, resamples=20)
        for method in rejected:
            rejected[method] += accuracy_row(table, method)["p"] < 0.05
    assert all(count <= binomial_range(seeds, 0.06)[1] for count in rejected.values()), rejected


def test_terms_are_those_of_each_method(random_leniency):
    table = random_leniency[random_leniency["task"] == "all"]
    assert table.groupby("method", sort=False)["term"].unique().map(list).to_dict() == {
        "pooled": ["examinee_accuracy"],
        "matched": ["examinee_accuracy"],
        "conditional": ["examinee_accuracy", "log_length", "own_model", "own_family"],
        "logistic": list(TERMS),
    }
