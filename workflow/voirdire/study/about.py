"""What the report says of the study's set-up: models, questions, settings, versions."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pandas as pd

from voirdire.study.sections import Model, PanelSettings
from voirdire.study.study import Study

_PACKAGES = ("voirdire", "snakemake", "litellm", "numpy", "scipy", "pandas", "pyarrow", "matplotlib")


def models_that_ran(study: Study, verdicts: pd.DataFrame) -> list[dict[str, str]]:
    """One row per model: roles, family, what was asked for, and which model the provider says has answered as judge."""
    resolved = verdicts.dropna(subset=["resolved_model"]).groupby("judge")["resolved_model"].unique()
    rows = []
    for name in dict.fromkeys([*study.config.examinees, *study.config.judges]):
        model = study.model(name)
        roles = [
            role
            for role, names in (("examinee", study.config.examinees), ("judge", study.config.judges))
            if name in names
        ]
        rows.append(
            {
                "model": name,
                "roles": ", ".join(roles),
                "family": model.family,
                "asked for": model.model or f"responses recorded in {model.responses}",
                "answered as judge": ", ".join(sorted(resolved.get(name, []))) or "–",
                "parameters": _pairs({**model.parameters, **_further(model)}) or "–",
            }
        )
    return rows


def _further(model: Model) -> dict[str, Any]:
    """Parameters that differ for a task, and those that are not sent."""
    return {**model.tasks, **({"not sent": " ".join(model.drop)} if model.drop else {})}


def benchmarks_that_ran(metadata: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """One row per task: where its questions come from, how many, and what was left out and why."""
    return [
        {
            "task": task,
            "source": facts["source"]["source"],
            "questions": str(facts["n_items"]),
            "left out": _pairs(facts["left_out"]) or "none",
            "files (SHA-256)": ", ".join(f"{name} ({digest[:12]}…)" for name, digest in facts["files"].items()),
            "licence": facts["licence"],
        }
        for task, facts in metadata.items()
    ]


def settings(study: Study, sandboxes: Sequence[str] = ()) -> dict[str, str]:
    """What else decides a result; `sandboxes`: the names of those in which programs were run."""
    config = study.config
    return {
        "seed": str(config.seed),
        "conditions": ", ".join(study.conditions),
        "trials per verdict": str(config.trials),
        **({"programs were run in": ", ".join(map(_isolation, sandboxes))} if sandboxes else {}),
        "intervals": f"95 %, {config.bootstrap.resamples:,} bootstrap resamples",
        "panel": _panel(config.panel),
        "calibration": f"tried with {_listed(config.panel.labels)} labels, drawn {config.panel.draws:,} times",
        "drift": _drift(json.loads(study.drift_settings())),
    }


def _isolation(sandbox: str) -> str:
    return "no sandbox (unsafe): nothing kept them from this machine" if sandbox == "unsafe" else f"{sandbox}'s sandbox"


def _panel(panel: PanelSettings) -> str:
    votes = "every judge votes, the examinee too" if panel.include_self else "every judge but the examinee votes"
    tie = "abstains" if panel.tie == "abstain" else f"says {panel.tie}"
    return f"{votes}; fewer than {panel.quorum} votes abstain; a tie {tie}; votes weigh at least {panel.floor:g}"


def _listed(numbers: Sequence[int]) -> str:
    """
    >>> _listed([0, 30, 100])
    '0, 30 and 100'
    """
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _drift(drift: Mapping[str, Any]) -> str:
    if not drift:
        return "not simulated"
    start, end = drift["start"], drift["end"]
    tasks = dict.fromkeys([*start, *end])
    mix = [f"{task} from {100 * start.get(task, 0):g} % to {100 * end.get(task, 0):g} %" for task in tasks]
    labels = f"{drift['labels_per_week']} labels a week, {drift['labels'].replace('_', ' the ')}"
    prior = "a prior of FPR {fpr:g}, FNR {fnr:g}, worth {strength:g} labels".format_map(drift["prior"])
    weeks = f"{drift['weeks']} weeks of {drift['per_week']} responses"
    return f"{weeks}; {', '.join(mix)}; {labels}; {prior}; {drift['seeds']} histories, seed {drift['seed']}"


def versions() -> dict[str, str]:
    """Versions of what computed the results."""
    return {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "not installed"


def _pairs(values: Mapping[str, Any]) -> str:
    """Names and values in words, sections inside sections in brackets."""
    shown = {name: f"({_pairs(value)})" if isinstance(value, Mapping) else value for name, value in values.items()}
    return ", ".join(f"{name}: {value}" for name, value in shown.items())
