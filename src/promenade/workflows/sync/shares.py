"""Shares that stores may spend on their own: parts of budgets and limits, granted, renewed, used and returned.

A share is valid for `GOOD_FOR` from its last grant or renewal. The store spends nothing of it afterwards; what it spent
before arrives with its sales, for which the outstanding amount is kept for the same time again.
A request that is repeated with its key is answered as before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal

import msgspec

from promenade.errors import Conflict, NotFound
from promenade.store.budgets.charges import spendable
from promenade.store.coupons.reservations import count_held
from promenade.store.driver.unit import Session
from promenade.store.sync import shares as store
from promenade.store.sync.deployments import count_online
from promenade.store.sync.shares import BUDGET, COUPON_CODE, COUPON_TYPE, PROMOTION, BudgetRow, Share, read_limit
from promenade.workflows.context import Context
from promenade.workflows.sync.deployments import require_deployment

GOOD_FOR = timedelta(days=14)
FAR = GOOD_FOR + timedelta(days=1)
"""Further ahead no share ends that was given now: its clock was ahead (reliability A4)."""
USUAL_PART = 10  # if no amount is requested, a tenth of the free amount is granted
_ONE = Decimal(1)
_RUNNING = frozenset({"ACTIVE", "SCHEDULED", "EXHAUSTED"})


@dataclass(frozen=True, slots=True)
class BudgetGranted:
    """The amount granted now (negative: returned), in major units, and the store's total share afterwards."""

    granted: Decimal
    currency: str
    expires_at: datetime
    outstanding: Decimal


@dataclass(frozen=True, slots=True)
class UsesGranted:
    """The number of uses granted now (negative: returned), and the store's total share afterwards."""

    given: int
    expires_at: datetime
    outstanding: int


# ---- budgets ------------------------------------------------------------------------------------------------------


async def grant_budget(
    context: Context, tenant_id: str, deployment_id: str, budget_id: str, amount: Decimal | None, key: str | None
) -> BudgetGranted:
    """Grant a store ``amount`` of a budget, or the fair part of it; None: the usual part.

    0 renews the share, a negative amount returns it. Raises NotFound (DEPLOYMENT_NOT_FOUND, BUDGET_NOT_FOUND) and
    Conflict (BUDGET_NOT_RUNNING, IDEMPOTENCY_KEY_REUSED).
    """

    async def work(session: Session) -> BudgetGranted:
        await require_deployment(session, deployment_id)
        seen = await store.hold_budget(session, budget_id, held=False)
        if seen is None:
            raise NotFound("BUDGET_NOT_FOUND", "`budgetId` names a budget that does not exist.", "budgetId")
        at = context.clock()
        share = await store.hold_share(session, deployment_id, BUDGET, budget_id, currency=seen.currency, at=at)
        told = _repeated_answer(share, key, amount)
        if told is not None:
            return msgspec.convert(told, BudgetGranted)
        online = await count_online(session)
        budget = await store.hold_budget(session, budget_id) or seen
        granted = _grant(budget, share, amount, online, at)
        if granted and not await store.reserve(session, budget_id, granted):
            granted = Decimal(0)
        expires = share.expires_at if amount is not None and amount < 0 else at + GOOD_FOR
        answer = BudgetGranted(granted, budget.currency, expires, share.outstanding + granted)
        await _write(session, share, answer.outstanding, answer, key, amount, at)
        return answer

    return await context.database.write(work, tenant=tenant_id)


def _grant(budget: BudgetRow, share: Share, amount: Decimal | None, online: int, at: datetime) -> Decimal:
    def whole(value: Decimal) -> Decimal:
        return spendable(value, budget.currency)

    if amount is not None and amount < 0:
        return -min(whole(-amount), share.outstanding) + 0  # avoids negative zero
    if budget.status not in _RUNNING or (budget.valid_to is not None and budget.valid_to <= at):
        message = "The budget is not active: stores cannot get a share of it."
        raise Conflict("BUDGET_NOT_RUNNING", message, "budgetId")
    return _fair(budget.free, amount, online, whole)


def _fair(free: Decimal, wanted: Decimal | None, online: int, whole: Callable[[Decimal], Decimal]) -> Decimal:
    """Return how much of the free amount a store gets: leaving some for the others, or all if little is left."""
    most = whole(free / (online + 1)) or whole(free)
    if wanted is None:
        return min(whole(free / USUAL_PART) or most, most)
    return min(whole(wanted), most) + 0


# ---- limits -------------------------------------------------------------------------------------------------------


async def grant_uses(
    context: Context,
    tenant_id: str,
    deployment_id: str,
    kind: str,
    entity_id: str,
    quantity: int | None,
    key: str | None,
) -> UsesGranted:
    """Grant a store uses of a limited coupon type or promotion (``kind``), counted in advance.

    Otherwise like `grant_budget`. Raises NotFound (DEPLOYMENT_NOT_FOUND, COUPON_TYPE_NOT_FOUND, PROMOTION_NOT_FOUND)
    and Conflict (NOT_LIMITED, NOT_RUNNING, IDEMPOTENCY_KEY_REUSED).
    """

    async def work(session: Session) -> UsesGranted:
        await require_deployment(session, deployment_id)
        at = context.clock()
        limit = await read_limit(session, kind, entity_id)
        if limit is None:
            raise _no_such(kind)
        share = await store.hold_share(session, deployment_id, kind, entity_id, currency=None, at=at)
        told = _repeated_answer(share, key, quantity)
        if told is not None:
            return msgspec.convert(told, UsesGranted)
        online = await count_online(session)
        used = await store.move_count(session, kind, entity_id, 0) or 0
        if quantity is not None and quantity < 0:
            given = -min(-quantity, int(share.outstanding))
        else:
            if limit.most is None:
                raise Conflict("NOT_LIMITED", "It has no limit: stores do not need a share of it.", _target(kind))
            if not limit.runs_at(at):
                raise Conflict("NOT_RUNNING", "It is not active: stores cannot get a share of it.", _target(kind))
            held = await count_held(session, entity_id, at) if kind == COUPON_TYPE else 0
            wanted = None if quantity is None else Decimal(quantity)
            given = int(_fair(Decimal(max(limit.most - used - held, 0)), wanted, online, _whole))
        if given < 0:
            await store.return_shares(session, [(share, Decimal(-given))], at)
        elif given and await store.move_count(session, kind, entity_id, given, limit.most) is None:
            given = 0
        expires = share.expires_at if quantity is not None and quantity < 0 else at + GOOD_FOR
        answer = UsesGranted(given, expires, int(share.outstanding) + given)
        await _write(session, share, Decimal(answer.outstanding), answer, key, quantity, at)
        return answer

    return await context.database.write(work, tenant=tenant_id)


def _no_such(kind: str) -> NotFound:
    if kind == COUPON_TYPE:
        return NotFound(
            "COUPON_TYPE_NOT_FOUND", "`couponTypeId` names a coupon type that does not exist.", "couponTypeId"
        )
    return NotFound("PROMOTION_NOT_FOUND", "`promotionId` names a promotion that does not exist.", "promotionId")


def _target(kind: str) -> str:
    return "couponTypeId" if kind == COUPON_TYPE else "promotionId"


def _whole(value: Decimal) -> Decimal:
    return value.quantize(_ONE, ROUND_FLOOR)


# ---- repeated requests --------------------------------------------------------------------------------------------


def _repeated_answer(share: Share, key: str | None, asked: Decimal | int | None) -> object | None:
    """Return the stored answer to the request with this key; None: it is a new request."""
    if key is None or share.last_key != key or share.last_answer is None:
        return None
    kept = msgspec.json.decode(share.last_answer)
    if kept["asked"] != _request_text(asked):
        message = "The Idempotency-Key was used for another request."
        raise Conflict("IDEMPOTENCY_KEY_REUSED", message, "Idempotency-Key")
    answer: object = kept["answer"]
    return answer


def _request_text(asked: Decimal | int | None) -> str | None:
    return None if asked is None else f"{Decimal(asked).normalize():f}"


async def _write(
    session: Session,
    share: Share,
    outstanding: Decimal,
    answer: BudgetGranted | UsesGranted,
    key: str | None,
    asked: Decimal | int | None,
    at: datetime,
) -> None:
    kept = msgspec.json.encode({"asked": _request_text(asked), "answer": answer})
    await store.write_share(
        session,
        share,
        outstanding=outstanding,
        expires_at=answer.expires_at,
        last_key=key,
        last_answer=kept,
        changed_at=at,
    )


# ---- what sales use of them ---------------------------------------------------------------------------------------


async def release_shares(
    context: Context,
    session: Session,
    deployment_id: str,
    *,
    budgets: Mapping[str, Decimal],
    coupon_codes: Collection[str],
    coupon_types: Mapping[str, int],
    promotions: Collection[str],
    at: datetime,
) -> None:
    """Release what a sale of the store uses, so that the confirm that follows in this unit of work finds it free.

    At most the outstanding share is released; where it is not enough, the ordinary rules of the confirm decide.
    ``budgets`` are amounts in major units, ``coupon_types`` numbers of uses, ``coupon_codes`` and ``promotions`` IDs. A
    negative amount means that a return in the store refunded the budget and the store may spend it again: the share
    grows by it, as far as the budget allows, so this must be called after the confirm. Call it for new sales only; it
    is not idempotent.
    """
    wanted: dict[tuple[str, str], Decimal] = {(COUPON_CODE, one): _ONE for one in coupon_codes}
    wanted |= {(COUPON_TYPE, one): Decimal(number) for one, number in coupon_types.items() if number > 0}
    wanted |= {(PROMOTION, one): _ONE for one in promotions}
    wanted |= {(BUDGET, one): amount for one, amount in budgets.items() if amount}
    held = [(one, wanted[one.kind, one.entity_id]) for one in await store.hold_shares(session, deployment_id, wanted)]
    await store.return_shares(session, [(one, used) for one, used in held if used > 0], at, to_sale=True)
    for one, used in held:
        if used < 0 and one.expires_at > context.clock() and await store.reserve(session, one.entity_id, -used):
            await store.write_share(session, one, outstanding=one.outstanding - used, changed_at=at)


async def reserve_again(
    context: Context,
    session: Session,
    deployment_id: str,
    *,
    coupon_types: Mapping[str, int],
    promotions: Collection[str],
) -> None:
    """Let a store use its limited coupon types and promotions again, as often as a cancelled sale had used them.

    As far as the limits allow; the counts that the sale had raised have been lowered before in this unit of work.
    """
    again = {(COUPON_TYPE, one): number for one, number in coupon_types.items()}
    again |= {(PROMOTION, one): 1 for one in promotions}
    at = context.clock()
    for share in await store.hold_shares(session, deployment_id, again):
        number = again[share.kind, share.entity_id]
        limit = await read_limit(session, share.kind, share.entity_id)
        if share.expires_at <= at or limit is None:
            continue
        if await store.move_count(session, share.kind, share.entity_id, number, limit.most) is not None:
            await store.write_share(session, share, outstanding=share.outstanding + number, changed_at=at)


async def keep_leased(
    session: Session, deployment_id: str, statuses: Mapping[str, str], at: datetime
) -> frozenset[str]:
    """Record the status (ACTIVE or CREATED) that codes still leased by the store will have when they are returned.

    ``statuses`` is by ID of codes that the store has issued or activated. Returns those of them that are leased to it.
    """
    held = await store.hold_shares(session, deployment_id, [(COUPON_CODE, one) for one in statuses])
    noted = [replace(one, last_answer=statuses[one.entity_id].encode(), changed_at=at) for one in held]
    await store.put_shares(session, noted)
    return frozenset(one.entity_id for one in held)
