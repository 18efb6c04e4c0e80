"""A study's budget for batches: as much goes out at once as there is money for."""

import itertools
from collections.abc import Sequence

from voirdire.models.pricing import dollars
from voirdire.models.turns import BudgetSpentError, Turns


class BatchTurns(Turns):
    """One job's batches among the study's jobs.

    Batches have limits of their own at the provider, so the endpoint's don't count here, nor do they count there.
    """

    def reserve(self, costs: Sequence[float], submitted: bool = False) -> int:
        """Reserve money for the first of some calls, as many as the budget has room for; how many that are.

        costs : dollars that each costs at most. submitted : they are under way already, and cost what they cost.
        Raises BudgetSpentError where not even one has room, and nothing is under way that could turn out cheaper than
        feared.
        """
        count = len(costs)
        with self._shared.change() as state:
            self._settle(state)
            budget = self.limits.budget_usd
            if budget is not None and not submitted:
                spent = self._all_spent(state)
                reserved = sum(job["reserved_usd"] for job in state["jobs"].values())
                count = sum(cost <= max(0.0, budget - spent - reserved) for cost in itertools.accumulate(costs))
                if count == 0 and reserved <= 0:
                    raise BudgetSpentError(
                        f"budget_usd: {dollars(spent)} of {dollars(budget)} is spent, "
                        f"and the next call may cost up to {dollars(costs[0])}"
                    )
            self._reserved += sum(costs[:count])
            state["jobs"][self._id] = self._line(self.now())
        return count

    def release(self, reserved: float) -> None:
        """Give back what was reserved; others see it within a heartbeat."""
        left = self._reserved - reserved
        # What floating point leaves of nothing must not keep others waiting.
        self._reserved = left if left > 1e-9 else 0.0

    def spend(self, cost_usd: float, has_answered: bool) -> None:
        """Count a result that is in the journal; its reservation lasts until the whole batch has ended."""
        self._spent += cost_usd
        self._answered += has_answered
