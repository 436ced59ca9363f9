"""What stores may spend on their own, as recorded in the cloud: shares of budgets and limits, and coupon codes.

A share is deducted from its source as soon as it is granted: a budget's money is reserved, uses of a limit are counted
in advance, a code is reserved. So decisions for a till of the cloud are correct without considering stores.

INVARIANT (reliability B1): Budgets.reserved_amount is the sum of the budget's outstanding shares.

Rows are locked in the same order everywhere: shares by their keys, then counts of coupon types, codes, counts of
promotions, budgets; that is the order of confirms, preceded by the shares.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Insert, Row, Select, delete, func, select, update

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import among, parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.sales.usage import ALL_CUSTOMERS
from promenade.store.sync.share_codes import return_codes

BUDGET, COUPON_TYPE, PROMOTION, COUPON_CODE = "BUDGET", "COUPON_TYPE", "PROMOTION", "COUPON_CODE"
COUPON_POOL = "COUPON_POOL"
"""No share itself: the last request of a store for codes of a type to issue, of which each is a COUPON_CODE."""

_SHARES = table("store_shares")
_BUDGETS = table("Budgets")
_KEY = (_SHARES.c.deployment_id, _SHARES.c.kind, _SHARES.c.entity_id)
_COUNTS = {
    COUPON_TYPE: (table("coupon_usage"), "coupon_type_id"),
    PROMOTION: (table("promotion_usage"), "promotion_id"),
}


@dataclass(frozen=True, slots=True)
class Share:
    """What one store may spend of one budget, limit or code; see the columns of ``store_shares``."""

    deployment_id: str
    kind: str
    entity_id: str
    outstanding: Decimal
    currency: str | None
    reference: str | None
    expires_at: datetime
    last_key: str | None
    last_answer: bytes | None
    changed_at: datetime
    forecast: Decimal = Decimal(0)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.deployment_id, self.kind, self.entity_id


_COLUMNS = [_SHARES.c[name] for name in Share.__dataclass_fields__]


def _shares(rows: Iterable[Row[Any]]) -> list[Share]:
    return [Share(*tuple(row)) for row in rows]


# ---- rows of shares -----------------------------------------------------------------------------------------------


@cache
def _holding(dialect: str) -> Insert:
    made = upsert(dialect, _SHARES)
    key = [_SHARES.c.tenant_id, *_KEY]
    # The update changes nothing: it locks and returns the row, whether new or not.
    return made.on_conflict_do_update(index_elements=key, set_={"outstanding": _SHARES.c.outstanding}).returning(
        *_COLUMNS
    )


async def hold_share(
    session: Session, deployment_id: str, kind: str, entity_id: str, *, currency: str | None, at: datetime
) -> Share:
    """Lock and return the store's share; create it, with nothing outstanding, if it does not exist."""
    row = {
        "deployment_id": deployment_id,
        "kind": kind,
        "entity_id": entity_id,
        "outstanding": Decimal(0),
        "forecast": Decimal(0),
        "currency": currency,
        "expires_at": at,
        "changed_at": at,
    }
    return _shares(await session.execute(_holding(session.dialect).values(row)))[0]


async def hold_shares(session: Session, deployment_id: str, keys: Collection[tuple[str, str]]) -> list[Share]:
    """Lock and return those shares (kind, entity) that the store has, ordered by key."""
    if not keys:
        return []
    named = [(deployment_id, kind, entity_id) for kind, entity_id in sorted(keys)]
    return _shares(await session.execute(*among(_KEY, named, _held)))


def _held(condition: ColumnElement[bool]) -> Select[Any]:
    return select(*_COLUMNS).where(condition).order_by(*_KEY).with_for_update()


async def find_outstanding(session: Session, kind: str, entity_ids: Collection[str]) -> set[str]:
    """Return those entities of which any store has an outstanding share."""
    if not entity_ids:
        return set()
    keys = [(kind, entity_id) for entity_id in sorted(entity_ids)]
    rows = await session.execute(*among((_SHARES.c.kind, _SHARES.c.entity_id), keys, _outstanding_of))
    return {row.entity_id for row in rows}


def _outstanding_of(condition: ColumnElement[bool]) -> Select[Any]:
    return select(_SHARES.c.entity_id).where(condition, _SHARES.c.outstanding > 0).distinct()


async def write_share(session: Session, share: Share, **changes: Any) -> None:
    """Change columns of a share that this unit has locked."""
    statement = update(_SHARES).where(
        _SHARES.c.deployment_id == share.deployment_id,
        _SHARES.c.kind == share.kind,
        _SHARES.c.entity_id == share.entity_id,
    )
    await session.rowcount(statement.values(**changes))


@cache
def _putting(dialect: str) -> Insert:
    made = upsert(dialect, _SHARES)
    names = ("outstanding", "reference", "expires_at", "last_answer", "changed_at")
    return made.on_conflict_do_update(
        index_elements=[_SHARES.c.tenant_id, *_KEY], set_={name: made.excluded[name] for name in names}
    )


async def put_shares(session: Session, shares: Sequence[Share]) -> None:
    """Insert or update shares."""
    names = [name for name in Share.__dataclass_fields__ if name not in {"currency", "forecast", "last_key"}]
    rows = [{name: getattr(one, name) for name in names} for one in sorted(shares, key=lambda one: one.key)]
    await session.execute_many(_putting(session.dialect), rows)


def _of_share(prefix: str) -> list[ColumnElement[bool]]:
    """Return the condition on a share's key, as parameters of a prepared statement."""
    return [column == parameter(f"{prefix}_{column.name}", column.type) for column in _KEY]


def _named(prefix: str, share: Share) -> dict[str, Any]:
    names = (column.name for column in _KEY)
    return {f"{prefix}_{name}": value for name, value in zip(names, share.key, strict=True)}


_DROP = Kept(delete(_SHARES).where(*_of_share("dropped")))


async def drop_shares(session: Session, shares: Sequence[Share]) -> None:
    """Delete shares."""
    await session.execute_many(_DROP, [_named("dropped", one) for one in shares])


async def drop_shares_of_others(session: Session, deployment_id: str, code_ids: Collection[str]) -> None:
    """Delete other stores' shares of these codes: their leases have expired, and another store has the codes now."""
    if code_ids:
        await session.rowcount(
            delete(_SHARES).where(
                _SHARES.c.kind == COUPON_CODE,
                _SHARES.c.entity_id.in_(sorted(code_ids)),
                _SHARES.c.deployment_id != deployment_id,
            )
        )


# ---- what shares are parts of -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """The columns of a budget that a grant needs."""

    status: str
    valid_to: datetime | None
    currency: str
    total: Decimal
    consumed: Decimal
    reserved: Decimal

    @property
    def free(self) -> Decimal:
        """The amount that is neither spent nor granted to a store."""
        return self.total - self.consumed - self.reserved


async def hold_budget(session: Session, budget_id: str, *, held: bool = True) -> BudgetRow | None:
    """Return the budget, locked unless ``held`` is false; None: it does not exist."""
    names = ("status", "valid_to", "currency", "total_amount", "consumed_amount", "reserved_amount")
    statement = select(*[_BUDGETS.c[name] for name in names]).where(_BUDGETS.c.id == budget_id)
    rows = await session.execute(statement.with_for_update() if held else statement)
    return BudgetRow(*tuple(rows[0])) if rows else None


_BY = parameter("moved_by", _BUDGETS.c.reserved_amount.type)
# INVARIANT: checked in the statement itself, so that no concurrent change can interfere: a granted amount was free, a
# returned amount was reserved.
_MOVE = Kept(
    update(_BUDGETS)
    .where(
        _BUDGETS.c.id == parameter("moved_id", _BUDGETS.c.id.type),
        _BUDGETS.c.total_amount - _BUDGETS.c.consumed_amount - _BUDGETS.c.reserved_amount >= _BY,
        _BUDGETS.c.reserved_amount + _BY >= 0,
    )
    .values(reserved_amount=_BUDGETS.c.reserved_amount + _BY, version=_BUDGETS.c.version + 1)
)


async def reserve(session: Session, budget_id: str, amount: Decimal) -> bool:
    """Reserve an amount of a budget for a store, or return it (below zero); False: not enough is available."""
    return await session.rowcount(_MOVE, {"moved_id": budget_id, "moved_by": amount}) == 1


_NO_LIMIT = 2**31 - 1


@cache
def _counting(dialect: str, kind: str) -> Kept:
    usage, owner = _COUNTS[kind]
    made = upsert(dialect, usage).values(
        {
            owner: parameter("counted_id", usage.c[owner].type),
            "customer_id": ALL_CUSTOMERS,
            "count": parameter("counted_by", usage.c["count"].type),
        }
    )
    after = usage.c["count"] + made.excluded["count"]
    return Kept(
        made.on_conflict_do_update(
            index_elements=[usage.c.tenant_id, usage.c[owner], usage.c.customer_id],
            set_={"count": after},
            where=after <= parameter("counted_limit", usage.c["count"].type),
        ).returning(usage.c["count"].label("uses"))
    )


async def move_count(session: Session, kind: str, entity_id: str, by: int, limit: int | None = None) -> int | None:
    """Count uses of a coupon type or promotion in advance; return the new count, None: ``limit`` exceeded.

    The counter row is locked until the unit ends; ``by`` 0 only locks it.
    """
    given = {"counted_id": entity_id, "counted_by": by, "counted_limit": _NO_LIMIT if limit is None else limit}
    rows = await session.execute(_counting(session.dialect, kind), given)
    return int(rows[0].uses) if rows else None


@cache
def _uncounting(kind: str) -> Kept:
    usage, owner = _COUNTS[kind]
    return Kept(
        update(usage)
        .where(usage.c[owner] == parameter("counted_id", usage.c[owner].type), usage.c.customer_id == ALL_CUSTOMERS)
        .values(count=usage.c["count"] - parameter("counted_by", usage.c["count"].type))
    )


async def _uncount(session: Session, kind: str, fewer: Mapping[str, int]) -> None:
    given = [{"counted_id": one, "counted_by": number} for one, number in sorted(fewer.items()) if number]
    await session.execute_many(_uncounting(kind), given)


async def return_shares(
    session: Session, returned: Sequence[tuple[Share, Decimal]], at: datetime, *, to_sale: bool = False
) -> None:
    """Return shares to their sources, at most the outstanding amount of each; the caller has locked the shares.

    Codes get the status they had before the lease; ``to_sale``: they are redeemed by a sale, whose time counts.
    """
    amounts: dict[str, dict[str, Decimal]] = {kind: {} for kind in (COUPON_TYPE, PROMOTION, BUDGET)}
    lowered: list[dict[str, Any]] = []
    codes = [share for share, _ in returned if share.kind == COUPON_CODE]
    for share, wanted in returned:
        back = min(wanted, share.outstanding)
        if share.kind in amounts and back > 0:
            amounts[share.kind][share.entity_id] = amounts[share.kind].get(share.entity_id, Decimal(0)) + back
            lowered.append({**_named("lowered", share), "lowered_by": back, "lowered_at": at})
    await _uncount(session, COUPON_TYPE, {one: int(by) for one, by in amounts[COUPON_TYPE].items()})
    await return_codes(
        session,
        [(one.entity_id, one.reference or "", (one.last_answer or b"ACTIVE").decode()) for one in codes],
        at,
        to_sale=to_sale,
    )
    await _uncount(session, PROMOTION, {one: int(by) for one, by in amounts[PROMOTION].items()})
    moves = [{"moved_id": one, "moved_by": -by} for one, by in sorted(amounts[BUDGET].items())]
    await session.execute_many(_MOVE, moves)
    await session.execute_many(_LOWER, lowered)
    await drop_shares(session, codes)


_LOWER = Kept(
    update(_SHARES)
    .where(*_of_share("lowered"))
    .values(
        outstanding=_SHARES.c.outstanding - parameter("lowered_by", _SHARES.c.outstanding.type),
        changed_at=parameter("lowered_at", _SHARES.c.changed_at.type),
    )
)


# ---- what all stores need ------------------------------------------------------------------------------------------

_DEMAND = table("share_demand")


@dataclass(frozen=True, slots=True)
class Demand:
    """What all stores may need in a day of one budget or limit, and how they size their reserves (`allotting`)."""

    kind: str
    entity_id: str
    forecast: Decimal
    halvings: int
    piece: Decimal


_DEMANDED = [_DEMAND.c[name] for name in Demand.__dataclass_fields__]


@cache
def _demanding(dialect: str) -> Kept:
    made = upsert(dialect, _DEMAND)
    by = parameter("demand_by", _DEMAND.c.forecast.type)
    values = {
        "kind": parameter("demand_kind", _DEMAND.c.kind.type),
        "entity_id": parameter("demand_of", _DEMAND.c.entity_id.type),
        "forecast": by,
        "halvings": 0,
        "piece": Decimal(0),
        "changed_at": parameter("demand_at", _DEMAND.c.changed_at.type),
    }
    changed = {"forecast": _DEMAND.c.forecast + by}
    key = [_DEMAND.c.tenant_id, _DEMAND.c.kind, _DEMAND.c.entity_id]
    return Kept(made.values(values).on_conflict_do_update(index_elements=key, set_=changed).returning(*_DEMANDED))


async def add_demand(session: Session, kind: str, entity_id: str, by: Decimal, at: datetime) -> Demand:
    """Add the change of a store's forecast to the sum of all, and return the row, locked."""
    given = {"demand_kind": kind, "demand_of": entity_id, "demand_by": by, "demand_at": at}
    rows = await session.execute(_demanding(session.dialect), given)
    return Demand(*tuple(rows[0]))


_HALVE = Kept(
    update(_DEMAND)
    .where(
        _DEMAND.c.kind == parameter("halved_kind", _DEMAND.c.kind.type),
        _DEMAND.c.entity_id == parameter("halved_of", _DEMAND.c.entity_id.type),
    )
    .values(
        halvings=parameter("halved_times", _DEMAND.c.halvings.type),
        piece=parameter("halved_piece", _DEMAND.c.piece.type),
        changed_at=parameter("halved_at", _DEMAND.c.changed_at.type),
    )
)


async def write_reserves(session: Session, demands: Iterable[Demand], at: datetime) -> None:
    """Write how stores size their reserves; they hear of it with their heartbeats."""
    rows = [
        {
            "halved_kind": one.kind,
            "halved_of": one.entity_id,
            "halved_times": one.halvings,
            "halved_piece": one.piece,
            "halved_at": at,
        }
        for one in sorted(demands, key=lambda one: (one.kind, one.entity_id))
    ]
    await session.execute_many(_HALVE, rows)


async def read_reserves(session: Session, since: datetime, limit: int) -> list[Demand]:
    """Return what has changed from ``since`` on, the latest first."""
    statement = select(*_DEMANDED).where(_DEMAND.c.changed_at >= since).order_by(_DEMAND.c.changed_at.desc())
    return [Demand(*tuple(row)) for row in await session.execute(statement.limit(limit))]


async def find_demanding(session: Session, limit: int) -> list[str]:
    """Return tenants whose stores need something; needs a system session."""
    statement = select(_DEMAND.c.tenant_id).where(_DEMAND.c.forecast > 0).distinct().limit(limit)
    return [row.tenant_id for row in await session.execute(statement)]


async def read_demands(session: Session) -> list[tuple[Demand, Decimal]]:
    """Return what the tenant's stores need, each with what is free of it."""
    found: list[tuple[Demand, Decimal]] = []
    free = _BUDGETS.c.total_amount - _BUDGETS.c.consumed_amount - _BUDGETS.c.reserved_amount
    needed = select(*_DEMANDED).where(_DEMAND.c.forecast > 0)
    statements = [
        needed.add_columns(free).join(_BUDGETS, _BUDGETS.c.id == _DEMAND.c.entity_id).where(_DEMAND.c.kind == BUDGET)
    ]
    for kind, (rows, column, _) in _LIMITED.items():
        usage, owner = _COUNTS[kind]
        used = (usage.c[owner] == rows.c.id) & (usage.c.customer_id == ALL_CUSTOMERS)
        statements.append(
            needed.add_columns(rows.c[column] - func.coalesce(usage.c["count"], 0))
            .join(rows, rows.c.id == _DEMAND.c.entity_id)
            .join(usage, used, isouter=True)
            .where(_DEMAND.c.kind == kind, rows.c[column].is_not(None))
        )
    for statement in statements:
        found += [(Demand(*tuple(row)[:-1]), Decimal(row[-1])) for row in await session.execute(statement)]
    return found


# ---- what has run out ---------------------------------------------------------------------------------------------


async def find_due(session: Session, over: datetime, far: datetime, limit: int) -> list[str]:
    """Return tenants with shares that expired by ``over`` or expire after ``far``; needs a system session."""
    due = (_SHARES.c.expires_at <= over) | (_SHARES.c.expires_at > far)
    rows = await session.execute(select(_SHARES.c.tenant_id).where(due).distinct().limit(limit))
    return [row.tenant_id for row in rows]


async def hold_due(session: Session, over: datetime, limit: int) -> list[Share]:
    """Lock and return shares that expired by ``over``; skip those locked by another unit."""
    statement = select(*_COLUMNS).where(_SHARES.c.expires_at <= over).order_by(*_KEY).limit(limit)
    return _shares(await session.execute(statement.with_for_update(skip_locked=True)))


async def shorten(session: Session, far: datetime, until: datetime) -> int:
    """Limit shares that expire after ``far`` to ``until``; return their number.

    Such shares were granted by a clock that has been set back.
    """
    return await session.rowcount(update(_SHARES).where(_SHARES.c.expires_at > far).values(expires_at=until))


# ---- limits of which stores get a part: how often a type is spent, in how many sales a promotion applies ------------


_LIMITED = {
    "COUPON_TYPE": (table("CouponTypes"), "max_redemptions", frozenset({"ACTIVE"})),
    "PROMOTION": (table("Promotions"), "max_applications_total", frozenset({"ACTIVE", "PILOT"})),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit; ``most`` None: unlimited."""

    most: int | None
    is_running: bool
    valid_to: datetime | None

    def runs_at(self, at: datetime) -> bool:
        """Return whether uses can still occur."""
        return self.is_running and (self.valid_to is None or at < self.valid_to)


async def read_limit(session: Session, kind: str, entity_id: str) -> Limit | None:
    """Return the limit of a coupon type or promotion; None: it does not exist."""
    rows, column, running = _LIMITED[kind]
    found = await session.execute(select(rows.c[column], rows.c.status, rows.c.valid_to).where(rows.c.id == entity_id))
    return Limit(found[0][0], found[0].status in running, found[0].valid_to) if found else None
