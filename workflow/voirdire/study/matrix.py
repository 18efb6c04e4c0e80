"""Which jobs a study has, and the files they write."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEFAULT_TEMPLATE = "default"
# Folder of all studies' journals, beside the studies' own.
JOURNAL = "journal"


def canonical(value: Any) -> str:
    """JSON that is the same for equal values.

    >>> canonical({"b": 1, "a": [None, "ü"]})
    '{"a":[null,"ü"],"b":1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Condition:
    """One judge prompt: a template and an identity label.

    >>> Condition("default").slug, Condition("default", "elite").slug, Condition("reason", "elite").slug
    ('blind', 'elite', 'reason-elite')
    """

    template: str
    label: str | None = None

    @property
    def slug(self) -> str:
        if self.template == DEFAULT_TEMPLATE:
            return self.label or "blind"
        return f"{self.template}-{self.label}" if self.label else self.template


def conditions_of(templates: Sequence[str], labels: Sequence[str]) -> list[Condition]:
    """The conditions of these templates, and of the first one under each label; the main one first."""
    return [Condition(template) for template in templates] + [Condition(templates[0], label) for label in labels]


@dataclass(frozen=True)
class Paths:
    """The files of one study. Paths tell where a table comes from."""

    folder: str

    def items(self, task: str) -> str:
        return f"{self.folder}/items/{task}.parquet"

    def generation(self, task: str, examinee: str) -> str:
        return f"{self.folder}/generations/{task}/{examinee}.parquet"

    def grade(self, task: str, examinee: str) -> str:
        return f"{self.folder}/grades/{task}/{examinee}.parquet"

    def judgement(self, condition: str, task: str, judge: str, examinee: str) -> str:
        return f"{self.folder}/verdicts/{condition}/{task}/{judge}/{examinee}.parquet"

    @property
    def verdicts(self) -> str:
        return f"{self.folder}/verdicts.parquet"

    def table(self, name: str, ending: str = "parquet") -> str:
        return f"{self.folder}/tables/{name}.{ending}"

    def tables(self, *names: str) -> list[str]:
        """The Parquet files of tables, and the same as CSV."""
        return [self.table(name, ending) for name in names for ending in ("parquet", "csv")]

    def figure(self, name: str, ending: str = "svg") -> str:
        return f"{self.folder}/figures/{name}.{ending}"

    @property
    def report(self) -> str:
        return f"{self.folder}/report.html"

    @property
    def journals(self) -> str:
        """The folder of all jobs' journals: outside the study's, so that no clean-up there touches paid answers."""
        root, _, study = self.folder.rpartition("/")
        return f"{root}/{JOURNAL}/{study}"

    def journal(self, *job: str) -> str:
        return "/".join([self.journals, *job]) + ".jsonl"

    @property
    def limits(self) -> str:
        """How each model may be called, written by Snakemake before its first job."""
        return f"{self.journals}/limits.json"

    @property
    def shared(self) -> str:
        """What the jobs that run at once share: calls in flight, rates, money."""
        return f"{self.journals}/shared.json"


@dataclass(frozen=True)
class Matrix:
    """The jobs of a study.

    Parameters
    ----------
    tasks, examinees, judges : their names.
    conditions : by slug, the examinees whose responses are judged under it.
    """

    tasks: Sequence[str]
    examinees: Sequence[str]
    judges: Sequence[str]
    conditions: Mapping[str, Sequence[str]]

    @property
    def answers(self) -> list[tuple[str, str]]:
        """(task, examinee) of every generate and grade job."""
        return [(task, examinee) for task in self.tasks for examinee in self.examinees]

    @property
    def judgements(self) -> list[tuple[str, str, str, str]]:
        """(condition, task, judge, examinee) of every judge job."""
        return [
            (condition, task, judge, examinee)
            for condition, examinees in self.conditions.items()
            for task in self.tasks
            for judge in self.judges
            for examinee in examinees
        ]

    def to_json(self) -> str:
        return canonical(self.__dict__)

    @classmethod
    def from_json(cls, text: str) -> "Matrix":
        return cls(**json.loads(text))
