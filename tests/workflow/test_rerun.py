"""After a change exactly those jobs rerun that it touches."""

import shutil
from collections import Counter

from flow import ANALYSIS

AFTER_VERDICTS = Counter(ANALYSIS)
AFTER_JUDGES = AFTER_VERDICTS + Counter(["verdicts"])


def test_nothing_reruns_when_nothing_changed(finished):
    assert finished.plan() == []


def test_a_judge_prompt_reruns_that_tasks_judge_jobs(finished):
    finished.edit("config/prompts/judge/default/aime.md", "correct", "right")
    plan = finished.plan()
    judged = [job for job in plan if job.rule == "judge"]
    # 3 × 3 pairs blind; 3 judges of one examinee under each of two labels.
    assert {job["task"] for job in judged} == {"aime"}
    assert Counter(job["condition"] for job in judged) == {"blind": 9, "elite": 3, "author": 3}
    assert Counter(job.rule for job in plan) == AFTER_JUDGES + Counter(judge=15)


def test_an_examinee_prompt_reruns_that_tasks_generation_and_what_follows(finished):
    finished.edit("config/prompts/examinee/aime.md", "$question", "$question ")
    assert finished.rules() == AFTER_JUDGES + Counter(generate=3, grade=3, judge=15)


def test_one_models_parameter_reruns_its_jobs_only(finished):
    finished.config["personas"]["larch"]["strictness"] = 0.7
    plan = finished.plan()
    assert {job["examinee"] for job in plan if job.rule in ("generate", "grade")} == {"larch"}
    judged = [job for job in plan if job.rule == "judge"]
    assert all("larch" in (job["judge"], job["examinee"]) for job in judged)
    # Blind: 5 of 9 pairs; elite and author: larch is the only examinee; on two tasks.
    assert Counter(job.rule for job in plan) == AFTER_JUDGES + Counter(generate=2, grade=2, judge=2 * (5 + 6))


def test_two_swapped_parameters_rerun_their_jobs(finished):
    persona = finished.config["personas"]["larch"]
    persona["plausibility"], persona["polish"] = persona["polish"], persona["plausibility"]
    assert finished.rules()["judge"] == 22


def test_a_new_model_adds_its_pairs_only(finished):
    finished.config["examinees"].append("chough")
    finished.config["judges"].append("chough")
    plan = finished.plan()
    judged = [job for job in plan if job.rule == "judge"]
    assert all("chough" in (job["judge"], job["examinee"]) for job in judged)
    # Blind: 4 × 4 − 3 × 3 pairs; as judge of one examinee under each of two labels; on two tasks.
    assert Counter(job.rule for job in plan) == AFTER_JUDGES + Counter(generate=2, grade=2, judge=2 * (7 + 2))


def test_the_drift_seed_reruns_what_is_simulated_only(finished):
    finished.config["drift"]["seed"] = 2
    assert finished.rules() == Counter(["drift", "prior_sweep", "drift_factors", "figures", "claims", "report"])


def test_what_is_varied_reruns_that_only(finished):
    finished.config["drift"]["factor_seeds"] = 6
    assert finished.rules() == Counter(["drift_factors", "figures", "claims", "report"])


def test_the_intervals_rerun_the_analysis_only(finished):
    finished.config["bootstrap"]["resamples"] = 120
    assert finished.rules() == AFTER_VERDICTS


def test_analysis_code_reruns_that_analysis_only(finished):
    path = "workflow/voirdire/bias/ablation_length.py"
    (finished.folder / path).write_text((finished.folder / path).read_text() + "\nADDED = 1\n")
    assert finished.rules() == Counter(["ablation_length", "paper_tables", "figures", "claims", "report"])


def test_code_of_the_client_reruns_no_paid_rule(finished):
    for path in ("models/client.py", "judging/prompts.py", "simulated/verdicts.py", "study/judgement.py"):
        source = finished.folder / "workflow/voirdire" / path
        source.write_text(source.read_text() + "\nADDED = 1\n")
    assert {"generate", "judge"}.isdisjoint(finished.rules())


def test_comments_in_code_rerun_nothing(finished):
    for path in (finished.folder / "workflow/voirdire").rglob("*.py"):
        path.write_text(path.read_text() + "\n# a remark\n")
    assert finished.plan() == []


def test_a_touched_prompt_reruns_nothing(finished):
    for path in (finished.folder / "config/prompts").rglob("*.md"):
        path.touch()
    assert finished.plan() == []


def test_a_lost_snakemake_folder_reruns_nothing(finished):
    shutil.rmtree(finished.folder / ".snakemake")
    assert finished.plan() == []


def test_a_rule_can_be_forced_after_the_target(finished):
    assert finished.rules("all", "--forcerun", "metrics") == Counter(
        ["metrics", "paper_tables", "figures", "claims", "report"]
    )


def test_judge_all_judges_and_no_more(finished):
    shutil.rmtree(finished.folder / "results/small/verdicts/blind/aime/rook")
    assert finished.rules("judge_all") == Counter(judge=3)


def test_generate_all_generates_and_no_more(checkout):
    assert checkout().rules("generate_all") == Counter(benchmark=2, generate=6)


def test_clean_analysis_keeps_answers_and_verdicts(finished):
    finished.snakemake("clean_analysis")
    assert finished.rules() == AFTER_JUDGES


def test_a_results_folder_runs_again_to_the_same_bytes(finished):
    tables = finished.folder / "results/small"
    before = {path: path.read_bytes() for path in tables.rglob("*") if path.suffix in (".parquet", ".csv", ".svg")}
    assert len(before) > 60
    # One task from its questions on, and all that is made of both.
    finished.snakemake("all", "--forcerun", "results/small/items/aime.parquet")
    assert {path for path, content in before.items() if path.read_bytes() != content} == set()
