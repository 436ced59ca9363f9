"""What a store may spend on its own: the rows of `store_shares` in the store's own database.

The amounts left are in the rows that pricing and confirms use anyway: a budget's total, and the limits of coupon types
and promotions, are all that the store was granted so far, and a code exists only while the store holds it. The columns
of ``store_shares`` mean here:

- ``outstanding``: taken out of those rows, to be given back to the cloud;
- ``last_key``: the key of a pending request; the same request is repeated until it is answered;
- ``last_answer``: a note of the workflows (`workflows.replica.notes`), as JSON;
- ``expires_at``: as sent by the cloud.

A store has one database and one writer: data read in a unit of work cannot change until it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import delete, or_, select, update

from promenade.model.sync_sets import CANDIDATES
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.pricing.changes import record_change
from promenade.store.sales.usage import ALL_CUSTOMERS
from promenade.store.sync.shares import BUDGET, COUPON_TYPE, PROMOTION, Share

CODE_REQUEST = "CODES_ASKED"
"""No share: codes that were asked for, whose answer is not known; ``entity_id`` is the request's own."""
NUMBERS = (BUDGET, COUPON_TYPE, PROMOTION)
"""Kinds of which a store has so and so much."""

_SHARES = table("store_shares")
_BUDGETS, _TYPES, _PROMOTIONS = table("Budgets"), table("CouponTypes"), table("Promotions")
_LINKS = table("BudgetPromotions")
_USAGE = {COUPON_TYPE: (table("coupon_usage"), "coupon_type_id"), PROMOTION: (table("promotion_usage"), "promotion_id")}
_LIMITED = {
    COUPON_TYPE: (_TYPES, "max_redemptions", ("ACTIVE",), "CouponTypes"),
    PROMOTION: (_PROMOTIONS, "max_applications_total", CANDIDATES, "Promotions"),
}
_RUNNING = ("ACTIVE", "SCHEDULED", "EXHAUSTED")


# ---- rows ---------------------------------------------------------------------------------------------------------

_NAMES = tuple(Share.__dataclass_fields__)


async def read_all(session: Session) -> list[Share]:
    """Return all shares of the store, by kind and ID."""
    statement = select(*[_SHARES.c[name] for name in _NAMES]).order_by(_SHARES.c.kind, _SHARES.c.entity_id)
    return [Share(*tuple(row)) for row in await session.execute(statement)]


async def read_one(session: Session, kind: str, entity_id: str) -> Share | None:
    """Return one share, or None."""
    statement = select(*[_SHARES.c[name] for name in _NAMES]).where(
        _SHARES.c.kind == kind, _SHARES.c.entity_id == entity_id
    )
    rows = await session.execute(statement)
    return Share(*tuple(rows[0])) if rows else None


async def put(session: Session, *shares: Share) -> None:
    """Insert or update shares."""
    made = upsert(session.dialect, _SHARES)
    key = (_SHARES.c.tenant_id, _SHARES.c.deployment_id, _SHARES.c.kind, _SHARES.c.entity_id)
    changed = {name: made.excluded[name] for name in _NAMES if name not in {"deployment_id", "kind", "entity_id"}}
    statement = made.on_conflict_do_update(index_elements=list(key), set_=changed)
    await session.execute_many(statement, [{name: getattr(one, name) for name in _NAMES} for one in shares])


async def drop(session: Session, *shares: Share) -> None:
    """Delete shares."""
    for one in shares:
        await session.rowcount(
            delete(_SHARES).where(
                _SHARES.c.deployment_id == one.deployment_id,
                _SHARES.c.kind == one.kind,
                _SHARES.c.entity_id == one.entity_id,
            )
        )


# ---- what is left -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """The total granted to a store and the amount used; ``is_needed``: the store still prices with it.

    ``currency``: of a budget.
    """

    kind: str
    entity_id: str
    total: Decimal
    used: Decimal
    is_needed: bool
    currency: str | None = None

    @property
    def rest(self) -> Decimal:
        """The amount that can still be spent."""
        return max(self.total - self.used, Decimal(0))


async def read_limits(
    session: Session, at: datetime, keys: Iterable[tuple[str, str]] | None = None
) -> dict[tuple[str, str], Limit]:
    """Return limits of the store by kind and ID, those of ``keys`` or all; entities without a limit are left out."""
    found: list[Limit] = []
    for kind in NUMBERS:
        ids = None if keys is None else sorted([one for named, one in keys if named == kind])
        if ids is None or ids:
            found += await (_budgets(session, at, ids) if kind == BUDGET else _counted(session, kind, at, ids))
    return {(one.kind, one.entity_id): one for one in found}


async def read_limit(session: Session, kind: str, entity_id: str, at: datetime) -> Limit | None:
    """Return one limit; None: the entity no longer exists or has no limit."""
    return (await read_limits(session, at, [(kind, entity_id)])).get((kind, entity_id))


async def _budgets(session: Session, at: datetime, ids: Sequence[str] | None) -> Sequence[Limit]:
    linked = (
        select(_LINKS.c.budget_id)
        .join(_PROMOTIONS, _PROMOTIONS.c.id == _LINKS.c.promotion_id)
        .where(_PROMOTIONS.c.status.in_(CANDIDATES), or_(_PROMOTIONS.c.valid_to.is_(None), _PROMOTIONS.c.valid_to > at))
    )
    statement = select(
        _BUDGETS.c.id,
        _BUDGETS.c.total_amount,
        _BUDGETS.c.consumed_amount,
        _BUDGETS.c.status,
        _BUDGETS.c.valid_to,
        _BUDGETS.c.currency,
        _BUDGETS.c.id.in_(linked).label("is_linked"),
    )
    rows = await session.execute(statement if ids is None else statement.where(_BUDGETS.c.id.in_(ids)))
    return [
        Limit(
            BUDGET,
            row.id,
            row.total_amount,
            row.consumed_amount,
            bool(row.is_linked) and row.status in _RUNNING and (row.valid_to is None or row.valid_to > at),
            row.currency,
        )
        for row in rows
    ]


async def _counted(session: Session, kind: str, at: datetime, ids: Sequence[str] | None) -> Sequence[Limit]:
    rows, column, running, _ = _LIMITED[kind]
    usage, owner = _USAGE[kind]
    used = usage.c["count"].label("used")
    statement = (
        select(rows.c.id, rows.c[column].label("most"), rows.c.status, rows.c.valid_to, used)
        .join_from(rows, usage, (usage.c[owner] == rows.c.id) & (usage.c.customer_id == ALL_CUSTOMERS), isouter=True)
        .where(rows.c[column].is_not(None))
    )
    found = await session.execute(statement if ids is None else statement.where(rows.c.id.in_(ids)))
    return [
        Limit(
            kind,
            row.id,
            Decimal(row.most),
            Decimal(row.used or 0),
            row.status in running and (row.valid_to is None or row.valid_to > at),
        )
        for row in found
    ]


async def set_total(session: Session, limit: Limit, total: Decimal, at: datetime) -> None:
    """Set the total granted to the store; pricing uses it from now on.

    The rows belong to the cloud: their versions do not change.
    """
    if limit.kind == BUDGET:
        await session.rowcount(update(_BUDGETS).where(_BUDGETS.c.id == limit.entity_id).values(total_amount=total))
        if total > limit.used:  # if it was used up only in this store, it can be spent again
            exhausted = update(_BUDGETS).where(_BUDGETS.c.id == limit.entity_id, _BUDGETS.c.status == "EXHAUSTED")
            await session.rowcount(exhausted.values(status="ACTIVE"))
        return
    rows, column, _, set_name = _LIMITED[limit.kind]
    await session.rowcount(update(rows).where(rows.c.id == limit.entity_id).values({column: int(total)}))
    await record_change(session, set_name, limit.entity_id, at=at)
