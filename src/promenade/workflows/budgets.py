"""Confirm charges budgets, exactly and never beyond their total (pricing semantics, section 8; B1-B3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from promenade.engine.money import minor_digits
from promenade.events import BudgetExhausted, BudgetThresholdReached
from promenade.store import budgets as store
from promenade.store.budgets import Consumption, Drawn
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.confirm_rules import SaleIdentity, Settlement, money
from promenade.workflows.context import Context
from promenade.workflows.returns import BudgetCharge

__all__ = ["BudgetMove", "charge_budgets", "charges_of", "moves_of"]

RUNNING = ("ACTIVE", "SCHEDULED")  # one that is scheduled runs from its validFrom on, whether it was moved or not


@dataclass(frozen=True, slots=True)
class BudgetMove:
    """What one transaction does to one budget for one promotion, in major units."""

    budget_id: str
    promotion_id: str
    wanted: Decimal
    given_back: Decimal


def charges_of(settlement: Settlement, currency: str) -> tuple[BudgetCharge, ...]:
    """What a confirm asks of budgets: every linked budget is charged in full."""
    return tuple(
        BudgetCharge(budget_id, promotion.applied.promotion_id, promotion.booked_minor, currency)
        for promotion in settlement.promotions
        if promotion.booked_minor > 0
        for budget_id in promotion.applied.budget_ids
    )


def moves_of(charges: Iterable[BudgetCharge], given_back: Iterable[BudgetCharge]) -> tuple[BudgetMove, ...]:
    """Both directions as one move per budget and promotion.

    Budgets are in the order that all confirms share; of one budget, what comes back goes before what is taken.
    """
    nothing = Decimal(0)
    wanted: dict[tuple[str, str], Decimal] = {}
    back: dict[tuple[str, str], Decimal] = {}
    for found, source in ((wanted, charges), (back, given_back)):
        for one in source:
            key = (one.budget_id, one.promotion_id)
            found[key] = found.get(key, nothing) + money(one.amount_minor, minor_digits(one.currency))
    moves = [BudgetMove(*key, wanted.get(key, nothing), back.get(key, nothing)) for key in wanted | back]
    moves.sort(key=lambda move: (move.budget_id, move.wanted - move.given_back, move.promotion_id))
    return tuple(moves)


async def charge_budgets(context: Context, session: Session, moves: Sequence[BudgetMove], sale: SaleIdentity) -> None:
    """Carry out the moves and record them; the last thing a confirm does, so that a budget is held only briefly.

    Where less is left than was granted, what is left is taken, the rest is recorded as uncovered, and the sale stands.
    """
    consumptions: list[Consumption] = []
    for move in moves:
        drawn = await store.draw(session, move.budget_id, move.wanted, move.given_back)
        if drawn is None:
            continue
        await _follow(context, session, move, drawn, sale)
        consumptions.append(
            Consumption(
                id=context.new_id(),
                budget_id=move.budget_id,
                promotion_id=move.promotion_id,
                amount=drawn.taken - move.given_back,
                uncovered=move.wanted - drawn.taken,
                currency=drawn.currency,
            )
        )
    await store.insert_consumptions(
        session,
        consumptions,
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        at=sale.confirmed_at,
    )


async def _follow(context: Context, session: Session, move: BudgetMove, drawn: Drawn, sale: SaleIdentity) -> None:
    """Move the budget's status after a draw, and tell. INVARIANT: one BUDGET_EXHAUSTED per move to EXHAUSTED."""
    for threshold in await store.reach_thresholds(session, move.budget_id, drawn, sale.at):
        reached = BudgetThresholdReached(
            budget_id=move.budget_id,
            budget_name=drawn.name,
            total_amount=drawn.total,
            consumed_amount=drawn.consumed,
            currency=drawn.currency,
            threshold_percentage=threshold,
        )
        await emit(session, reached, event_id=context.new_id(), at=sale.at)
    if drawn.left <= Decimal(0):
        if drawn.status in RUNNING and await store.move_status(session, move.budget_id, drawn.status, "EXHAUSTED"):
            exhausted = BudgetExhausted(
                budget_id=move.budget_id,
                budget_name=drawn.name,
                total_amount=drawn.total,
                consumed_amount=drawn.consumed,
                currency=drawn.currency,
            )
            await emit(session, exhausted, event_id=context.new_id(), at=sale.at)
    elif drawn.status == "EXHAUSTED" and move.given_back:
        # What a return gives back can be spent again, as after a recharge.
        await store.move_status(session, move.budget_id, "EXHAUSTED", "ACTIVE")
