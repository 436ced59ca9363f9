"""Confirm: turn one priced iteration into a sale, in one transaction (pricing semantics, section 11; T1, T4).

Everything that can be computed in advance is computed in advance: the transaction only decides who was first, locks
the rows that others may need too, and writes. Rows are locked in the same order everywhere (the transaction, returned
sales, coupons, usage, budgets last), so that two confirms cannot deadlock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

import msgspec

from promenade.engine.outcome import Outcome
from promenade.errors import Conflict, Invalid, NotFound
from promenade.events import Event, TransactionConfirmed, TransactionReturned
from promenade.store.driver.unit import Session
from promenade.store.pricing.iterations import StoredIteration, find_iteration
from promenade.store.pricing.offers import Offer, Remembered, offers_of
from promenade.store.sales import confirmations, jobs
from promenade.store.sales.calculation_logs import insert_log, insert_refusal, promotion_names
from promenade.store.sales.confirmations import Confirmation
from promenade.store.sales.log_parts import blocks_of, packed_line, packed_promotion, thousandths
from promenade.store.sales.usage import count_applications
from promenade.store.sync.shares import BUDGET, PROMOTION
from promenade.store.webhooks.outbox import event_rows
from promenade.workflows.budgets.charging import BudgetMove, charge_budgets, charges_of, moves_of
from promenade.workflows.context import Context
from promenade.workflows.coupons.claims import Spending, claim_coupons, coupons_to_claim
from promenade.workflows.replica.holding import obtain_shares
from promenade.workflows.replica.queueing import queue_sale
from promenade.workflows.sales.full_returns import return_coupons
from promenade.workflows.sales.returned import require_lines_named, take_back
from promenade.workflows.settlement.effects import PostPurchaseCoupon, effects_of, encode_effects
from promenade.workflows.settlement.returns import (
    GiveBack,
    encode_record,
    named_sale,
    record_of,
    returned_quantities,
    with_brought,
)
from promenade.workflows.settlement.rules import (
    ConfirmCommand,
    ConfirmedItem,
    ConfirmedPromotion,
    SaleIdentity,
    Settlement,
    check_pos_group,
    money,
    settle,
)

__all__ = [
    "ConfirmAnswer",
    "ConfirmCommand",
    "ConfirmedItem",
    "ConfirmedPromotion",
    "Shares",
    "commit_sale",
    "confirm",
    "customer_of",
    "log_refusal",
    "plan_sale",
]

MESSAGE = "Transaction confirmed."

Controls = Mapping[str, tuple[str, int]]
"""Name and version of the promotions whose control arm a sale belongs to."""


@dataclass(frozen=True, slots=True)
class ConfirmAnswer:
    """A ConfirmResponse; ``body`` is its JSON, identical for every repeat of the request."""

    transaction_id: str
    confirmed: bool
    message: str
    body: bytes


@dataclass(frozen=True, slots=True)
class SalePlan:
    """Everything that a confirm writes, computed before its transaction begins.

    ``is_strict``: it is refused if its return lines do not match the sales that they name. ``priced_at``: the iteration
    was not read, and must be stored as it was created then. ``controls`` None: they are read when they are written.
    """

    command: ConfirmCommand
    sale: SaleIdentity
    iteration: Offer
    settlement: Settlement
    spendings: tuple[Spending, ...]
    returned: dict[str, dict[str, int]]
    controls: Controls | None
    answer: ConfirmAnswer
    is_strict: bool = False
    priced_at: datetime | None = None


class Shares(Protocol):
    """The shares that a store was allotted to spend on its own, and that its sales use up.

    Each method is called where a confirm would lock the same rows.
    """

    async def before_coupons(self, session: Session, spendings: Sequence[Spending]) -> None:
        """Release the store's reserved coupons, and the redemptions of their types, that this sale spends."""
        ...

    async def issued(self, session: Session) -> frozenset[PostPurchaseCoupon]:
        """Record the coupons that the store issued after the sale; return those that need not be issued any more."""
        ...

    async def before_counting(self, session: Session, promotion_ids: Sequence[str]) -> None:
        """Release the store's reserved applications of the promotions."""
        ...

    async def before_budgets(self, session: Session, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> None:
        """Release the store's reserved budget that this sale spends."""
        ...

    async def after_budgets(self, session: Session, moves: Sequence[BudgetMove], brought: Sequence[GiveBack]) -> None:
        """Reserve for the store the budget that its returns have given back."""
        ...


async def confirm(context: Context, tenant_id: str, command: ConfirmCommand) -> ConfirmAnswer:
    """Commit exactly one iteration of a transaction; the first confirm wins, repeats get the same answer.

    Raises NotFound (ITERATION_NOT_FOUND); Invalid (see `settle`, `check_pos_group`); Conflict
    (TRANSACTION_ALREADY_CONFIRMED, CONFIRM_MISMATCH, and see `claim_coupons`); Unavailable. After any of them nothing
    is committed, except that a confirm refused for a business reason leaves a FAILED calculation log.
    """
    offers, key = offers_of(context.database), (tenant_id, context.origin, command.transaction_id)
    remembered = offers.get(key, command.transaction_counter)
    answer = None if remembered is None else await _confirm_remembered(context, tenant_id, remembered, command)
    if answer is None:
        answer = await _confirm_stored(context, tenant_id, command)
    offers.forget(key)
    return answer


async def _confirm_remembered(
    context: Context, tenant_id: str, remembered: Remembered, command: ConfirmCommand
) -> ConfirmAnswer | None:
    """Confirm what this process has priced, without reading it.

    None: what is stored decides, because it is not as remembered, or was confirmed already, or is to be refused.
    """
    offer = remembered.offer()
    try:
        sale = _identify(context, offer, command)
        plan = await _strict(context, tenant_id, plan_sale(offer, command, sale))
    except (Conflict, Invalid):  # unless it was confirmed already
        return None
    try:
        return await _commit(context, tenant_id, replace(plan, priced_at=remembered.created_at))
    except _NotAsRemembered:
        return None


class _NotAsRemembered(Exception):
    """Raised in the unit of work of a confirm that has read nothing, when it turns out that it has to read."""


async def _confirm_stored(context: Context, tenant_id: str, command: ConfirmCommand) -> ConfirmAnswer:
    iteration, known = await context.database.read(
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
            return _repeat(known, command, is_later=await _is_later(context, tenant_id, known, command))
        plan = await _strict(context, tenant_id, plan_sale(iteration, command, sale))
    except Conflict as refusal:
        await _note_refusal(context, tenant_id, iteration, command, sale, refusal)
        raise
    return await _commit(context, tenant_id, plan)


async def _commit(context: Context, tenant_id: str, plan: SalePlan) -> ConfirmAnswer:
    """Write the sale. Raises Conflict as `confirm` does."""
    try:
        if context.uplink is not None:  # another till may have used what the store had when the basket was priced
            await obtain_shares(context, tenant_id, _uses_of(plan))
        answer = await context.database.write(lambda session: commit_sale(context, session, plan), tenant=tenant_id)
    except Conflict as refusal:
        await _note_refusal(context, tenant_id, plan.iteration, plan.command, plan.sale, refusal)
        raise
    context.jobs_ready.set()
    return answer


async def _note_refusal(
    context: Context, tenant_id: str, offer: Offer, command: ConfirmCommand, sale: SaleIdentity, refusal: Conflict
) -> None:
    if refusal.code != "CONFIRM_MISMATCH":  # not a refusal of the sale: it is confirmed
        await log_refusal(context, tenant_id, offer, command, sale, refusal, context.new_id())


async def _look_up(
    context: Context, session: Session, command: ConfirmCommand
) -> tuple[StoredIteration | None, Confirmation | None]:
    """Return the iteration, and the transaction's confirmation if any."""
    iteration = await find_iteration(session, context.origin, command.transaction_id, command.transaction_counter)
    if iteration is None:
        return None, None
    return iteration, await confirmations.find(session, context.origin, command.transaction_id)


async def _strict(context: Context, tenant_id: str, plan: SalePlan) -> SalePlan:
    """Make the plan strict if the tenant refuses returns that do not match. Raises what `require_lines_named` does."""
    lines = plan.iteration.basket.lines
    if not any(named_sale(line) for line in lines):
        return plan
    known = await context.catalogues.get(tenant_id)
    if not known.surroundings.settings.refuses_unmatched_returns:
        return plan
    require_lines_named(lines, plan.sale.transaction_id)
    return replace(plan, is_strict=True)


def _identify(context: Context, iteration: Offer, command: ConfirmCommand) -> SaleIdentity:
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


def customer_of(iteration: Offer, command: ConfirmCommand) -> str | None:
    """The customer who is rewarded for a sale: the one in the confirm, else the one in the basket."""
    customer = iteration.basket.customer
    return command.customer_id or (customer.customer_id if customer is not None else None) or None


def plan_sale(
    iteration: Offer, command: ConfirmCommand, sale: SaleIdentity, controls: Controls | None = None
) -> SalePlan:
    """Compute what the confirm of an iteration writes. Raises Invalid as `settle` and `check_pos_group` do."""
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


def _uses_of(plan: SalePlan) -> dict[tuple[str, str], Decimal]:
    """What the sale uses of budgets, in major units, and of promotions."""
    uses = {(PROMOTION, one.applied.promotion_id): Decimal(1) for one in plan.settlement.promotions}
    for move in moves_of(charges_of(plan.settlement, plan.iteration.outcome.currency), ()):
        uses[BUDGET, move.budget_id] = uses.get((BUDGET, move.budget_id), Decimal(0)) + move.wanted
    return uses


def _answer(transaction_id: str) -> ConfirmAnswer:
    body = msgspec.json.encode({"transactionId": transaction_id, "confirmed": True, "message": MESSAGE})
    return ConfirmAnswer(transaction_id, True, MESSAGE, body)


async def _is_later(context: Context, tenant_id: str, known: Confirmation, command: ConfirmCommand) -> bool:
    """Whether the iteration is another one than the confirmed, and was evaluated after the confirm."""
    if known.transaction_counter == command.transaction_counter:
        return False
    return await context.database.read(
        lambda session: confirmations.was_evaluated_later(
            session, context.origin, command.transaction_id, command.transaction_counter
        ),
        tenant=tenant_id,
    )


def _repeat(known: Confirmation, command: ConfirmCommand, *, is_later: bool = False) -> ConfirmAnswer:
    """Return the first answer again if this request is identical to the first.

    ``is_later``: its iteration was evaluated after the confirm.
    """
    if known.transaction_counter != command.transaction_counter:
        first = known.transaction_counter
        if is_later:
            raise Conflict(
                "TRANSACTION_ALREADY_CONFIRMED",
                f"Iteration {first} was confirmed before this one was evaluated; a new sale needs a new transactionId.",
                "header.transactionCounter",
            )
        raise Conflict(
            "TRANSACTION_ALREADY_CONFIRMED",
            f"Iteration {first} of this transaction was confirmed instead of this one.",
            "header.transactionCounter",
        )
    if known.fingerprint != command.fingerprint:
        raise Conflict("CONFIRM_MISMATCH", "This iteration was confirmed with another body.")
    first = msgspec.json.decode(known.response)
    return ConfirmAnswer(first["transactionId"], first["confirmed"], first["message"], known.response)


async def commit_sale(
    context: Context, session: Session, plan: SalePlan, shares: Shares | None = None
) -> ConfirmAnswer:
    """Run the confirm's transaction; its steps follow the lock order.

    ``shares`` are those of the store that made the sale. Raises Conflict as `confirm` does.
    """
    sale, settlement, currency = plan.sale, plan.settlement, plan.iteration.outcome.currency
    log_id = context.new_id()
    first = await confirmations.insert_first(
        session,
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        fingerprint=plan.command.fingerprint,
        response=plan.answer.body,
        carried=encode_record(record_of(settlement, currency, sale.customer_id, ())),
        log_id=log_id,
        confirmed_at=sale.confirmed_at,
        priced_at=plan.priced_at,
    )
    if not first:
        if plan.priced_at is not None:
            raise _NotAsRemembered
        known = await confirmations.find(session, sale.origin, sale.transaction_id)
        if known is None:
            raise Conflict("CONFIRM_MISMATCH", "Another confirm of this transaction was under way; try again.")
        return _repeat(known, plan.command)
    brought = await take_back(session, sale, plan.returned, is_strict=plan.is_strict)
    given_back = [charge for one in brought for charge in one.charges]
    if brought:
        carried = encode_record(with_brought(record_of(settlement, currency, sale.customer_id, given_back), brought))
        await confirmations.note_carried(session, sale.origin, sale.transaction_id, carried)
        await return_coupons(context, session, brought, sale.at)
    issued: frozenset[PostPurchaseCoupon] = frozenset()
    if shares is not None:
        await shares.before_coupons(session, plan.spendings)
        issued = await shares.issued(session)
    await claim_coupons(session, plan.spendings, sale, context.new_id)
    promotion_ids = [one.applied.promotion_id for one in settlement.promotions]
    if shares is not None:
        await shares.before_counting(session, promotion_ids)
    exceeded = await count_applications(session, promotion_ids, sale.customer_id)
    await _record(context, session, plan, log_id, brought, issued, exceeded)
    await queue_sale(context, session, log_id=log_id, command=plan.command, sale=sale, at=sale.at)
    moves = moves_of(charges_of(settlement, currency), given_back)
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
    exceeded: Mapping[str, str],
) -> None:
    """Write the calculation log, the job of the asynchronous stage and the events of the sale."""
    sale, settlement, outcome = plan.sale, plan.settlement, plan.iteration.outcome
    effects = effects_of(settlement, sale, brought)
    if issued:
        effects = replace(effects, coupons=tuple([one for one in effects.coupons if one not in issued]))
    job = jobs.job_row(
        job_id=context.new_id(),
        origin=sale.origin,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        payload=encode_effects(effects),
        at=sale.at,
        budgets_consumed=len({charge.budget_id for charge in charges_of(settlement, outcome.currency)}),
    )
    controls = plan.controls
    if controls is None:
        controls = await promotion_names(session, outcome.control_arms)
    events = event_rows(session, _events(plan, brought), new_id=context.new_id, at=sale.at)
    await insert_log(
        session,
        log_columns(context, log_id, plan.iteration, plan.command, settlement, sale),
        log_lines(settlement, plan.command.items, outcome.exponent),
        log_promotions(plan.iteration, settlement, controls, exceeded),
        at=sale.at,
        block=blocks_of(context.database).take(session.tenant, context.new_id),
        beside=[job, events],
    )


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
    """Minor units given back to budgets of this currency; a sale abroad had another one."""
    return sum(charge.amount_minor for one in brought for charge in one.charges if charge.currency == currency)


async def log_refusal(
    context: Context,
    tenant_id: str,
    iteration: Offer,
    command: ConfirmCommand,
    sale: SaleIdentity,
    refusal: Conflict,
    log_id: str,
) -> None:
    """Write a FAILED log in a separate transaction; an existing log with this ID is left unchanged."""
    log = failed_log(context, log_id, iteration, command, sale, f"{refusal.code}: {refusal.message}")
    await context.database.write(lambda session: insert_refusal(session, log, at=sale.at), tenant=tenant_id)


# --- the calculation log of a confirm ---------------------------------------------------------------------------------

Columns = dict[str, Any]


def log_columns(
    context: Context,
    log_id: str,
    iteration: Offer,
    command: ConfirmCommand,
    settlement: Settlement,
    sale: SaleIdentity,
) -> Columns:
    """The log of a confirmed sale."""
    exponent = iteration.outcome.exponent
    return {
        **_common(context, log_id, iteration, command, sale),
        "status": "CALCULATED",
        "pilot_arm": _arm(iteration.outcome, settlement),
        "discount": money(settlement.discount_minor, exponent),
        "grand_total": money(settlement.grand_total_minor, exponent),
        "loyalty_points": sum(one.points for one in settlement.points) if sale.customer_id is not None else 0,
        "discrepancy": settlement.is_discrepant,
        "message": None,
    }


def failed_log(
    context: Context,
    log_id: str,
    iteration: Offer,
    command: ConfirmCommand,
    sale: SaleIdentity,
    message: str,
) -> Columns:
    """The log of a refused confirm: the iteration's totals and the reason."""
    exponent = iteration.outcome.exponent
    return {
        **_common(context, log_id, iteration, command, sale),
        "status": "FAILED",
        "pilot_arm": None,
        "discount": money(iteration.outcome.discount_minor, exponent),
        "grand_total": money(iteration.outcome.grand_total_minor, exponent),
        "loyalty_points": 0,
        "discrepancy": False,
        "message": message[:1000],
    }


def _common(context: Context, log_id: str, iteration: Offer, command: ConfirmCommand, sale: SaleIdentity) -> Columns:
    outcome = iteration.outcome
    return {
        "id": log_id,
        "origin": sale.origin,
        "transaction_id": sale.transaction_id,
        "transaction_counter": sale.transaction_counter,
        "receipt_id": command.receipt_id or iteration.receipt_id,
        "header_reference": command.header_reference or iteration.header_reference,
        "pos_group_id": iteration.basket.pos_group.id,
        "customer_id": sale.customer_id,
        "channel": iteration.basket.channel,
        "subtotal": money(outcome.subtotal_minor, outcome.exponent),
        "currency": outcome.currency,
        "evaluated_at": iteration.evaluated_at,
        "confirmed_at": sale.confirmed_at,
        "source": context.source,
        "instance_id": context.shown_instance_id,
    }


def _arm(outcome: Outcome, settlement: Settlement) -> str | None:
    """The pilot arm of the sale as a whole; its promotions record the arm of each pilot."""
    arms = [one.applied.pilot_arm for one in settlement.promotions if one.applied.pilot_arm is not None]
    if arms:
        return arms[0]
    return "CONTROL" if outcome.control_arms else None


def log_lines(settlement: Settlement, items: tuple[ConfirmedItem, ...] | None, exponent: int) -> list[list[Any]]:
    """The lines of the log, packed, with the till's own discount next to ours if it sent its final prices."""
    confirmed: list[int | None] = [None] * len(settlement.lines)
    if items is not None and len(items) == len(settlement.lines):
        confirmed = [_said(item.line_discount) for item in items]
    return [
        packed_line(
            line.priced.reference,
            line.priced.article_number,
            line.priced.article_group_id,
            line.priced.quantity_thousandths,
            line.priced.unit_price_hundredths,
            thousandths(line.priced.total_minor, exponent),
            thousandths(line.discount_minor, exponent),
            thousandths(line.net_minor, exponent),
            said,
        )
        for line, said in zip(settlement.lines, confirmed, strict=True)
    ]


def log_promotions(
    iteration: Offer,
    settlement: Settlement,
    controls: Controls,
    exceeded: Mapping[str, str],
) -> list[list[Any]]:
    """Each applied promotion, packed, and each promotion whose control arm the sale belongs to.

    ``controls`` contains name and version of the latter, ``exceeded`` the limits of use that were used up.
    """
    exponent = iteration.outcome.exponent
    codes = {fact.code: fact.coupon_id for fact in iteration.facts.coupons}
    applied = [
        packed_promotion(
            one.applied.promotion_id,
            one.applied.promotion_name,
            one.applied.version,
            thousandths(one.booked_minor, exponent),
            thousandths(one.applied.discount_minor, exponent),
            one.applied.points,
            _said(one.confirmed),
            one.applied.pilot_arm,
            codes.get(one.applied.coupon_code or ""),
            exceeded.get(one.applied.promotion_id),
        )
        for one in settlement.promotions
    ]
    control = [
        packed_promotion(promotion_id, name, version, 0, None, 0, None, "CONTROL", None)
        for promotion_id, (name, version) in controls.items()
    ]
    return applied + control


def _said(amount: Decimal | None) -> int | None:
    """Round an amount sent by a till to the three decimals that are stored; in thousandths."""
    return None if amount is None else thousandths(int(amount.quantize(Decimal("0.001")).scaleb(3)), 3)
