"""The status of a budget, derived from its amounts, and its events: one rule for sales, authors and the clock.

A running budget with nothing left becomes EXHAUSTED, whatever used it up: a sale, a lower total, a contribution that is
withdrawn, its own activation. Amounts granted to stores and not yet spent count as left. Less than one minor unit of
its currency counts as nothing: no discount can be paid with it. INVARIANT: one BUDGET_EXHAUSTED for each commit that
leaves a budget newly EXHAUSTED (B3), and one BUDGET_THRESHOLD_REACHED for each that raises its use from below a
threshold to it or beyond, or sets a threshold that its use has reached already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType

from promenade.events import BudgetExhausted, BudgetThresholdReached, Event
from promenade.store.budgets import charges as budgets
from promenade.store.budgets.charges import Use
from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import emit_all


@dataclass(frozen=True, slots=True)
class BudgetChange:
    """A budget before and after one unit of work. ``was`` None: it is new; amounts are in major units."""

    budget_id: str
    name: str
    currency: str
    was: str | None
    status: str
    before: Use
    after: Use


def runs(status: str, valid_from: datetime | None, at: datetime) -> bool:
    """Return whether a budget is running: a SCHEDULED one runs from its validFrom on, before its status is updated."""
    return status == "ACTIVE" or (status == "SCHEDULED" and (valid_from is None or valid_from <= at))


async def emit_changes(
    session: Session,
    changes: Sequence[BudgetChange],
    at: datetime,
    new_id: Callable[[], str],
    *,
    new_thresholds: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Emit the events of budgets and mark the notifications whose thresholds were reached.

    ``new_thresholds`` are BudgetNotifications of this unit of work, each with its budget, which is among ``changes``.
    One that is reached already is told too.
    """
    watched = set(new_thresholds.values())
    rising = {
        one.budget_id: (one.before, one.after)
        for one in changes
        if one.budget_id in watched or one.after.rises_from(one.before)
    }
    reached = await budgets.reach_thresholds(session, rising, at, new=new_thresholds) if rising else {}
    events = [event for change in changes for event in _events(change, reached)]
    if events:
        await emit_all(session, events, new_id=new_id, at=at)


def _events(change: BudgetChange, reached: Mapping[str, Sequence[Decimal]]) -> list[Event]:
    events: list[Event] = [
        BudgetThresholdReached(
            budget_id=change.budget_id,
            budget_name=change.name,
            total_amount=change.after.total,
            consumed_amount=change.after.consumed,
            currency=change.currency,
            threshold_percentage=percentage,
        )
        for percentage in reached.get(change.budget_id, ())
    ]
    if change.status == "EXHAUSTED" != change.was:
        events.append(
            BudgetExhausted(
                budget_id=change.budget_id,
                budget_name=change.name,
                total_amount=change.after.total,
                consumed_amount=change.after.consumed,
                currency=change.currency,
            )
        )
    return events
