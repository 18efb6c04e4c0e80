"""Verdicts of judges that prefer or do not, and the definitions of preference, item by item."""

import numpy as np
import pandas as pd
from scipy import stats

ANSWERS = ("x", "y", None)


def chosen(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def one(frame, **where):
    rows = chosen(frame, **where)
    assert len(rows) == 1
    return rows.iloc[0]


def planted(seed, n_items=400, preference=0.0, leniency=None, models=("ann", "bob", "cas"), trials=1):
    """Verdicts of judges that accept 30 % of wrong responses, `leniency` more of an examinee's, `preference` of own.

    Two wrong answers are the same one with probability 1/2.
    """
    rng = np.random.default_rng(seed)
    frames = []
    for examinee in models:
        truth = rng.random(n_items) < 0.5
        answer = np.where(truth, "right", rng.choice(["x", "y"], n_items))
        for judge in models:
            for trial in range(trials):
                accept = 0.3 + (leniency or {}).get(examinee, 0.0) + preference * (judge == examinee)
                verdict = rng.random(n_items) < np.where(truth, 0.9, accept)
                frames.append(
                    pd.DataFrame(
                        {"item_id": range(n_items), "verdict": verdict, "truth": truth, "answer": answer}
                    ).assign(task="gsm8k", judge=judge, examinee=examinee, trial=trial)
                )
    return pd.concat(frames, ignore_index=True).astype({"item_id": str})


def answered(frame, seed=0):
    """The table with answers: of wrong responses one of two, or none that can be read; "right" of right ones."""
    rng = np.random.default_rng(seed)
    responses = frame[["task", "item_id", "examinee"]].drop_duplicates()
    responses = responses.assign(wrong=rng.choice(np.array(ANSWERS, object), len(responses)))
    merged = frame.merge(responses, on=["task", "item_id", "examinee"], how="left")
    truth = merged["truth"].astype("boolean")
    answer = merged["wrong"].mask(truth.fillna(False).astype(bool), "right").mask(truth.isna(), None)
    return merged.drop(columns="wrong").assign(answer=answer)


class Direct:
    """The definitions of preference in one task, item by item and in plain Python."""

    def __init__(self, frame):
        rows = frame.to_dict("records")
        self.judges = sorted({row["judge"] for row in rows})
        self.truth = {(row["item_id"], row["examinee"]): row["truth"] for row in rows if not pd.isna(row["truth"])}
        self.answer = {(row["item_id"], row["examinee"]): row["answer"] for row in rows if not pd.isna(row["answer"])}
        self.items = sorted({row["item_id"] for row in rows})
        self.verdict = {
            (row["judge"], row["item_id"], row["examinee"]): bool(row["verdict"])
            for row in rows
            if row["status"] == "ok" and not pd.isna(row["verdict"]) and not pd.isna(row["truth"])
        }

    def values(self, judge, models, baseline, version, rate):
        """For each of the two models: item → what the judge's verdict adds to the rate."""
        wanted = rate == "fnr"
        found = ({}, {})
        for item in self.items:
            truths = [self.truth.get((item, model)) for model in models]
            answers = [self.answer.get((item, model)) for model in models]
            there = [(judge, item, model) in self.verdict for model in models]
            for model, truth, side in zip(models, truths, found, strict=True):
                if (judge, item, model) not in self.verdict or truth != wanted:
                    continue
                value = float(self.verdict[judge, item, model] != wanted)
                matched = truths == [wanted, wanted] and all(there)
                same = matched and not wanted and answers[0] is not None and answers[0] == answers[1]
                rest = [self.verdict[each, item, model] for each in baseline if (each, item, model) in self.verdict]
                enters = {
                    "all": True,
                    "harmful": None not in truths and truths[0] != truths[1],
                    "matched": matched,
                    "same_answer": same,
                    "adjusted": bool(rest),
                }
                if enters[version]:
                    side[item] = value - (np.mean([each != wanted for each in rest]) if version == "adjusted" else 0)
        return found

    def own(self, judge, other, version, rate):
        """(n, mean) of a judge's own responses and of another model's."""
        baseline = set(self.judges) - {judge, other}
        sides = self.values(judge, (judge, other), baseline, version, rate)
        return [(len(side), np.mean(list(side.values())) if side else np.nan) for side in sides]


def study(seed, preference=0.0, sizes=(("aime", 30), ("gsm8k", 80), ("mbpp", 60))):
    """Six models that fail on the same items and judge alike what looks right; judges differ in leniency.

    A wrong answer is the item's tempting one with probability 0.4, else one of five.
    """
    rng, answers = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    frames = []
    for task, n in sizes:
        difficulty, plausibility = rng.normal(size=(2, n))
        for examinee, ability in enumerate((0.75, 0.7, 0.6, 0.55, 0.5, 0.45)):
            truth = (difficulty + rng.normal(size=n)) / np.sqrt(2) < stats.norm.ppf(ability)
            looks = (plausibility + rng.normal(size=n)) / 2
            tempted = answers.random(n) < 0.4
            answer = np.where(truth, "right", np.where(tempted, "tempting", answers.integers(5, size=n).astype(str)))
            for judge in range(6):
                accept = 0.2 + 0.1 * judge + preference * (judge == examinee)
                accepted = looks + rng.normal(size=n) / np.sqrt(2) < stats.norm.ppf(accept)
                verdict = np.where(truth, rng.random(n) < 0.93, accepted)
                columns = {"item_id": np.arange(n).astype(str), "truth": truth, "answer": answer, "verdict": verdict}
                names = {"task": task, "judge": f"m{judge}", "examinee": f"m{examinee}"}
                frames.append(pd.DataFrame(columns | names))
    return pd.concat(frames, ignore_index=True)
