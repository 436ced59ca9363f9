"""Charging of budgets by confirms, exactly and never beyond their total (pricing semantics, section 8; B1-B3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from promenade.engine.money import minor_digits
from promenade.store.authoring.trail import Action, Subject, change_of, changes_text, trail_entry, write_trail
from promenade.store.budgets import charges as store
from promenade.store.budgets.charges import BudgetDraw, Consumption, is_used_up
from promenade.store.driver.unit import Session
from promenade.workflows.budgets.states import BudgetChange, emit_changes, runs
from promenade.workflows.context import Context
from promenade.workflows.settlement.returns import BudgetCharge
from promenade.workflows.settlement.rules import SaleIdentity, Settlement, money

_SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class BudgetMove:
    """The effect of one transaction on one budget for one promotion, in major units.

    ``uncovered``: the uncovered part of a cancelled sale's discount, which is taken back too.
    """

    budget_id: str
    promotion_id: str
    currency: str
    wanted: Decimal
    given_back: Decimal
    uncovered: Decimal = Decimal(0)


def charges_of(settlement: Settlement, currency: str) -> tuple[BudgetCharge, ...]:
    """Return what a confirm charges to budgets: every linked budget is charged in full."""
    return tuple(
        BudgetCharge(budget_id, promotion.applied.promotion_id, promotion.booked_minor, currency)
        for promotion in settlement.promotions
        if promotion.booked_minor > 0
        for budget_id in promotion.applied.budget_ids
    )


def moves_of(charges: Iterable[BudgetCharge], given_back: Iterable[BudgetCharge]) -> tuple[BudgetMove, ...]:
    """Combine both directions into one move per budget and promotion.

    Budgets are in the lock order of all confirms; within a budget, returned amounts come before charges.
    """
    nothing = Decimal(0)
    wanted: dict[tuple[str, str, str], Decimal] = {}
    back: dict[tuple[str, str, str], Decimal] = {}
    for found, source in ((wanted, charges), (back, given_back)):
        for one in source:
            key = (one.budget_id, one.promotion_id, one.currency)
            found[key] = found.get(key, nothing) + money(one.amount_minor, minor_digits(one.currency))
    moves = [BudgetMove(*key, wanted.get(key, nothing), back.get(key, nothing)) for key in wanted | back]
    moves.sort(key=lambda move: (move.budget_id, move.wanted - move.given_back, move.promotion_id))
    return tuple(moves)


async def charge_budgets(
    context: Context,
    session: Session,
    moves: Sequence[BudgetMove],
    sale: SaleIdentity,
    *,
    is_cancellation: bool = False,
) -> list[Consumption]:
    """Apply and record the moves, and return what was recorded.

    The last step of a confirm or a cancel, so that a budget is locked only briefly.

    If less is left than was granted, the rest of the budget is charged, the difference is recorded as uncovered, and
    the sale stands.
    """
    consumptions: list[Consumption] = []
    changes: list[BudgetChange] = []
    for budget_id, of_budget in groupby(moves, key=lambda move: move.budget_id):
        drawn = await _draw(session, budget_id, list(of_budget))
        if drawn:
            changes.append(await _follow(context, session, drawn, sale))
            consumptions += [_consumption(context, move, one) for move, one in drawn]
    await emit_changes(session, changes, sale.at, context.new_id)
    await store.insert_consumptions(
        session,
        consumptions,
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        at=sale.confirmed_at,
        is_cancellation=is_cancellation,
    )
    return consumptions


async def _draw(session: Session, budget_id: str, moves: Sequence[BudgetMove]) -> list[tuple[BudgetMove, BudgetDraw]]:
    """Carry out the moves of a budget one after the other, or at once if it covers all and nothing is given back."""
    if len(moves) > 1 and len({move.currency for move in moves}) == 1 and not any(move.given_back for move in moves):
        together = await store.draw_all(session, budget_id, moves[0].currency, [move.wanted for move in moves])
        if together is not None:
            return list(zip(moves, together, strict=True))
    drawn: list[tuple[BudgetMove, BudgetDraw]] = []
    for move in moves:
        one = await store.draw(session, budget_id, move.currency, move.wanted, move.given_back)
        if one is not None:
            drawn.append((move, one))
    return drawn


def _consumption(context: Context, move: BudgetMove, drawn: BudgetDraw) -> Consumption:
    return Consumption(
        id=context.new_id(),
        budget_id=move.budget_id,
        promotion_id=move.promotion_id,
        amount=drawn.taken - move.given_back,
        uncovered=move.wanted - drawn.taken - move.uncovered,
        currency=move.currency,
    )


async def _follow(
    context: Context, session: Session, drawn: Sequence[tuple[BudgetMove, BudgetDraw]], sale: SaleIdentity
) -> BudgetChange:
    """Update the budget's status after all draws of a sale; returning and charging the same amount has no effect."""
    (move, first), (_, last) = drawn[0], drawn[-1]
    used_up, status = is_used_up(last.unspent, move.currency), last.status
    if used_up and runs(status, last.valid_from, sale.at):
        status = "EXHAUSTED"
        await _move(context, session, move.budget_id, last, status, "EXHAUST", sale)
    elif not used_up and status == "EXHAUSTED":
        status = "ACTIVE"  # returned amounts can be spent again, as after a recharge
        await _move(context, session, move.budget_id, last, status, "RECHARGE", sale)
    return BudgetChange(move.budget_id, last.name, move.currency, last.status, status, first.before, last.after)


async def _move(
    context: Context,
    session: Session,
    budget_id: str,
    drawn: BudgetDraw,
    status: str,
    action: Action,
    sale: SaleIdentity,
) -> None:
    await store.move_status(session, budget_id, status, at=sale.at, by=_SYSTEM)
    note = f"status: {drawn.status} -> {status}"
    budget = Subject("Budgets", budget_id, drawn.name)
    changes = changes_text([change_of("status", drawn.status, status)])
    entry = trail_entry(context.new_id(), sale.at, _SYSTEM, action, budget, note=note, changes=changes)
    await write_trail(session, [entry])
