"""Makes docs/nus_feedback.md from the verdicts: python tests/support/nus_page.py FOLDER > docs/nus_feedback.md"""

import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd

from voirdire.bias import (
    correlations,
    leniency,
    leniency_summary,
    preference_tables,
    rates,
    task_accuracy,
)

PAGE = """# 14 judges and the truth: what the tables on bias say of real verdicts

14 LLM judges said whether feedback on student programs, written by 6 LLMs, is correct; people had said so before.
Source: [ai-cet/llm-judge-calibration](https://github.com/ai-cet/llm-judge-calibration), MIT licence, described in
[arXiv 2510.11822](https://arxiv.org/abs/2510.11822). {n_verdicts} verdicts on {n_answers} answers about {n_programs}
programs; a share of {share_right} of the answers is right.

`python tests/support/nus_page.py FOLDER` makes this page from the verdicts, and a test compares it with them.

## Every judge is lenient

FPR: share of wrong answers accepted; FNR: share of right ones rejected; bias: FPR − FNR. With 95 % intervals: programs
resampled 1,000 times, seed 0; from binomial tails where counts are small. Right and wrong: verdicts on such answers.

{rates}

The judges' biases are {least_bias} to {most_bias}, and all intervals lie above {low_bias}. Only {strictest} rejects
more than half of the wrong answers, and it rejects more right ones than any other.

## What clusters do

Answers about one program stand and fall together. With the program as cluster the judges' FNR intervals are {wider_fnr}
times as wide as if every answer were independent, the FPR's {wider_fpr} times (medians over the judges). The estimates
are the same. Before its authors repaired missing outputs the data had {n_unrepaired} verdicts; no judge's FPR differs
from that above by more than {moved_fpr} there, no FNR by more than {moved_fnr}.

## Skill and bias

The 6 examinees are right in {least_accuracy} to {most_accuracy} of their answers. Does a judge's bias go with the
examinee's accuracy? Undecided for {n_undecided} of the {n_correlations} judges: with 6 points only |r| of {detectable}
or more would have shown. The largest r is {largest_r}, {largest_judge}'s; without any one examinee it is {range_low} to
{range_high}.

## Leniency or difficulty

The plain reading, over all judges: 10 points of accuracy multiply the odds of accepting a wrong answer by {pooled}; by
{leave_out} when any one examinee is left out. {leniency}

## Self-preference

{preference} On no item were a judge and another examinee both wrong, so there are no matched items. By judge:

{preferences}
"""


def page(verdicts: pd.DataFrame, unrepaired: pd.DataFrame) -> str:
    found, before = judges(verdicts), judges(unrepaired)
    apart = judges(verdicts.drop(columns="cluster"))
    bias = found["bias"]
    text = PAGE.format(
        n_verdicts=f"{len(verdicts):,}",
        n_answers=f"{len(verdicts.drop_duplicates(['item_id', 'examinee'])):,}",
        n_programs=verdicts["cluster"].nunique(),
        share_right=share(verdicts.drop_duplicates(["item_id", "examinee"])["truth"].mean()),
        rates=rates_table(verdicts, found),
        least_bias=share(bias.min()),
        most_bias=share(bias.max()),
        low_bias=share(np.floor(100 * found["bias_low"].min()) / 100),
        strictest=strictest(found),
        wider_fnr=f"{(width(found, 'fnr') / width(apart, 'fnr')).median():.1f}",
        wider_fpr=f"{(width(found, 'fpr') / width(apart, 'fpr')).median():.1f}",
        n_unrepaired=f"{len(unrepaired):,}",
        moved_fpr=share((found["fpr"] - before["fpr"]).abs().max()),
        moved_fnr=share((found["fnr"] - before["fnr"]).abs().max()),
        **skill(verdicts),
        **lenient(verdicts),
        **preference(verdicts),
    )
    return (
        "\n".join(line if line.startswith(("|", "#")) else filled(line) for line in unwrapped(text).splitlines()) + "\n"
    )


def unwrapped(text: str) -> str:
    """Each paragraph in one line."""
    return re.sub(r"(?<=[^\n|])\n(?=[^\n|#-])", " ", text)


def filled(line: str) -> str:
    indent = "  " if line.startswith("- ") else ""
    return textwrap.fill(line, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def judges(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The rates of each judge, by its name."""
    return rates(verdicts).query("pooling == 'none' and reading == 'main' and judge != 'all'").set_index("judge")


def width(table: pd.DataFrame, name: str) -> pd.Series:
    return table[f"{name}_high"] - table[f"{name}_low"]


def share(value: float) -> str:
    return f"{value:.3f}"


def rates_table(verdicts: pd.DataFrame, found: pd.DataFrame) -> str:
    lines = ["| judge | right | wrong | FPR | FNR | bias |", "|---|---|---|---|---|---|"]
    for name, row in found.sort_values("fpr").iterrows():
        cells = [f"{row[m]:.3f} ({row[f'{m}_low']:.3f} to {row[f'{m}_high']:.3f})" for m in ("fpr", "fnr", "bias")]
        lines.append(f"| {name} | {row['n_right']:,} | {row['n_wrong']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def strictest(found: pd.DataFrame) -> str:
    """The one judge that rejects more than half of the wrong answers, and the most right ones."""
    (name,) = found.index[found["fpr"] < 0.5]
    if found["fnr"].idxmax() != name:
        raise ValueError("the page's sentence on the strictest judge doesn't hold any more")
    return str(name)


def skill(verdicts: pd.DataFrame) -> dict[str, object]:
    accuracy = task_accuracy(verdicts).query("task == 'all'")["accuracy"]
    table = correlations(verdicts).query("table == 9 and task == 'all' and left_out == '' and self_point == 'with'")
    largest = table.loc[table["r"].abs().idxmax()]
    return {
        "least_accuracy": share(accuracy.min()),
        "most_accuracy": share(accuracy.max()),
        "n_undecided": int((table["says"] == "undecided").sum()),
        "n_correlations": len(table),
        "detectable": f"{table['detectable'].min():.2f}",
        "largest_r": f"{largest['r']:.2f} ({largest['low']:.2f} to {largest['high']:.2f}, exact p {largest['p']:.2f})",
        "largest_judge": largest["anchor"],
        "range_low": f"{largest['range_low']:.2f}",
        "range_high": f"{largest['range_high']:.2f}",
    }


def lenient(verdicts: pd.DataFrame) -> dict[str, str]:
    table = leniency(verdicts)
    (pooled,) = table.query("task == 'all' and method == 'pooled' and term == 'examinee_accuracy'").to_dict("records")
    low, high, least, most = (np.exp(pooled[name]) for name in ("low", "high", "leave_out_low", "leave_out_high"))
    return {
        "pooled": f"{np.exp(pooled['estimate']):.2f} ({low:.2f} to {high:.2f})",
        "leave_out": f"{least:.2f} to {most:.2f}",
        "leniency": leniency_summary(table).query("task == 'all'")["sentence"].item(),
    }


def preference(verdicts: pd.DataFrame) -> dict[str, str]:
    table = preference_tables(verdicts)["self_preference_summary"]
    if table.query("version == 'matched' and rate == 'fpr'")["n_others"].any():
        raise ValueError("the page's sentence on matched items doesn't hold any more")
    sentences = table.groupby("judge")["sentence"].first()
    own = [f"- {sentence}" for judge, sentence in sentences.items() if judge != "all"]
    return {"preference": sentences["all"], "preferences": "\n".join(own)}


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdicts as they are, and as they were before their authors' repairs."""
    return tuple(pd.read_parquet(folder / f"{name}.parquet") for name in ("nus_feedback", "nus_feedback_unrepaired"))


if __name__ == "__main__":
    sys.stdout.write(page(*read(Path(sys.argv[1]))))
