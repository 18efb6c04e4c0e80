"""What figures show: every number with its n, every axis with its unit, "simulated" where no model was asked."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from voirdire.report import difficulty, effects, figures, leniency_methods
from voirdire.report.canvas import _style, svg_text
from voirdire.report.gallery import draw_all, drawings

Tables = dict[str, pd.DataFrame]
TASKS = ("gsm8k", "aime")


def texts(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_every_file_of_the_study_is_drawn(drawn: dict[str, Figure]):
    assert list(drawn) == [drawing.stem for drawing in drawings(TASKS)]
    assert {
        "figure2_bias_heatmap_gsm8k",
        "figure3_bias_scatter_aime",
        "figure4_drift_accuracy",
        "figure4_drift_fpr",
    } <= set(drawn)


def test_every_title_says_simulated(drawn: dict[str, Figure]):
    assert all("(simulated panel)" in figure.get_suptitle() for figure in drawn.values())


def test_no_title_says_simulated_for_real_models(make: Callable[..., Tables]):
    real = make(("alpha", "beta"), ("gsm8k",), simulated=False)
    for figure in (figures.heat_map(real["rates_by_examinee"], "gsm8k"), effects.identity(real["ablation_identity"])):
        assert "simulated" not in figure.get_suptitle()


def test_every_figure_shows_its_n(drawn: dict[str, Figure]):
    for stem, figure in drawn.items():
        assert re.search(r"\bn (=|wrong)", " ".join(texts(figure))), stem


def test_every_panel_has_labelled_axes(drawn: dict[str, Figure]):
    for stem, figure in drawn.items():
        panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        assert any(axes.get_xlabel() for axes in panels), stem


def test_empty_study_still_draws_every_file_and_says_why(empty_tables: Tables):
    absent = {"self_preference": "no model is in both lists"}
    drawn = dict(draw_all(empty_tables, ["gsm8k"], absent=absent, simulated=True))
    assert list(drawn) == [drawing.stem for drawing in drawings(["gsm8k"])]
    assert any("no model is in both lists" in text for text in texts(drawn["self_preference"]))
    assert all("simulated" in figure.get_suptitle() for figure in drawn.values())


def test_study_without_tables_still_draws(empty_tables: Tables):
    assert len(list(draw_all({}, ["gsm8k"]))) == len(drawings(["gsm8k"]))


def test_heat_map_is_centred_at_zero(small: Tables):
    figure = figures.heat_map(small["rates_by_examinee"], "aime")
    image = figure.axes[0].images[0]
    assert image.norm.vmin == -image.norm.vmax


def test_heat_map_cell_shows_bias_and_counts(small: Tables):
    shown = texts(figures.heat_map(small["rates_by_examinee"], "gsm8k"))
    assert "+0.04" in shown  # alpha judges itself: 1.1 - 1.2 * .95 + .5 * .15
    assert "60+140" in shown


def test_heat_map_cell_without_wrong_responses_is_a_dash(small: Tables):
    rates = small["rates_by_examinee"].copy()
    rates.loc[rates["judge"] == "alpha", ["bias", "fpr"]] = np.nan
    rates.loc[rates["judge"] == "alpha", "n_wrong"] = 0
    shown = texts(figures.heat_map(rates, "gsm8k"))
    assert shown.count("–") == 3
    assert "0+140" in shown


def test_heat_map_says_why_a_cell_is_hatched(small: Tables, hopeless: Tables):
    rates = small["rates_by_examinee"].copy()
    assert "hatched" not in " ".join(texts(figures.heat_map(rates, "gsm8k")))
    rates.loc[rates["judge"] == "alpha", "bias"] = np.nan
    rates.loc[rates["judge"] == "alpha", "n_wrong"] = 0
    assert "hatched, no bias:\nno judged response is wrong" in " ".join(texts(figures.heat_map(rates, "gsm8k")))
    rates.loc[0, ["n_right", "n_wrong"]] = [0, 60]
    assert "hatched, no bias:\nright or wrong responses are missing" in " ".join(
        texts(figures.heat_map(rates, "gsm8k"))
    )
    apart = rates.assign(bias=np.nan, n_right=8, n_wrong=8)
    assert "no task has both right and wrong responses" in " ".join(texts(figures.heat_map(apart, "all")))
    figure = figures.heat_map(hopeless["rates_by_examinee"], "gsm8k")
    assert "hatched, no bias:\nno judged response is right" in " ".join(texts(figure))


def test_heat_map_without_a_bias_has_no_scale_of_colours(hopeless: Tables):
    assert len(figures.heat_map(hopeless["rates_by_examinee"], "gsm8k").axes) == 1


def test_heat_map_of_ten_examinees_and_two_judges(make: Callable[..., Tables]):
    models = tuple(f"model_{number}" for number in range(10))
    rates = make(models=models, tasks=("gsm8k",))["rates_by_examinee"]
    rates = rates[rates["judge"].isin(models[:2])]
    assert figures.heat_map(rates, "gsm8k").axes[0].images[0].get_array().shape == (2, 10)


def test_heat_map_shows_only_the_condition_asked_for(small: Tables):
    rates = small["rates_by_examinee"]
    both = pd.concat([rates.assign(condition="elite", bias=0.99), rates], ignore_index=True)
    assert "+0.99" not in texts(figures.heat_map(both, "gsm8k", "blind"))


def test_bytes_do_not_depend_on_the_process(small: Tables, tmp_path: Path):
    small["rates_by_examinee"].to_pickle(tmp_path / "rates")
    script = (
        "import hashlib, sys, pandas as pd\n"
        "from voirdire.report.canvas import svg_text\n"
        "from voirdire.report.figures import heat_map\n"
        "svg = svg_text(heat_map(pd.read_pickle(sys.argv[1]), 'all'))\n"
        "print(hashlib.sha256(svg.encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "rates")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_scatter_marks_every_self_evaluation(small: Tables):
    figure = figures.scatter(small["correlation_points"], small["correlations"], "gsm8k")
    for panel in figure.axes:
        rings = [dots for dots in panel.collections if dots.get_facecolors().size == 0 and len(dots.get_offsets())]
        assert sum(len(dots.get_offsets()) for dots in rings) == 3


def test_scatter_shows_r_of_each_line(small: Tables):
    shown = texts(figures.scatter(small["correlation_points"], small["correlations"], "gsm8k"))
    assert "alpha: −0.93 (n = 3)" in shown
    assert "alpha: +0.92 (n = 3)" in shown


def test_scatter_of_two_models_draws_no_line(make: Callable[..., Tables]):
    tables = make(models=("alpha", "beta"), tasks=("gsm8k",))
    figure = figures.scatter(tables["correlation_points"], tables["correlations"], "gsm8k")
    # The zero line is the only one.
    assert [len(panel.lines) for panel in figure.axes] == [1, 1]


def test_scatter_without_a_diagonal_shows_what_there_is(small: Tables):
    points = small["correlation_points"]
    points = points[points["table"] == 9].assign(is_self=False)
    shown = texts(figures.scatter(points, small["correlations"], "gsm8k"))
    assert "no judge has an accuracy of its own" in shown
    assert "alpha: +0.92 (n = 3)" in shown
    assert "self-evaluation" not in shown


def test_scatter_without_a_bias_says_that_no_response_is_right(hopeless: Tables):
    drawn = dict(draw_all(hopeless, ["gsm8k"]))
    for task in ("all", "gsm8k"):
        shown = texts(drawn[f"figure3_bias_scatter_{task}"])
        assert "Nothing to show: the bias has no value, as no judged response is right" in shown


def test_majority_that_equals_every_self_judge_has_a_whole_axis_and_intervals(hopeless: Tables):
    figure = effects.ensembles(hopeless["ensembles"])
    for panel in figure.axes:
        assert panel.get_xlim() == (-4, 104)
        assert len(panel.containers) == 2
        assert panel.get_xlabel().endswith("with 95 % intervals")


def test_majority_that_differs_has_no_intervals(small: Tables):
    assert not any(panel.containers for panel in effects.ensembles(small["ensembles"]).axes)


def test_drift_draws_linear_weights_only(small: Tables):
    figure = figures.drift_accuracy(small["drift"])
    labels = [line.get_label() for line in figure.axes[0].lines if line.get_label() != "_band"]
    assert labels == [
        *(f"weighted, {each}" for each in ("oracle", "bayesian", "stratified", "disagreement")),
        *figures.RULES.values(),
    ]


def test_drift_draws_bands_that_do_not_hide_each_other(small: Tables):
    axes = figures.drift_accuracy(small["drift"]).axes[0]
    edges = [line for line in axes.lines if line.get_label() == "_band"]
    assert (len(axes.collections), len(edges)) == (3, 6)


def test_difficulty_counts_the_own_wrong_responses_that_a_gap_rests_on(small: Tables):
    figure = difficulty.difficulty(small["ablation_difficulty"], small["difficulty_curve"])
    assert "easy\nn = 30" in texts(figure)


def test_difficulty_has_a_curve_with_its_band_beside_the_bins(small: Tables):
    bins, curve = small["ablation_difficulty"], small["difficulty_curve"]
    panel = difficulty.difficulty(bins, curve).axes[0]
    lines = {line.get_label(): line for line in panel.lines}
    assert lines["all judges, smooth"].get_ydata() == pytest.approx([20, 15, 10, 5, 0])
    assert len(panel.collections) >= 2
    assert [container.get_label() for container in panel.containers] == ["all judges, in three bins"]
    assert {"_alpha", "_beta", "_gamma"} <= set(lines)


def test_difficulty_curve_is_drawn_only_where_it_has_values(small: Tables):
    curve = small["difficulty_curve"].copy()
    curve.loc[curve["share_right"] == 1, ["gap", "low", "high"]] = np.nan
    panel = difficulty.difficulty(small["ablation_difficulty"], curve).axes[0]
    line = next(line for line in panel.lines if line.get_label() == "all judges, smooth")
    assert max(line.get_xdata()) == 0.75


def test_bins_alone_and_curve_alone_are_drawn(small: Tables):
    bins, curve = small["ablation_difficulty"], small["difficulty_curve"]
    for figure in (difficulty.difficulty(bins, pd.DataFrame()), difficulty.difficulty(bins.iloc[:0], curve)):
        assert [panel.get_title(loc="left") for panel in figure.axes[:2]] == ["GSM8K", "AIME"]


def test_methods_stand_per_task_with_the_range_without_any_one_examinee(small: Tables):
    figure = leniency_methods.methods(small["leniency"])
    odds, matched = figure.axes
    assert [label.get_text() for label in odds.get_yticklabels()][-1] == "all tasks\nn = 1,200"
    assert [container.get_label() for container in odds.containers] == list(leniency_methods.MODELS.values())
    assert len(matched.containers) == 1
    # A pale bar per method, besides the intervals.
    wide = [bars for panel in (odds, matched) for bars in panel.collections if bars.get_linewidth()[0] == 6]
    assert len(wide) == 4
    assert "1" in [label.get_text() for label in odds.get_xticklabels()]


def test_one_hopeless_task_does_not_flatten_the_methods_of_the_others(small: Tables):
    frame = small["leniency"].copy()
    frame.loc[frame["task"] == "aime", ["estimate", "low", "high"]] = [9.0, -4.0, 30.0]
    low, high = leniency_methods.methods(frame).axes[0].get_xlim()
    assert -2 < low < 0 < high < 2


def test_methods_without_an_estimate_say_why(small: Tables):
    frame = small["leniency"].assign(estimate=np.nan)
    assert "Nothing to show: no wrong response" in texts(leniency_methods.methods(frame, "no wrong response"))


def test_heat_map_cell_that_says_nothing_has_no_colour_and_says_so(small: Tables):
    rates = small["rates_by_examinee"].copy()
    assert "dotted" not in " ".join(texts(figures.heat_map(rates, "aime")))
    mute = (rates["judge"] == "alpha") & (rates["examinee"] == "beta") & (rates["task"] == "aime")
    rates.loc[mute, ["silent", "n_wrong"]] = ["fpr bias", 2]
    figure = figures.heat_map(rates, "aime")
    shown = " ".join(texts(figure))
    assert "dotted, no colour: too few responses to say anything" in shown
    assert "2+140" in shown
    assert np.isnan(np.ma.filled(figure.axes[0].images[0].get_array(), np.nan)[0, 1])
    assert [patch.get_hatch() for patch in figure.axes[0].patches if patch.get_hatch()] == [".."]


def test_drift_rates_have_a_panel_per_judge_and_the_mean(small: Tables):
    figure = figures.drift_rates(small["drift_rates"], small["drift"])
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["alpha", "beta", "gamma", "mean of the judges"]


def test_interval_that_misses_its_point_is_drawn(small: Tables):
    frame = small["ablation_length"].assign(low=0.06, high=0.2)
    assert svg_text(effects.length(frame))


def test_hostile_model_names_break_no_figure(make: Callable[..., Tables]):
    tables = make(models=("<script>", "$x$", "🦙" + "y" * 200), tasks=("gsm8k", "<b>"))
    for stem, figure in draw_all(tables, ["gsm8k", "<b>"]):
        assert "<script>" not in svg_text(figure), stem


def test_smallest_study_collapses_no_panel_and_cuts_off_no_text(smallest_drawn: dict[str, Figure]):
    for stem, figure in smallest_drawn.items():
        heights = [axes.get_window_extent().height / figure.dpi for axes in figure.axes]
        assert min(heights, default=1) > 0.4, stem
        # Hinting makes letters wider than in the files.
        with _style():
            figure.draw_without_rendering()
            for text in figure.findobj(Text):
                box = text.get_window_extent()
                if text.get_text() and text.get_visible() and not _is_hidden_tick(figure, text):
                    inside = min(box.x0, box.y0, figure.bbox.x1 - box.x1, figure.bbox.y1 - box.y1) > -2
                    assert inside, (stem, text.get_text())


def test_titles_and_labels_of_panels_never_run_into_each_other(smallest_drawn: dict[str, Figure]):
    for stem, figure in smallest_drawn.items():
        with _style():
            figure.draw_without_rendering()
            boxes = [text.get_window_extent() for axes in figure.axes for text in _headings(axes) if text.get_text()]
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :]), stem


def _headings(axes: Axes) -> list[Text]:
    return [axes._left_title, axes.xaxis.label]


def _is_hidden_tick(figure: Figure, text: Text) -> bool:
    """Whether matplotlib keeps the text for a tick outside the axis' limits, which it doesn't draw."""
    ticks = {label for axes in figure.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())}
    inside = text.axes is not None and text.axes.get_tightbbox().padded(1).overlaps(text.get_window_extent())
    return text in ticks and not inside


def test_label_of_an_axis_never_runs_into_the_title(smallest_drawn: dict[str, Figure]):
    for stem, figure in smallest_drawn.items():
        figure.draw_without_rendering()
        title = next(text for text in figure.texts if text.get_text() == figure.get_suptitle())
        floor = title.get_window_extent().y0
        labels = [axes.yaxis.label for axes in figure.axes] + [text for text in figure.texts if text.get_rotation()]
        assert all(label.get_window_extent().y1 <= floor for label in labels if label.get_text()), stem
