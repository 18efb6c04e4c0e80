"""The page: self-contained, escaped, honest about what is missing and undecided."""

import dataclasses
import re
from collections.abc import Callable
from html.parser import HTMLParser
from math import nan

import pandas as pd
import pytest
from matplotlib.figure import Figure

from voirdire.report import cells, effects
from voirdire.report.canvas import svg_text
from voirdire.report.figures import heat_map
from voirdire.report.page import ReportContext, inline_svg, render
from voirdire.study.claims import PLANTED, judge_claims

Tables = dict[str, pd.DataFrame]
TASKS = ("gsm8k", "aime")
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Ids, links, tags and whether every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in ("href", "xlink:href", "src"):
                (self.targets if (value or "").startswith("#") else self.loads).append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def context(small: Tables, drawn: dict[str, Figure]) -> ReportContext:
    return ReportContext(
        study="default",
        simulated=True,
        tasks=TASKS,
        tables=small,
        figures={stem: svg_text(figure) for stem, figure in drawn.items()},
        models=[{"name": "alpha", "family": "greek"}],
        benchmarks=[{"task": "gsm8k", "items": 150, "left out": "2 (no answer)"}],
        settings={"seed": 1},
        versions={"voirdire": "0.1.0"},
    )


@pytest.fixture(scope="module")
def page(context: ReportContext) -> str:
    return render(context)


def replace(context: ReportContext, **tables: pd.DataFrame) -> ReportContext:
    return dataclasses.replace(context, tables={**context.tables, **tables}, figures={})


def test_same_context_gives_same_page(context: ReportContext, page: str):
    assert render(context) == page


def test_page_asks_no_network(page: str):
    assert all(load.startswith("data:") for load in Outline(page).loads)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    assert "<script" not in page


def test_ids_are_unique_and_every_link_has_its_target(page: str):
    outline = Outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    assert {target[1:] for target in outline.targets} <= set(outline.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(outline.ids)


def test_every_tag_is_closed(page: str):
    assert Outline(page).open == []


def test_every_section_is_there(page: str):
    sections = "answers run ledger leniency correlations leniency_or_difficulty self_preference ablations power"
    for section in [*sections.split(), "ensembles", "drift", "claims"]:
        assert f'<section id="{section}"' in page


def test_every_figure_has_a_sentence_on_how_to_read_it(page: str, context: ReportContext):
    assert page.count("<svg") == page.count("<figcaption>") == len(context.figures)


def test_title_says_simulated(page: str):
    assert "<title>voirdire: default (simulated)</title>" in page
    assert "nothing about real models" in page


def test_title_of_a_real_study_does_not(context: ReportContext):
    real = render(dataclasses.replace(context, simulated=False, figures={}))
    assert "<title>voirdire: default</title>" in real
    assert "nothing about real models" not in real


def test_what_ran_is_shown(page: str):
    for shown in ("greek", "2 (no answer)", "0.1.0", "<dt>seed</dt><dd>1</dd>"):
        assert shown in page


def test_names_are_escaped(make: Callable[..., Tables]):
    evil = '<script>alert("1")</script>'
    tables = make(models=(evil, "{{ 7 * 7 }}", "$x$"), tasks=("gsm8k",))
    figures = {"figure2_bias_heatmap_gsm8k": svg_text(heat_map(tables["rates_by_examinee"], "gsm8k"))}
    html = render(ReportContext(evil, False, ("gsm8k",), tables, figures, models=[{evil: evil}], settings={evil: evil}))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "{{ 7 * 7 }}" in html


def test_study_without_anything_explains_itself():
    html = render(ReportContext("empty", False, ("gsm8k",), {}, absent={"rates": "No model was asked."}))
    assert "No model was asked." in html
    assert "There are no verdicts to draw an answer from" in html
    assert "Figure figure4_drift_accuracy was not drawn." in html


def test_study_whose_tables_have_no_rows_explains_itself(empty_tables: Tables):
    sentence = "No model is both examinee and judge."
    html = render(ReportContext("empty", True, ("gsm8k",), empty_tables, absent={"self_preference": sentence}))
    assert sentence in html


def test_paper_tables_that_are_absent_are_explained_where_they_belong(context: ReportContext):
    reasons = {"table07_task_accuracy_bias": "No judge took the tasks.", "table02_static_majority": "No self-judge."}
    html = render(dataclasses.replace(context, figures={}, absent=reasons))
    for section, reason in (("correlations", "No judge took the tasks."), ("ensembles", "No self-judge.")):
        assert reason in html.split(f'<section id="{section}"')[1].split("</section>")[0]


def test_reason_that_several_tables_share_is_said_once(context: ReportContext):
    names = ("table06_task_accuracy_judge_accuracy", "table07_task_accuracy_bias", "table08_judge_accuracy_bias")
    html = render(dataclasses.replace(context, figures={}, absent=dict.fromkeys(names, "There are 2 judges.")))
    assert html.count("There are 2 judges.") == 1


def test_rates_without_right_responses_say_so(hopeless: Tables):
    html = render(ReportContext("hopeless", False, ("gsm8k",), hopeless))
    assert '<p class="absent">FNR and bias have no value: no judged response is right.</p>' in html
    assert '<td class="number" title="no value: no judged response is right">–</td>' in html


def test_missing_number_is_a_dash_with_its_reason(context: ReportContext):
    frame = context.tables["self_preference"].copy()
    frame["reason"] = frame["reason"].astype(object)
    frame.loc[0, ["difference", "low", "high", "p", "p_holm"]] = float("nan")
    frame.loc[0, "reason"] = "alpha has no wrong response"
    html = render(replace(context, self_preference=frame))
    assert '<td class="number" title="alpha has no wrong response">–</td>' in html
    assert ">nan<" not in html


def test_rates_say_how_many_calls_they_leave_out(context: ReportContext):
    rates = context.tables["rates"].assign(n_not_ok=7, n_not_judged=0, n_truth_missing=0)
    leniency = render(replace(context, rates=rates)).split('<section id="leniency"')[1].split("</section>")[0]
    assert re.search(r'title="[^"]+">not ok</abbr></th><th scope="col" class="number">accuracy</th>', leniency)
    assert "truth missing" not in leniency


def section_of(html: str, name: str) -> str:
    return html.split(f'<section id="{name}"')[1].split("</section>")[0]


def test_rates_stand_beside_what_they_would_be_with_all_calls_read(context: ReportContext):
    main = context.tables["rates"].assign(n_not_ok=7, n_not_judged=0, n_truth_missing=0, fpr=0.4, fnr=0.1)
    read = [
        main.assign(reading=reading, fpr=fpr, fnr=fnr, n_not_ok=0)
        for reading, fpr, fnr in (("not_ok_correct", 0.46, 0.08), ("not_ok_incorrect", 0.37, 0.12))
    ]
    leniency = section_of(render(replace(context, rates=pd.concat([main, *read], ignore_index=True))), "leniency")
    assert "FPR, not ok read either way" in leniency
    n_rows = len(main[main["judge"] != "all"])
    assert leniency.count(">0.37 to 0.46<") == leniency.count(">0.08 to 0.12<") == n_rows


def test_questions_that_could_not_be_graded_are_listed_once_with_the_reason(context: ReportContext):
    ungraded = pd.DataFrame(
        {
            "task": "mbpp",
            "item_id": ["<11>", "<11>", "12"],
            "examinee": ["a", "b", "a"],
            "reason": "not graded: no tests",
        }
    )
    ledger = section_of(render(replace(context, ungraded=ungraded)), "ledger")
    assert ledger.count("not graded: no tests") == 2
    assert '<td class="text">&lt;11&gt;</td>' in ledger
    assert "could not be graded" not in section_of(render(context), "ledger")


def test_judges_in_reverse_order_are_named(context: ReportContext):
    orders = context.tables["template_ranking"].assign(n_reversed=2, reversed="<a>, b; <a>, c")
    shown = section_of(render(replace(context, template_ranking=orders)), "ablations")
    assert shown.count('<td class="text">&lt;a&gt;, b; &lt;a&gt;, c</td>') == len(orders)


def test_best_judge_is_undecided_where_intervals_overlap(context: ReportContext):
    rates = context.tables["rates"]
    wide = rates.assign(accuracy_low=rates["accuracy"] - 0.2, accuracy_high=rates["accuracy"] + 0.2)
    html = render(replace(context, rates=wide))
    assert "overlaps with those of beta and gamma, so the order between them is undecided" in html


def test_best_judge_is_named_where_it_is_clear(page: str):
    assert "alpha is the most accurate judge, right in 95.0\u00a0% (92.0\u00a0% to 98.0\u00a0%)" in page
    assert "clear of beta" in page


def test_undecided_leniency_is_counted(context: ReportContext):
    rates = context.tables["rates"]
    straddling = rates.assign(bias_low=-0.1, bias_high=0.9)
    assert "0 of 3 judges accept wrong responses more often than they reject right ones (3 undecided)" in render(
        replace(context, rates=straddling)
    )


def test_preference_that_equal_difficulty_explains_is_not_called_preference(context: ReportContext):
    frame = context.tables["self_preference_summary"].copy()
    frame.loc[frame["version"].isin(["matched", "same_answer", "adjusted"]), "low"] = -0.01
    html = render(replace(context, self_preference_summary=frame.assign(supports_preference=False)))
    assert "3 of 3 judges accept their own wrong responses more often than other models&#39;" in html
    assert "where difficulty is equal, 0 of 3 judges do" in html
    assert "nothing here supports the word preference" in html


def test_gain_of_the_weighted_vote_has_its_paired_interval(page: str):
    assert "(disagreement) is 93.8\u00a0% accurate, 6.8 points above the unweighted majority (+5.8 to +7.8)" in page


def test_label_free_answer_never_promises(page: str):
    assert "verdicts alone cannot show whether judges share a blind spot" in page


def test_long_tables_are_folded(page: str):
    assert page.count("<details>") == page.count("</details>") > 5


def test_inlined_figures_reach_nothing_outside_themselves():
    svg = '<?xml version="1.0"?><!DOCTYPE svg><svg><metadata>m</metadata><style type="text/css">*{a: b}</style>'
    svg += '<g id="p1" clip-path="url(#p2)"><text>id="p1" url(#p2)</text></g><use xlink:href="#p1"/></svg>'
    assert inline_svg(svg, "fig 1") == (
        '<svg><g id="fig-1-p1" clip-path="url(#fig-1-p2)"><text>id="p1" url(#p2)</text></g>'
        '<use xlink:href="#fig-1-p1"/></svg>'
    )


def test_claims_say_once_that_effects_are_planted(context: ReportContext):
    html = render(replace(context, claims=judge_claims(context.tables, simulated=True)))
    assert html.count(PLANTED) == 1
    assert html.count('<td class="text">C13</td>') == 4


def test_sentences_have_typographic_minus_signs(context: ReportContext):
    summary = context.tables["self_preference_summary"].assign(sentence="gpt-5-2026: -1.5 (-2 to -1) points")
    assert "gpt-5-2026: −1.5 (−2 to −1) points" in render(replace(context, self_preference_summary=summary))


def test_drift_row_is_not_compared_with_itself(page: str):
    drift = page.split('<section id="drift"')[1].split("</section>")[0]
    # The majority, the mean single judge, and the oracle with either weights.
    assert drift.count('title="this row itself">–</td>') == 4
    assert "+0.0 (" not in drift.split("</table>")[0]


def test_leniency_is_answered_first_in_a_sentence_with_the_methods_below(page: str):
    assert "<li>Over all tasks: leniency towards stronger examinees survives. <a" in page
    section = section_of(page, "leniency_or_difficulty")
    answer = '<p class="answer">Over all tasks: leniency towards stronger examinees survives.</p>'
    assert answer in section
    assert "<li>gsm8k: leniency towards stronger examinees survives.</li>" in section
    overall = section.split("<h3>Over all tasks</h3>")[1].split("</table>")[0]
    assert overall.count("<tr>") == 1 + 4
    # exp(.1), exp(.05) and exp(.15); the range without any one examinee; and a difference of shares.
    assert "odds × 1.11 (1.05 to 1.16)" in overall
    assert ">1.02 to 1.14<" in overall
    assert "+4.0 (−1.0 to +9.0) points" in overall
    assert "penalised" not in overall


def test_penalised_fits_are_named(context: ReportContext):
    frame = context.tables["leniency"].assign(fit="penalised (Firth)")
    section = section_of(render(replace(context, leniency=frame)), "leniency_or_difficulty")
    assert "penalised (Firth)" in section.split("<h3>Over all tasks</h3>")[1].split("</table>")[0]


def test_range_that_cannot_be_made_has_its_reason(context: ReportContext):
    frame = context.tables["leniency"].assign(leave_out_low=float("nan"), reason="no estimate of it without beta")
    section = section_of(render(replace(context, leniency=frame)), "leniency_or_difficulty")
    assert 'title="no estimate of it without beta">–</td>' in section


def test_family_is_compared_in_a_sentence_and_a_table(page: str):
    section = section_of(page, "self_preference")
    assert "all: no version supports preference for its family." in section
    assert '<td class="text">family of alpha</td>' in section
    assert "both wrong, same answer" in section


def test_study_without_families_says_so(context: ReportContext):
    empty = context.tables["family_preference"].iloc[:0]
    section = section_of(render(replace(context, family_preference=empty)), "self_preference")
    assert "so families can&#39;t be compared" in section


def test_preference_of_each_judge_is_a_sentence(page: str):
    assert "<li>alpha: supported by the model.</li>" in section_of(page, "self_preference")


def test_comparison_says_what_it_could_have_shown(page: str):
    section = section_of(page, "self_preference")
    assert '<td class="word">undecided: could have shown 18 points</td>' in section
    assert '<td class="strong">difference</td>' in section
    assert '<td class="word">no difference beyond 0.2 sd</td>' in section_of(page, "ablations")


def test_too_few_wrong_answers_never_pass_for_no_difference(context: ReportContext):
    frame = context.tables["self_preference"].assign(says="nothing", detectable=float("nan"), n_own=2)
    section = section_of(render(replace(context, self_preference=frame)), "self_preference")
    cell = '<td class="mute" title="2 own, 60 other wrong: too few to have shown any difference">'
    assert cell + "nothing: 2 own, 60 other wrong</td>" in section


def test_silent_accuracy_rests_on_all_verdicts():
    row = pd.Series(
        {"accuracy": 0.5, "accuracy_low": 0.1, "accuracy_high": 0.9, "silent": "accuracy", "n_right": 3, "n_wrong": 0}
    )
    cell = cells.rate("accuracy")(row)
    assert cell.text.endswith("; n = 3)")
    assert cell.reason == "says nothing: only 3 verdicts"


def test_comparison_without_a_value_says_its_reason_not_a_count():
    rows = pd.DataFrame(
        {"estimate": [nan], "detectable": [nan], "says": ["nothing"], "reason": ["accuracy does not vary"], "n": [22]}
    )
    cell = cells.says(rows, {"n": "questions"})["says"](rows.iloc[0])
    assert (cell.text, cell.reason) == ("nothing", "accuracy does not vary")


def test_odds_ratios_beyond_twenty_are_not_spelt_out():
    rows = pd.DataFrame({"estimate": [0.1], "detectable": [6.4], "says": ["undecided"]})
    assert cells.says(rows, {}, "log-odds")["says"](rows.iloc[0]).text.endswith("more than an odds ratio of 20")


def test_rate_that_says_nothing_is_grey_with_its_count_and_reason(context: ReportContext):
    rates = context.tables["rates_by_examinee"].copy()
    aime = rates["task"] == "aime"
    rates.loc[aime, ["silent", "n_wrong"]] = ["fpr bias", 2]
    html = render(replace(context, rates_by_examinee=rates))
    section = section_of(html, "leniency")
    assert (
        section.count('<td class="silent" title="says nothing: only 2 verdicts on wrong responses">') == 2 * aime.sum()
    )
    assert "; n = 2)</td>" in section
    said = "AIME: the leniency (FPR) of 9 of 9 pairs of a judge and an examinee says nothing: it rests on 2"
    assert f"{said} verdicts on wrong responses." in section_of(html, "power")


def test_what_could_not_have_been_seen_is_counted_per_table_and_task(context: ReportContext):
    frame = context.tables["self_preference"].copy()
    few = (frame["task"] == "aime") & (frame["rate"] == "fpr")
    frame.loc[few, ["says", "detectable"]] = ["nothing", float("nan")]
    only = {name: table for name, table in context.tables.items() if name != "self_preference"}
    only = {name: table.drop(columns="says", errors="ignore") for name, table in only.items()}
    html = render(dataclasses.replace(context, tables=only | {"self_preference": frame}, figures={}))
    sentence = "Of 60 comparisons on single tasks, 24 show a difference; 30, all on AIME, say nothing: wrong"
    assert html.count(sentence) == 2
    row = section_of(html, "power").split("<tbody>")[1].split("</tr>")[0]
    assert re.findall(r">([^<]+)</td>", row)[1:] == ["60", "24", "0", "6", "30", "18 points"]


def test_correlations_show_their_range_without_any_one_model(page: str):
    section = section_of(page, "correlations")
    assert "without any one model</abbr>" in section
    assert ">0.85 to 0.99<" in section
    assert '<td class="strong">correlation</td>' in section


def test_table_of_correlations_without_a_value_is_its_reason(context: ReportContext):
    frame = context.tables["correlations"].assign(r=float("nan"), reason="2 points: r needs 3")
    section = section_of(render(replace(context, correlations=frame)), "correlations")
    assert "<table>" not in section
    assert '<p class="absent">Table 6: 2 points: r needs 3.</p>' in section


def test_length_stands_beside_its_coefficient_in_the_model(context: ReportContext):
    lengths = context.tables["ablation_length"]
    both = pd.concat([lengths, lengths[lengths["judge"] == "alpha"].assign(judge="all")], ignore_index=True)
    section = section_of(render(replace(context, ablation_length=both)), "ablations")
    assert "odds ratio per doubling of length" in section
    assert section.count(">1.11 (1.05 to 1.16)<") == len(TASKS)
    assert 'title="the model is one for all judges: see “all”">–</td>' in section


def test_heads_of_tables_are_explained(page: str):
    assert '<abbr title="' in page
    assert "<dt>without any one model</dt>" in page


def test_empty_figures_have_no_caption(context: ReportContext):
    empty = {"self_preference": svg_text(effects.self_preference(pd.DataFrame(), "nobody judged itself"))}
    html = render(dataclasses.replace(context, figures=empty))
    assert "Nothing to show: nobody judged itself" in html
    assert "<figcaption>" not in html


def test_figure_that_is_empty_for_a_reason_given_already_is_left_out(context: ReportContext):
    reason = "No model has judged itself."
    empty = {"self_preference": svg_text(effects.self_preference(pd.DataFrame(), reason))}
    tables = {**context.tables, "self_preference": pd.DataFrame()}
    told = dataclasses.replace(context, figures=empty, tables=tables, absent={"self_preference": reason})
    assert render(told).count(reason) == 1


def test_sentences_from_tables_are_escaped(context: ReportContext):
    summary = context.tables["leniency_summary"].assign(sentence="<b>x</b> survives")
    frame = context.tables["leniency"].assign(judge="<i>j</i>", reason="<u>r</u>", estimate=float("nan"))
    html = render(replace(context, leniency_summary=summary, leniency=frame))
    for tag in ("<b>x", "<i>j", "<u>r"):
        assert tag not in html
    assert html.count("&lt;b&gt;x&lt;/b&gt; survives") == 2 + len(TASKS)


@pytest.mark.parametrize(
    "name",
    [
        "leniency",
        "leniency_summary",
        "family_preference",
        "difficulty_curve",
        "self_preference_summary",
        "correlations",
    ],
)
@pytest.mark.parametrize("gone", [True, False])
def test_any_table_may_be_missing_or_empty(context: ReportContext, name: str, gone: bool):
    tables = {key: frame for key, frame in context.tables.items() if key != name}
    if not gone:
        tables[name] = context.tables[name].iloc[:0]
    assert Outline(render(dataclasses.replace(context, tables=tables, figures={}))).open == []


def test_tables_without_the_columns_of_power_are_shown(context: ReportContext):
    lacking = ["says", "detectable", "silent", "range_low", "range_high"]
    tables = {name: frame.drop(columns=lacking, errors="ignore") for name, frame in context.tables.items()}
    html = render(dataclasses.replace(context, tables=tables, figures={}))
    assert "No table has comparisons." in section_of(html, "power")
