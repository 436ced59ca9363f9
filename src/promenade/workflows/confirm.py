"""Confirm: one priced iteration becomes a sale, in one transaction (pricing semantics, section 11; T1, T4).

Everything that can be known before is worked out before: the transaction itself only decides who was first, holds what
others may want too, and writes. It takes hold of rows in one order everywhere (the transaction, returned sales,
coupons, usage, budgets last), so that two confirms never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from promenade.errors import Conflict, NotFound
from promenade.events import Event, TransactionConfirmed, TransactionReturned
from promenade.store import confirmations, jobs
from promenade.store.calculation_logs import insert_log, insert_refusal, promotion_names
from promenade.store.confirmations import Confirmation
from promenade.store.iterations import StoredIteration, find_iteration
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.store.usage import count_applications
from promenade.workflows.budgets import BudgetMove, charge_budgets, charges_of, moves_of
from promenade.workflows.confirm_records import (
    failed_log,
    log_columns,
    log_items,
    log_promotions,
)
from promenade.workflows.confirm_rules import (
    ConfirmCommand,
    ConfirmedItem,
    ConfirmedPromotion,
    SaleIdentity,
    Settlement,
    check_pos_group,
    money,
    settle,
)
from promenade.workflows.context import Context
from promenade.workflows.coupon_claims import Spending, claim_coupons, coupons_to_claim
from promenade.workflows.effects import PostPurchaseCoupon, effects_of, encode_effects
from promenade.workflows.replica.queueing import queue_sale
from promenade.workflows.returned_sales import encode_record, take_back
from promenade.workflows.returns import GiveBack, record_of, returned_quantities

__all__ = [
    "ConfirmAnswer",
    "ConfirmCommand",
    "ConfirmedItem",
    "ConfirmedPromotion",
    "SalePlan",
    "Shares",
    "commit_sale",
    "confirm",
    "customer_of",
    "log_refusal",
    "plan_sale",
]

MESSAGE = "Transaction confirmed."


@dataclass(frozen=True, slots=True)
class ConfirmAnswer:
    """A ConfirmResponse; ``body`` is its JSON, the same bytes for every repeat of the request."""

    transaction_id: str
    confirmed: bool
    message: str
    body: bytes


@dataclass(frozen=True, slots=True)
class SalePlan:
    """All that a confirm writes, worked out before its transaction begins."""

    command: ConfirmCommand
    sale: SaleIdentity
    iteration: StoredIteration
    settlement: Settlement
    spendings: tuple[Spending, ...]
    returned: dict[str, dict[str, int]]
    controls: dict[str, tuple[str, int]]
    answer: ConfirmAnswer


class Shares(Protocol):
    """What a store was given to spend on its own, of which a sale that it has made uses something up.

    Each is called where a confirm would get hold of the same rows.
    """

    async def before_coupons(self, session: Session, spendings: Sequence[Spending]) -> None:
        """Let go of the coupons and of the redemptions of their types."""
        ...

    async def issued(self, session: Session) -> frozenset[PostPurchaseCoupon]:
        """Write down the coupons that the store has issued after the sale; which need not be issued any more."""
        ...

    async def before_counting(self, session: Session, promotion_ids: Sequence[str]) -> None:
        """Let go of the applications of promotions."""
        ...

    async def before_budgets(self, session: Session, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> None:
        """Let go of the money that the sale takes."""
        ...

    async def after_budgets(self, session: Session, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> None:
        """Keep for the store what its returns have brought back."""
        ...


async def confirm(context: Context, tenant_id: str, command: ConfirmCommand) -> ConfirmAnswer:
    """Commit exactly one iteration of a transaction; the first confirm wins, its repeats get its answer.

    Raises NotFound (ITERATION_NOT_FOUND); Invalid (see `settle`, `check_pos_group`); Conflict
    (TRANSACTION_ALREADY_CONFIRMED, CONFIRM_MISMATCH, and see `claim_coupons`); Unavailable. After any of them nothing
    is committed, except that a confirm refused for a business reason leaves a FAILED calculation log.
    """
    iteration, known, controls = await context.database.read(
        lambda session: _look_up(context, session, command), tenant=tenant_id
    )
    if iteration is None:
        raise NotFound(
            "ITERATION_NOT_FOUND",
            f"Transaction {command.transaction_id} has no iteration {command.transaction_counter}.",
            "header.transactionCounter",
        )
    sale = _identify(context, iteration, command)
    try:
        if known is not None:
            return _repeat(known, command)
        plan = plan_sale(iteration, command, sale, controls)
        answer = await context.database.write(lambda session: commit_sale(context, session, plan), tenant=tenant_id)
    except Conflict as refusal:
        if refusal.code != "CONFIRM_MISMATCH":  # which is no refusal of the sale: it was confirmed
            log_id = context.new_id()
            await log_refusal(context, tenant_id, iteration, command, sale, refusal, log_id)
        raise
    context.jobs_ready.set()
    return answer


async def _look_up(
    context: Context, session: Session, command: ConfirmCommand
) -> tuple[StoredIteration | None, Confirmation | None, dict[str, tuple[str, int]]]:
    """The iteration, the transaction's confirmation if it has one, names of promotions in their control arm."""
    iteration = await find_iteration(session, context.origin, command.transaction_id, command.transaction_counter)
    if iteration is None:
        return None, None, {}
    known = await confirmations.find(session, context.origin, command.transaction_id)
    arms = iteration.outcome.control_arms
    controls = await promotion_names(session, arms) if arms and known is None else {}
    return iteration, known, controls


def _identify(context: Context, iteration: StoredIteration, command: ConfirmCommand) -> SaleIdentity:
    now = context.clock()
    return SaleIdentity(
        origin=context.origin,
        transaction_id=command.transaction_id,
        transaction_counter=command.transaction_counter,
        customer_id=customer_of(iteration, command),
        at=now,
        judged_at=now,
        confirmed_at=command.timestamp or now,
    )


def customer_of(iteration: StoredIteration, command: ConfirmCommand) -> str | None:
    """Who is rewarded for a sale: whom the confirm names, else whom the basket did."""
    customer = iteration.basket.customer
    return command.customer_id or (customer.customer_id if customer is not None else None) or None


def plan_sale(
    iteration: StoredIteration, command: ConfirmCommand, sale: SaleIdentity, controls: dict[str, tuple[str, int]]
) -> SalePlan:
    """What the confirm of an iteration writes. Raises Invalid as `settle` and `check_pos_group` do."""
    check_pos_group(command, iteration.basket.pos_group)
    settlement = settle(iteration.outcome, command)
    return SalePlan(
        command=command,
        sale=sale,
        iteration=iteration,
        settlement=settlement,
        spendings=coupons_to_claim(settlement, iteration.facts.coupons),
        returned=returned_quantities(iteration.basket.lines, sale.transaction_id),
        controls=controls,
        answer=_answer(sale.transaction_id),
    )


def _answer(transaction_id: str) -> ConfirmAnswer:
    body = msgspec.json.encode({"transactionId": transaction_id, "confirmed": True, "message": MESSAGE})
    return ConfirmAnswer(transaction_id, True, MESSAGE, body)


def _repeat(known: Confirmation, command: ConfirmCommand) -> ConfirmAnswer:
    """The first answer again, if this is the first request again."""
    if known.transaction_counter != command.transaction_counter:
        raise Conflict(
            "TRANSACTION_ALREADY_CONFIRMED",
            f"Iteration {known.transaction_counter} of this transaction was confirmed.",
            "header.transactionCounter",
        )
    if known.fingerprint != command.fingerprint:
        raise Conflict("CONFIRM_MISMATCH", "This iteration was confirmed with another body.")
    first = msgspec.json.decode(known.response)
    return ConfirmAnswer(first["transactionId"], first["confirmed"], first["message"], known.response)


async def commit_sale(
    context: Context, session: Session, plan: SalePlan, shares: Shares | None = None
) -> ConfirmAnswer:
    """The transaction. Its steps are in the order in which rows are held.

    ``shares`` are those of the store that made the sale. Raises Conflict as `confirm` does.
    """
    sale, settlement = plan.sale, plan.settlement
    log_id = context.new_id()
    first = await confirmations.insert_first(
        session,
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        fingerprint=plan.command.fingerprint,
        response=plan.answer.body,
        carried=encode_record(record_of(settlement, sale.customer_id, ())),
        log_id=log_id,
        confirmed_at=sale.confirmed_at,
    )
    if not first:
        known = await confirmations.find(session, sale.origin, sale.transaction_id)
        if known is None:
            raise Conflict("CONFIRM_MISMATCH", "Another confirm of this transaction was under way; try again.")
        return _repeat(known, plan.command)
    brought = await take_back(session, sale, plan.returned)
    given_back = [charge for one in brought for charge in one.charges]
    if given_back:
        carried = encode_record(record_of(settlement, sale.customer_id, given_back))
        await confirmations.note_carried(session, sale.origin, sale.transaction_id, carried)
    issued: frozenset[PostPurchaseCoupon] = frozenset()
    if shares is not None:
        await shares.before_coupons(session, plan.spendings)
        issued = await shares.issued(session)
    await claim_coupons(session, plan.spendings, sale, context.new_id)
    await _record(context, session, plan, log_id, brought, issued)
    await queue_sale(context, session, log_id=log_id, command=plan.command, sale=sale, at=sale.at)
    promotion_ids = [one.applied.promotion_id for one in settlement.promotions]
    if shares is not None:
        await shares.before_counting(session, promotion_ids)
    await count_applications(session, promotion_ids, sale.customer_id)
    moves = moves_of(charges_of(settlement, plan.iteration.outcome.currency), given_back)
    if shares is not None:
        await shares.before_budgets(session, moves, brought)
    await charge_budgets(context, session, moves, sale)
    if shares is not None:
        await shares.after_budgets(session, moves, brought)
    return plan.answer


async def _record(
    context: Context,
    session: Session,
    plan: SalePlan,
    log_id: str,
    brought: tuple[GiveBack, ...],
    issued: frozenset[PostPurchaseCoupon],
) -> None:
    """The calculation log, the job of the asynchronous stage and the events of the sale."""
    sale, settlement, outcome = plan.sale, plan.settlement, plan.iteration.outcome
    effects = effects_of(settlement, sale, brought)
    if issued:
        effects = replace(effects, coupons=tuple([one for one in effects.coupons if one not in issued]))
    await insert_log(
        session,
        log_columns(context, log_id, plan.iteration, plan.command, settlement, sale),
        log_items(settlement, plan.command.items, outcome.exponent, context.new_id),
        log_promotions(plan.iteration, settlement, plan.controls, context.new_id),
        at=sale.at,
    )
    await jobs.enqueue(
        session,
        job_id=context.new_id(),
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        payload=encode_effects(effects),
        at=sale.at,
        budgets_consumed=len({charge.budget_id for charge in charges_of(settlement, outcome.currency)}),
    )
    for event in _events(plan, brought):
        await emit(session, event, event_id=context.new_id(), at=sale.at)


def _events(plan: SalePlan, brought: tuple[GiveBack, ...]) -> list[Event]:
    sale, settlement, outcome = plan.sale, plan.settlement, plan.iteration.outcome
    exponent = outcome.exponent
    confirmed = TransactionConfirmed(
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        pos_group_id=plan.iteration.basket.pos_group.id,
        subtotal=money(outcome.subtotal_minor, exponent),
        discount=money(settlement.discount_minor, exponent),
        grand_total=money(settlement.grand_total_minor, exponent),
        currency=outcome.currency,
        promotion_ids=tuple(one.applied.promotion_id for one in settlement.promotions),
        customer_id=sale.customer_id,
        receipt_id=plan.command.receipt_id or plan.iteration.receipt_id,
    )
    if all(line.quantity_thousandths > 0 for line in outcome.lines):
        return [confirmed]
    returned = TransactionReturned(
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        return_subtotal=money(outcome.return_subtotal_minor, exponent),
        currency=outcome.currency,
        original_transaction_ids=tuple(plan.returned),
        points_returned=sum(one.points for one in brought),
        budget_returned=money(_returned_in(outcome.currency, brought), exponent),
        customer_id=sale.customer_id,
    )
    return [confirmed, returned]


def _returned_in(currency: str, brought: tuple[GiveBack, ...]) -> int:
    """Minor units that went back to budgets of the currency; a sale abroad had another."""
    return sum(charge.amount_minor for one in brought for charge in one.charges if charge.currency == currency)


async def log_refusal(
    context: Context,
    tenant_id: str,
    iteration: StoredIteration,
    command: ConfirmCommand,
    sale: SaleIdentity,
    refusal: Conflict,
    log_id: str,
) -> None:
    """Leave a FAILED log, in a transaction of its own; one of this ID that is there already stays as it is."""
    log = failed_log(context, log_id, iteration, command, sale, f"{refusal.code}: {refusal.message}")
    await context.database.write(lambda session: insert_refusal(session, log, at=sale.at), tenant=tenant_id)
