"""What is stored about one customer: every row of a tenant's tables that names the customer, read in portions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, select, tuple_

from promenade.store.driver import schema
from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

READ_MAX = 2_000
"""Keys that one portion looks at, where no index finds the customer's rows."""

ROWS_MAX = 500
"""Rows that a walk over customers looks at together: neither database passes over many of one customer."""

_CUSTOMER = "customer_id"
_BESIDE = frozenset({"customer_erasures", "forecast_customers"})  # who is there is in another table, too
_PARTS = table("calculation_log_parts")
_NEVER_TOLD = frozenset(
    {"tenant_id", "code", "reservation_ref", "created_by", "modified_by", "version", "digest", "pseudonym"}
)
_TOKENS = frozenset({("coupon_reservations", "id")})  # whoever has it may redeem the reservation

Key = tuple[Any, ...]


@cache
def tables_of_customers() -> tuple[str, ...]:
    """Return the names of the tables whose rows name a customer, in the order of the alphabet."""
    return tuple(sorted(name for name, rows in schema.metadata.tables.items() if _CUSTOMER in rows.c))


def walked_tables() -> list[str]:
    """Return the names of the tables that together name every customer, in order."""
    return [name for name in tables_of_customers() if name not in _BESIDE]


async def read_customers(session: Session, name: str, after: str, limit: int) -> tuple[list[str], bool]:
    """Return up to ``limit`` customers' IDs of a table after ``after``, in order, and whether there may be more.

    It looks at `ROWS_MAX` rows of an index, so the rows of one customer may be all that it sees.
    """
    customer = schema.metadata.tables[name].c[_CUSTOMER]
    rows = await session.execute(select(customer).where(customer > after).order_by(customer).limit(ROWS_MAX))
    found = list(dict.fromkeys([row.customer_id for row in rows]))
    return found[:limit], len(rows) == ROWS_MAX or len(found) > limit


async def read_rows(
    session: Session, name: str, customer_id: str, after: Key | None, limit: int
) -> tuple[list[Mapping[str, Any]], Key | None]:
    """Return at most ``limit`` of the customer's rows in a table, in the order of its key, and where to go on.

    None: there are no more. Without an index over customers a portion looks at `READ_MAX` keys, whosever they are, so
    that it may find nothing and yet not be the last. Codes of coupons and tokens of reservations are left out.
    """
    rows = schema.metadata.tables[name]
    key = _key(rows)
    if _is_indexed(rows):
        found = select(rows).where(rows.c[_CUSTOMER] == customer_id)
        listed = await session.execute(_after(found, key, after).order_by(*key).limit(limit))
        last = tuple(listed[-1]._mapping[one.name] for one in key) if len(listed) == limit else None
        return [_told(rows, row._mapping) for row in listed], last
    looked = await session.execute(
        _after(select(*key, rows.c[_CUSTOMER].label("whose")), key, after).order_by(*key).limit(READ_MAX)
    )
    own = [tuple(row)[:-1] for row in looked if row.whose == customer_id]
    is_cut = len(own) > limit
    own = own[:limit]
    listed = await session.execute(select(rows).where(one_of(key, own)).order_by(*key)) if own else []
    last = own[-1] if is_cut else tuple(looked[-1])[:-1] if len(looked) == READ_MAX else None
    return [_told(rows, row._mapping) for row in listed], last


async def read_parts(session: Session, log_ids: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """Return lines and promotions of calculation logs, packed as `store.sales.log_parts` says, by the log's ID."""
    if not log_ids:
        return {}
    columns = (_PARTS.c.log_id, _PARTS.c.lines, _PARTS.c.promotions)
    rows = await session.execute(select(*columns).where(_PARTS.c.log_id.in_(list(log_ids))))
    return {row.log_id: (row.lines, row.promotions) for row in rows}


def _key(rows: Table) -> list[Column[Any]]:
    return [column for column in rows.primary_key.columns if column.name != "tenant_id"]


def _is_indexed(rows: Table) -> bool:
    """Whether an index, or the key, leads from a tenant's customer to the rows."""
    leading: list[Index | PrimaryKeyConstraint] = [*rows.indexes, rows.primary_key]
    return any([column.name for column in one.columns][:2] == ["tenant_id", _CUSTOMER] for one in leading)


def _after(statement: Any, key: Sequence[Column[Any]], after: Key | None) -> Any:
    return statement if after is None else statement.where(tuple_(*key) > tuple_(*after))


def _told(rows: Table, row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        column.name: row[column.name]
        for column in rows.c
        if column.name not in _NEVER_TOLD and (rows.name, column.name) not in _TOKENS
    }
