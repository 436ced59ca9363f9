"""Calculation logs: the result of each confirmed sale, or the rejection of a confirm."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Insert, insert, select, update

from promenade.store.authoring.statements import hold
from promenade.store.driver.hot import as_json, hot_statement
from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.sales.log_parts import unpack

_LOGS = table("CalculationLogs")
_PARTS = table("calculation_log_parts")
_PROMOTIONS = table("Promotions")
_INSERT_LOG, _INSERT_PARTS = insert(_LOGS), insert(_PARTS)

Columns = Mapping[str, Any]

NOTE_BLOCK = "note block"
"""The statement that notes which promotions a block of logs has."""


async def insert_log(
    session: Session,
    log: Columns,
    lines: Sequence[Sequence[Any]],
    promotions: Sequence[Sequence[Any]],
    *,
    at: datetime,
    block: int,
    beside: Sequence[tuple[Insert, Sequence[Columns]]] = (),
) -> None:
    """Insert a log with its packed lines and promotions (see `log_parts`), and with it what is ``beside`` it.

    ``at`` is the time of all; ``block`` is the log's.
    """
    made = {"created_at": at, "modified_at": at}
    parts = {"log_id": log["id"], "block": block, "lines": lines, "promotions": promotions} | {"created_at": at}
    noted = sorted({promotion_id for promotion_id, *_ in promotions})
    await session.insert_together(
        [(_INSERT_LOG, [{**log, **made}]), (_INSERT_PARTS, [parts]), *beside],
        (NOTE_BLOCK, (session.tenant, noted, block, log["id"])) if noted else None,
    )


# The log's ID is in the key so that two logs which note the same promotion at once do not wait for each other.
@hot_statement(
    NOTE_BLOCK,
    postgresql="""
    INSERT INTO calculation_log_blocks (tenant_id, promotion_id, block, log_id)
    SELECT $1::varchar, promotion, $3::integer, $4::varchar
    FROM unnest($2::varchar[]) AS promotion
    WHERE NOT EXISTS (
        SELECT FROM calculation_log_blocks noted
        WHERE noted.tenant_id = $1::varchar AND noted.promotion_id = promotion AND noted.block = $3::integer
    )
    """,
)
def _note_block(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, promotions, block, log_id = params
    connection.execute(
        """
        INSERT INTO calculation_log_blocks (tenant_id, promotion_id, block, log_id)
        SELECT ?1, value, ?3, ?4 FROM json_each(?2) AS promotion
        WHERE NOT EXISTS (
            SELECT 1 FROM calculation_log_blocks AS noted
            WHERE noted.tenant_id = ?1 AND noted.promotion_id = promotion.value AND noted.block = ?3
        )
        """,
        (tenant_id, as_json(promotions), block, log_id),
    )
    return []


async def insert_refusal(session: Session, log: Columns, *, at: datetime) -> None:
    """Insert the log of a rejected confirm; an existing log is not changed.

    Whoever inserts the same log at once waits: the key of a partitioned table also has the time, so it would take both.
    """
    await hold(session, f"refusal/{log['id']}")
    if not await session.execute(select(_LOGS.c.id).where(_LOGS.c.id == log["id"])):
        await session.rowcount(_INSERT_LOG, {**log, "created_at": at, "modified_at": at})


@dataclass(frozen=True, slots=True)
class CancelledLog:
    """What the log of a cancelled sale says: the amount paid, and the promotions that applied outside control arms.

    Each with the limit of use that it exceeded, if it did.
    """

    grand_total: Decimal
    currency: str
    applied: dict[str, str | None]


async def cancel_log(session: Session, log_id: str, *, reason: str | None, at: datetime) -> CancelledLog | None:
    """Mark the log of a sale as CANCELLED; None: it was deleted."""
    rows = await session.execute(
        update(_LOGS)
        .where(_LOGS.c.id == log_id)
        .values(status="CANCELLED", message=reason, modified_at=at, version=_LOGS.c.version + 1)
        .returning(_LOGS.c.grand_total, _LOGS.c.currency)
    )
    if not rows:
        return None
    parts = await session.execute(select(_PARTS.c.promotions).where(_PARTS.c.log_id == log_id))
    applied = unpack("CalculationLogPromotions", log_id, parts[0].promotions or ()) if parts else ()
    counted = {one.promotion_id: one.exceeded_limit for one in applied if one.pilot_arm != "CONTROL"}
    return CancelledLog(rows[0].grand_total, rows[0].currency, counted)


async def promotion_names(session: Session, promotion_ids: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return name and version of the promotions that still exist."""
    rows = await read_among(session, (_PROMOTIONS.c.id,), promotion_ids, _NAMES.where)
    return {row.id: (row.name, row.version) for row in rows}


_NAMES = select(_PROMOTIONS.c.id, _PROMOTIONS.c.name, _PROMOTIONS.c.version)
