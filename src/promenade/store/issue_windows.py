"""How many coupons tills have had issued in the last minute: one row per tenant, which bounds all its processes.

The row is held from `hold` on until the unit ends, so that units of one tenant that issue come one after the other and
each sees what those before it have issued.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from promenade.store.hot import hot_statement
from promenade.store.unit import Session

__all__ = ["Issuances", "hold", "keep"]

Issuances = tuple[int, int]
"""When (microseconds since 1970), and how many coupons were issued then."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Issuances])
_NOTHING = _ENCODER.encode([])


# On PostgreSQL it adds the row or locks it; what it answers is what the one before has committed.
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
    """What the tenant's tills have had issued as far as it was kept, oldest first, held until the unit ends."""
    rows = await session.hot("hold an issue window", (session.tenant, _NOTHING))
    return _DECODER.decode(rows[0][0]) if rows else []


async def keep(session: Session, issued: Sequence[Issuances]) -> None:
    """Write down what counts from now on, oldest first; the window must be held."""
    await session.hot("keep an issue window", (session.tenant, _ENCODER.encode(issued)))
