"""Examinees' responses: recorded, simulated, and of a real model in every way that a call can end."""

import json
from dataclasses import replace

import pytest
from fault_server import Reply, error_body

from voirdire.errors import UserError
from voirdire.grading import grade
from voirdire.models import read_journal
from voirdire.study.generation import generate
from voirdire.tables import GENERATIONS, read_table, write_table

BROKEN = Reply(status=400, body=error_body("an odd one"))


@pytest.fixture
def recorded(tmp_path, items):
    """Generates from a file of recorded responses by item."""

    def run(responses):
        path = tmp_path / "responses.jsonl"
        lines = [json.dumps({"item_id": name, "response": text}) for name, text in responses.items()]
        path.write_text("\n".join(lines))
        return generate("crow", {"recorded": "crow"}, items, str(path), seed=1)

    return run


@pytest.fixture
def called(real, items, prompt, calling):
    """Generates with a real model; its prompts are the bare questions."""

    def run(accept_errors=0.0, **changes):
        frame, _ = generate("crow", real(**changes), items, prompt(), 1, calling(accept_errors))
        return frame.set_index("item_id")

    return run


def test_an_item_without_a_recorded_response_has_no_row_and_is_counted(recorded):
    frame, metadata = recorded({"c": "#### 4", "a": "#### 5", "z": "of another benchmark"})
    assert frame["item_id"].tolist() == ["a", "c"], "in the items' order"
    assert metadata == {"unmatched_records": 1, "items_without_response": 2}
    assert frame["response"].tolist() == ["#### 5", "#### 4"]
    assert frame["response_chars"].tolist() == [6, 6]
    assert frame["examinee"].tolist() == ["crow", "crow"]


@pytest.mark.parametrize("nothing", ["", " \n\t", "\u2003"])
def test_a_recorded_response_without_text_is_empty(recorded, nothing):
    frame, _ = recorded({"a": nothing, "b": "#### 4"})
    assert frame["status"].tolist() == ["empty", "ok"]
    assert frame["response"].tolist() == [nothing, "#### 4"], "kept as it was written"


def test_what_nobody_measured_of_a_recorded_response_is_missing(recorded):
    frame, _ = recorded({"a": "#### 4"})
    unknown = ["finish_reason", "sent", "prompt_tokens", "cost_usd", "latency_s", "resolved_model", "request_key"]
    assert frame[unknown].isna().all(axis=None)
    assert not frame["simulated"].any()


def test_a_personas_responses_say_that_they_are_simulated(items, persona):
    frame, metadata = generate("rook", {"persona": persona(name="rook")}, items, "unused.md", seed=1)
    assert frame["simulated"].all()
    assert (frame["status"] == "ok").all()
    assert metadata == {}
    assert [grade("gsm8k", item, text).truth for item, text in zip(items, frame["response"], strict=True)] == [True] * 4


def test_a_personas_responses_depend_on_the_seed_and_not_on_the_other_items(items, persona):
    spec = {"persona": persona(name="rook", ability={"gsm8k": 0.5})}

    def responses(items, seed):
        return generate("rook", spec, items, "", seed)[0].set_index("item_id")["response"]

    assert responses(items[2:], 1).equals(responses(items, 1)[["c", "d"]])
    assert any(not responses(items, 1).equals(responses(items, seed)) for seed in (2, 3, 4))


def test_every_way_that_a_call_can_end_has_its_status(server, called):
    server.script("question a", Reply("#### 4"))
    server.script("question b", Reply(None, finish_reason="content_filter"))
    server.script("question c", Reply("Let us see", finish_reason="length"))
    server.script("question d", Reply("  "))
    frame = called()
    assert frame["status"].to_dict() == {"a": "ok", "b": "refused", "c": "truncated", "d": "empty"}
    assert frame["response"]["c"] == "Let us see"
    assert frame["response"]["a"] == "#### 4"
    assert frame["response_chars"]["a"] == 6
    assert frame["finish_reason"].to_dict() == {"a": "stop", "b": "content_filter", "c": "length", "d": "stop"}
    assert frame["prompt_tokens"].tolist() == [2] * 4
    assert not frame["simulated"].any()


def test_an_answer_says_what_was_sent_and_who_answered(server, called):
    server.script("question a", Reply("#### 4", model="crow-2026"))
    row = called(parameters={"temperature": 0, "seed": 3, "max_tokens": 50}, drop=("seed",)).loc["a"]
    assert json.loads(row["sent"]) == {"model": "openai/crow", "temperature": 0, "max_tokens": 50}
    assert row["resolved_model"] == "crow-2026"
    assert len(row["request_key"]) == 64


def test_a_failed_call_fails_the_job_and_the_message_says_that_the_other_answers_are_kept(server, called, tmp_path):
    server.script("question b", BROKEN)
    with pytest.raises(UserError) as raised:
        called()
    (fault,) = raised.value.faults
    assert fault.startswith("crow: 1 of 4 calls failed (first b: ")
    assert fault.count("b: ") == 1
    assert "an odd one" in fault
    assert "the other answers are kept, run again to ask for the failed ones alone" in fault
    assert "accept_errors" in fault
    assert len(read_journal(tmp_path / "journal.jsonl")) == 3


def test_the_next_run_asks_only_for_what_has_failed(server, called):
    server.script("question b", BROKEN, Reply("#### 4"))
    with pytest.raises(UserError):
        called()
    before = len(server.requests)
    assert called()["status"].tolist() == ["ok"] * 4
    assert server.prompts()[before:] == ["question b"]


def test_failed_calls_are_lived_with_up_to_the_accepted_share(server, called, capsys):
    server.script("question b", BROKEN)
    frame = called(accept_errors=0.25)
    assert frame["status"].to_dict() == {"a": "ok", "b": "error", "c": "ok", "d": "ok"}
    assert frame["response"].isna().to_dict() == {"a": False, "b": True, "c": False, "d": False}
    assert "crow: 1 of 4 calls failed" in capsys.readouterr().err


def test_one_failed_call_more_than_the_accepted_share_fails_the_job(server, called):
    server.script("question b", BROKEN)
    server.script("question d", BROKEN)
    with pytest.raises(UserError, match=r"2 of 4 calls failed \(first b: "):
        called(accept_errors=0.49)


def test_the_accepted_share_is_met_exactly_where_floating_point_would_miss_it(server, real, items, prompt, calling):
    # .29 * 100 is 28.999999999999996.
    many = [replace(items[0], item_id=f"i{number}", question=f"question {number}") for number in range(100)]
    for number in range(29):
        server.script(f"question {number}", BROKEN)
    frame, _ = generate("crow", real(), many, prompt(), 1, calling(accept_errors=0.29))
    assert (frame["status"] == "error").sum() == 29


def test_a_prompt_with_a_placeholder_that_the_item_lacks_is_named_before_any_call(server, real, items, prompt):
    path = prompt("$question $article")
    with pytest.raises(UserError, match=r"prompt\.md: .*\$article"):
        generate("crow", real(), items, path, 1)
    assert server.requests == []


def test_keys_are_found_in_dotenv(server, called, tmp_path, monkeypatch):
    monkeypatch.setenv("CROW_KEY", "")
    monkeypatch.delenv("CROW_KEY")  # set first, so that it is taken away again afterwards
    (tmp_path / ".env").write_text("CROW_KEY=sk-planted\n")
    called(api_key_env="CROW_KEY")
    assert {request.headers["Authorization"] for request in server.requests} == {"Bearer sk-planted"}


def test_a_lone_surrogate_in_an_answer_leaves_a_table_that_can_be_written(server, called, tmp_path):
    server.script("question a", Reply("#### 4 \ud800", model="crow\udfff"))
    path = tmp_path / "generations.parquet"
    frame = called().reset_index()
    write_table(frame, path, GENERATIONS)
    row = read_table(path, GENERATIONS).set_index("item_id").loc["a"]
    assert (row["status"], row["response"], row["resolved_model"]) == ("ok", "#### 4 ?", "crow?")
    assert row["response_chars"] == 8


def test_a_lone_surrogate_in_an_older_journal_is_mended_without_another_call(server, called, tmp_path):
    called()
    journal = tmp_path / "journal.jsonl"
    journal.write_text(journal.read_text().replace("answer to: question b", "answer \\ud800 b"))
    frame = called()
    write_table(frame.reset_index(), tmp_path / "generations.parquet", GENERATIONS)
    assert frame["response"]["b"] == "answer ? b"
    assert len(server.requests) == 4
