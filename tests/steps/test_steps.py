"""What every step does besides its work: messages, exit codes, times, and tables that are empty for a reason."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from voirdire.drift.columns import COLUMNS
from voirdire.errors import UserError
from voirdire.panel import NotEnoughVerdicts
from voirdire.steps import drift, ensembles, leniency, metrics, prior_sweep, self_preference
from voirdire.steps._analysis import Settings, read_verdicts
from voirdire.steps._drift import or_absent, scenario_of
from voirdire.steps._run import arguments, as_json, run, write_outputs
from voirdire.steps._tables import absent_tables, any_simulated, read_tables
from voirdire.study.timing import time_per_stage
from voirdire.tables import read_table, write_parquet

JUDGES = ("chough", "larch", "rook")
SIMULATED = ("drift", "drift_rates", "prior_sweep")


@pytest.fixture
def drifted(called, tmp_path, verdicts):
    """Runs both steps of the drift simulation, and returns their tables by name."""

    def run_both(study, **n_items):
        tables = {name: tmp_path / f"{name}.parquet" for name in ("drift", "drift_rates", "drift_absent")}
        shared = {
            "verdicts": verdicts(**n_items),
            "settings": study.analysis_settings(),
            "scenario": study.drift_settings(),
        }
        called(drift.main, **shared, output=[*tables.values(), tmp_path / "drift.csv"])
        sweep = {name: tmp_path / f"{name}.parquet" for name in ("prior_sweep", "prior_sweep_absent")}
        called(prior_sweep.main, **shared, sweep=study.sweep_settings(), output=[*sweep.values()])
        return read_tables(map(str, (*tables.values(), *sweep.values())))

    return run_both


def test_a_fault_ends_a_step_with_its_text_and_exit_code_1(capsys):
    def step():
        raise UserError(["a.jsonl:1: torn", "b.jsonl:2: torn too"])

    with pytest.raises(SystemExit) as ended:
        run(step)
    assert ended.value.code == 1
    assert capsys.readouterr() == ("", "error: a.jsonl:1: torn\nerror: b.jsonl:2: torn too\n")


def test_a_step_that_ends_well_says_how_long_it_took_as_the_summary_reads_it(capsys, tmp_path):
    run(lambda: print("at work"))
    output = capsys.readouterr().out
    assert re.fullmatch(r"at work\nvoirdire: took \d+\.\d\d s\n", output)
    (tmp_path / "metrics.log").write_text(output)
    assert time_per_stage(tmp_path).splitlines()[1].split()[:2] == ["metrics", "1"]


def test_a_fault_of_the_program_keeps_its_traceback():
    def step():
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run(step)


def test_a_failing_step_leaves_a_message_without_traceback_exit_code_1_and_no_file(tmp_path, study):
    (tmp_path / "verdicts.parquet").write_bytes(b"PAR1 cut short")
    command = [sys.executable, "-m", "voirdire.steps.metrics", "--verdicts", "verdicts.parquet"]
    command += ["--settings", study().analysis_settings(), "--families", "{}", "--output", "rates.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: verdicts.parquet: not a readable Parquet file")
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.parquet"]


def test_arguments_have_the_types_that_they_are_given(monkeypatch):
    monkeypatch.setattr("sys.argv", ["step", "--name", "crow", "--spec", '{"a": [1, null]}', "--seed", "-3"])
    args = arguments("doc", name=str, spec=as_json, seed=int, output=[str])
    assert vars(args) == {"name": "crow", "spec": {"a": [1, None]}, "seed": -3, "output": []}


def test_a_missing_argument_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["step"])
    with pytest.raises(SystemExit) as ended:
        arguments("doc", accept_errors=float)
    assert ended.value.code == 2
    assert "--accept-errors" in capsys.readouterr().err


def test_outputs_are_written_from_the_frames_of_their_names_in_the_form_of_their_endings(tmp_path):
    frame = pd.DataFrame({"n": [1, 2]})
    outputs = [str(tmp_path / name) for name in ("a.parquet", "a.csv", "b.csv")]
    write_outputs({"a": frame, "b": frame.assign(n=0), "unwanted": frame}, outputs)
    assert read_table(outputs[0])["n"].tolist() == [1, 2]
    assert pd.read_csv(outputs[1])["n"].tolist() == [1, 2]
    assert pd.read_csv(outputs[2])["n"].tolist() == [0, 0]
    assert len(list(tmp_path.iterdir())) == 3


def test_settings_are_those_of_the_study(study):
    settings = Settings(**json.loads(study(seed=5).analysis_settings()))
    assert settings.condition == "blind"
    assert settings.intervals == {"resamples": 100, "seed": 5}


def test_families_are_those_of_the_models_in_use(study):
    models = {name: {"model": f"simulated/{name}", "family": name[:3]} for name in JUDGES}
    chosen = study(models=models, examinees=["larch", "rook"], judges=["rook"])
    assert chosen.families() == '{"larch":"lar","rook":"roo"}'


def test_verdicts_of_one_condition_or_of_all_are_read(verdicts):
    path = str(verdicts(gsm8k=2))
    assert read_verdicts(path)["condition"].value_counts().to_dict() == {"blind": 18, "elite": 18}
    blind = read_verdicts(path, "blind")
    assert blind["condition"].unique().tolist() == ["blind"]
    assert blind.index.tolist() == list(range(18))
    assert read_verdicts(path, "no-such").empty


def test_the_columns_of_empty_drift_tables_are_those_of_filled_ones(drifted, study):
    tables = drifted(study(), gsm8k=4, aime=4)
    for name in SIMULATED:
        assert len(tables[name]) > 0
        assert tuple(tables[name].columns) == COLUMNS[name]
    assert tables["drift_absent"].empty
    assert tables["prior_sweep_absent"].empty
    assert tables["drift"]["n_seeds"].unique().tolist() == [5]
    assert tables["prior_sweep"]["strength"].tolist() == [1, 10]
    assert tables["prior_sweep"]["n_seeds"].unique().tolist() == [5]


@pytest.mark.parametrize(
    ("tasks", "n_items", "reason"),
    [
        (("gsm8k", "aime"), {"gsm8k": 1, "aime": 1}, "drift: task 'aime' has 3 responses of known truth, and a week"),
        (("gsm8k", "aime"), {"gsm8k": 4}, "drift: no judged response of known truth has task 'aime'; tasks in the"),
        (("gsm8k",), {"gsm8k": 4}, "Without drift.start and drift.end in the configuration the mix drifts from gsm8k"),
    ],
)
def test_a_study_too_small_to_drift_gives_empty_tables_and_says_why(
    drifted, study, tmp_path, capsys, tasks, n_items, reason
):
    tables = drifted(study(tasks), **n_items)
    for name in SIMULATED:
        assert tables[name].empty
        assert tuple(tables[name].columns) == COLUMNS[name]
    assert list(pd.read_csv(tmp_path / "drift.csv").columns) == list(COLUMNS["drift"])
    told = absent_tables(tables)
    assert set(told) == set(SIMULATED)
    assert all(text.startswith(reason) for text in told.values()), told
    assert f"not simulated: {reason}" in capsys.readouterr().out


def test_a_scenario_is_that_of_the_study(study):
    chosen = study(panel={"quorum": 2, "tie": "abstain"}, drift={"prior": {"fpr": 0.3, "fnr": 0.1, "strength": 5}})
    scenario = scenario_of(json.loads(chosen.drift_settings()))
    assert (scenario.quorum, scenario.tie, scenario.prior) == (2, "abstain", (0.3, 0.1, 5))
    assert scenario.mix()[0].tolist() == pytest.approx([0.15, 0.85])


@pytest.mark.parametrize("fault", [ZeroDivisionError(), UserError("drift: tie is 'both'")], ids=["bug", "bad setting"])
def test_only_too_few_verdicts_are_a_reason_for_an_empty_table(fault):
    def compute():
        raise fault

    with pytest.raises(type(fault)):
        or_absent(compute, "drift")


def test_each_step_gives_its_own_reason():
    def compute():
        raise NotEnoughVerdicts("too few")

    frames = or_absent(compute, "prior_sweep")
    assert set(frames) == {"prior_sweep", "prior_sweep_absent"}
    assert frames["prior_sweep_absent"].to_numpy().tolist() == [["prior_sweep", "too few"]]


def test_a_bad_setting_fails_the_drift_steps(called, study, verdicts, tmp_path):
    chosen = study()
    scenario = json.loads(chosen.drift_settings()) | {"weeks": 0}
    options = {"verdicts": verdicts(gsm8k=4, aime=4), "settings": chosen.analysis_settings()}
    options |= {"scenario": json.dumps(scenario), "output": [tmp_path / "x.parquet"]}
    for step, more in ((drift, {}), (prior_sweep, {"sweep": chosen.sweep_settings()})):
        with pytest.raises(UserError, match="weeks is 0"):
            called(step.main, **options, **more)
    assert not (tmp_path / "x.parquet").exists()


def test_reasons_of_all_sources_are_told_together():
    absent = pd.DataFrame({"table": ["ensembles"], "reason": ["one judge"]})
    drift_absent = pd.DataFrame({"table": ["drift"], "reason": ["one task"]})
    sweep_absent = pd.DataFrame({"table": ["prior_sweep"], "reason": ["no item"]})
    tables = {"absent": absent, "drift_absent": drift_absent, "prior_sweep_absent": sweep_absent}
    assert absent_tables({**tables, "rates": pd.DataFrame({"n": [1]})}) == {
        "ensembles": "one judge",
        "drift": "one task",
        "prior_sweep": "no item",
    }


def test_one_simulated_row_makes_a_run_simulated(tmp_path):
    for name, flags in (("real", [False, False]), ("mixed", [False, True])):
        write_parquet(pd.DataFrame({"simulated": flags}), tmp_path / f"{name}.parquet")
    write_parquet(pd.DataFrame({"n": [1]}), tmp_path / "plain.parquet")
    paths = {path.stem: str(path) for path in tmp_path.iterdir()}
    assert not any_simulated(read_tables([paths["real"], paths["plain"]]))
    assert any_simulated(read_tables(list(paths.values())))


def test_rates_are_of_every_condition_and_accuracies_of_the_main_one(called, study, verdicts, tmp_path):
    names = ("rates", "rates_by_examinee", "task_accuracy", "ledger", "absent")
    outputs = [tmp_path / f"{name}.parquet" for name in names]
    options = {"settings": study().analysis_settings(), "families": study().families()}
    called(metrics.main, verdicts=verdicts(gsm8k=4), **options, output=outputs)
    tables = read_tables(map(str, outputs))
    assert set(tables["rates"]["condition"]) == {"blind", "elite"}
    accuracy = tables["task_accuracy"]
    assert set(accuracy["examinee"]) == set(JUDGES)
    assert accuracy["accuracy"].unique().tolist() == [0.5]
    # All three are of one family, so there is no other to compare it with.
    assert "family_preference" in set(tables["absent"]["table"])


def test_preference_is_for_oneself_and_for_the_studys_families(called, study, verdicts, tmp_path):
    names = ("self_preference", "self_preference_summary", "family_preference", "preference_model")
    outputs = [tmp_path / f"{name}.csv" for name in names]
    families = json.dumps({"chough": "corvid", "rook": "corvid", "larch": "conifer"})
    settings = study().analysis_settings()
    called(self_preference.main, verdicts=verdicts(gsm8k=8), settings=settings, families=families, output=outputs)
    own, summary, related, model = map(pd.read_csv, outputs)
    assert set(own["judge"]) == set(JUDGES)
    assert set(model["kind"]) == {"own model", "own family"}
    assert set(summary["judge"]) == {*JUDGES, "all"}
    assert set(related["judge"]) == {"chough", "rook", "all"}


def test_leniency_has_one_answer_per_task(called, study, verdicts, tmp_path):
    outputs = [tmp_path / f"{name}.csv" for name in ("leniency", "leniency_summary")]
    families = json.dumps({"chough": "corvid", "rook": "corvid"})
    settings = study().analysis_settings()
    called(leniency.main, verdicts=verdicts(gsm8k=12), settings=settings, families=families, output=outputs)
    table, summary = map(pd.read_csv, outputs)
    assert set(table["method"]) == {"pooled", "matched", "conditional", "logistic"}
    assert summary["task"].tolist() == ["gsm8k", "all"]


def test_a_panel_votes_as_the_study_says(called, study, verdicts, tmp_path):
    path, rates = verdicts(gsm8k=6), {}
    for include_self in (False, True):
        chosen = study(panel={"include_self": include_self})
        output = tmp_path / "ensembles.parquet"
        settings = {"settings": chosen.analysis_settings(), "panel": chosen.panel_settings()}
        called(ensembles.main, verdicts=path, **settings, output=[output])
        rates[include_self] = read_table(output)
    assert not rates[True].equals(rates[False])
