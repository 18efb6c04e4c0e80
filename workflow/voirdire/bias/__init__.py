"""Which judges are lenient, with whom, and whether skill, identity, length or difficulty explains it.

Where a question is answered (`name*`: also the modules that begin so, which it is made of):

  What became of every call, and what can't be said?     ledger, absent; checks, rows: what verdicts may look like
  How often do judges err, which way, examinees too?     rates, from counts
  Are the capable lenient, or treated leniently?         correlations
  Stronger examinees: is it leniency or difficulty?      leniency*, one module per method; leniency_summary answers
  Do judges prefer themselves, or their family?          self_preference*, family_preference, from preference*
  Do own errors pass on hard items only?                 ablation_difficulty in bins, difficulty_curve (curve_fit)
  Does a label, a template or the length change it?      ablation_identity, ablation_template (paired); ablation_length
  Do templates rank judges alike, do trials agree?       template_ranking, trial_agreement
  How are two rates compared, and pooled?                contrast; pooling: over tasks; dependent: over judges
  What does a comparison say, what could it have shown?  power
"""

from voirdire.bias.ablation_difficulty import ablation_difficulty
from voirdire.bias.ablation_identity import ablation_identity
from voirdire.bias.ablation_length import ablation_length
from voirdire.bias.ablation_template import ablation_template
from voirdire.bias.absent import explain_absent
from voirdire.bias.correlations import correlation_points, correlations
from voirdire.bias.difficulty_curve import difficulty_curve
from voirdire.bias.family_preference import family_preference
from voirdire.bias.ledger import ledger
from voirdire.bias.leniency import leniency
from voirdire.bias.leniency_summary import leniency_summary
from voirdire.bias.preference_model import preference_model
from voirdire.bias.preference_tables import preference_tables
from voirdire.bias.rates import rates, rates_by_examinee, task_accuracy
from voirdire.bias.self_preference import self_preference
from voirdire.bias.self_preference_summary import self_preference_summary
from voirdire.bias.template_ranking import template_ranking
from voirdire.bias.trial_agreement import trial_agreement

__all__ = [
    "ablation_difficulty",
    "ablation_identity",
    "ablation_length",
    "ablation_template",
    "correlation_points",
    "correlations",
    "difficulty_curve",
    "explain_absent",
    "family_preference",
    "ledger",
    "leniency",
    "leniency_summary",
    "preference_model",
    "preference_tables",
    "rates",
    "rates_by_examinee",
    "self_preference",
    "self_preference_summary",
    "task_accuracy",
    "template_ranking",
    "trial_agreement",
]
