"""Calculation logs: the result of each confirmed sale, or the rejection of a confirm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, insert, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_LOGS = table("CalculationLogs")
_ITEMS = table("CalculationLogItems")
_LOG_PROMOTIONS = table("CalculationLogPromotions")
_PROMOTIONS = table("Promotions")
_INSERT_LOG, _INSERT_ITEMS, _INSERT_PROMOTIONS = insert(_LOGS), insert(_ITEMS), insert(_LOG_PROMOTIONS)

Columns = Mapping[str, Any]


def log_rows(
    log: Columns, items: Sequence[Columns], promotions: Sequence[Columns], *, at: datetime
) -> list[tuple[Insert, Sequence[Columns]]]:
    """Return the inserts of a log with its lines and promotions, given by their columns; ``at`` is the time of all."""
    made = {"created_at": at, "modified_at": at}
    ours = {**made, "log_id": log["id"]}
    return [
        (_INSERT_LOG, [{**log, **made}]),
        (_INSERT_ITEMS, [{**item, **ours} for item in items]),
        (_INSERT_PROMOTIONS, [{**promotion, **ours} for promotion in promotions]),
    ]


async def insert_refusal(session: Session, log: Columns, *, at: datetime) -> None:
    """Insert the log of a rejected confirm; an existing log is not changed."""
    once = upsert(session.dialect, _LOGS).on_conflict_do_nothing()
    await session.rowcount(once, {**log, "created_at": at, "modified_at": at})


async def promotion_names(session: Session, promotion_ids: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Return name and version of the promotions that still exist."""
    rows = await session.execute(
        select(_PROMOTIONS.c.id, _PROMOTIONS.c.name, _PROMOTIONS.c.version).where(
            _PROMOTIONS.c.id.in_(list(promotion_ids))
        )
    )
    return {row.id: (row.name, row.version) for row in rows}
