"""Tidy tables as bias, panel and drift return them, with planted effects and no simulation behind them."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from panel_tables import panel_tables

from voirdire.report.gallery import draw_all

MODELS = ("gpt_5", "o4_mini", "gpt_4_1_mini", "llama_3_3_70b", "llama_4_maverick", "deepseek_v3_2")
TASKS = ("gsm8k", "aime", "mbpp", "quality")
METRICS = ("accuracy", "fpr", "fnr", "bias", "balanced_accuracy")
Tables = dict[str, pd.DataFrame]


def make_tables(models: Sequence[str] = MODELS, tasks: Sequence[str] = TASKS, simulated: bool = True) -> Tables:
    """Every tidy table of a study whose models are listed from the best to the worst."""
    skill = {model: 0.95 - 0.07 * place for place, model in enumerate(models)}
    shift = {task: 0.06 * place for place, task in enumerate(tasks)} | {"all": 0.03 * (len(tasks) - 1)}
    study = _Study(list(models), list(tasks), skill, shift)
    tables = {
        "rates": study.rates(),
        "rates_by_examinee": study.rates_by_examinee(),
        "task_accuracy": study.task_accuracy(),
        "ledger": study.ledger(),
        "correlations": study.correlations(),
        "correlation_points": study.points(),
        "self_preference": study.self_preference(),
        "self_preference_summary": study.self_preference_summary(),
        "family_preference": study.family_preference(),
        "preference_model": study.preference_model(),
        "leniency": study.leniency(),
        "leniency_summary": study.leniency_summary(),
        "ablation_identity": study.identity(),
        "ablation_length": study.length(),
        "ablation_difficulty": study.difficulty(),
        "difficulty_curve": study.curve(),
        "ablation_template": study.templates(),
        "template_ranking": study.orders(),
        "trial_agreement": study.trials(),
        "ungraded": pd.DataFrame(columns=["task", "item_id", "examinee", "reason"]),
        "ensembles": study.ensembles(),
        "drift": study.weeks(),
        "drift_rates": study.drift_rates(),
        "prior_sweep": study.prior_sweep(),
        **panel_tables(study.models, study.tasks),
    }
    return {name: frame.assign(simulated=simulated) for name, frame in tables.items()}


class _Study:
    def __init__(self, models: list[str], tasks: list[str], skill: dict[str, float], shift: dict[str, float]):
        self.models, self.tasks, self.skill, self.shift = models, tasks, skill, shift
        self.pooled = [*tasks, "all"]

    def bias(self, judge: str, examinee: str, task: str) -> float:
        """Weak judges are lenient, strong examinees are let pass."""
        return 1.1 - 1.2 * self.skill[judge] + 0.5 * (self.skill[examinee] - 0.8) + self.shift[task]

    def _rates_row(self, bias: float, judge: str, examinee: str, task: str, skill: float) -> dict:
        n_wrong, n_right = 60, 140
        values = {"accuracy": skill, "fpr": bias + 0.05, "fnr": 0.05, "bias": bias, "balanced_accuracy": skill}
        row = {
            "condition": "blind",
            "task": task,
            "pooling": "task_mean" if task == "all" else "none",
            "judge": judge,
            "examinee": examinee,
            "reading": "main",
            "n_right": n_right,
            "n_wrong": n_wrong,
        }
        for metric, value in values.items():
            row |= {metric: value, f"{metric}_low": value - 0.03, f"{metric}_high": value + 0.03}
        return row | {"interval": "percentile", "n_dropped": 0, "silent": "", "seed": 0}

    def rates(self) -> pd.DataFrame:
        rows = []
        for task, judge in product(self.pooled, self.models):
            mean = float(np.mean([self.bias(judge, examinee, task) for examinee in self.models]))
            rows.append(self._rates_row(mean, judge, "all", task, self.skill[judge]))
        return pd.DataFrame(rows)

    def rates_by_examinee(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                self._rates_row(self.bias(judge, examinee, task), judge, examinee, task, self.skill[judge])
                for task, judge, examinee in product(self.pooled, self.models, self.models)
            ]
        )

    def task_accuracy(self) -> pd.DataFrame:
        rows = [
            {"task": task, "examinee": model, "n": 200, "n_right": round(200 * self.skill[model]), "n_not_ok": 0}
            | {"accuracy": self.skill[model], "accuracy_low": self.skill[model] - 0.03}
            | {"accuracy_high": self.skill[model] + 0.03, "accuracy_counting_not_ok_wrong": self.skill[model]}
            for task, model in product(self.pooled, self.models)
        ]
        return pd.DataFrame(rows)

    def ledger(self) -> pd.DataFrame:
        rows = []
        for task, judge, examinee in product(self.tasks, self.models, self.models):
            rows.append(
                {"stage": "verdict", "condition": "blind", "task": task, "judge": judge, "examinee": examinee}
                | {"n": 200, "not_judged": 2, "ok": 196, "unparsed": 2, "refused": 0, "truncated": 0}
                | {"empty": 0, "error": 0, "truth_missing": 0}
            )
        return pd.DataFrame(rows)

    def correlations(self) -> pd.DataFrame:
        pairs = {
            6: ("task_accuracy", "judge_accuracy", "judges", "examinee", 0.95),
            7: ("task_accuracy", "bias", "judges", "examinee", -0.93),
            8: ("judge_accuracy", "bias", "judges", "examinee", -0.9),
            9: ("examinee_accuracy", "bias_received", "examinees", "judge", 0.92),
        }
        rows = []
        for table, task, anchor in product(pairs, self.pooled, self.models):
            x, y, over, role, r = pairs[table]
            for self_point, left_out in [("with", ""), ("without", ""), *(("with", model) for model in self.models)]:
                rows.append(
                    {"table": table, "x": x, "y": y, "over": over, "anchor_role": role, "anchor": anchor}
                    | {"task": task, "self_point": self_point, "left_out": left_out, "r": r}
                    | {"n": len(self.models) - (self_point == "without" or left_out != "")}
                    | {"low": np.tanh(np.arctanh(r) - 1.13), "high": np.tanh(np.arctanh(r) + 1.13)}
                    | {"boot_low": r - 0.02, "boot_high": r + 0.02, "p": 0.0028, "reason": "", "note": ""}
                    | {"range_low": r - 0.1, "range_high": r + 0.04, "detectable": 0.9, "says": "difference"}
                )
        return pd.DataFrame(rows)

    def points(self) -> pd.DataFrame:
        rows = []
        for task, judge, examinee in product(self.pooled, self.models, self.models):
            y = self.bias(judge, examinee, task)
            for table, anchor, model in ((7, examinee, judge), (9, judge, examinee)):
                x = self.skill[model]
                rows.append({"table": table, "anchor": anchor, "task": task, "model": model, "x": x, "y": y})
                rows[-1]["is_self"] = judge == examinee
        return pd.DataFrame(rows)

    def _pairs(self) -> list[tuple[str, str]]:
        return [(judge, other) for judge, other in product(self.models, self.models) if judge != other]

    def self_preference(self) -> pd.DataFrame:
        effect = {"all": 0.12, "harmful": 0.15, "matched": 0.06, "same_answer": 0.06, "adjusted": 0.05}
        rows = []
        for task, (judge, other), version, rate in product(self.tasks, self._pairs(), effect, ("fpr", "fnr")):
            difference = effect[version] if rate == "fpr" else -0.01
            rows.append(
                {"task": task, "judge": judge, "other": other, "version": version, "rate": rate}
                | {"n_own": 60, "n_other": 60, "own": 0.4 + difference, "other_value": 0.4, "difference": difference}
                | {"low": difference - 0.05, "high": difference + 0.05, "p": 0.01, "p_holm": 0.04}
                | {"family": f"{task}, {rate}", "interval": "percentile", "reason": ""}
                | {"detectable": 0.18, "says": "undecided" if version == "matched" else "difference"}
            )
        return pd.DataFrame(rows)

    def self_preference_summary(self) -> pd.DataFrame:
        effect = {"all": 0.12, "harmful": 0.15, "matched": 0.06, "same_answer": 0.06, "adjusted": 0.05}
        rows = []
        for judge, version, rate in product([*self.models, "all"], effect, ("fpr", "fnr")):
            difference = effect[version] if rate == "fpr" else -0.01
            rows.append(
                {"judge": judge, "version": version, "rate": rate, "n_others": 5, "difference": difference}
                | {"low": difference - 0.05, "high": difference + 0.05, "interval": "percentile", "reason": ""}
                | {"supports_preference": judge == self.models[0], "sentence": f"{judge}: supported by the model."}
            )
        return pd.DataFrame(rows)

    def preference_model(self) -> pd.DataFrame:
        rows = [
            {"kind": "own model", "judge": judge, "n_own": 30, "n": 200, "n_clusters": 90, "log_odds": 0.7, "low": 0.2}
            | {"high": 1.2, "p": 0.01, "p_holm": 0.04, "family": "own model", "interval": "t (clustered)", "reason": ""}
            | {"detectable": 0.7, "says": "difference"}
            for judge in [*self.models, "all"]
        ]
        return pd.DataFrame(rows)

    def family_preference(self) -> pd.DataFrame:
        rows = [
            {"task": task, "judge": judge, "judge_family": f"family of {judge}", "version": version, "rate": rate}
            | {"n_own": 40, "n_other": 160, "own": 0.45, "other_value": 0.4, "difference": 0.05, "low": -0.02}
            | {"high": 0.12, "p": 0.1, "p_holm": 0.2, "family": f"{task} {rate} {version}", "interval": "percentile"}
            | {"reason": "", "n_dropped": 0, "detectable": 0.11, "says": "undecided"}
            | {"sentence": f"{judge}: no version supports preference for its family."}
            for task, judge, version, rate in product(
                self.pooled, [*self.models, "all"], ("all", "matched"), ("fpr", "fnr")
            )
        ]
        return pd.DataFrame(rows)

    def leniency(self) -> pd.DataFrame:
        terms = {
            "pooled": ("examinee_accuracy",),
            "matched": ("examinee_accuracy",),
            "conditional": ("examinee_accuracy", "log_length", "own_model", "own_family"),
            "logistic": ("examinee_accuracy", "difficulty", "log_length", "own_model", "own_family"),
        }
        effect = {"pooled": 0.3, "matched": 0.04, "conditional": 0.1, "logistic": 0.12}
        rows = []
        for task, method in product(self.pooled, terms):
            for judge, term in product([*self.models, "all"] if method == "matched" else ["all"], terms[method]):
                rows.append(
                    {"task": task, "method": method, "judge": judge, "term": term, "unit": "log-odds", "n": 1200}
                    | {"n_clusters": 90, "n_groups": 300, "estimate": effect[method], "low": effect[method] - 0.05}
                    | {"high": effect[method] + 0.05, "p": 0.002, "leave_out_low": effect[method] - 0.08}
                    | {"leave_out_high": effect[method] + 0.03, "fit": "maximum likelihood", "interval": "t"}
                    | {"reason": "", "detectable": 0.07, "says": "difference", "seed": 0}
                )
        return pd.DataFrame(rows)

    def leniency_summary(self) -> pd.DataFrame:
        said = "Over all tasks" if len(self.tasks) > 1 else "On the only task"
        rows = [
            {"task": task, "survives": "yes", "reason": ""}
            | {"sentence": f"{said if task == 'all' else task}: leniency towards stronger examinees survives."}
            for task in self.pooled
        ]
        return pd.DataFrame(rows)

    def curve(self) -> pd.DataFrame:
        rows = [
            {"task": task, "judge": judge, "share_right": share, "n_own": 12, "n_other": 50, "own": 0.6 - 0.2 * share}
            | {"other_value": 0.4, "gap": 0.2 * (1 - share), "low": 0.2 * (1 - share) - 0.1}
            | {"high": 0.2 * (1 - share) + 0.1, "interval": "delta", "fit": "logistic, quadratic", "reason": ""}
            for task, judge, share in product(self.pooled, [*self.models, "all"], (0.0, 0.25, 0.5, 0.75, 1.0))
        ]
        return pd.DataFrame(rows)

    def identity(self) -> pd.DataFrame:
        rows = []
        for label, task, judge, rate in product(
            ("elite", "author"), self.pooled, [*self.models, "all"], ("fpr", "fnr", "bias")
        ):
            difference = {"fpr": -0.05, "fnr": 0.01, "bias": -0.06}[rate] - (0.02 if label == "author" else 0)
            rows.append(
                {"label": label, "task": task, "judge": judge, "examinee": self.models[-1], "rate": rate}
                | {"n_pairs": 60, "blind": 0.4, "labelled": 0.4 + difference, "difference": difference}
                | {"low": difference - 0.03, "high": difference + 0.03, "p": 0.01, "p_holm": 0.03, "reason": ""}
                | {"detectable": 0.07, "says": "difference"}
            )
        return pd.DataFrame(rows)

    def templates(self) -> pd.DataFrame:
        rows = self.identity().rename(columns={"label": "template", "blind": "main", "labelled": "other"})
        return rows.assign(template=rows["template"].map({"elite": "reason", "author": "rubric"}))

    def orders(self) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {"template": template, "task": task, "measure": measure, "n_judges": len(self.models), "tau": 0.6}
                | {
                    "low": 0.2,
                    "high": 0.9,
                    "unmoved": 0.8,
                    "unmoved_low": 0.7,
                    "n_reversed": 0,
                    "reversed": "",
                    "reason": "",
                }
                | {"first_main": self.models[0], "first_other": ""}
                for template, task, measure in product(("reason", "rubric"), self.pooled, ("accuracy", "fpr"))
            ]
        )

    def trials(self) -> pd.DataFrame:
        rows = [
            {"condition": "blind", "task": task, "judge": judge, "responses": "all", "n_calls": 90, "n_left_out": 1}
            | {"mean_trials": 2.9, "agreement": 0.9, "low": 0.85, "high": 0.95, "unanimous": 0.87, "reason": ""}
            | {"kappa": 0.7, "kappa_low": 0.6, "kappa_high": 0.8}
            for task, judge in product(self.tasks, self.models)
        ]
        return pd.DataFrame(rows)

    def length(self) -> pd.DataFrame:
        rows = [
            {"task": task, "judge": judge, "n_accepted": 80, "n_rejected": 120, "mean_chars_accepted": 420.0}
            | {"mean_chars_rejected": 410.0, "d": 0.05, "low": -0.1, "high": 0.19, "equivalent": "yes", "reason": ""}
            | {"detectable": 0.3, "says": "no difference beyond 0.2"}
            for task, judge in product(self.tasks, self.models)
        ]
        return pd.DataFrame(rows)

    def difficulty(self) -> pd.DataFrame:
        gap = {"hard": 0.18, "medium": 0.25, "easy": 0.3}
        rows = [
            {
                "task": task,
                "judge": judge,
                "bin": bin_,
                "n_items": 40,
                "n_own": 30,
                "n_other": 120,
                "own": 0.4 + gap[bin_],
            }
            | {"other_value": 0.4, "gap": gap[bin_], "low": gap[bin_] - 0.1, "high": gap[bin_] + 0.1, "reason": ""}
            | {"detectable": 0.2, "says": "difference"}
            for task, judge, bin_ in product(self.tasks, [*self.models, "all"], gap)
        ]
        return pd.DataFrame(rows)

    def ensembles(self) -> pd.DataFrame:
        rows = []
        for task, model, metric in product(self.pooled, self.models, ("accuracy", "fpr", "fnr", "bias")):
            own = {"accuracy": self.skill[model] - 0.1, "fpr": 0.45, "fnr": 0.05, "bias": 0.4}[metric]
            gain = {"accuracy": 0.08, "fpr": -0.18, "fnr": 0.01, "bias": -0.19}[metric]
            rows.append(
                {"task": task, "examinee": model, "metric": metric, "n": 200, "n_right": 140, "n_wrong": 60}
                | {"majority": own + gain, "majority_low": own + gain - 0.03, "majority_high": own + gain + 0.03}
                | {"self_judge": own, "self_judge_low": own - 0.04, "self_judge_high": own + 0.04, "difference": gain}
                | {"difference_low": gain - 0.02, "difference_high": gain + 0.02, "n_ties": 3, "n_abstain": 0}
                | {"n_voters": 5.0, "reason": ""}
            )
        return pd.DataFrame(rows)

    def weeks(self) -> pd.DataFrame:
        plain = {"majority": 0.87, "mean_single": 0.82, "best_single_hindsight": 0.91, "best_single_labels": 0.9}
        weighted = {"oracle": 0.94, "bayesian": 0.93, "stratified": 0.932, "disagreement": 0.938}
        lines = [(rule, "", "", accuracy) for rule, accuracy in plain.items()]
        lines += [("wmv", e, weights, a) for (e, a), weights in product(weighted.items(), ("linear", "log_odds"))]
        rows = []
        for week, (rule, estimator, weights, accuracy) in product(range(13), lines):
            value = accuracy - 0.006 * max(week - 1, 0)
            rows.append(
                {"week": week, "rule": rule, "estimator": estimator, "weights": weights, "n_seeds": 200}
                | {"accuracy": value, "low": value - 0.02, "high": value + 0.02, "fpr": 0.2, "fnr": 0.05}
                | {"difference_to_oracle": accuracy - 0.94, "difference_low": accuracy - 0.942}
                | {"difference_high": accuracy - 0.938}
            )
            for baseline in ("majority", "mean_single"):
                stem, gain = f"difference_to_{baseline}", accuracy - plain[baseline]
                rows[-1] |= {stem: gain, f"{stem}_low": gain - 0.01, f"{stem}_high": gain + 0.01}
        return pd.DataFrame(rows)

    def drift_rates(self) -> pd.DataFrame:
        error = {"oracle": 0.0, "bayesian": 0.03, "stratified": 0.025, "disagreement": 0.02}
        rows = []
        for week, estimator, judge, rate in product(range(13), error, [*self.models, "mean"], ("fpr", "fnr")):
            truth = (0.2 + 0.02 * week + 0.05 * (self.models.index(judge) if judge != "mean" else 2)) / 2
            estimate = truth + error[estimator]
            rows.append(
                {"week": week, "estimator": estimator, "judge": judge, "rate": rate, "estimate": estimate}
                | {"low": estimate - 0.03, "high": estimate + 0.03, "truth": truth, "abs_error": error[estimator]}
                | {"abs_error_low": error[estimator] - 0.005, "abs_error_high": error[estimator] + 0.005}
            )
        return pd.DataFrame(rows)

    def prior_sweep(self) -> pd.DataFrame:
        rows = []
        for fpr, fnr, strength in product((0.1, 0.2, 0.4, 0.6), (0.05, 0.1, 0.2, 0.4), (1, 5, 10, 20, 50)):
            accuracy = 0.93 - 0.02 * abs(fpr - 0.4)
            rows.append(
                {"prior_fpr": fpr, "prior_fnr": fnr, "strength": strength, "accuracy": accuracy}
                | {"low": accuracy - 0.01, "high": accuracy + 0.01, "majority": 0.87, "difference": accuracy - 0.87}
                | {"difference_low": accuracy - 0.88, "difference_high": accuracy - 0.86}
                | {"is_default": (fpr, fnr, strength) == (0.4, 0.2, 10)}
            )
        return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def make() -> Callable[..., Tables]:
    return make_tables


@pytest.fixture(scope="session")
def tables() -> Tables:
    return make_tables()


def one_judge(tables: Tables, judge: str, examinee: str) -> Tables:
    """The same tables where that judge alone judges that examinee alone."""
    kept = {}
    for name, frame in tables.items():
        if "judge" in frame:
            frame = frame[frame["judge"].isin([judge, "all", "mean"])]
        if "examinee" in frame and name != "task_accuracy":
            frame = frame[frame["examinee"].isin([examinee, "all"])]
        kept[name] = frame
    return kept


def nothing_right(tables: Tables) -> Tables:
    """The same tables where no response is right, and every judge calls every response correct."""
    rates = {"n_right": 0, "n_wrong": 12}
    rates |= {f"accuracy{end}": value for end, value in (("", 0.0), ("_low", 0.0), ("_high", 0.25))}
    rates |= {f"fpr{end}": value for end, value in (("", 1.0), ("_low", 0.75), ("_high", 1.0))}
    rates |= {f"{metric}{end}": np.nan for metric in ("fnr", "bias") for end in ("", "_low", "_high")}
    one = tables["self_preference"].assign(difference=0.0, low=-0.3, high=0.3, n_own=8)
    panel = tables["ensembles"].copy()
    for metric, value, low, high in (("accuracy", 0.0, 0.0, 0.25), ("fpr", 1.0, 0.75, 1.0)):
        shares = {"": value, "_low": low, "_high": high}
        same = {f"{who}{end}": share for who in ("majority", "self_judge") for end, share in shares.items()}
        panel.loc[panel["metric"] == metric, list(same)] = list(same.values())
    return tables | {
        "rates": tables["rates"].assign(**rates),
        "rates_by_examinee": tables["rates_by_examinee"].assign(**rates),
        "correlation_points": tables["correlation_points"].assign(x=0.0, y=np.nan),
        "self_preference": pd.concat([one, one.assign(task="all")], ignore_index=True),
        "ensembles": panel,
    }


LONG = ("azure/a-deployment-with-a-very-long-name-2026", "another-deployment-with-a-very-long-name-2026")
SMALLEST = {
    "one model": lambda: make_tables(("alpha",), ("gsm8k",)),
    "one judge, another examinee": lambda: one_judge(make_tables(("alpha", "beta"), ("gsm8k",)), "alpha", "beta"),
    "one pair": lambda: make_tables(("alpha", "beta"), ("gsm8k",)),
    "long names": lambda: make_tables(LONG, ("gsm8k",)),
    "nothing right": lambda: nothing_right(make_tables(("smollm2_greedy", "smollm2_drawn"), ("gsm8k",))),
}


@pytest.fixture(scope="session")
def hopeless() -> Tables:
    return SMALLEST["nothing right"]()


@pytest.fixture(scope="session", params=SMALLEST)
def smallest(request: pytest.FixtureRequest) -> Tables:
    """Studies of one task with as few models as there can be."""
    return SMALLEST[request.param]()


@pytest.fixture(scope="session")
def smallest_drawn(smallest: Tables) -> dict[str, Figure]:
    return dict(draw_all(smallest, ["gsm8k"], simulated=True))


SMALL = ("gsm8k", "aime")


@pytest.fixture(scope="session")
def small() -> Tables:
    """Three models, two tasks."""
    return make_tables(("alpha", "beta", "gamma"), SMALL)


@pytest.fixture(scope="session")
def drawn(small: Tables) -> dict[str, Figure]:
    """Every figure of the small study, drawn once: that takes seconds."""
    return dict(draw_all(small, SMALL, simulated=True))


def without_rows(tables: Tables) -> Tables:
    return {name: frame.iloc[:0] for name, frame in tables.items()}


@pytest.fixture(scope="session")
def empty_tables(tables: Tables) -> Tables:
    """Every table with its columns and no row, as a study without a diagonal has some."""
    return without_rows(tables)
