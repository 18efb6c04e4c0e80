"""Factors of the drift study: which judges make up the panel."""

from dataclasses import replace

import numpy as np
import pandas as pd

from voirdire.drift.levels import FEWEST_JUDGES, Base, Level, Levels, attempt, drawn_by_task
from voirdire.drift.population import Population, eligible
from voirdire.panel.matrix import Ballots, NotEnoughVerdicts, ballots

# All sizes up to the first of these that are more, then these alone: a panel of 14 would have a dozen levels.
_SIZES = (3, 4, 5, 6, 7, 9, 12, 16, 24, 32)


def base(study: Base) -> Levels:
    """The scenario itself."""
    yield Level("as it is", study.source)


def panel_size(study: Base) -> Levels:
    """So many of each response's judges, drawn at random, vote on it."""
    most = int(np.isfinite(study.source.box.votes).sum(axis=1).max(initial=0))
    most = min(most, study.scenario.panel_size or most)
    if most <= FEWEST_JUDGES:
        raise NotEnoughVerdicts(f"a response has at most {most} votes; no smaller panel has {FEWEST_JUDGES}")
    for size in (size for size in _SIZES if size < most):
        fewer = replace(study.scenario, panel_size=size)
        yield Level(f"{size} of {most}", replace(study.source, scenario=fewer))


def one_family(study: Base) -> Levels:
    """Judges of one family, voting on responses of other models."""
    members: dict[str, list[str]] = {}
    for judge in study.judges:
        if family := study.families.get(judge):
            members.setdefault(family, []).append(judge)
    large = {family: judges for family, judges in sorted(members.items()) if len(judges) >= FEWEST_JUDGES}
    if not large:
        raise NotEnoughVerdicts(f"no family has {FEWEST_JUDGES} judges")
    for family, judges in large.items():
        relatives = {model for model, own in study.families.items() if own == family}

        def make(judges: list[str] = judges, relatives: set[str] = relatives) -> Population:
            box = study.source.box
            outside = ~np.isin(box.examinee, sorted(relatives))
            return drawn_by_task(_with_judges(box, judges).take(outside), study.scenario)

        yield attempt(f"{family} ({', '.join(judges)})", make)


def one_model(study: Base) -> Levels:
    """One judge under each template as if they were judges, on the responses that it has judged under all of them."""
    verdicts = study.verdicts
    if "condition" not in verdicts:
        raise NotEnoughVerdicts("the verdicts have one condition")
    plain = verdicts[verdicts["label"].isna()] if "label" in verdicts else verdicts
    for judge in study.judges:
        mine = plain[plain["judge"] == judge]
        templates = sorted(mine["condition"].unique())
        if len(templates) < FEWEST_JUDGES:
            yield judge, f"{judge} has judged under {len(templates)} templates, fewer than {FEWEST_JUDGES}"
            continue

        def make(mine: pd.DataFrame = mine, judge: str = judge) -> Population:
            return drawn_by_task(_templates_as_judges(mine, judge, study), study.scenario)

        yield attempt(f"{judge} ({', '.join(templates)})", make)


def _templates_as_judges(mine: pd.DataFrame, judge: str, study: Base) -> Ballots:
    """One judge's verdicts, condition by condition; responses of examinees that were judged under all of them."""
    judged = mine if study.scenario.include_self else mine[mine["examinee"] != judge]
    under = judged.groupby(["task", "examinee"])["condition"].transform("nunique")
    judged = judged[under == mine["condition"].nunique()]
    if judged.empty:
        raise NotEnoughVerdicts(f"{judge} has judged no other model's responses under all of its templates")
    box = ballots(judged.assign(judge=judged["condition"]), condition=None)
    return eligible(box, replace(study.scenario, include_self=True))


def _with_judges(box: Ballots, judges: list[str]) -> Ballots:
    columns = np.isin(np.array(box.judges, dtype=object), judges)
    names = tuple(judge for judge, kept in zip(box.judges, columns, strict=True) if kept)
    return replace(box, votes=box.votes[:, columns], can_vote=box.can_vote[:, columns], judges=names)
