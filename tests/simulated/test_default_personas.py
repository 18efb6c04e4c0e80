"""The default personas carry the paper's effects whatever the seed: judged by what is planted, not by a draw."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from voirdire.simulated import Persona, estimand

CONFIG = Path(__file__).resolve().parents[2] / "config" / "config.yaml"
TASKS = ("gsm8k", "aime", "mbpp", "quality")


@pytest.fixture(scope="module")
def panel():
    personas = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["personas"]
    return [Persona.from_dict({**numbers, "name": name}, f"personas.{name}") for name, numbers in personas.items()]


@pytest.fixture(scope="module")
def planted(panel):
    """FPR and FNR, judges × examinees, as means over the tasks."""
    cells = [[[estimand(judge, examinee, task, n=4_000) for task in TASKS] for examinee in panel] for judge in panel]
    rates = np.array([[[(cell.fpr, cell.fnr) for cell in tasks] for tasks in row] for row in cells])
    return rates.mean(axis=2)


@pytest.fixture(scope="module")
def ability(panel):
    return np.array([np.mean([persona.ability[task] for task in TASKS]) for persona in panel])


def test_six_personas_of_three_families(panel):
    assert len(panel) == 6
    assert len({persona.family for persona in panel}) == 3


def test_all_have_enough_wrong_answers_to_measure(panel):
    for task, low, high in (("gsm8k", 0.75, 0.97), ("aime", 0.15, 0.8), ("mbpp", 0.55, 0.9), ("quality", 0.6, 0.9)):
        assert all(low <= persona.ability[task] <= high for persona in panel)


def test_stronger_judges_are_less_lenient_with_every_examinee(planted, ability):
    bias = planted[..., 0] - planted[..., 1]
    assert max(np.corrcoef(ability, bias[:, examinee])[0, 1] for examinee in range(6)) < -0.8


def test_stronger_examinees_receive_more_bias_from_every_judge(planted, ability):
    bias = planted[..., 0] - planted[..., 1]
    assert min(np.corrcoef(ability, bias[judge])[0, 1] for judge in range(6)) > 0.6


def test_judges_are_lenient_rather_than_strict(planted):
    assert (planted[..., 0] > planted[..., 1]).all()


def test_labels_lower_the_false_positive_rate(panel):
    for judge in panel:
        blind, elite, author = (
            estimand(judge, panel[3], "quality", n=4_000, label=label).fpr for label in (None, "elite", "author")
        )
        assert max(elite, author) < blind
