"""Verdicts of simulated judges and of a real model on responses that are ok, and none on those that are not."""

import pandas as pd
import pytest
from fault_server import Reply, error_body

from voirdire.errors import UserError
from voirdire.judging import judge_prompt
from voirdire.models import read_journal
from voirdire.study.judgement import Bench, judge
from voirdire.tables import GENERATIONS, GRADES, JUDGEMENTS, VERDICTS, read_table, write_table

TEMPLATE = "$identity\n$question\n$response\n"


def generations_of(responses, statuses=None):
    """An examinee's responses by item, ok unless `statuses` says otherwise."""
    rows = [
        {
            "task": "gsm8k",
            "item_id": item_id,
            "examinee": "larch",
            "status": (statuses or {}).get(item_id, "ok"),
            "response": response,
            "simulated": False,
        }
        for item_id, response in responses.items()
    ]
    return GENERATIONS.check(pd.DataFrame(rows, columns=GENERATIONS.names, dtype=object), "test")


def grades_of(truths):
    rows = [
        {"task": "gsm8k", "item_id": item_id, "examinee": "larch", "truth": truth, "how": "test"}
        for item_id, truth in truths.items()
    ]
    return GRADES.check(pd.DataFrame(rows, columns=GRADES.names, dtype=object), "test")


@pytest.fixture
def bench(items, prompt, calling):
    """Makes a bench; by default the responses are all ok and the prompt has a place for everything."""

    def make(spec, generations=None, grades=None, template=TEMPLATE, **changes):
        chosen = {"template": "default", "label": None, "shown": None, "trials": 1} | spec
        if generations is None:
            generations = generations_of({item.item_id: "#### 4" for item in items})
        given = {
            "name": "crow",
            "condition": "blind",
            "spec": chosen,
            "items": items,
            "generations": generations,
            "grades": grades,
            "prompt": prompt(template),
            "calling": calling(),
            "seed": 1,
        }
        return Bench(**given | changes)

    return make


@pytest.fixture
def rook(persona):
    """Makes the specification of a simulated judge of a recorded examinee."""

    def make(**effects):
        return {"judge": {"persona": persona(name="rook", **effects)}, "examinee": {"family": "x", "recorded": "larch"}}

    return make


def say(server, items, verdicts, shown=None, response="#### 4"):
    """Script what the real judge says about each item's response."""
    for item in items:
        if item.item_id in verdicts:
            reply = verdicts[item.item_id]
            prompt = judge_prompt(TEMPLATE, item, response, shown, 1)
            server.script(prompt, reply if isinstance(reply, Reply) else Reply(reply))


def test_a_simulated_judge_of_a_recorded_examinee_goes_by_the_grades(bench, rook):
    truths = {"a": True, "b": False, "c": False, "d": True}
    frame = judge(bench(rook(), grades=grades_of(truths), name="rook"))
    assert dict(zip(frame["item_id"], frame["verdict"], strict=True)) == truths
    assert (frame["status"] == "ok").all()
    assert frame["simulated"].all()
    assert frame[["cost_usd", "request_key", "latency_s"]].isna().all(axis=None)


def test_a_simulated_judge_of_a_recorded_examinee_needs_its_grades(bench, rook):
    with pytest.raises(ValueError, match="needs the grades"):
        judge(bench(rook(), name="rook"))


@pytest.mark.parametrize("strictness", [-30, 30])
def test_a_response_of_unknown_truth_is_judged_by_its_looks(bench, rook, strictness):
    truths = {"a": True, "b": None, "c": False, "d": None}
    frame = judge(bench(rook(strictness=strictness), grades=grades_of(truths), name="rook")).set_index("item_id")
    assert (frame["verdict"]["a"], frame["verdict"]["c"]) == (True, False)
    assert frame["verdict"][["b", "d"]].tolist() == [strictness < 0] * 2


def test_grades_in_another_order_are_matched_by_item(bench, rook):
    frame = judge(bench(rook(), grades=grades_of({"d": True, "c": False, "b": False, "a": False}), name="rook"))
    assert dict(zip(frame["item_id"], frame["verdict"], strict=True)) == {"a": False, "b": False, "c": False, "d": True}


def test_a_simulated_judge_of_a_persona_needs_no_grades(bench, persona):
    larch = persona(name="larch", family="conifer", ability={"gsm8k": 0.99})
    spec = {"judge": {"persona": persona(name="rook")}, "examinee": {"family": "conifer", "persona": larch}}
    frame = judge(bench(spec, name="rook"))
    assert frame["verdict"].tolist() == [True] * 4, "the examinee solves them all by its own draws"


def test_responses_that_are_not_ok_are_not_judged(bench, real, server, items):
    responses = {"a": "#### 4", "b": None, "c": "Let us", "d": ""}
    statuses = {"b": "refused", "c": "truncated", "d": "empty"}
    say(server, items, {"a": "correct"})
    frame = judge(bench({"judge": real()}, generations_of(responses, statuses))).set_index("item_id")
    assert frame["status"].fillna("not judged").to_dict() == {"a": "ok", **dict.fromkeys("bcd", "not judged")}
    assert frame["verdict"].isna().tolist() == [False, True, True, True]
    assert frame["generation_status"].to_dict() == {"a": "ok"} | statuses
    assert len(server.requests) == 1, "nothing is paid for them"


def test_a_simulated_judge_leaves_them_out_too(bench, rook):
    generations = generations_of({"a": "#### 4", "b": None, "c": "#### 5"}, {"b": "error"})
    frame = judge(bench(rook(), generations, grades_of({"a": True, "c": False}), name="rook"))
    assert frame["verdict"].tolist() == [True, pd.NA, False]
    assert frame["status"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("kind", ["real", "simulated"])
def test_an_examinee_that_only_refused_is_judged_nowhere(bench, real, rook, server, kind):
    generations = generations_of({"a": None, "b": None}, {"a": "refused", "b": "refused"})
    spec = {"judge": real()} if kind == "real" else rook()
    frame = judge(bench(spec, generations, grades_of({})))
    assert frame["status"].isna().all()
    assert len(frame) == 2
    assert server.requests == []
    assert (frame["simulated"] == (kind == "simulated")).all()


def test_a_real_judge_is_read_and_what_cannot_be_read_is_no_verdict(bench, real, server, items):
    say(
        server,
        items,
        {
            "a": "The sum is right.\nVERDICT: correct",
            "b": "Incorrect",
            "c": "Hard to say.",
            "d": Reply("VERDICT: correct", finish_reason="length"),
        },
    )
    frame = judge(bench({"judge": real()})).set_index("item_id")
    assert frame["status"].to_dict() == {"a": "ok", "b": "ok", "c": "unparsed", "d": "truncated"}
    assert frame["verdict"].tolist() == [True, False, pd.NA, pd.NA]
    assert frame["text"]["c"] == "Hard to say."
    assert frame["text"]["d"] == "VERDICT: correct", "kept, but a cut text has no last word"
    assert frame["prompt_tokens"].notna().all()
    assert not frame["simulated"].any()


def test_a_lone_surrogate_in_a_judges_answer_leaves_a_table_that_can_be_written(bench, real, server, items, tmp_path):
    say(
        server,
        items,
        {**dict.fromkeys("bcd", "correct"), "a": Reply("It \ud800 is.\nVERDICT: incorrect", model="\udfff")},
    )
    journal, path = tmp_path / "journal.jsonl", tmp_path / "judgements.parquet"
    for run in ("received", "replayed from an older journal"):
        write_table(judge(bench({"judge": real()})), path, JUDGEMENTS)
        row = read_table(path, JUDGEMENTS).set_index("item_id").loc["a"]
        assert (row["status"], row["text"]) == ("ok", "It ? is.\nVERDICT: incorrect"), run
        assert (row["verdict"], row["resolved_model"]) == (False, "?"), run
        journal.write_text(journal.read_text().replace("It ? is", "It \\ud800 is"))
    assert len(server.requests) == 4


def test_a_judge_that_refuses_or_says_nothing_gives_no_verdict(bench, real, server, items):
    say(server, items, dict.fromkeys("abc", "correct"))
    say(server, items, {"a": Reply(None, message={"refusal": "I can't judge that."}), "b": Reply("")})
    frame = judge(bench({"judge": real()}, generations_of(dict.fromkeys("abc", "#### 4"))))
    assert frame["status"].tolist() == ["refused", "empty", "ok"]
    assert frame["verdict"].tolist() == [pd.NA, pd.NA, True]


def test_every_trial_is_a_row_and_a_call_of_its_own(bench, real, server, items, calling):
    say(server, items, dict.fromkeys("abcd", "correct"))
    prompt = judge_prompt(TEMPLATE, items[1], "#### 4", None, 1)
    server.script(prompt, Reply("correct"), Reply("incorrect"))
    frame = judge(bench({"judge": real(), "trials": 2}, calling=calling(concurrency=1)))
    assert frame.groupby("trial")["item_id"].agg(list).to_dict() == {0: list("abcd"), 1: list("abcd")}
    assert frame[frame["item_id"] == "b"].set_index("trial")["verdict"].to_dict() == {0: True, 1: False}
    assert frame["request_key"].nunique() == 8
    assert len(server.requests) == 8


def test_trials_of_a_simulated_judge_differ_by_their_noise(bench, rook):
    grades = grades_of(dict.fromkeys("abcd", False))
    effects = {"ability": {"gsm8k": 0.01}, "trial_noise": 1.0}
    noisy = judge(bench(rook(**effects) | {"trials": 20}, grades=grades, name="rook"))
    assert noisy.groupby("item_id")["verdict"].nunique().max() == 2
    assert noisy.groupby("trial")["item_id"].agg(list).tolist() == [list("abcd")] * 20


def test_the_name_that_a_label_shows_reaches_the_judge_and_makes_another_call(bench, real, server):
    keys = {}
    for label, shown in ((None, None), ("elite", "GPT-5"), ("author", "Larch")):
        frame = judge(bench({"judge": real(), "label": label, "shown": shown}, condition=label or "blind"))
        keys[label] = frame.set_index("item_id")["request_key"]
        assert set(frame["label"].fillna("none")) == {label or "none"}
    assert all((keys[None] != keys[label]).all() for label in ("elite", "author"))
    assert (keys["elite"] != keys["author"]).all()
    first = [prompt.splitlines()[0] for prompt in server.prompts()]
    assert first == [""] * 4 + ["The response was written by GPT-5."] * 4 + ["The response was written by Larch."] * 4
    without = {prompt.partition("\n")[2] for prompt in server.prompts()}
    assert len(without) == 4, "labels change nothing else, markers included"


def test_an_answer_in_the_journal_is_not_asked_for_again(bench, real, server, items):
    say(server, items, dict.fromkeys("abcd", "correct"))
    first = judge(bench({"judge": real()}))
    assert judge(bench({"judge": real()})).equals(first)
    assert len(server.requests) == 4


def test_another_response_of_the_examinee_is_another_call(bench, real, server):
    judge(bench({"judge": real()}))
    judge(bench({"judge": real()}, generations_of({"a": "#### 5", "b": "#### 4", "c": "#### 4", "d": "#### 4"})))
    assert len(server.requests) == 5


def test_failed_verdicts_fail_the_job_but_keep_the_others(bench, real, server, items, calling, tmp_path):
    say(server, items, {"c": Reply(status=400, body=error_body("an odd one"))})
    with pytest.raises(UserError, match=r"crow: 1 of 4 calls failed \(first c#0: .*the other answers are kept"):
        judge(bench({"judge": real()}))
    assert len(read_journal(tmp_path / "journal.jsonl")) == 3
    frame = judge(bench({"judge": real()}, calling=calling(accept_errors=0.25))).set_index("item_id")
    assert frame["status"]["c"] == "error"
    assert pd.isna(frame["verdict"]["c"])


def test_a_template_without_a_place_for_the_label_is_refused_by_name(bench, real, server):
    spec = {"judge": real(), "label": "elite", "shown": "GPT-5"}
    with pytest.raises(UserError, match=r"prompt\.md: has no \$identity"):
        judge(bench(spec, template="$question $response"))
    assert server.requests == []


def test_a_judgement_lacks_only_what_grading_knows_and_the_length_of_a_verdict(bench, real):
    frame = judge(bench({"judge": real()}))
    assert set(VERDICTS.names) - set(frame.columns) == {"truth", "answer", "response_chars"}
    assert frame[["template", "judge", "examinee"]].iloc[0].tolist() == ["default", "crow", "larch"]
