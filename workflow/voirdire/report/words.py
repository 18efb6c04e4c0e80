"""What the words in the heads of the report's tables mean."""

_BOTH_WAYS = "the rate if all calls that are not ok had said incorrect, and if all had said correct"
WORDS = {
    "not ok": "calls without a usable verdict (refused, cut off, unreadable, …); they enter no rate",
    "not judged": "responses that were not ok and so were never shown to the judge",
    "truth missing": "responses that could not be graded",
    "n right": "verdicts on right responses, every trial counted",
    "n wrong": "verdicts on wrong responses, every trial counted",
    "FPR, not ok read either way": _BOTH_WAYS,
    "FNR, not ok read either way": _BOTH_WAYS,
    "accuracy, not ok as wrong": "the share right if responses that are not ok are counted as wrong",
    "share of other models right": "of the models that neither judge nor answer: how easy the question is",
    "n other families'": "wrong responses of other families' models",
    "self point": "whether the model that is both judge and examinee is among the points",
    "r (Fisher)": "Pearson's r with Fisher's interval: how far it would carry over to other models",
    "r (items)": "the same r with a bootstrap interval over questions",
    "without any one model": "the smallest and the largest r when any one model is left out",
    "without any one examinee": "the smallest and the largest estimate when any one examinee is left out",
    "effect of a more accurate author": "odds: what the odds that a wrong response is accepted are multiplied by per "
    "10 points of its author's accuracy; points: share accepted of the more accurate author less the other one's",
    "questions": "different questions that the verdicts are on",
    "p (Holm)": "p after Holm's correction over the comparisons of its family",
    "says": "difference: the interval excludes none; no difference beyond M: it lies within ± M; undecided: neither, "
    "and the smallest true effect that four of five such studies show; nothing: too few responses to show any",
    "others": "other models that the judge is compared with",
    "n own": "the judge's own wrong responses",
    "n other": "the other model's wrong responses",
    "|d| < 0.2": "whether the whole interval lies within ± 0.2, so that length cannot matter",
    "odds ratio per doubling of length": "by the conditional model, judges together: how much larger the odds of "
    "accepting a wrong response are if it is twice as long, judge, question, accuracy and authorship being equal",
    "ties": "responses on which as many judges said correct as incorrect",
    "abstained": "responses with too few votes",
    "tau": "Kendall's tau between the orders of the judges: 1 the same, −1 reversed",
    "by chance alone": "tau between two runs of the same template, from resampling the questions",
    "its lower end": "the lower end of tau's range by chance alone",
    "all agree": "share of responses on which all trials agree",
    "survives": "whether stronger examinees' errors are accepted more often with difficulty held equal",
    "fit": "penalised (Firth): verdicts were separated, so that plain likelihood has no maximum",
    "oracle": "the true error rates under the week's task mix",
}
_SPOKEN = {"dawid_skene": "Dawid-Skene", "log_odds": "log-odds"}


def spoken(code: str) -> str:
    """An estimator's, weight's or rule's code as people write it.

    >>> spoken("dawid_skene"), spoken("minority_veto")
    ('Dawid-Skene', 'minority veto')
    """
    return _SPOKEN.get(code, code.replace("_", " "))
