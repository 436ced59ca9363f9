"""The coupons issued by tills in the last minute: one row per tenant, which limits all its processes together.

The row is locked from `hold` until the unit of work ends, so that a tenant's units that issue coupons run one after the
other, and each sees what the previous ones have issued.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from promenade.store.driver.hot import hot_statement
from promenade.store.driver.unit import Session

Issuances = tuple[int, int]
"""When (microseconds since 1970), and how many coupons were issued then."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Issuances])
_NOTHING = _ENCODER.encode([])


# On PostgreSQL this inserts the row or locks it; it returns what the previous holder has committed.
@hot_statement(
    "hold an issue window",
    postgresql="""
    INSERT INTO issue_windows AS w (tenant_id, issued) VALUES ($1::varchar, $2::bytea)
    ON CONFLICT (tenant_id) DO UPDATE SET issued = w.issued RETURNING issued
    """,
)
def _hold(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute("SELECT issued FROM issue_windows WHERE tenant_id = ?", params[:1]).fetchall()


@hot_statement(
    "keep an issue window",
    postgresql="UPDATE issue_windows SET issued = $2::bytea WHERE tenant_id = $1::varchar",
)
def _keep(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute(
        "INSERT INTO issue_windows (tenant_id, issued) VALUES (?, ?)"
        " ON CONFLICT (tenant_id) DO UPDATE SET issued = excluded.issued",
        params,
    ).fetchall()


async def hold(session: Session) -> list[Issuances]:
    """Lock the tenant's window until the unit of work ends, and return the stored issues, oldest first."""
    rows = await session.hot("hold an issue window", (session.tenant, _NOTHING))
    return _DECODER.decode(rows[0][0]) if rows else []


async def keep(session: Session, issued: Sequence[Issuances]) -> None:
    """Store the issues that still count, oldest first; the window must be locked."""
    await session.hot("keep an issue window", (session.tenant, _ENCODER.encode(issued)))
