"""Which judges are lenient, with whom, and whether skill, identity, length or difficulty explains it."""

from voirdire.bias.absent import explain_absent
from voirdire.bias.correlations import correlation_points, correlations
from voirdire.bias.ledger import ledger
from voirdire.bias.rates import rates, rates_by_examinee, task_accuracy

__all__ = [
    "correlation_points",
    "correlations",
    "explain_absent",
    "ledger",
    "rates",
    "rates_by_examinee",
    "task_accuracy",
]
