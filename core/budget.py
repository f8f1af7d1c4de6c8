"""The ledger: the one place where what a run spends is counted and checked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.errors import BudgetExhausted
from core.types import Budgets, Usage

LIMITED = ("calls", "tokens", "rounds", "actions", "cost")


@dataclass(slots=True)
class Ledger:
    """What a run has spent against its budgets.

    It belongs to one run and one thread. ``reserve`` sets aside what the answer will need, so
    that nothing else can spend it; ``release`` frees it when the answer is asked for.
    """

    budgets: Budgets = field(default_factory=Budgets)
    monotonic: Callable[[], float] = time.monotonic
    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITED, 0.0))
    reserved: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITED, 0.0))
    started: float = 0.0
    carried_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.started = self.monotonic()

    def seconds(self) -> float:
        """Wall time since the run started, in seconds; a resumed run counts on from before."""
        return self.carried_seconds + max(0.0, self.monotonic() - self.started)

    def left(self, resource: str) -> float:
        """What may still be spent of a resource, reservations set aside; infinite if unlimited."""
        if resource == "seconds":
            limit = self.budgets.seconds
            return float("inf") if limit is None else limit - self.seconds()
        limit = getattr(self.budgets, resource)
        if limit is None:
            return float("inf")
        return float(limit) - self.spent[resource] - self.reserved[resource]

    def fits(self, **needs: float) -> bool:
        """Whether a step with these needs fits what is left."""
        return self.left("seconds") > 0 and all(self.left(r) >= n for r, n in needs.items())

    def require(self, *, stage: str = "", **needs: float) -> None:
        """Check a step before it is taken.

        Raises:
            BudgetExhausted: it does not fit; names the resource, the need and what is left.
        """
        if self.left("seconds") <= 0:
            raise BudgetExhausted("seconds", 0, 0, stage=stage)
        for resource, need in needs.items():
            if self.left(resource) < need:
                raise BudgetExhausted(resource, need, max(0.0, self.left(resource)), stage=stage)

    def charge(self, **amounts: float) -> None:
        """Count what a step took."""
        for resource, amount in amounts.items():
            if amount < 0:
                raise ValueError(f"a charge of {amount} {resource}")
            self.spent[resource] += amount

    def reserve(self, **needs: float) -> None:
        """Set aside what the answer call needs; replaces an earlier reservation."""
        self.release()
        for resource, need in needs.items():
            self.reserved[resource] = need

    def release(self) -> None:
        """Free the reservation, for the step it was made for."""
        self.reserved = dict.fromkeys(LIMITED, 0.0)

    def usage(self) -> Usage:
        """What was spent so far."""
        return Usage(
            calls=int(self.spent["calls"]),
            tokens=int(self.spent["tokens"]),
            rounds=int(self.spent["rounds"]),
            actions=int(self.spent["actions"]),
            cost=round(self.spent["cost"], 9),
            seconds=round(self.seconds(), 6),
        )
