"""After `voirdire retry` exactly those answers are asked for again, and what was made of them is made anew."""

import json
from collections import Counter
from pathlib import Path

import pytest
from fault_server import FaultServer, Reply

from voirdire import cli
from voirdire.models import Journal, read_journal
from voirdire.models.records import spent_usd
from voirdire.study.matrix import Paths
from voirdire.tables import read_table

FRUIT = ("pears", "plums", "figs")
VERDICTS = "results/small/verdicts.parquet"
RIGHT = Reply("So it is\n#### 4")
# What comes first to a prompt that has this in it; whoever asks again gets a proper answer.
FIRST = {"pears": Reply(""), "plums": Reply("So it", finish_reason="length")}


@pytest.fixture(scope="module")
def server():
    seen = set()

    def answer(prompt):
        is_new, is_judge = prompt not in seen, "incorrect" in prompt
        seen.add(prompt)
        if is_judge:
            return Reply("Hard to say." if is_new and "figs" in prompt else "VERDICT: correct")
        return next((reply for word, reply in FIRST.items() if is_new and word in prompt), RIGHT)

    with FaultServer(answer) as running:
        yield running


@pytest.fixture(scope="module")
def judged(server, checkout_in, tmp_path_factory):
    """A model answers three questions and judges: there is an empty, a cut and a good answer, and no verdict on it."""
    made = checkout_in(
        tmp_path_factory.mktemp("judged") / "checkout",
        benchmarks={"gsm8k": {"source": "path", "path": "fruit.jsonl"}},
        examinees=["crow", "rook"],
        judges=["crow"],
        ablations={},
        templates=["default"],
    )
    lines = [
        json.dumps({"item_id": fruit, "question": f"How many are 2 and 2 {fruit}?", "answer": "#### 4"})
        for fruit in FRUIT
    ]
    (made.folder / "fruit.jsonl").write_text("\n".join(lines))
    made.config["models"]["crow"] = {
        "model": "openai/crow",
        "family": "birds",
        "parameters": {"temperature": 1, "max_tokens": 50},
        "endpoint": {"api_base": server.url, "api_key_env": "CROW_KEY"},
        "price": {"input": 1.0, "output": 2.0},
    }
    made.environment["CROW_KEY"] = "sk-planted-key"
    made.snakemake(VERDICTS)
    # Three questions; one response of its own that is ok, and three of the other examinee.
    assert len(server.prompts()) == 3 + 1 + 3
    return made


@pytest.fixture
def study(judged, tmp_path):
    """A copy of one's own."""
    return judged.copy(tmp_path / "checkout")


def retry(study, *arguments):
    assert cli.main(["retry", *arguments, "--directory", str(study.folder)]) == 0


def statuses(study):
    """Of the model's own responses, and of its verdicts on them."""
    verdicts = read_table(study.folder / VERDICTS)
    own = verdicts[verdicts["examinee"] == "crow"].set_index("item_id")
    return own["generation_status"].to_dict(), own["status"].dropna().to_dict()


def journals(study):
    paths = Paths(str(study.folder / "results/small"))
    return paths.journal("generate", "gsm8k", "crow"), paths.journal("judge", "blind", "gsm8k", "crow", "crow")


def content(path):
    return Path(path).read_bytes()


def test_chosen_answers_and_no_others_are_asked_again(study, server):
    answered, _ = journals(study)
    assert statuses(study) == ({"pears": "empty", "plums": "truncated", "figs": "ok"}, {"figs": "unparsed"})
    before, spent, n_asked = content(answered), spent_usd(answered), len(server.prompts())

    retry(study, "--status", "empty,truncated")
    plan = study.plan(VERDICTS)
    assert Counter(job.rule for job in plan) == Counter(["generate", "grade", "judge", "verdicts"])
    assert {job["examinee"] for job in plan if job.rule != "verdicts"} == {"crow"}
    study.snakemake(VERDICTS)
    asked = server.prompts()[n_asked:]
    # Each as a question, and its new response to the judge.
    assert sorted(fruit for prompt in asked for fruit in FRUIT if fruit in prompt) == ["pears"] * 2 + ["plums"] * 2
    now = dict.fromkeys(FRUIT, "ok")
    assert statuses(study) == (now, {**now, "figs": "unparsed"})
    assert content(answered).startswith(before), "history is kept"
    assert spent_usd(answered) > spent > 0, "what is forgotten was paid all the same"


def test_a_chosen_verdict_is_asked_again_alone(study, server):
    n_asked = len(server.prompts())
    retry(study, "--status", "unparsed", "--examinee", "crow")
    assert study.rules(VERDICTS) == Counter(["judge", "verdicts"])
    study.snakemake(VERDICTS)
    (again,) = server.prompts()[n_asked:]
    assert again in server.prompts()[:n_asked]
    assert statuses(study)[1] == {"figs": "ok"}
    assert study.plan(VERDICTS) == []


def test_after_a_retry_that_was_killed_half_way_nothing_is_paid_and_all_is_still_there(study, server, monkeypatch):
    class KilledError(BaseException):
        pass

    def killed(journal, keys):
        raise KilledError

    n_asked = len(server.prompts())
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "forget", killed)
        with pytest.raises(KilledError):
            retry(study, "--status", "empty")
    study.snakemake(VERDICTS)
    assert len(server.prompts()) == n_asked
    retry(study, "--status", "empty")
    assert study.rules(VERDICTS)["generate"] == 1
    assert [len(read_journal(journal)) for journal in journals(study)] == [2, 1]
