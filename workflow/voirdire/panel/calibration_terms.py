"""What votes tell of a response, as terms of the calibrations: D, S, and the judges' votes.

See `voirdire.panel.calibration`. First axes are streams; votes are (responses, judges) for all of them, or (streams,
responses, judges).
"""

from dataclasses import dataclass

import numpy as np

from voirdire.panel.dawid_skene import fit, posterior_logit
from voirdire.panel.votes import FloatArray, split
from voirdire.stats.arrays import ratio

# Dawid-Skene's posteriors claim more than any panel has kept; beyond these log-odds (1e-4) they say nothing.
_SUREST = float(np.log(0.9999 / 0.0001))
# S spans ±3, about as many log-odds as a near-unanimous panel deserves.
_SHARE_SPAN = 6.0


@dataclass(frozen=True)
class Terms:
    """common: (streams, responses, 3), which are 1, D and S; signed: (streams, responses, judges), centred ±1 votes."""

    common: FloatArray
    signed: FloatArray


@dataclass(frozen=True)
class Seen:
    """What verdicts alone have shown of the judges.

    fpr, fnr (streams, judges) and prevalence (streams,): by Dawid and Skene's model; scale (streams,): the standard
    deviation of its log-odds over responses, at least 1; centre (streams, judges): each judge's mean vote, as ±1.
    """

    fpr: FloatArray
    fnr: FloatArray
    prevalence: FloatArray
    scale: FloatArray
    centre: FloatArray

    @classmethod
    def of(cls, votes: FloatArray, total: FloatArray) -> "Seen":
        """From votes and how often each row occurred, total (streams, responses)."""
        # Streams that differ in nothing but labels are fitted once.
        same = votes.ndim == 2 and len(total) > 1 and bool((total == total[0]).all())
        counts = total[:1] if same else total
        fitted = fit(votes, counts)
        share = ratio(counts, counts.sum(axis=-1, keepdims=True))
        share = np.where(np.isnan(share), 0.0, share)
        logit = _logit(votes, fitted.fpr, fitted.fnr, fitted.prevalence)
        deviation = logit - (share * logit).sum(axis=-1, keepdims=True)
        scale = np.maximum(np.sqrt((share * deviation**2).sum(axis=-1)), 1.0)
        centre = ratio(fitted.n_correct - fitted.n_incorrect, fitted.n_correct + fitted.n_incorrect)
        found = fitted.fpr, fitted.fnr, fitted.prevalence, scale, np.where(np.isnan(centre), 0.0, centre)
        return cls(*(np.broadcast_to(each, (len(total), *each.shape[1:])) for each in found))

    def __getitem__(self, streams: slice) -> "Seen":
        return Seen(*(values[streams] for values in vars(self).values()))

    def terms(self, votes: FloatArray) -> Terms:
        """The terms of responses with these votes; a missing vote is 0, as if the judge had voted as on average."""
        correct, incorrect = split(votes)
        cast = correct + incorrect
        logit = _logit(votes, self.fpr, self.fnr, self.prevalence) / self.scale[:, None]
        share = ratio(correct.sum(axis=-1), cast.sum(axis=-1)) - 0.5
        share = np.broadcast_to(np.where(np.isnan(share), 0.0, _SHARE_SPAN * share), logit.shape)
        signed = correct - incorrect - cast * self.centre[:, None, :]
        return Terms(np.stack([np.ones(logit.shape), logit, share], axis=-1), signed)


def _logit(votes: FloatArray, fpr: FloatArray, fnr: FloatArray, prevalence: FloatArray) -> FloatArray:
    logit: FloatArray = np.clip(posterior_logit(votes, fpr, fnr, prevalence), -_SUREST, _SUREST)
    return logit
