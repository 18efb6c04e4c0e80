"""How personas solve items and judge responses.

Whether a persona solves item i is decided by a latent share of difficulty that all personas meet alike and a share
of its own (own_noise), so that it solves exactly its ability's share of items:

    solves  ⇔  √(1 − own_noise) · difficulty_i + √own_noise · own_i  <  Φ⁻¹(ability)

As examinee it is right on the items that it solves. As judge, a part of `own_i` (second_look) is drawn anew. A verdict
is "correct" where a standard normal draw lies below a score:

    solved:    ± Φ⁻¹(1 − slip), plus for right responses, minus for wrong ones
    unsolved:  look of the response (plausibility of the examinee's errors + look_noise · noise of the response)
               + discernment (right responses only) − strictness
               + self_preference or family_preference + label effect + template effect + length_effect · length

The draw doesn't depend on the label, so that conditions that differ in the label only are paired: verdicts differ
through the effect alone. Templates and trials also redraw the shares template_noise and trial_noise of it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voirdire.simulated.draws import Draws, Floats, numbered_hashes
from voirdire.simulated.normal import quantile
from voirdire.simulated.persona import ExamineeLook, Persona

Bools = NDArray[np.bool_]


def solves(persona: Persona, draws: Draws, judging: bool = False) -> Bools:
    """Whether the persona solves each item, shape (n,); when judging, with its second look."""
    own = draws.normal("solve", persona.name)
    if judging and persona.second_look > 0:
        again = draws.normal("solve again", persona.name)
        own = np.sqrt(1 - persona.second_look) * own + np.sqrt(persona.second_look) * again
    difficulty = draws.normal("difficulty")
    latent = np.sqrt(1 - persona.own_noise) * difficulty + np.sqrt(persona.own_noise) * own
    return np.asarray(latent < quantile(persona.ability_on(draws.task)), dtype=np.bool_)


def lengths(persona: Persona, draws: Draws) -> Floats:
    """Length of the persona's response to each item, in standard deviations of log length, shape (n,)."""
    return persona.verbosity + draws.normal("length", persona.name)


def verdict_score(
    judge: Persona,
    draws: Draws,
    examinee: ExamineeLook,
    right: NDArray[Any],
    length: Floats,
    label: str | None,
    template: str,
) -> Floats:
    """The score below which a standard normal draw makes the verdict "correct".

    right: whether each response is right, shape (n,): booleans, or floats with NaN where nobody knows; such a
        response is judged by its looks, as a wrong one.
    length: in standard deviations of log length, shape (n,).
    label: identity label shown to the judge ("elite", "author"), None for blind judging.
    template: the judge template's name.
    """
    right = np.asarray(right, dtype=np.float64)
    is_right = right == 1
    look = examinee.plausibility - judge.strictness + judge.length_effect * length + judge.discernment * is_right
    if examinee.look_noise > 0:
        look = look + examinee.look_noise * draws.normal("look", examinee.name)
    if examinee.name == judge.name:
        look = look + judge.self_preference
    elif examinee.family == judge.family:
        look = look + judge.family_preference
    if label is not None:
        look = look + getattr(judge.label_effects, label, 0.0)
    look = look + judge.template_effects.get(template, 0.0)
    sure = float(quantile(1 - judge.slip))
    solved = solves(judge, draws, judging=True) & ~np.isnan(right)
    return np.where(solved, np.where(is_right, sure, -sure), look)


def verdict_probability(
    judge: Persona,
    draws: Draws,
    examinee: ExamineeLook,
    right: NDArray[Any],
    length: Floats,
    label: str | None = None,
    template: str = "default",
) -> Floats:
    """Probability that the judge calls each response correct, given all but the verdict's own draw, shape (n,)."""
    from scipy.special import ndtr

    return np.asarray(ndtr(verdict_score(judge, draws, examinee, right, length, label, template)), dtype=np.float64)


def accepts(
    judge: Persona,
    draws: Draws,
    examinee: ExamineeLook,
    right: NDArray[Any],
    length: Floats,
    label: str | None = None,
    template: str = "default",
    trial: int = 0,
) -> Bools:
    """Whether the judge calls each response correct, shape (n,)."""
    pair = (judge.name, examinee.name)
    chance = np.sqrt(1 - judge.template_noise - judge.trial_noise) * draws.normal("verdict", *pair)
    if judge.template_noise > 0:
        chance += np.sqrt(judge.template_noise) * draws.normal("verdict of template", *pair, template)
    if judge.trial_noise > 0:
        chance += np.sqrt(judge.trial_noise) * draws.normal("verdict of trial", *pair, template, trial)
    return np.asarray(chance < verdict_score(judge, draws, examinee, right, length, label, template), dtype=np.bool_)


@dataclass(frozen=True)
class Estimand:
    """What a judge does with an examinee's responses on endlessly many items; `_se` is the Monte-Carlo error.

    A rate without a denominator (no wrong, or no right response) is NaN.
    """

    judge: str
    examinee: str
    task: str
    label: str | None
    template: str
    n: int
    fpr: float
    fpr_se: float
    fnr: float
    fnr_se: float

    @property
    def bias(self) -> float:
        return self.fpr - self.fnr

    @property
    def bias_se(self) -> float:
        return float(np.hypot(self.fpr_se, self.fnr_se))


def estimand(
    judge: Persona,
    examinee: Persona,
    task: str,
    n: int = 10**6,
    label: str | None = None,
    seed: int = 0,
    template: str = "default",
) -> Estimand:
    """The planted FPR and FNR: the mean probability of a wrong verdict over n simulated items."""
    draws = Draws(seed, task, numbered_hashes(n))
    right = solves(examinee, draws)
    probability = verdict_probability(
        judge, draws, examinee.look(task), right, lengths(examinee, draws), label, template
    )
    fpr, fpr_se = _mean(probability[~right])
    fnr, fnr_se = _mean(1 - probability[right])
    return Estimand(judge.name, examinee.name, task, label, template, n, fpr, fpr_se, fnr, fnr_se)


def _mean(values: Floats) -> tuple[float, float]:
    if len(values) == 0:
        return float("nan"), float("nan")
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))
