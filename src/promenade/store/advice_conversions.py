"""What came of advice: the evaluations of sales that were confirmed, and what customers have left with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, select

from promenade.store.recurring import among
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "Conversion",
    "OpenAdvice",
    "OpenKey",
    "add_conversions",
    "evaluations_of",
    "keep_open",
    "open_advice",
    "purge_open",
]

_ITERATIONS = table("iterations")
_GROUPS = table("PosGroups")
_CONVERTED = table("advice_converted")
_OPEN = table("advice_open")
_OPEN_ROWS = select(_OPEN)
_LISTED = 64  # keys that one statement names: as many as statements are kept for

OpenKey = tuple[str, str, str]
"""Customer, kind of advice, promotion."""


@dataclass(frozen=True, slots=True)
class OpenAdvice:
    """What a customer has left with: shown on ``day``, at a sale of ``grand_total`` that was confirmed at a moment."""

    day: date
    currency: str
    grand_total: Decimal
    shown_at: datetime


@dataclass(frozen=True, slots=True)
class Conversion:
    """Sales that reached what advice had told, what they came to beyond it, and what the promotion gave in them."""

    converted: int
    extra_revenue: Decimal
    total_discount: Decimal

    def plus(self, other: Conversion) -> Conversion:
        """Both together."""
        return Conversion(
            self.converted + other.converted,
            self.extra_revenue + other.extra_revenue,
            self.total_discount + other.total_discount,
        )


async def evaluations_of(session: Session, transactions: Sequence[tuple[str, str]]) -> list[Any]:
    """All that is still kept of evaluations of these transactions (origin, transaction ID), the earliest first.

    Rows have origin, transaction_id, transaction_counter, evaluated_at, time_zone (of the POS group) and record.
    """
    found: list[Any] = []
    wanted = (_ITERATIONS.c.origin, _ITERATIONS.c.transaction_id)
    for at in range(0, len(transactions), _LISTED):
        part = transactions[at : at + _LISTED]
        found.extend(await session.execute(*among(wanted, part, _evaluations)))
    found.sort(key=lambda row: abs(row.transaction_counter))
    return found


def _evaluations(condition: Any) -> Select[Any]:
    joined = _ITERATIONS.outerjoin(
        _GROUPS, and_(_GROUPS.c.tenant_id == _ITERATIONS.c.tenant_id, _GROUPS.c.id == _ITERATIONS.c.pos_group_id)
    )
    return (
        select(
            _ITERATIONS.c.origin,
            _ITERATIONS.c.transaction_id,
            _ITERATIONS.c.transaction_counter,
            _ITERATIONS.c.evaluated_at,
            _ITERATIONS.c.record,
            _GROUPS.c.time_zone,
        )
        .select_from(joined)
        .where(condition)
    )


async def open_advice(session: Session, customers: Collection[str]) -> dict[OpenKey, OpenAdvice]:
    """What these customers have left with."""
    found: dict[OpenKey, OpenAdvice] = {}
    asked = sorted(customers)
    for at in range(0, len(asked), _LISTED):
        part = asked[at : at + _LISTED]
        for row in await session.execute(*among((_OPEN.c.customer_id,), part, _OPEN_ROWS.where)):
            key = (row.customer_id, row.kind, row.promotion_id)
            found[key] = OpenAdvice(row.day, row.currency, row.grand_total, row.shown_at)
    return found


async def keep_open(session: Session, kept: Mapping[OpenKey, OpenAdvice], gone: Collection[OpenKey]) -> int:
    """Write what customers have left with, and forget what they have come back for; how many rows that were."""
    if gone:
        names = ("customer_id", "kind", "promotion_id")
        one = delete(_OPEN).where(*(_OPEN.c[name] == bindparam(f"of_{name}") for name in names))
        await session.execute_many(
            one, [{f"of_{name}": value for name, value in zip(names, key, strict=True)} for key in sorted(gone)]
        )
    if kept:
        writing = upsert(session.dialect, _OPEN)
        values = {name: writing.excluded[name] for name in ("day", "currency", "grand_total", "shown_at")}
        keys = ["tenant_id", "customer_id", "kind", "promotion_id"]
        await session.execute_many(
            writing.on_conflict_do_update(index_elements=keys, set_=values),
            [
                {
                    "customer_id": customer_id,
                    "kind": kind,
                    "promotion_id": promotion_id,
                    "day": one.day,
                    "currency": one.currency,
                    "grand_total": one.grand_total,
                    "shown_at": one.shown_at,
                }
                for (customer_id, kind, promotion_id), one in sorted(kept.items())
            ],
        )
    return len(gone) + len(kept)


async def add_conversions(session: Session, found: Mapping[tuple[str, str, date, str], Conversion]) -> int:
    """Add what came of advice, by kind, promotion, day and currency; how many rows that were."""
    if not found:
        return 0
    adding = upsert(session.dialect, _CONVERTED)
    names = ("converted", "extra_revenue", "total_discount")
    await session.execute_many(
        adding.on_conflict_do_update(
            index_elements=["tenant_id", "kind", "promotion_id", "day", "currency"],
            set_={name: _CONVERTED.c[name] + adding.excluded[name] for name in names},
        ),
        [
            {
                "kind": kind,
                "promotion_id": promotion_id,
                "day": day,
                "currency": currency,
                "converted": one.converted,
                "extra_revenue": one.extra_revenue,
                "total_discount": one.total_discount,
            }
            for (kind, promotion_id, day, currency), one in sorted(found.items())
        ],
    )
    return len(found)


async def purge_open(session: Session, before: datetime, limit: int) -> int:
    """Forget up to ``limit`` pieces of advice that customers left with before a moment; needs a system session."""
    keys = (_OPEN.c.tenant_id, _OPEN.c.customer_id, _OPEN.c.kind, _OPEN.c.promotion_id)
    rows = await session.execute(select(*keys).where(_OPEN.c.shown_at < before).order_by(_OPEN.c.shown_at).limit(limit))
    if not rows:
        return 0
    names = ("tenant_id", "customer_id", "kind", "promotion_id")
    one = delete(_OPEN).where(*(_OPEN.c[name] == bindparam(f"of_{name}") for name in names), _OPEN.c.shown_at < before)
    await session.execute_many(one, [{f"of_{name}": row._mapping[name] for name in names} for row in rows])
    return len(rows)
