"""A study's configuration: read, checked as a whole, and every fault named at once."""

import copy
import difflib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from voirdire.benchmarks import BENCHMARKS, Source
from voirdire.errors import Faults, UserError
from voirdire.models.spec import ModelSpec
from voirdire.simulated import Persona
from voirdire.study.matrix import JOURNAL, Condition, conditions_of
from voirdire.study.sections import (
    Ablations,
    BenchmarkSource,
    Bootstrap,
    Count,
    DriftSettings,
    FilePath,
    Model,
    PanelSettings,
    PriorSweep,
    Section,
    Seed,
    Share,
    Slug,
)

# Limits of an endpoint, on which all its models must agree.
SHARED_LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute")
# Names that tables give to rows over several models.
POOLED = ("all", "mean")


class Config(Section):
    """The whole configuration of one study."""

    study: Slug = Field(description="the study's name, and its folder under results/")
    seed: Seed = Field(20260912, description="of samples, simulated draws, bootstraps and prompt markers")
    benchmarks: dict[str, BenchmarkSource] = Field(description="the tasks, and where their questions come from")
    models: dict[Slug, Model] = Field(description="every model that examinees and judges name")
    personas: dict[Slug, dict[str, Any]] = Field(
        default_factory=dict, description="the simulated models: what they can do and how they err"
    )
    examinees: list[Slug] = Field(min_length=1, description="models whose answers are judged")
    judges: list[Slug] = Field(min_length=1, description="models that judge")
    prompts: FilePath | None = Field(
        None, description="folder with examinee/TASK.md and judge/TEMPLATE/TASK.md; default: the workflow's own"
    )
    templates: list[Slug] = Field(
        default_factory=lambda: ["default"], min_length=1, description="judge templates; the first is the main one"
    )
    trials: Annotated[Count, Field(le=1000)] = Field(1, description="how often each verdict is asked for")
    ablations: Ablations = Field(default_factory=lambda: Ablations(), description="conditions besides the main one")
    panel: PanelSettings = Field(default_factory=lambda: PanelSettings(), description="how votes become a verdict")
    drift: DriftSettings = Field(default_factory=lambda: DriftSettings(), description="the drift simulation")
    prior_sweep: PriorSweep = Field(default_factory=lambda: PriorSweep(), description="priors to try under drift")
    bootstrap: Bootstrap = Field(default_factory=lambda: Bootstrap(), description="intervals")
    budget_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="what the study may spend in all, earlier runs included; changing it reruns nothing"
    )
    pilot: Annotated[int, Field(ge=0, le=1000, strict=True)] = Field(
        0, description="calls per examinee and judge job that `estimate` makes, to see how long answers are"
    )
    accept_errors: Share = Field(0.0, description="share of failed calls that a job may leave behind and still succeed")
    sandbox: Literal["auto", "bubblewrap", "unshare", "landlock", "unsafe"] = Field(
        "auto", description="isolation of code that models wrote; auto: the strongest that works; unsafe: none"
    )


def parse(raw: Mapping[str, Any], source: str = "configuration") -> Config:
    """Check a configuration and return it.

    Parameters
    ----------
    raw : the configuration as read from YAML.
    source : the file's name, for messages.

    Raises
    ------
    UserError : naming every fault found, each with its key and what to do.
    """
    faults = Faults()
    config = _validated(copy.deepcopy(dict(raw)), source, faults)
    if config is not None:
        _check_names(config, source, faults)
        _check_conditions(config, source, faults)
        _check_models(config, source, faults)
        _check_personas(config, source, faults)
        _check_tasks(config, source, faults)
    faults.raise_if_any()
    assert config is not None
    return config


def _validated(raw: dict[str, Any], source: str, faults: Faults) -> Config | None:
    """The configuration without its unknown keys, so that what is wrong besides them can be named as well."""
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        details = error.errors()
    faults.extend(_sentence(detail, source) for detail in details)
    if any(detail["type"] != "extra_forbidden" for detail in details):
        return None
    for detail in details:
        *parents, last = detail["loc"]
        section: Any = raw
        for key in parents:
            section = section[key]
        del section[last]
    return _validated(raw, source, faults)


def _sentence(detail: Any, source: str) -> str:
    """One of pydantic's errors as a sentence."""
    key = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    match detail["type"]:
        case "extra_forbidden":
            known = _siblings(detail["loc"])
            close = " or ".join(f"'{each}'" for each in difflib.get_close_matches(str(detail["loc"][-1]), known, n=2))
            hint = f"did you mean {close}?" if close else f"known keys here: {', '.join(known)}"
            return f"{source}: {key}: unknown key; {hint}"
        case "missing":
            return f"{source}: {key}: this key is needed"
        case "string_pattern_mismatch" if "{" in detail["input"] or "}" in detail["input"]:
            return f"{source}: {key}: a path cannot have braces (found {detail['input']!r}); rename it"
        case "string_pattern_mismatch":
            return f"{source}: {key}: {detail['input']!r} must be of a-z, 0-9 and _ (it becomes part of file names)"
        case "value_error":
            return f"{source}: {key}: {detail['ctx']['error']}"
    # What stands where an endpoint is described may be its key.
    found = "" if "endpoint" in detail["loc"] else f" (found {detail['input']!r})"
    return f"{source}: {key}: {detail['msg']}{found}"


def _siblings(location: tuple[Any, ...]) -> list[str]:
    """The keys that the section at this place of the configuration knows."""
    section: Any = Config
    for part in location[:-1]:
        if not (isinstance(section, type) and issubclass(section, Section)):
            break
        annotation = section.model_fields[part].annotation if part in section.model_fields else section
        inner = [kind for kind in getattr(annotation, "__args__", ()) if isinstance(kind, type)]
        section = next((kind for kind in inner if issubclass(kind, Section)), annotation)
    return sorted(section.model_fields) if hasattr(section, "model_fields") else []


def _check_names(config: Config, source: str, faults: Faults) -> None:
    if config.study == JOURNAL:
        faults.add(f"{source}: study: '{JOURNAL}' is where all studies' journals lie; choose another name")
    for role, names in (("examinees", config.examinees), ("judges", config.judges)):
        for name in dict.fromkeys(names):
            if name not in config.models:
                faults.add(f"{source}: {role}: '{name}' is not defined under models; define it or take it off the list")
            if names.count(name) > 1:
                faults.add(f"{source}: {role}: '{name}' is listed {names.count(name)} times; list it once")
    for name in config.judges:
        if name in config.models and config.models[name].responses:
            faults.add(f"{source}: judges: '{name}' has recorded responses and cannot judge; take it off the list")
    ablations = config.ablations
    for key, listed in (("identity", ablations.identity.examinees), ("template", ablations.template.examinees or [])):
        for name in dict.fromkeys(listed):
            if name not in config.examinees:
                faults.add(f"{source}: ablations.{key}.examinees: '{name}' is not among the examinees; add it there")
            if listed.count(name) > 1:
                faults.add(f"{source}: ablations.{key}.examinees: '{name}' is listed more than once")


def _check_conditions(config: Config, source: str, faults: Faults) -> None:
    """Conditions are told apart by their slugs alone."""
    seen: dict[str, Condition] = {}
    for condition in conditions_of(config.templates, config.ablations.identity.labels):
        if condition.slug in seen:
            faults.add(
                f"{source}: templates: '{condition.template}' gives the condition '{condition.slug}' a second time; "
                "list each template and label once, and name no template blind, elite or author"
            )
        seen[condition.slug] = condition


def _check_models(config: Config, source: str, faults: Faults) -> None:
    for name, model in config.models.items():
        if name in POOLED:
            faults.add(f"{source}: models.{name}: '{name}' stands for pooled rows in every table; choose another name")
        if model.model is None or model.persona:
            continue
        for task in config.benchmarks:
            try:
                model_spec(name, model, task)
            except UserError as error:
                # A fault is the same for most tasks.
                faults.extend(new for fault in error.faults if (new := f"{source}: {fault}") not in faults.faults)
    _check_pools(config, source, faults)


def _check_pools(config: Config, source: str, faults: Faults) -> None:
    """Models that share an endpoint must agree on what it allows."""
    first: dict[str, str] = {}
    for name, model in config.models.items():
        if model.model is None or model.persona:
            continue
        other = first.setdefault(pool(model), name)
        mine, others = (config.models[each].limits for each in (name, other))
        for limit in SHARED_LIMITS:
            if getattr(mine, limit) != getattr(others, limit):
                faults.add(
                    f"{source}: models.{name}.limits.{limit}: is {getattr(mine, limit)}, but {getattr(others, limit)} "
                    f"for '{other}', which shares its endpoint; make them equal, or give each its own endpoint.pool"
                )


def _check_personas(config: Config, source: str, faults: Faults) -> None:
    able: dict[str, dict[str, float]] = {}
    for name, numbers in config.personas.items():
        try:
            persona = Persona.from_dict({"family": "any", **numbers, "name": name}, f"{source}: personas.{name}")
            able[name] = persona.ability
        except UserError as error:
            faults.extend(error.faults)
    for name, model in config.models.items():
        if model.persona is not None and model.persona not in config.personas:
            faults.add(f"{source}: models.{name}.model: persona '{model.persona}' is not defined under personas")
    taking_part = [config.models[name] for name in (*config.examinees, *config.judges) if name in config.models]
    for name in dict.fromkeys(model.persona for model in taking_part if model.persona in able):
        for task in config.benchmarks:
            if task in BENCHMARKS and task not in able[name]:
                faults.add(f"{source}: personas.{name}.ability.{task}: is missing, though the study has {task}; add it")


def _check_tasks(config: Config, source: str, faults: Faults) -> None:
    if not config.benchmarks:
        faults.add(f"{source}: benchmarks: name at least one of {', '.join(BENCHMARKS)}")
    recorded = [name for name in config.examinees if name in config.models and config.models[name].responses]
    for task, benchmark in config.benchmarks.items():
        if task not in BENCHMARKS:
            faults.add(f"{source}: benchmarks.{task}: unknown benchmark; known are {', '.join(BENCHMARKS)}")
            continue
        if benchmark.shuffle_options and recorded:
            faults.add(
                f"{source}: benchmarks.{task}.shuffle_options: the responses of {', '.join(recorded)} are recorded, "
                "and their letters mean the options' first order; set it to false, or take them off the examinees"
            )
        try:
            Source.from_dict(benchmark.model_dump(exclude_none=True), f"{source}: benchmarks.{task}")
        except UserError as error:
            faults.extend(error.faults)
    for name, model in config.models.items():
        for task in model.tasks:
            if task not in BENCHMARKS:
                faults.add(f"{source}: models.{name}.tasks.{task}: unknown task; known are {', '.join(BENCHMARKS)}")
    for end in ("start", "end"):
        for task in getattr(config.drift, end) or {}:
            if task not in config.benchmarks:
                faults.add(f"{source}: drift.{end}.{task}: not among this study's benchmarks")


def model_spec(name: str, model: Model, task: str) -> ModelSpec:
    """The litellm model `name` as it is called for `task`. Raises UserError where a parameter or address can't be."""
    if model.model is None or model.persona:
        raise ValueError(f"{name} is not called through litellm")
    return ModelSpec(
        name=name,
        model=model.model,
        parameters={**model.parameters, **model.tasks.get(task, {})},
        drop=tuple(model.drop),
        api_base=model.endpoint.api_base,
        api_version=model.endpoint.api_version,
        api_key_env=model.endpoint.api_key_env,
        price=(model.price.input, model.price.output) if model.price else None,
    )


def pool(model: Model) -> str:
    """The name of the endpoint whose limits a called model shares: its pool, its address, or its provider."""
    if model.endpoint.pool:
        return model.endpoint.pool
    spec = ModelSpec(name="", model=model.model or "")
    return (model.endpoint.api_base or "").rstrip("/") or spec.provider or spec.model
