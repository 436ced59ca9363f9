"""Shares that stores may spend on their own: parts of budgets and limits, granted, renewed, used and returned.

A share is valid for `GOOD_FOR` from its last grant or renewal. The store spends nothing of it afterwards; what it spent
before arrives with its sales, for which the outstanding amount is kept for the same time again.
A request that is repeated with its key is answered as before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from typing import TypeAlias

import msgspec

from promenade.errors import Conflict, NotFound
from promenade.store.budgets.charges import spendable
from promenade.store.coupons.reservations import count_held
from promenade.store.driver.unit import Session
from promenade.store.sync import shares as store
from promenade.store.sync.deployments import count_stores
from promenade.store.sync.shares import (
    BUDGET,
    COUPON_CODE,
    COUPON_TYPE,
    PROMOTION,
    BudgetRow,
    Demand,
    Limit,
    Share,
    read_limit,
)
from promenade.workflows.context import Context
from promenade.workflows.replica.allotting import allot, first_reserve, halvings, reserve
from promenade.workflows.sync.deployments import require_deployment

GOOD_FOR = timedelta(days=14)
FAR = GOOD_FOR + timedelta(days=1)
"""Further ahead no share ends that was given now: its clock was ahead (reliability A4)."""
_NOTHING, _ONE = Decimal(0), Decimal(1)
_RUNNING = frozenset({"ACTIVE", "SCHEDULED", "EXHAUSTED"})


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """What a store asks for. ``amount`` is what a sale lacks; None: its reserve, 0: renewal, below 0: given back.

    ``forecast`` is what it may need in a day without a link (0: it does not know yet; None: older stores, which do not
    say), ``piece`` what a sale uses of it. Amounts are in major units, or numbers of uses.
    """

    amount: Decimal | None
    forecast: Decimal | None = None
    piece: Decimal = Decimal(0)
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ShareGranted:
    """The amount granted now (negative: returned), and the store's total share afterwards.

    ``currency`` is that of a budget. ``halvings``: how often the store halves its reserve, because little is free.
    """

    granted: Decimal
    currency: str | None
    expires_at: datetime
    outstanding: Decimal
    halvings: int = 0


# ---- grants -------------------------------------------------------------------------------------------------------


async def grant_share(
    context: Context, tenant_id: str, deployment_id: str, kind: str, entity_id: str, asked: ShareRequest
) -> ShareGranted:
    """Grant a store a share of a budget, or uses of a limited coupon type or promotion; or take it back.

    Raises NotFound (DEPLOYMENT_NOT_FOUND, BUDGET_NOT_FOUND, COUPON_TYPE_NOT_FOUND, PROMOTION_NOT_FOUND) and Conflict
    (BUDGET_NOT_RUNNING, NOT_LIMITED, NOT_RUNNING, IDEMPOTENCY_KEY_REUSED).
    """

    async def work(session: Session) -> ShareGranted:
        await require_deployment(session, deployment_id)
        at = context.clock()
        source = await _SOURCES[kind].find(session, kind, entity_id)
        share = await store.hold_share(session, deployment_id, kind, entity_id, currency=source.currency, at=at)
        told = _repeated_answer(share, asked.key, asked.amount)
        if told is not None:
            return msgspec.convert(told, ShareGranted)
        given = await (_take_back if (asked.amount or 0) < 0 else _give)(session, source, share, asked, at)
        answer = ShareGranted(
            given.amount, source.currency, given.expires_at, share.outstanding + given.amount, given.demand.halvings
        )
        await store.write_share(
            session,
            share,
            outstanding=answer.outstanding,
            forecast=share.forecast if given.forecast is None else given.forecast,
            expires_at=given.expires_at,
            last_key=asked.key,
            last_answer=msgspec.json.encode({"asked": _request_text(asked.amount), "answer": answer}),
            changed_at=at,
        )
        return answer

    return await context.database.write(work, tenant=tenant_id)


@dataclass(frozen=True, slots=True)
class _Given:
    """The answer to a request; ``forecast`` is what is recorded of the store, None: as before."""

    amount: Decimal
    expires_at: datetime
    demand: Demand
    forecast: Decimal | None


async def _take_back(session: Session, source: _Source, share: Share, asked: ShareRequest, at: datetime) -> _Given:
    amount = -min(source.whole(-(asked.amount or _NOTHING)), share.outstanding) + 0  # avoids negative zero
    await store.return_shares(session, [(share, -amount)], at)
    return _Given(amount, share.expires_at, await _demand(session, share, asked.forecast, at), asked.forecast)


async def _give(session: Session, source: _Source, share: Share, asked: ShareRequest, at: datetime) -> _Given:
    source.require_running(at)
    free = await source.hold(session, at)
    forecast, first = asked.forecast, _NOTHING
    if asked.amount is None and not forecast:
        first = source.whole(first_reserve(free, await count_stores(session)))
        if forecast is None:
            first = first or source.whole(free)  # an older store does not ask again when a sale lacks it
        else:
            forecast = first
    demand = known = await _demand(session, share, forecast, at)
    demand = replace(demand, halvings=halvings(free, demand.forecast), piece=demand.piece or asked.piece)
    if demand != known:
        await store.write_reserves(session, [demand], at)
    target = _NOTHING
    if first or (asked.amount != 0 and forecast):
        piece = asked.piece or demand.piece
        target = source.whole(reserve(first or forecast or _NOTHING, piece, demand.halvings))
    lacking = source.whole(asked.amount or _NOTHING)
    if forecast is None:
        lacking = min(lacking, free)
    amount = allot(source.whole(free), lacking, share.outstanding, target)
    if amount and not await source.take(session, amount):
        amount = _NOTHING
    return _Given(amount, at + GOOD_FOR, demand, forecast)


async def _demand(session: Session, share: Share, forecast: Decimal | None, at: datetime) -> Demand:
    """Take over the store's forecast into the demand of all; None: it says nothing."""
    by = Decimal(0) if forecast is None else forecast - share.forecast
    return await store.add_demand(session, share.kind, share.entity_id, by, at)


# ---- what shares are parts of -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _BudgetSource:
    """A budget, of which stores get money."""

    id: str
    row: BudgetRow

    @classmethod
    async def find(cls, session: Session, _kind: str, entity_id: str) -> _BudgetSource:
        row = await store.hold_budget(session, entity_id, held=False)
        if row is None:
            raise NotFound("BUDGET_NOT_FOUND", "`budgetId` names a budget that does not exist.", "budgetId")
        return cls(entity_id, row)

    @property
    def currency(self) -> str:
        return self.row.currency

    def whole(self, value: Decimal) -> Decimal:
        return spendable(value, self.row.currency)

    def require_running(self, at: datetime) -> None:
        if self.row.status not in _RUNNING or (self.row.valid_to is not None and self.row.valid_to <= at):
            message = "The budget is not active: stores cannot get a share of it."
            raise Conflict("BUDGET_NOT_RUNNING", message, "budgetId")

    async def hold(self, session: Session, _at: datetime) -> Decimal:
        """Lock it; return what is free."""
        row = await store.hold_budget(session, self.id) or self.row
        return max(row.free, Decimal(0))

    async def take(self, session: Session, amount: Decimal) -> bool:
        return await store.reserve(session, self.id, amount)


@dataclass(frozen=True, slots=True)
class _LimitSource:
    """The limit of a coupon type or promotion, of which stores get uses, counted in advance."""

    id: str
    kind: str
    limit: Limit
    currency: None = None

    @classmethod
    async def find(cls, session: Session, kind: str, entity_id: str) -> _LimitSource:
        limit = await read_limit(session, kind, entity_id)
        if limit is None:
            named, target = ("coupon type", "couponTypeId") if kind == COUPON_TYPE else ("promotion", "promotionId")
            code = "COUPON_TYPE_NOT_FOUND" if kind == COUPON_TYPE else "PROMOTION_NOT_FOUND"
            raise NotFound(code, f"`{target}` names a {named} that does not exist.", target)
        return cls(entity_id, kind, limit)

    def whole(self, value: Decimal) -> Decimal:
        return value.quantize(_ONE, ROUND_FLOOR)

    def require_running(self, at: datetime) -> None:
        target = "couponTypeId" if self.kind == COUPON_TYPE else "promotionId"
        if self.limit.most is None:
            raise Conflict("NOT_LIMITED", "It has no limit: stores do not need a share of it.", target)
        if not self.limit.runs_at(at):
            raise Conflict("NOT_RUNNING", "It is not active: stores cannot get a share of it.", target)

    async def hold(self, session: Session, at: datetime) -> Decimal:
        """Lock its count; return what is free."""
        used = await store.move_count(session, self.kind, self.id, 0) or 0
        reserved = await count_held(session, self.id, at) if self.kind == COUPON_TYPE else 0
        return Decimal(max((self.limit.most or 0) - used - reserved, 0))

    async def take(self, session: Session, amount: Decimal) -> bool:
        return await store.move_count(session, self.kind, self.id, int(amount), self.limit.most) is not None


_Source: TypeAlias = _BudgetSource | _LimitSource
_SOURCES: Mapping[str, type[_BudgetSource] | type[_LimitSource]] = {
    BUDGET: _BudgetSource,
    COUPON_TYPE: _LimitSource,
    PROMOTION: _LimitSource,
}


# ---- repeated requests --------------------------------------------------------------------------------------------


def _repeated_answer(share: Share, key: str | None, asked: Decimal | None) -> object | None:
    """Return the stored answer to the request with this key; None: it is a new request."""
    if key is None or share.last_key != key or share.last_answer is None:
        return None
    kept = msgspec.json.decode(share.last_answer)
    if kept["asked"] != _request_text(asked):
        message = "The Idempotency-Key was used for another request."
        raise Conflict("IDEMPOTENCY_KEY_REUSED", message, "Idempotency-Key")
    answer: object = kept["answer"]
    return answer


def _request_text(asked: Decimal | None) -> str | None:
    return None if asked is None else f"{asked.normalize():f}"


async def review_demand(context: Context, session: Session) -> int:
    """Find out anew how often the reserves of each thing are halved: tills of the cloud use it too.

    Returns of how many things that has changed.
    """
    changed = [
        replace(one, halvings=times)
        for one, free in await store.read_demands(session)
        if (times := halvings(free, one.forecast)) != one.halvings
    ]
    await store.write_reserves(session, changed, context.clock())
    return len(changed)


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
