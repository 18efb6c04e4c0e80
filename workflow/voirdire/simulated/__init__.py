"""The panel that needs no keys: personas made of numbers, in which every effect of the study is planted."""

from voirdire.simulated.answers import Response, respond, right_answers
from voirdire.simulated.model import Estimand, estimand
from voirdire.simulated.persona import ExamineeLook, LabelEffects, Persona
from voirdire.simulated.verdicts import judge

__all__ = [
    "Estimand",
    "ExamineeLook",
    "LabelEffects",
    "Persona",
    "Response",
    "estimand",
    "judge",
    "respond",
    "right_answers",
]
