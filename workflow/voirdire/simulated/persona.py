"""What a simulated model is made of: numbers only."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from voirdire.errors import UserError
from voirdire.simulated.normal import quantile

# What from_accuracy gives a model that is known by its accuracy alone; near the default personas' values.
USUAL_PLAUSIBILITY = 0.5
USUAL_POLISH = 0.5
USUAL_LOOK_NOISE = 0.4

Share = Annotated[float, Field(ge=0, le=1)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Numbers(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LabelEffects(_Numbers):
    """How much more (or, negative, less) plausible a response looks under an identity label."""

    elite: Finite = 0.0
    author: Finite = 0.0


@dataclass(frozen=True)
class ExamineeLook:
    """What a simulated judge sees of an examinee on one task: its name, family, and how its wrong answers look.

    `plausibility` and `look_noise` (its standard deviation over responses) are on the probit scale: where
    strictness and every other effect are 0, a judge that cannot solve the item accepts a wrong response
    with probability Φ(plausibility / √(1 + look_noise²)).
    """

    name: str
    family: str
    plausibility: float
    look_noise: float = USUAL_LOOK_NOISE

    @classmethod
    def from_accuracy(cls, name: str, family: str, accuracy: float) -> "ExamineeLook":
        """The look of a recorded or real model: the more accurate it is (0 to 1), the more plausible its errors."""
        return cls(name, family, USUAL_PLAUSIBILITY + USUAL_POLISH * _probit(accuracy))


class Persona(_Numbers):
    """A simulated model, as examinee and as judge.

    Effects are on the probit scale and add up; each that is left out is 0, that is, absent. `voirdire.simulated.model`
    says how they act.
    """

    name: str = Field(pattern=r"^[a-z0-9_]+$", description="slug: lower case letters, digits and _")
    family: str = Field(min_length=1, description="personas of one family may prefer each other")
    ability: dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(
        min_length=1, description="per task: the share of items that it solves, strictly between 0 and 1"
    )
    own_noise: Share = Field(
        0.5, description="share of what decides whether it solves an item that is its own, not the item's difficulty"
    )
    second_look: Share = Field(0.0, description="share of its own noise that is drawn anew when it judges")
    slip: float = Field(0.01, gt=0, le=0.5, description="error rate as judge of an item that it can solve")
    strictness: Finite = Field(0.0, description="lowers acceptance where it cannot solve the item")
    discernment: float = Field(
        1.0, ge=0, allow_inf_nan=False, description="right responses look this much better to it, unsolved"
    )
    plausibility: Finite = Field(0.0, description="how plausible its own wrong answers look")
    polish: Finite = Field(0.0, description="how much that grows with its ability on the task")
    look_noise: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="standard deviation of looks over its responses; all judges see it"
    )
    self_preference: Finite = Field(0.0, description="its own responses look this much more plausible to it")
    family_preference: Finite = Field(0.0, description="likewise for the other members of its family")
    label_effects: LabelEffects = Field(LabelEffects(), description="effect of an identity label on its acceptance")
    template_effects: dict[str, Finite] = Field(
        default_factory=dict, description="effect of a judge template on its acceptance, by the template's name"
    )
    length_effect: Finite = Field(0.0, description="effect on its acceptance of one standard deviation of length")
    verbosity: float = Field(
        0.0, ge=-20, le=20, description="length of its responses, in standard deviations from the usual"
    )
    template_noise: Share = Field(0.0, description="share of a verdict's chance that each template draws anew")
    trial_noise: Share = Field(0.0, description="share of a verdict's chance that each trial draws anew")
    unparsable: Share = Field(0.0, description="share of its verdicts that say neither correct nor incorrect")

    @model_validator(mode="after")
    def _shares_of_one_whole(self) -> Self:
        if self.template_noise + self.trial_noise > 1:
            raise ValueError("template_noise + trial_noise is above 1; both are shares of one whole")
        return self

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str) -> "Persona":
        """A persona from a configuration's mapping; `where` names the place in faults.

        Raises UserError naming every key that is wrong, unknown or missing.

        >>> Persona.from_dict({"name": "rook", "family": "corvid", "ability": {"gsm8k": 1.2}}, "personas.rook")
        Traceback (most recent call last):
        voirdire.errors.UserError: personas.rook.ability.gsm8k: input should be less than 1 (given: 1.2)
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise UserError([_fault(where, fault) for fault in error.errors()]) from None

    @classmethod
    def from_json(cls, text: str) -> "Persona":
        """The persona that `to_json` wrote; raises UserError naming every key that is wrong."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(f"persona: not JSON ({error})") from error
        if not isinstance(values, dict):
            raise UserError("persona: must be a JSON object")
        return cls.from_dict(values, f"persona {values.get('name', '(no name)')}")

    def to_json(self) -> str:
        """Canonical JSON: keys sorted, no spaces, defaults included, so that equal personas are equal strings."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def ability_on(self, task: str) -> float:
        """The share of the task's items that it solves; raises UserError where the persona doesn't name the task."""
        if task not in self.ability:
            known = ", ".join(sorted(self.ability))
            raise UserError(f"persona {self.name}: ability names no task '{task}' (it has {known}); add it")
        return self.ability[task]

    def look(self, task: str) -> ExamineeLook:
        """How this persona appears to judges on a task."""
        plausibility = self.plausibility + self.polish * _probit(self.ability_on(task))
        return ExamineeLook(self.name, self.family, plausibility, self.look_noise)


def _probit(share: float) -> float:
    # A recorded model may be right always or never; its look stays finite.
    return float(quantile(min(max(share, 0.01), 0.99)))


def _fault(where: str, fault: Any) -> str:
    key = ".".join([where, *(str(part) for part in fault["loc"])])
    message = fault["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if fault["type"] == "missing":
        return f"{key}: is missing"
    if fault["type"] == "extra_forbidden":
        return f"{key}: unknown key"
    return f"{key}: {message}" + (f" (given: {fault['input']!r})" if fault["loc"] else "")
