"""Makes docs/corrected_accuracy.md: python tests/support/corrected_page.py FOLDER > docs/corrected_accuracy.md

FOLDER holds real verdicts of known truth. It takes about ten minutes on two cores.
"""

import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from corrected_coverage import PANELS, SIZES, measured, read_panel, whole_panel
from nus_page import filled, unwrapped

TARGETS = ("population", "set")
DRAWS, MANY = 500, 1000
# Each fit of it costs as much as all other methods together.
SLOW = ("hybrid", "ppi_hybrid")
REQUIRED = 0.93
NAMES = {
    "raw": "raw share accepted",
    "labels": "labels alone",
    "poststratified": "post-stratified",
    "ppi": "PPI++ on the vote share",
    "ppi_hybrid": "PPI++ on the hybrid's probability",
    "hybrid": "mean of the hybrid's probabilities",
    "rogan_gladen": "Rogan-Gladen",
    "rogan_gladen_pooled": "Rogan-Gladen, pooled rates",
    "empirical_bayes": "empirical Bayes",
    "dawid_skene": "Dawid-Skene",
    "recommended": "**the recommended one of each row**",
}

PAGE = """# Corrected accuracy: what its intervals cover

How many of the responses are right, when judges that err say so and a few labels are there? `corrected_accuracy`
answers by every method below. Here is how often the 95 % intervals hold the true share, on real verdicts whose truths
are all known: 14 LLM judges on the feedback of 6 LLMs on programs (`nus_feedback`, {nus} responses, {nus_share} right),
39 people on 108 images (`bluebird`, {bluebird_share} right), 164 people on 800 sentence pairs (`rte`, {rte_share}
right).

`python tests/support/corrected_page.py FOLDER` makes this page from the folder of verdicts, in about ten minutes on two
cores. `pytest -m bench -s tests/bench/test_corrected_coverage.py` measures the same, and fails where less is covered
than required.

## What is drawn, and what is true

- **population**: the real responses are the population. Each draw takes as many items from it, whole (all responses on
  one program together) and with replacement, and labels 50, 100 or 200 of the responses drawn. The truth is the share
  of right ones among *all* real responses. This is the default target: accuracy on all items that could have been
  asked.
- **set**: labels are drawn among the real responses themselves, without replacement. The truth is the same share; of
  these responses nothing is unknown but the labels not drawn (finite-population correction).

Cells are: covered, % / mean width, points. In {draws} draws chance moves what is covered by ±{noise} points, in {many}
by ±{less_noise}. `bluebird` has too few responses for 200 labels.

## The whole panel: what may be gone by

{many} draws. Equal: all responses are equally likely to be labelled; unequal: those that split the panel up to five
times as often as the unanimous, and labels weigh by inverse probability.

{whole}

**Recommended: post-stratification**, which covers {least_recommended} or more, at {narrower} of the labels' width.
PPI++ covers {least_ppi} or more. With fewer than 10 labels: the labels alone.

## The whole panel: every method

Target population, {draws} draws. In brackets: the share of draws without an estimate, which are left out.

{every}

Target set; the hybrid is not repeated there.

{every_set}

{failing}

## Per examinee

The 6 examinees of `nus_feedback`, {draws} draws, target population: covered on average (least to most of an examinee) /
mean width. The labels are spread over all: 50 are 8 each.

{examinees}

- **Recommended**: labels alone with fewer than 10 own labels, else PPI++ with a pooled design effect. {examinee_says}
  These six are alike. In simulated panels of six with one on whom votes say less (nearly all accepted, votes unrelated
  to its truth, half of its wrong responses accepted like right ones; 20 own labels each, 200 panels) that one is
  covered in 94.5 to 98.0 %, by intervals up to twice as wide, and the others in 97.3 to 98.4 %. Labels whose chance
  depends on something besides the votes were simulated, not measured here.
- **Empirical Bayes** is {eb_width} as wide as PPI++ and covers {eb_mean} on average; the least covered examinee has
  {eb_least}. It promises the average, never each. Shrinking by
  all of V / (V + A), without Morris's factor, saves another tenth of the width and leaves single examinees at 83 %.
- **One correction for all** (Rogan-Gladen with pooled rates) covers {pooled_least} to {pooled_most} of an examinee:
  leniency depends on the examinee, and more labels make it surer of what is wrong. With each one's own rates shrunk to
  the pooled ones it covers, but its interval is {rg_width} points wide: from few wrong responses the panel's FPR is
  hardly known, and FPR + FNR are near 1.
- Post-stratification covers each examinee in {post_least} to {post_most} here, and is shorter than PPI++. It isn't
  recommended: with few labels most strata have none, and the interval is then made of Jeffreys' halves.
"""


def page(all_methods: pd.DataFrame, whole: pd.DataFrame, folder: Path) -> str:
    samples = {name: read_panel(folder, name).sample for name in PANELS}
    population = all_methods[all_methods["target"] == "population"]
    cells = with_recommended(population[population["cell"] != "all"])
    n_draws, n_many = (int(t.groupby(["panel", "target"])["draw"].nunique().min()) for t in (all_methods, whole))
    text = PAGE.format(
        nus=f"{samples['nus_feedback'].n:,}",
        **{f"{name.split('_')[0]}_share": percent(sample.labels.mean()) for name, sample in samples.items()},
        draws=f"{n_draws:,}",
        many=f"{n_many:,}",
        noise=f"{196 * (0.95 * 0.05 / n_draws) ** 0.5:.1f}",
        less_noise=f"{196 * (0.95 * 0.05 / n_many) ** 0.5:.1f}",
        whole=whole_table(whole),
        least_recommended=percent(least(whole, "poststratified")),
        narrower=narrower(whole),
        least_ppi=percent(least(whole, "ppi")),
        every=every_table(population[population["cell"] == "all"]),
        every_set=every_table(all_methods[(all_methods["target"] == "set") & (all_methods["cell"] == "all")]),
        failing=failing(all_methods[all_methods["cell"] == "all"]),
        examinees=examinee_table(cells),
        **said_of_examinees(cells),
    )
    lines = [re.sub(r"(?<=\S) +", " ", line) for line in unwrapped(text).splitlines()]
    return "\n".join(line if line.startswith(("|", "#")) else filled(line) for line in lines) + "\n"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def with_recommended(cells: pd.DataFrame) -> pd.DataFrame:
    """The recommended method of each draw and examinee as one more method."""
    return pd.concat([cells, cells[cells["recommended"]].assign(method="recommended")])


def least(whole: pd.DataFrame, method: str) -> float:
    keys = ["panel", "target", "unequal", "n_labels"]
    return float(whole[whole["method"] == method].groupby(keys)["held"].mean().min())


def narrower(whole: pd.DataFrame) -> str:
    widths = whole.groupby(["panel", "target", "unequal", "n_labels", "method"])["width"].mean().unstack()
    shares = widths["poststratified"] / widths["labels"]
    return f"{shares.min():.2f} to {shares.max():.2f}"


def whole_table(whole: pd.DataFrame) -> str:
    methods = ("labels", "ppi", "poststratified")
    lines = [
        f"| panel | target | labels drawn | labels | {' | '.join(NAMES[each] for each in methods)} |",
        "|---|---|---|---|" + "---|" * len(methods),
    ]
    for (panel, target, unequal, n), part in whole.groupby(["panel", "target", "unequal", "n_labels"]):
        by_method = part.groupby("method")[["held", "width"]].mean()
        shown = [covered(*by_method.loc[each]) for each in methods]
        lines.append(f"| {panel} | {target} | {'unequal' if unequal else 'equal'} | {n} | {' | '.join(shown)} |")
    return "\n".join(lines)


def covered(held: float, width: float, undefined: float = 0.0) -> str:
    if undefined > 0.9995:
        return "none"
    missing = f" ({100 * undefined:.0f} %)" if undefined > 0.0005 else ""
    return f"{100 * held:.1f} / {100 * width:.1f}{missing}"


def every_table(whole: pd.DataFrame) -> str:
    found = whole.groupby(["method", "panel", "n_labels"]).agg(
        held=("held", "mean"), width=("width", "mean"), undefined=("held", lambda held: held.isna().mean())
    )
    columns = [(panel, n) for panel in PANELS for n in SIZES if (panel, n) in found.index.droplevel(0)]
    lines = [f"| method | {' | '.join(f'{panel} {n}' for panel, n in columns)} |", "|---|" + "---|" * len(columns)]
    for method in (name for name in NAMES if name in found.index.get_level_values(0)):
        cells = [covered(*found.loc[(method, *column)]) for column in columns]
        lines.append(f"| {NAMES[method]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def failing(whole: pd.DataFrame) -> str:
    held = whole.groupby(["method", "target", "panel", "n_labels"])["held"].mean()
    said = []
    for method, worst in held.groupby("method").min().sort_values().items():
        if worst < REQUIRED:
            target, panel, n = held[method].idxmin()
            said.append(f"{NAMES[method]} (at worst {percent(worst)}: {panel}, {target}, {n} labels)")
    return f"Less than 93 % somewhere: {'; '.join(said)}. " + (
        "A single value above 92 % may be chance. The raw share takes the panel's errors for the truth, and no number "
        "of votes helps. Dawid-Skene's interval is right where judges err independently, and nowhere else. "
        "Rogan-Gladen has no estimate where the labels hold no wrong response, or say that FPR + FNR are 1 or more; "
        "elsewhere its intervals are up to eight times as wide as the others', and hold the truth for that."
    )


def examinee_table(cells: pd.DataFrame) -> str:
    sizes = sorted(cells["n_labels"].unique())
    lines = [f"| method | {' | '.join(f'{n} labels' for n in sizes)} |", "|---|" + "---|" * len(sizes)]
    by_cell = cells.groupby(["method", "n_labels", "cell"])[["held", "width"]].mean()
    for method in (name for name in NAMES if name in by_cell.index.get_level_values(0)):
        shown = []
        for n in sizes:
            part = cells[(cells["method"] == method) & (cells["n_labels"] == n)]
            held, missing = by_cell.loc[method, n]["held"], part["held"].isna().mean()
            tail = f" ({100 * missing:.0f} % none)" if missing > 0.0005 else ""
            each = f"{100 * held.min():.1f} to {100 * held.max():.1f}"
            shown.append(f"{100 * part['held'].mean():.1f} ({each}) / {100 * part['width'].mean():.1f}{tail}")
        lines.append(f"| {NAMES[method]} | {' | '.join(shown)} |")
    return "\n".join(lines)


def said_of_examinees(cells: pd.DataFrame) -> dict[str, str]:
    held = cells.groupby(["method", "n_labels", "cell"])["held"].mean()
    width = cells.groupby(["method", "n_labels"])["width"].mean()
    share = width["empirical_bayes"] / width["ppi"]
    best = held["recommended"]
    return {
        "examinee_says": f"Each examinee is covered in {percent(best.min())} to {percent(best.max())}.",
        "eb_width": f"{share.min():.2f} to {share.max():.2f} times",
        "eb_mean": f"{percent(held['empirical_bayes'].groupby('n_labels').mean().min())} or more",
        "eb_least": percent(held["empirical_bayes"].min()),
        "post_least": percent(held["poststratified"].min()),
        "post_most": percent(held["poststratified"].max()),
        "pooled_least": percent(held["rogan_gladen_pooled"].min()),
        "pooled_most": percent(held["rogan_gladen_pooled"].max()),
        "rg_width": f"{100 * width['rogan_gladen'].min():.0f} to {100 * width['rogan_gladen'].max():.0f}",
    }


def run(folder: Path, draws: int = DRAWS, many: int = MANY) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All draws by every method, and those of the whole panel by the methods that may be gone by."""
    jobs = [(name, target) for name in PANELS for target in TARGETS]
    with ProcessPoolExecutor(2) as pool:
        every = [pool.submit(_every, folder, *job, draws) for job in jobs]
        whole = [pool.submit(_whole, folder, *job, many, unequal) for job in jobs for unequal in (False, True)]
        return _joined([each.result() for each in every]), _joined([each.result() for each in whole])


def _every(folder: Path, name: str, target: str, draws: int) -> pd.DataFrame:
    without: Sequence[str] = SLOW if target == "set" else ()
    return measured(read_panel(folder, name), target, draws, without=without)


def _whole(folder: Path, name: str, target: str, draws: int, unequal: bool) -> pd.DataFrame:
    return whole_panel(read_panel(folder, name), target, draws, unequal=unequal)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    real = Path(sys.argv[1])
    sys.stdout.write(page(*run(real), real))
