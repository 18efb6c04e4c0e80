"""How a job of the study calls a real model, and the columns that its answers leave."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voirdire.errors import UserError
from voirdire.models import ALONE, Answer, Call, Limits, ModelSpec
from voirdire.study.matrix import canonical


@dataclass(frozen=True)
class Calling:
    """How one job's calls are made.

    Parameters
    ----------
    journal : the file that keeps every answer.
    limits : how hard the model may be asked.
    accept_errors : share of failed calls to live with.
    """

    journal: str = ""
    limits: Limits = ALONE
    accept_errors: float = 0.0

    def ask(self, spec: ModelSpec, calls: Sequence[Call]) -> Mapping[str, Answer]:
        """Make the calls that the journal has no answer to, and return all answers by the calls' ids.

        Raises UserError where more than the accepted share has failed: the answers are in the journal, so the next run
        asks only for the failed ones.
        """
        # Not at the top: simulated jobs are many, and do without.
        from voirdire.models.client import complete
        from voirdire.models.jobs import job_name
        from voirdire.models.progress import Meter

        load_environment()
        with Meter(job_name(self.journal, self.limits.shared), len(calls)) as meter:
            answers = complete(spec, calls, self.journal, self.limits, meter)
        failed = [answer.error for answer in answers.values() if answer.status == "error"]
        if failed:
            message = f"{spec.name}: {len(failed)} of {len(calls)} calls failed (first {failed[0]})"
            # Not a product: .29 * 100 is a little less than 29.
            if len(failed) / len(calls) > self.accept_errors:
                raise UserError(
                    f"{message}; the other answers are kept, run again to ask for the failed ones alone, "
                    "or raise accept_errors in the configuration to go on without them"
                )
            print(message, file=sys.stderr)
        return answers


# Of simulated and recorded models.
NO_CALLS = Calling()


def load_environment() -> None:
    """Take what .env holds into the environment: keys, and endpoints, which are part of what a call is known by.

    Raises UserError where the file can't be read.
    """
    # Not at the top: python-dotenv comes with the study extra, which simulated and recorded models do without.
    from dotenv import load_dotenv

    try:
        load_dotenv(Path(".env"))
    except (OSError, ValueError) as error:
        raise UserError(f".env: can't be read ({error}); it holds lines NAME=value, as UTF-8 text") from None


def call_columns(answer: Answer) -> dict[str, Any]:
    """The columns that say how a call went."""
    return {
        "status": answer.status,
        "finish_reason": answer.finish_reason,
        "sent": canonical(answer.sent),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "cost_usd": answer.cost_usd,
        "latency_s": answer.latency_s,
        "resolved_model": answer.resolved_model,
        "request_key": answer.key,
    }
