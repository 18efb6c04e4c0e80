"""Makes docs/label_free.md from the verdicts: python tests/support/label_free_page.py FOLDER > docs/label_free.md"""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from nus_page import filled, unwrapped
from scipy.special import expit
from shared_errors import blind_spot_panel, varied_panel

from voirdire.panel import ballots, judge_diagnostics, label_free_trust, panel_diagnostics, trust_table
from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.independence import MOVE, NULL_PANELS, THRESHOLD
from voirdire.panel.labelled_check import MARGIN, gap
from voirdire.panel.trust import FEWEST_JUDGES, FEWEST_LABELS, POWER, decided_by_labels

NAMES = {"nus_feedback": "nus_feedback.parquet", "bluebird": "bluebird.csv", "rte": "rte.csv"}
DRAWS = 20

PAGE = """# Error rates without labels: when they fail, and what can be seen of it

Dawid and Skene's model takes judges' error rates from nothing but how they disagree. It is right where judges err
independently of each other, given the truth. Whether they do **cannot be identified from verdicts alone**: judges that
all fall for the same wrong answers give the same verdicts as judges that are right about them. So voirdire never says
that label-free rates are right. It says what speaks against them, whether much would have been seen, and what
{labels} labels say.

`python tests/support/label_free_page.py FOLDER` makes this page from the verdicts, and a test compares it with them.

## Three real panels

14 LLM judges on feedback to student programs (`nus_feedback`), 39 people on images of birds (`bluebird`), 164 people on
pairs of sentences (`rte`). Truth is known and used for the rows marked so alone.

{panels}

On `nus_feedback` the judges accept {nus_true} of the wrong answers and the model says {nus_said}. Its posteriors claim
an error of {nus_claimed}, and make {nus_made}. Among wrong answers, a response's {nus_votes} votes are worth
{nus_effective} independent ones; the model believes in {nus_effective_model}, since it has explained away what it
could. That is why error correlations and effective votes without labels are marked as the model's.

## What the verdicts show

- r: the judges are split into random halves, Dawid-Skene labels all responses from each, and r is the labels' agreement
  (Cohen's kappa) over its mean in panels simulated from the fitted rates. `unusable`: r below {threshold} and below all
  of {null} simulated panels. On nine real panels {threshold} separated the three with the worst rates from the rest.
- It sees judges that share errors in groups, or a factor that only some go by, since halves then find different truths.
- It does not see what all judges share. Half of the wrong answers accepted by {blind_judges} judges like right ones: r
  is {blind_r}, the verdict `{blind_verdict}`; the judges accept {blind_true} of the wrong answers and the model says
  {blind_said}.
- `doubtful`: if one factor shared by all judges moved the mean FPR by {move}, r would show it in less than {power} of
  such panels; or fewer than {judges} judges have given both verdicts, where it cannot be checked. The power is computed
  at the fitted rates, which are the very thing in question. Where no such factor moves the FPR by {move}, nothing is
  said about power.
- `no evidence against` is the rest. It promises nothing. Where r is below all simulated panels, yet not below
  {threshold}, the reason says that judges share errors, though less than where rates failed: so on `bluebird`, with
  {bird_r} against {bird_null}.

## What labels show

From {labels} labels on, of responses drawn at random, they decide: the mean votes on wrong and on right ones against
what the label-free rates predict, with items as clusters. {labels} labels can show that the rates are wrong; to show
that they are right takes about a hundred, more where few answers are wrong. `usable`: shown to differ by less than
{margin} (two one-sided tests of 5 % in each class), and still so with one response more that all judges accept, or
none: few labelled wrong answers often hold none of a blind spot, and without that response a true difference of
0.107 to 0.125 was called usable in 12 to 22 % of draws. `unusable`: shown to differ (97.5 % intervals in each class),
and by more than {margin} as estimated; else `too few wrong answers labelled`, or right ones. A class with fewer than
five labelled items says nothing. What {draws} draws of labels say:

{draws_table}

{labels} labels on `nus_feedback` hold {nus_wrong} wrong answers on average: where nearly all answers are right, it
takes more of them. Labels of responses that were chosen by their votes would mislead this check.
"""


def page(folder: Path) -> str:
    tables = {name: read(folder / file) for name, file in NAMES.items()}
    found = {name: measured(verdicts) for name, verdicts in tables.items()}
    votes, truth = blind_spot_panel(1000, 9)
    blind = label_free_trust(votes)
    nus, bird = found["nus_feedback"], found["bluebird"]
    text = PAGE.format(
        panels=panel_rows(found),
        draws_table=draw_rows(tables, (votes, truth)),
        nus_true=share(nus["true_fpr"]),
        nus_said=share(nus["said_fpr"]),
        nus_claimed=share(nus["claimed"]),
        nus_made=share(nus["made"]),
        nus_votes=f"{nus['truth']['votes_wrong']:.1f}",
        nus_effective=f"{nus['truth']['effective_votes_wrong']:.1f}",
        nus_effective_model=f"{nus['model']['effective_votes_wrong']:.1f}",
        nus_wrong=f"{FEWEST_LABELS * (1 - nus['prevalence']):.1f}",
        bird_r=f"{bird['r']:.2f}",
        bird_null=f"{bird['null_low']:.2f} to {bird['null_high']:.2f}",
        blind_judges=votes.shape[1],
        blind_r=f"{blind.statistic:.2f}",
        blind_verdict=blind.verdict,
        blind_true=share(votes[truth == 0].mean()),
        blind_said=share(fit(votes).fpr.mean()),
        threshold=f"{THRESHOLD:.2f}",
        null=NULL_PANELS,
        move=MOVE,
        margin=MARGIN,
        power=POWER,
        judges=FEWEST_JUDGES,
        labels=FEWEST_LABELS,
        draws=DRAWS,
    )
    lines = unwrapped(text).splitlines()
    return "\n".join(line if line.startswith(("|", "#")) else filled(re.sub(" +", " ", line)) for line in lines) + "\n"


def read(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def measured(verdicts: pd.DataFrame) -> dict[str, object]:
    """All that the page says of a panel."""
    (trust,) = trust_table(verdicts, use_labels=False).to_dict("records")
    shared = panel_diagnostics(verdicts).set_index("basis").to_dict("index")
    by_truth = judge_diagnostics(verdicts)
    by_model = judge_diagnostics(verdicts.assign(truth=None)).set_index("judge").loc[by_truth["judge"]]
    box = ballots(verdicts).without_self()
    fitted = fit(box.votes)
    right = expit(posterior_logit(box.votes, fitted.fpr, fitted.fnr, fitted.prevalence))
    wrong_votes, predicted = box.votes[box.truth == 0], np.where(np.isfinite(box.votes), fitted.fpr, np.nan)
    return trust | {
        **shared,
        "true_fpr": np.nanmean(wrong_votes),
        "said_fpr": np.nanmean(predicted[box.truth == 0]),
        "error_fpr": float((by_model["fpr"].to_numpy() - by_truth["fpr"]).abs().mean()),
        "claimed": np.minimum(right, 1 - right).mean(),
        "made": ((right > 0.5) != box.truth).mean(),
        "prevalence": box.truth.mean(),
        "worse": by_truth["worse_than_chance"].value_counts().to_dict(),
        "adds_nothing": by_truth["adds_nothing"].value_counts().to_dict(),
    }


def panel_rows(found: dict[str, dict]) -> str:
    rows = {
        "without labels": lambda each: f"**{each['verdict']}**",
        "judges": lambda each: str(each["n_judges"]),
        "responses": lambda each: f"{each['n_responses']:,}",
        "r": lambda each: f"{each['r']:.2f}",
        "r of independent judges": lambda each: f"{each['null_low']:.2f} to {each['null_high']:.2f}",
        f"power, at a correlation that moves the FPR by {MOVE}": power,
        "FPR, model (mean)": lambda each: share(each["said_fpr"]),
        "FPR, truth (mean)": lambda each: share(each["true_fpr"]),
        "mean error of the judges' FPRs": lambda each: share(each["error_fpr"]),
        "error correlation among wrong, model": lambda each: correlation(each["model"], "wrong"),
        "error correlation among wrong, truth": lambda each: correlation(each["truth"], "wrong"),
        "error correlation among right, model": lambda each: correlation(each["model"], "right"),
        "error correlation among right, truth": lambda each: correlation(each["truth"], "right"),
        "votes on a wrong response": lambda each: f"{each['truth']['votes_wrong']:.1f}",
        "effective votes among wrong, model": lambda each: f"{each['model']['effective_votes_wrong']:.1f}",
        "effective votes among wrong, truth": lambda each: f"{each['truth']['effective_votes_wrong']:.1f}",
        "judges worse than chance, truth": lambda each: answers(each["worse"]),
        "judges that add nothing, truth": lambda each: answers(each["adds_nothing"]),
    }
    lines = [f"| | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(cell(each) for each in found.values())} |" for name, cell in rows.items()]
    return "\n".join(lines)


def power(each: dict) -> str:
    return "none moves it so far" if np.isnan(each["power"]) else f"{each['power']:.2f}"


def correlation(each: dict, side: str) -> str:
    return f"{each[f'rho_{side}']:.2f} ({each[f'rho_{side}_low']:.2f} to {each[f'rho_{side}_high']:.2f})"


def answers(counts: dict[str, int]) -> str:
    return ", ".join(f"{counts.get(answer, 0)} {answer}" for answer in ("yes", "no", "undecided"))


def draw_rows(tables: dict[str, pd.DataFrame], blind: tuple[np.ndarray, np.ndarray]) -> str:
    """How often the labels of random responses say what, by panel and number of labels."""
    panels = {}
    for name, verdicts in tables.items():
        box = ballots(verdicts).without_self()
        panels[name] = box.votes, box.truth, box.cluster
    panels["9 judges, shared blind spot"] = (*blind, np.arange(len(blind[1])))
    panels["9 independent judges"] = (*varied_panel(1000, 9, 0.3, 0.15), np.arange(1000))
    lines = ["| panel | labels | usable | unusable | too few wrong | too few right |", "|---|---|---|---|---|---|"]
    for name, (votes, truth, cluster) in panels.items():
        fitted = fit(votes)
        for n in (30, 100, 300):
            if n > len(truth):
                continue
            said = []
            for seed in range(DRAWS):
                labels = np.full(len(truth), np.nan)
                chosen = np.random.default_rng(seed).choice(len(truth), n, replace=False)
                labels[chosen] = truth[chosen]
                wrong, right = (gap(votes, labels, cluster, fitted, side) for side in (False, True))
                said.append(decided_by_labels(wrong, right)[0])
            few = [f"too few {side} answers labelled" for side in ("wrong", "right")]
            lines.append(f"| {name} | {n} | {' | '.join(str(said.count(v)) for v in ('usable', 'unusable', *few))} |")
    return "\n".join(lines)


def share(value: float) -> str:
    return f"{value:.3f}"


if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1])))
