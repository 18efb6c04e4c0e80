"""The sections of a study's configuration. Every key is described here, once; the schema is made from it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from voirdire.drift import grid

# Wildcards of paths: "/" in a model's id, or upper and lower case on some disks, would make them ambiguous.
SLUG = r"^[a-z0-9][a-z0-9_]*$"
Slug = Annotated[str, Field(pattern=SLUG)]
Share = Annotated[float, Field(ge=0, le=1)]
# Strict: `true` and "5" are slips, not numbers.
Count = Annotated[int, Field(ge=1, strict=True)]
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Name = Annotated[str, Field(min_length=1)]
# Snakemake would take what stands in braces for a wildcard.
FilePath = Annotated[str, Field(min_length=1, pattern=r"^[^{}]*$")]
# Of a prior: strictly between 0 and 1, and worth more than no label.
Rate = Annotated[float, Field(gt=0, lt=1)]
Strength = Annotated[float, Field(gt=0)]

Label = Literal["elite", "author"]
SIMULATED = "simulated/"
_FOR_CALLS = ("parameters", "tasks", "drop", "endpoint", "limits", "price", "mode")


class Section(BaseModel):
    """A part of the configuration: unknown keys are refused, values are not coerced silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class BenchmarkSource(Section):
    """Where one benchmark's questions come from."""

    source: Literal["bundled", "path", "hub"] = Field(
        "bundled",
        description="bundled: questions written for this project; path: a file; hub: the Hugging Face Hub",
    )
    path: FilePath | None = Field(None, description="source path: the JSONL or Parquet file")
    repo: str | None = Field(None, description="source hub: the dataset's id; default: the benchmark's usual one")
    files: list[str] | None = Field(None, description="source hub: files of the dataset, read in this order")
    revision: str | None = Field(None, description="source hub: the dataset's commit, 40 hexadecimal digits")
    limit: Count | None = Field(None, description="take only the first N items")
    sample: Count | None = Field(None, description="take N items at random, by the study's seed")
    shuffle_options: bool = Field(
        False, strict=True, description="multiple choice: each item's options in an order drawn from seed and item"
    )


class Endpoint(Section):
    """Where a model answers. Keys come from the environment: this names the variable, never the key."""

    api_base: str | None = Field(None, description="base URL of the server")
    api_version: str | None = Field(None, description="Azure: version of the API")
    api_key_env: str | None = Field(None, description="environment variable that holds the key")
    pool: Slug | None = Field(
        None,
        description="models of one pool share their limits; default: all models of one api_base, or of one provider",
    )


class CallLimits(Section):
    """How hard a model's endpoint may be asked, by all jobs of the study together. Changing these reruns nothing."""

    concurrency: Count = Field(16, description="calls in flight; halved for a while when the endpoint says 429")
    requests_per_minute: Count | None = Field(None, description="calls in any minute")
    tokens_per_minute: Count | None = Field(None, description="tokens, sent and received, in any minute")
    timeout_s: Count = Field(600, description="seconds one attempt may take")
    max_attempts: Count = Field(6, description="attempts per call, the first included; a 429 is none")
    deadline_s: Count = Field(3600, description="seconds from a call's first attempt to its last")


class Price(Section):
    """What a model costs. Needed only where litellm's list doesn't know the model, or knows better."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(description="US dollars per million tokens sent")
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        description="US dollars per million tokens received"
    )


class Model(Section):
    """A model that answers or judges: a litellm model, a simulated persona, or recorded responses."""

    model: Name | None = Field(None, description="litellm's name of the model, or simulated/PERSONA")
    responses: FilePath | None = Field(
        None, description="instead of a model: JSONL or Parquet with item_id or question, and response"
    )
    responses_examinee: Name | None = Field(
        None, description="responses of this `examinee` in a file that holds several; default: the model's own name"
    )
    family: Name = Field(description="models of one family are compared as relatives")
    title: str | None = Field(None, description="name shown to judges under an identity label; default: its key")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="sent with every call: temperature, max_tokens, reasoning_effort, …"
    )
    tasks: dict[str, dict[str, Any]] = Field(default_factory=dict, description="parameters that differ for a task")
    drop: list[str] = Field(default_factory=list, description="parameters that this model refuses: not sent")
    endpoint: Endpoint = Field(default_factory=lambda: Endpoint(), description="where the model answers")
    limits: CallLimits = Field(default_factory=lambda: CallLimits(), description="how hard it may be asked")
    price: Price | None = Field(None, description="what it costs; default: what litellm's list says; 0 and 0 is free")
    mode: Literal["live", "batch"] = Field(
        "live", description="batch: through the provider's batch interface: within a day, at half the list price"
    )

    @model_validator(mode="after")
    def _one_origin(self) -> "Model":
        if (self.model is None) == (self.responses is None):
            raise ValueError("give either 'model' or 'responses'")
        if self.responses_examinee and not self.responses:
            raise ValueError("'responses_examinee' belongs to 'responses'")
        if self.responses or self.persona:
            fields = type(self).model_fields
            idle = [
                name
                for name in _FOR_CALLS
                if getattr(self, name) != fields[name].get_default(call_default_factory=True)
            ]
            if idle:
                raise ValueError(f"{', '.join(idle)}: no call is made for this model, so this would change nothing")
        return self

    @property
    def persona(self) -> str | None:
        """The simulated persona's name, if it is one."""
        return self.model.removeprefix(SIMULATED) if self.model and self.model.startswith(SIMULATED) else None


class IdentityAblation(Section):
    """The same responses judged under a label that names their author, rightly or not."""

    labels: list[Label] = Field(["elite", "author"], description="which labels to try")
    elite: str = Field("GPT-5", description="the name that the elite label shows")
    examinees: list[str] = Field(default_factory=list, description="whose responses; none: no such judging")


class TemplateAblation(Section):
    """The same responses judged by each of `templates`."""

    examinees: list[str] | None = Field(
        None, description="whose responses the templates after the first judge; default: all examinees'"
    )


class Ablations(Section):
    """What is judged again under other conditions."""

    identity: IdentityAblation = Field(default_factory=lambda: IdentityAblation(), description="identity labels")
    template: TemplateAblation = Field(default_factory=lambda: TemplateAblation(), description="judge templates")


class PanelSettings(Section):
    """How votes become a verdict."""

    include_self: bool = Field(False, description="whether a model votes on its own responses")
    quorum: Count = Field(5, description="fewer votes abstain; the eligible panel's size where that is smaller")
    tie: Literal["incorrect", "correct", "abstain"] = Field("incorrect", description="what a tied vote says")
    floor: Annotated[float, Field(gt=0, lt=0.5)] = Field(0.02, description="lower bound of a vote's weight")
    labels: list[Annotated[int, Field(ge=0, strict=True)]] = Field(
        [0, 30, 100],
        min_length=1,
        description="how many truths, drawn at random, calibration is tried with; the most correct the accuracies",
    )
    draws: Annotated[int, Field(ge=2, strict=True)] = Field(100, description="random draws of these labels")


class Prior(Section):
    """Beta priors of each judge's error rates, before any label."""

    fpr: Rate = Field(grid.PRIOR[0], description="mean of the prior of the FPR")
    fnr: Rate = Field(grid.PRIOR[1], description="mean of the prior of the FNR")
    strength: Strength = Field(grid.PRIOR[2], description="labels that the prior is worth")


class DriftSettings(Section):
    """The simulated weeks in which the mix of tasks shifts. Verdicts are the study's, their order is simulated."""

    weeks: Count = Field(12, description="length")
    per_week: Count = Field(40, description="responses that arrive in a week")
    start: dict[str, Share] | None = Field(
        None, description="share of each task in the first week; default: gsm8k .85, aime .15 where both are there"
    )
    end: dict[str, Share] | None = Field(None, description="the same for the last week")
    labels_per_week: Annotated[int, Field(ge=0)] = Field(8, description="responses whose truth becomes known")
    labels: Literal["after_votes", "before_votes"] = Field("after_votes", description="when a week's labels arrive")
    prior: Prior = Field(default_factory=lambda: Prior(), description="the Bayesian estimators' prior")
    seeds: Count = Field(grid.SEEDS, description="simulated histories")
    seed: Seed = Field(1, description="of the histories")
    factors: list[str] = Field(list(grid.FACTORS), description="what is changed besides, one at a time; [] for nothing")
    factor_seeds: Count = Field(grid.FACTOR_SEEDS, description="histories for each level of these")

    @model_validator(mode="after")
    def _mixes(self) -> "DriftSettings":
        if (self.start is None) != (self.end is None):
            raise ValueError("give both 'start' and 'end', or neither")
        for mix in (self.start, self.end):
            if mix is not None and abs(sum(mix.values()) - 1) > 1e-9:
                raise ValueError("the shares of 'start', and of 'end', must add up to 1")
        if self.labels_per_week > self.per_week:
            raise ValueError("'labels_per_week' cannot exceed 'per_week'")
        if unknown := [name for name in self.factors if name not in grid.FACTORS]:
            raise ValueError(f"'factors': '{unknown[0]}' is unknown; use some of {', '.join(grid.FACTORS)}")
        return self


class PriorSweep(Section):
    """Priors to try in the drift simulation, every combination of them on the histories of `drift`."""

    fpr: list[Rate] = Field(list(grid.FPR), min_length=1, description="means of the FPR's prior")
    fnr: list[Rate] = Field(list(grid.FNR), min_length=1, description="means of the FNR's prior")
    strength: list[Strength] = Field(list(grid.STRENGTH), min_length=1, description="strengths")


class Bootstrap(Section):
    """How intervals are computed."""

    resamples: Annotated[int, Field(ge=100, le=100_000, strict=True)] = Field(1000, description="bootstrap resamples")
