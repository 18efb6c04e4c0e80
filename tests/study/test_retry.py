"""Which answers are to be asked again, and what forgetting leaves."""

import json
from pathlib import Path

import pandas as pd
import pytest

from voirdire.errors import UserError
from voirdire.models import Answer, Journal, read_journal
from voirdire.models.records import spent_usd
from voirdire.study.matrix import Paths
from voirdire.study.retry import answers, forget, jobs, retried, studies
from voirdire.tables import write_parquet


@pytest.fixture
def paths(tmp_path):
    return Paths(str(tmp_path / "results" / "mine"))


@pytest.fixture
def write(paths):
    """Writes a journal: `write("generate", "gsm8k", "crow", key=("ok", "text"))`; each answer cost a dollar."""

    def write(*job, **known):
        path = paths.journal(*job)
        with Journal(path) as journal:
            for key, (status, text) in known.items():
                call_id = f"item-{key}" if job[0] == "generate" else f"item-{key}#0"
                journal.append(Answer(key, status, text=text, cost_usd=1.0), call_id)
        return path

    return write


def only_job(paths):
    (job,) = jobs(paths)
    return job


def test_jobs_are_those_that_have_a_journal(paths, write):
    write("generate", "gsm8k", "crow")
    write("judge", "blind", "gsm8k", "owl", "crow")
    first, second = jobs(paths)
    assert (first.role, first.task, first.model, first.examinee, first.condition) == (
        "examinee",
        "gsm8k",
        "crow",
        "crow",
        None,
    )
    assert (second.role, second.task, second.model, second.examinee, second.condition) == (
        "judge",
        "gsm8k",
        "owl",
        "crow",
        "blind",
    )
    assert first.table == paths.generation("gsm8k", "crow")
    assert second.table == paths.judgement("blind", "gsm8k", "owl", "crow")
    assert [str(first), str(second)] == ["generate gsm8k crow", "judge blind gsm8k owl crow"]


def test_studies_are_those_that_have_journals(tmp_path, write):
    assert studies(tmp_path) == []
    write("generate", "gsm8k", "crow")
    (tmp_path / "results/journal/other/judge").mkdir(parents=True)
    (tmp_path / "results/journal/empty").mkdir()
    assert studies(tmp_path) == ["mine", "other"]


def test_answers_are_told_apart_by_status(paths, write):
    write("generate", "gsm8k", "crow", a=("ok", "4"), b=("empty", None), c=("truncated", "So"), d=("error", None))
    assert answers(only_job(paths)).keys == {"ok": ["a"], "empty": ["b"], "truncated": ["c"]}


def test_a_judges_status_is_that_of_its_table(paths, write):
    known = {
        "a": ("ok", "VERDICT: correct"),
        "b": ("ok", "Hard to say."),
        "c": ("ok", "<think>x</think>"),
        "d": ("refused", ""),
    }
    write("judge", "blind", "gsm8k", "owl", "crow", **known)
    assert answers(only_job(paths)).keys == {"ok": ["a"], "unparsed": ["b"], "empty": ["c"], "refused": ["d"]}


def test_an_examinees_answer_is_not_read_as_a_verdict(paths, write):
    write("generate", "gsm8k", "crow", a=("ok", "Hard to say."))
    assert answers(only_job(paths)).keys == {"ok": ["a"]}


def test_the_last_answer_to_a_request_counts(paths, write):
    for status in ("empty", "ok"):
        write("generate", "gsm8k", "crow", a=(status, "4"))
    assert answers(only_job(paths)).keys == {"ok": ["a"]}


@pytest.mark.parametrize("job", [("generate", "gsm8k", "crow"), ("judge", "blind", "gsm8k", "owl", "crow")])
def test_one_items_answers_are_found_by_its_id(paths, write, job):
    path = write(*job, a=("empty", None), b=("empty", None))
    with open(path, "ab") as torn:
        torn.write(b'{"id": "item-b", "key"')
    assert answers(only_job(paths), "item-b").keys == {"empty": ["b"]}
    assert answers(only_job(paths), "item").keys == {}


def test_an_item_id_may_hold_the_sign_that_parts_it_from_the_trial(paths, write):
    with Journal(paths.journal("judge", "blind", "gsm8k", "owl", "crow")) as journal:
        journal.append(Answer("a", "refused"), "q#1#0")
    assert answers(only_job(paths), "q#1").keys == {"refused": ["a"]}
    assert answers(only_job(paths), "q").keys == {}


def test_answers_that_the_table_no_longer_holds_are_left_alone(paths, write):
    write("generate", "gsm8k", "crow", old=("empty", None), new=("empty", None))
    assert answers(only_job(paths)).keys == {"empty": ["old", "new"]}
    write_parquet(
        pd.DataFrame({"request_key": ["new", None], "status": ["ok", None]}), paths.generation("gsm8k", "crow")
    )
    found = answers(only_job(paths))
    assert found.keys == {"empty": ["new"]}
    assert found.stale == {"empty": ["old"]}
    assert (found.only({"ok"}).n, found.only({"ok"}).n_stale) == (0, 0)


def test_what_is_forgotten_is_asked_again_and_its_cost_stays(paths, write):
    path = write("generate", "gsm8k", "crow", a=("ok", "4"), b=("empty", None), c=("refused", None))
    before = Path(path).read_bytes()
    done = list(forget([answers(only_job(paths)).only({"empty", "refused"})]))
    assert [found.n for found in done] == [2]
    assert read_journal(path).keys() == {"a"}
    assert Path(path).read_bytes().startswith(before), "history is kept"
    assert spent_usd(path) == 3


def test_the_mark_is_never_the_same_twice(paths, write):
    path = write("generate", "gsm8k", "crow", a=("ok", "4"))
    assert retried(path) == []
    list(forget([answers(only_job(paths))]))
    (mark,) = retried(path)
    first = Path(mark).read_text()
    write("generate", "gsm8k", "crow", a=("ok", "4"))
    list(forget([answers(only_job(paths))]))
    assert retried(path) == [mark]
    assert Path(mark).read_text().startswith(first)
    lines = Path(mark).read_text().splitlines()
    assert len(set(lines)) == 2
    assert [json.loads(line)["forgotten"] for line in lines] == [{"ok": 1}, {"ok": 1}]


def test_nothing_is_forgotten_while_a_job_writes_one_of_the_journals(paths, write):
    quiet = write("generate", "gsm8k", "crow", a=("empty", None))
    busy = write("generate", "gsm8k", "owl", b=("empty", None))
    found = [answers(job) for job in jobs(paths)]
    with Journal(busy), pytest.raises(UserError, match="is writing to this journal"):
        list(forget(found))
    assert read_journal(quiet).keys() == {"a"}
    assert retried(quiet) == retried(busy) == []


def test_a_kill_between_mark_and_journal_loses_nothing(paths, write, monkeypatch):
    path = write("generate", "gsm8k", "crow", a=("empty", None))

    class KilledError(BaseException):
        pass

    def killed(journal, keys):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "forget", killed)
        with pytest.raises(KilledError):
            list(forget([answers(only_job(paths))]))
    # The job runs again and is answered by the journal; a second call finds the same answers.
    assert retried(path)
    assert read_journal(path).keys() == {"a"}
    assert [found.n for found in forget([answers(only_job(paths))])] == [1]
    assert read_journal(path) == {}


def test_a_mark_that_cannot_be_written_forgets_nothing(paths, write):
    path = write("generate", "gsm8k", "crow", a=("empty", None))
    (found,) = map(answers, jobs(paths))
    Path(path).with_suffix(".retried").mkdir()
    with pytest.raises(UserError, match="its answers were not forgotten"):
        list(forget([found]))
    assert read_journal(path).keys() == {"a"}


def test_a_damaged_table_is_named(paths, write):
    write("generate", "gsm8k", "crow", a=("empty", None))
    write_parquet(pd.DataFrame({"request_key": ["a"], "status": ["ok"]}), paths.generation("gsm8k", "crow"))
    with open(paths.generation("gsm8k", "crow"), "r+b") as file:
        file.truncate(20)
    with pytest.raises(UserError, match=r"crow\.parquet: not a readable Parquet file"):
        answers(only_job(paths))


def test_failed_calls_that_a_table_has_settled_for_can_be_asked_again(paths, write):
    journal = write("generate", "gsm8k", "crow", a=("ok", "4"), b=("error", None))
    write_parquet(
        pd.DataFrame({"request_key": ["a", "b"], "status": ["ok", "error"]}), paths.generation("gsm8k", "crow")
    )
    job = only_job(paths)
    assert answers(job).keys == {"ok": ["a"], "error": ["b"]}
    assert answers(job, "item-a").keys == {"ok": ["a"]}
    assert [found.n for found in forget([answers(job, "item-b")])] == [1]
    assert retried(journal) != []
    assert set(read_journal(journal)) == {"a"}
