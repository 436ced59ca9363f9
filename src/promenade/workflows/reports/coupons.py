"""Count codes repeatedly, some coupon types at a time, and export the use of a period's coupons.

An export covers the coupons issued in the period, in their current states: so the rate refers to the same coupons in
numerator and denominator.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from promenade.store.driver.unit import Session
from promenade.store.reports import coupons as store
from promenade.store.reports.coupons import Counted, Counts
from promenade.workflows.context import Context
from promenade.workflows.reports.budgets import percentage
from promenade.workflows.reports.exports import Period, Row, export

FEW_CODES = 20_000
"""So many codes of a type can be looked at one by one each time; of more, the index is counted."""

TYPES_MAX = 50  # per portion
CODES_MAX = 100_000  # per portion, as estimated beforehand
_CLOCKS_APART = timedelta(hours=2)
_NEVER = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CountedTypes:
    """The result of a portion: how many types changed, and the last type's ID; None: there were no more types."""

    changed: int
    last: str | None


async def count_coupons(context: Context, tenant_id: str, after: str) -> CountedTypes:
    """Count the codes of the types after ``after``, by ID."""
    at = context.clock()

    async def look(session: Session) -> tuple[Sequence[Counted], Sequence[tuple[Counted, Counts, datetime]]]:
        types = _portion(await store.read_types(session, after, TYPES_MAX))
        return types, await _counted(session, types, at)

    types, counted = await context.database.read(look, tenant=tenant_id)
    if counted:
        await context.database.write(
            lambda session: store.keep_counts(session, counted, at), tenant=tenant_id, durable=False
        )
    return CountedTypes(len(counted), types[-1].coupon_type_id if types else None)


def _portion(types: Sequence[Counted]) -> Sequence[Counted]:
    """Return the first types, as many as may be counted together."""
    codes = 0
    for place, one in enumerate(types):
        codes += FEW_CODES if one.before is None else one.before.total
        if codes > CODES_MAX:
            return types[: place + 1]
    return types


async def _counted(session: Session, types: Sequence[Counted], at: datetime) -> list[tuple[Counted, Counts, datetime]]:
    """Return the rows to write: types with new counts, or with many codes that were examined anyway."""
    shared = await store.read_shared(session, [one.coupon_type_id for one in types if one.is_shared], at)
    own = [one for one in types if not one.is_shared]
    by_index = await _codes(session, own, examine=False)
    few = [one for one in own if _needs_examination(one, by_index[one.coupon_type_id])]
    grown = [one for one in own if one not in few and by_index[one.coupon_type_id].total != _before(one).total]
    if grown and await store.has_imported_since(session, min(map(_examined, grown)) - _CLOCKS_APART):
        few += grown
    examined = shared | await _codes(session, few, examine=True)
    found: list[tuple[Counted, Counts, datetime]] = []
    for one in types:
        counts = examined.get(one.coupon_type_id)
        if counts is not None:
            if counts != one.before:
                found.append((one, counts, at))
        elif (told := _with_external(by_index[one.coupon_type_id], _before(one))) != one.before:
            found.append((one, told, one.examined_at or at))
    return found


def _needs_examination(one: Counted, counts: Counts) -> bool:
    """Whether to examine each code: if there are few, or only some are external."""
    before = _before(one)
    return counts.total <= FEW_CODES or 0 < before.external < before.total


async def _codes(session: Session, types: Sequence[Counted], *, examine: bool) -> dict[str, Counts]:
    return await store.read_codes(session, [one.coupon_type_id for one in types], examine=examine)


def _before(one: Counted) -> Counts:
    return one.before or Counts()


def _examined(one: Counted) -> datetime:
    return one.examined_at or _NEVER


def _with_external(counts: Counts, before: Counts) -> Counts:
    """Adjust counts by the index for a type whose codes are all external or none: external codes are in no pool."""
    return replace(counts, issued=counts.total, pooled=0, external=before.external) if before.external else counts


# ---- exports --------------------------------------------------------------------------------------------------------

READ_AT_ONCE = 20  # types: each may have a million codes

_Types = tuple[Sequence[Any], Mapping[str, Counts]]


@export("couponAnalytics")
async def coupon_analytics(context: Context, period: Period) -> AsyncIterator[Row]:
    """Yield CouponAnalytics of the coupons of a period, ordered by type ID."""
    after, at = "", context.clock()

    async def work(session: Session) -> _Types:
        found = await store.types_after(
            session, after, READ_AT_ONCE, promotion_id=period.promotion_id, stakeholder_id=period.stakeholder_id
        )
        shared = [row.coupon_type_id for row in found if row.code_type == "GENERIC"]
        own = [row.coupon_type_id for row in found if row.code_type != "GENERIC"]
        external = [row.coupon_type_id for row in found if row.has_external and row.code_type != "GENERIC"]
        counts = await store.issued_between(session, own, external, period.since, period.until)
        return found, counts | await store.used_between(session, shared, period.since, period.until, at)

    while True:
        rows, counted = await context.database.read(work, tenant=period.tenant_id)
        if not rows:
            return
        for row in rows:
            counts = counted[row.coupon_type_id]
            yield {
                **row._mapping,
                **{f"total_{name}": count for name, count in asdict(counts).items()},
                "redemption_rate": percentage(Decimal(counts.redeemed), Decimal(counts.issued)),
            }
        after = rows[-1].coupon_type_id
