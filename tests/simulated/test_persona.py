"""Personas are numbers, checked by name, with one canonical text."""

import json

import pytest
from scipy.stats import norm

from voirdire.errors import UserError
from voirdire.simulated import ExamineeLook, Persona

ROOK = {"name": "rook", "family": "corvid", "ability": {"gsm8k": 0.9}}


def test_json_comes_back_as_the_same_persona():
    persona = Persona.from_dict({**ROOK, "strictness": 0.5, "label_effects": {"elite": -0.4}}, "rook")
    assert Persona.from_json(persona.to_json()) == persona


def test_json_is_canonical():
    backwards = dict(reversed(list({**ROOK, "strictness": 1}.items())))
    text = Persona.from_dict(backwards, "rook").to_json()
    assert text == Persona.from_dict({**ROOK, "strictness": 1.0, "slip": 0.01}, "rook").to_json()
    assert list(json.loads(text)) == sorted(json.loads(text))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ability": {"gsm8k": 1.0}}, "personas.rook.ability.gsm8k: input should be less than 1 (given: 1.0)"),
        ({"ability": {}}, "personas.rook.ability: dictionary should have at least 1 item"),
        ({"abilty": {}}, "personas.rook.abilty: unknown key"),
        ({"strictness": "high"}, "personas.rook.strictness: input should be a valid number"),
        ({"strictness": float("nan")}, "personas.rook.strictness: input should be a finite number"),
        ({"own_noise": 1.5}, "personas.rook.own_noise: input should be less than or equal to 1"),
        ({"slip": 0}, "personas.rook.slip: input should be greater than 0"),
        ({"name": "Rook 1"}, "personas.rook.name: string should match pattern"),
        ({"label_effects": {"royal": 1}}, "personas.rook.label_effects.royal: unknown key"),
        ({"template_noise": 0.6, "trial_noise": 0.6}, "personas.rook: template_noise + trial_noise is above 1"),
    ],
)
def test_a_fault_names_its_key(change, fault):
    with pytest.raises(UserError) as caught:
        Persona.from_dict({**ROOK, **change}, "personas.rook")
    assert len(caught.value.faults) == 1
    assert caught.value.faults[0].startswith(fault)


def test_all_faults_are_named_at_once():
    with pytest.raises(UserError) as caught:
        Persona.from_dict({"name": "rook", "slip": 2, "speed": 1}, "personas.rook")
    assert {fault.split(":")[0] for fault in caught.value.faults} == {
        "personas.rook.family",
        "personas.rook.ability",
        "personas.rook.slip",
        "personas.rook.speed",
    }


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_json_that_is_no_persona_is_refused(text):
    with pytest.raises(UserError, match="persona"):
        Persona.from_json(text)


def test_a_task_without_ability_is_refused_by_name():
    with pytest.raises(UserError, match="rook: ability names no task 'chess'"):
        Persona.from_dict(ROOK, "rook").look("chess")


def test_effects_are_absent_unless_planted():
    persona = Persona.from_dict(ROOK, "rook")
    absent = ("second_look", "strictness", "plausibility", "polish", "look_noise", "self_preference")
    absent += ("family_preference", "length_effect", "verbosity", "template_noise", "trial_noise", "unparsable")
    assert [getattr(persona, effect) for effect in absent] == [0] * len(absent)
    assert (persona.label_effects.elite, persona.label_effects.author) == (0, 0)


def test_polish_makes_the_errors_of_stronger_examinees_look_more_plausible():
    persona = Persona.from_dict({**ROOK, "plausibility": 0.3, "polish": 2}, "rook")
    assert persona.look("gsm8k").plausibility == pytest.approx(0.3 + 2 * norm.ppf(0.9))


def test_a_recorded_models_errors_look_more_plausible_the_more_accurate_it_is():
    looks = [ExamineeLook.from_accuracy("recorded", "gpt", accuracy).plausibility for accuracy in (0, 0.2, 0.5, 0.9, 1)]
    assert looks == sorted(looks)
    assert abs(looks[0]) < 2
    assert abs(looks[-1]) < 2
