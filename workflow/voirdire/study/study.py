"""A checked configuration with the jobs, paths and parameters that follow from it.

Parameters are canonical JSON made from wildcards alone, so that Snakemake reruns exactly the jobs whose
parameters have changed, and none because a dictionary was written in another order.
"""

import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from voirdire.benchmarks import BENCHMARKS, Source
from voirdire.models import Limits, ModelSpec
from voirdire.models.shared import start_afresh
from voirdire.study.config import Config, model_spec, parse, pool
from voirdire.study.matrix import Condition, Matrix, Paths, canonical, conditions_of
from voirdire.study.sections import Model
from voirdire.tables import atomic_path

# Raise by hand when the code of a paid rule changes so that its old tables are no longer what it would make.
PROTOCOL = {"generate": 1, "judge": 3}

# The paper's drift: away from easy word problems, towards hard competition mathematics.
_DRIFT_START = {"gsm8k": 0.85, "aime": 0.15}


@dataclass(frozen=True)
class Study:
    """One study.

    Parameters
    ----------
    config : the checked configuration.
    prompts : folder of the prompt templates, as it is to appear in paths.
    """

    config: Config
    prompts: str

    @cached_property
    def paths(self) -> Paths:
        return Paths(f"results/{self.config.study}")

    @cached_property
    def conditions(self) -> dict[str, Condition]:
        """Conditions by slug; the first is the main one."""
        identity = self.config.ablations.identity
        conditions = conditions_of(self.config.templates, identity.labels if identity.examinees else [])
        return {condition.slug: condition for condition in conditions}

    @property
    def main_condition(self) -> str:
        return next(iter(self.conditions))

    @cached_property
    def matrix(self) -> Matrix:
        judged = {slug: list(self._judged(condition)) for slug, condition in self.conditions.items()}
        return Matrix(list(self.config.benchmarks), self.config.examinees, self.config.judges, judged)

    def _judged(self, condition: Condition) -> Sequence[str]:
        """The examinees whose responses are judged under a condition."""
        ablations = self.config.ablations
        if condition.label:
            return ablations.identity.examinees
        chosen = ablations.template.examinees
        is_main = condition.template == self.config.templates[0]
        return self.config.examinees if is_main or chosen is None else chosen

    def model(self, name: str) -> Model:
        return self.config.models[name]

    def examinee_prompt(self, task: str) -> str:
        return f"{self.prompts}/examinee/{task}.md"

    def judge_prompt(self, condition: str, task: str) -> str:
        return f"{self.prompts}/judge/{self.conditions[condition].template}/{task}.md"

    @property
    def program_grades(self) -> list[str]:
        """The grades of all responses that are programs."""
        code = [task for task in self.matrix.tasks if BENCHMARKS[task].grader == "code"]
        return [self.paths.grade(task, examinee) for task in code for examinee in self.matrix.examinees]

    def source(self, task: str) -> Source:
        return Source.from_dict(self.config.benchmarks[task].model_dump(exclude_none=True))

    def benchmark_spec(self, task: str) -> str:
        """The source of a task's questions as JSON, with the seed where it matters."""
        source = self.source(task)
        seeded = source.sample or source.shuffle_options
        return canonical({"source": source.to_dict(), "seed": self.config.seed if seeded else 0})

    def benchmark_input(self, task: str) -> list[str]:
        """The benchmark's file, where the configuration names one."""
        path = self.config.benchmarks[task].path
        return [path] if path else []

    def generation_input(self, task: str, examinee: str) -> str:
        """What an examinee's job reads besides the items: the prompt, or the recorded responses."""
        return self.model(examinee).responses or self.examinee_prompt(task)

    def examinee_spec(self, task: str, examinee: str) -> str:
        """The examinee as JSON of one key: `recorded` (its name in the file), `persona` or `model`."""
        return canonical(self._spec(task, examinee))

    def judge_spec(self, condition: str, task: str, judge: str, examinee: str) -> str:
        """The judge, what it is told of the examinee, and how often it is asked, as JSON.

        A simulated judge also gets the examinee's numbers: it goes by what it can see of the response.
        """
        chosen = self.conditions[condition]
        spec: dict[str, Any] = {
            "judge": self._spec(task, judge),
            "template": chosen.template,
            "label": chosen.label,
            "shown": self.shown(chosen.label, examinee),
            "trials": self.config.trials,
        }
        if self.model(judge).persona:
            spec["examinee"] = {"family": self.model(examinee).family, **self._spec(task, examinee)}
        return canonical(spec)

    def shown(self, label: str | None, examinee: str) -> str | None:
        """The name that a judge is shown as the response's author; None under blind judging."""
        if label is None:
            return None
        return self.config.ablations.identity.elite if label == "elite" else self.model(examinee).title or examinee

    def needs_grades(self, judge: str, examinee: str) -> bool:
        """Whether a judge job reads the grades: a simulated judge of an examinee that isn't simulated."""
        return self.model(judge).persona is not None and self.model(examinee).persona is None

    def is_paid(self, name: str) -> bool:
        """Whether calls of this model go to a provider."""
        model = self.model(name)
        return model.responses is None and model.persona is None

    def model_spec(self, task: str, name: str) -> ModelSpec:
        """The litellm model `name` as it is called for `task`."""
        return model_spec(name, self.model(name), task)

    def call_limits(self, name: str) -> Limits:
        """How a model that is called through litellm may be called."""
        model = self.model(name)
        return Limits(
            **model.limits.model_dump(),
            pool=pool(model),
            mode=model.mode,
            budget_usd=self.config.budget_usd,
            shared=self.paths.shared,
        )

    @cached_property
    def pools(self) -> dict[str, int]:
        """Snakemake's resource for each endpoint, `calls_POOL`, and the calls in flight that it allows."""
        return {_resource(limits.pool): limits.concurrency for limits in self._limits.values()}

    def slots(self, name: str, resource: str) -> int:
        """How much a job that calls model `name` takes of a resource of `pools`.

        Half of it: two jobs of an endpoint at a time keep it busy, while more would only wait in each other's way.
        Batches wait at the provider, as many at once as there are cores.
        """
        limits = self._limits.get(name)
        if limits is None or limits.mode == "batch" or _resource(limits.pool) != resource:
            return 0
        return max(1, limits.concurrency // 2)

    @cached_property
    def _limits(self) -> dict[str, Limits]:
        names = dict.fromkeys([*self.config.examinees, *self.config.judges])
        return {name: self.call_limits(name) for name in names if self.is_paid(name)}

    def write_limits(self) -> None:
        """Tell the jobs how they may call their models: in a file, so that a change reruns nothing.

        And have them start afresh: with the endpoints' whole limits, and with the money counted from the journals.
        """
        start_afresh(self.paths.shared, self.config.budget_usd is not None)
        if self._limits:
            with atomic_path(self.paths.limits) as beside:
                beside.write_text(json.dumps({name: asdict(limits) for name, limits in self._limits.items()}, indent=1))

    def analysis_settings(self) -> str:
        """What every statistical table depends on, as JSON."""
        bootstrap = self.config.bootstrap
        return canonical(
            {
                "condition": self.main_condition,
                "resamples": bootstrap.resamples,
                "seed": self.config.seed,
            }
        )

    def families(self) -> str:
        """The family of each examinee and judge, as JSON."""
        names = [*self.config.examinees, *self.config.judges]
        return canonical({name: self.model(name).family for name in names})

    def panel_settings(self) -> str:
        return canonical(self.config.panel.model_dump())

    def drift_settings(self) -> str:
        """The scenario as JSON, with the mix of tasks filled in; empty where fewer than two tasks can drift."""
        drift = self.config.drift
        start, end = drift.start, drift.end
        if start is None or end is None:
            if not set(_DRIFT_START) <= set(self.config.benchmarks):
                return canonical({})
            start, end = _DRIFT_START, dict(zip(_DRIFT_START, reversed(_DRIFT_START.values()), strict=True))
        panel = {name: getattr(self.config.panel, name) for name in ("include_self", "quorum", "tie", "floor")}
        return canonical({**drift.model_dump(exclude={"factors", "factor_seeds"}), **panel, "start": start, "end": end})

    def factor_settings(self) -> str:
        """`drift_settings`, with the number of histories for each level of what is varied, and what that is."""
        scenario = json.loads(self.drift_settings())
        drift = self.config.drift
        return canonical(scenario and {**scenario, "seeds": drift.factor_seeds, "factors": drift.factors})

    def sweep_settings(self) -> str:
        return canonical(self.config.prior_sweep.model_dump())

    def view(self) -> str:
        """What tables and figures for readers depend on besides the tidy tables, as JSON."""
        return canonical({"tasks": self.matrix.tasks, "condition": self.main_condition})

    def to_json(self) -> str:
        # Not canonical: the order of tasks and models is the order of the report.
        return json.dumps({"config": self.config.model_dump(mode="json"), "prompts": self.prompts}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Study":
        values = json.loads(text)
        return cls(parse(values["config"]), values["prompts"])

    def _spec(self, task: str, name: str) -> dict[str, Any]:
        model = self.model(name)
        if model.responses:
            return {"recorded": model.responses_examinee or name}
        if model.persona:
            # One truth for who is whose relative: the model's entry.
            return {"persona": {**self.config.personas[model.persona], "name": name, "family": model.family}}
        return {"model": json.loads(self.model_spec(task, name).to_json())}


def _resource(pool: str) -> str:
    """A pool's name as Snakemake's resources can have it; two pools never get one name."""
    slug = re.sub(r"\W+", "_", pool.partition("://")[2] or pool).strip("_").lower()
    return f"calls_{slug}" if slug == pool else f"calls_{slug}_{zlib.crc32(pool.encode()):08x}"


def load_study(raw: Mapping[str, Any], sources: Sequence[str | Path], workflow_folder: str | Path) -> Study:
    """The study of a configuration as Snakemake has merged it.

    Parameters
    ----------
    raw : the configuration.
    sources : the files it was read from, for messages.
    workflow_folder : where the Snakefile is; holds the prompts of studies without their own.

    Raises
    ------
    UserError : naming every fault of the configuration.
    """
    config = parse(raw, " + ".join(os.path.relpath(source) for source in sources) or "configuration")
    if config.prompts:
        return Study(config, config.prompts.rstrip("/"))
    prompts = Path(workflow_folder).resolve() / "config" / "prompts"
    # Below the working directory paths stay relative: a checkout that moves must not rerun anything.
    inside = prompts.is_relative_to(Path.cwd())
    return Study(config, os.path.relpath(prompts) if inside else str(prompts))
