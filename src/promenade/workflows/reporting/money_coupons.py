"""Codes are counted anew, some coupon types at a time (specification, Reporting Service: CouponAnalytics)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from promenade.store import money_report_coupons as store
from promenade.store.money_report_coupons import Counted, Counts
from promenade.store.unit import Session
from promenade.workflows.context import Context

__all__ = ["FEW_CODES", "CountedTypes", "count_coupons"]

FEW_CODES = 20_000
"""So many codes of a type can be looked at one by one each time; of more, the index is counted."""

TYPES_MAX = 50  # of one portion
CODES_MAX = 100_000  # of one portion, as far as is known beforehand
_CLOCKS_APART = timedelta(hours=2)
_NEVER = datetime(1970, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CountedTypes:
    """What a portion did: how many types came to something else, and the last of all; None: there were no more."""

    changed: int
    last: str | None


async def count_coupons(context: Context, tenant_id: str, after: str) -> CountedTypes:
    """Count the codes of the next types after one, by ID."""
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
    """The first of the types, as many as may be counted together."""
    codes = 0
    for place, one in enumerate(types):
        codes += FEW_CODES if one.before is None else one.before.total
        if codes > CODES_MAX:
            return types[: place + 1]
    return types


async def _counted(session: Session, types: Sequence[Counted], at: datetime) -> list[tuple[Counted, Counts, datetime]]:
    """What is to be written: types whose counts are new, or whose codes were looked at although they are many."""
    shared = await store.read_shared(session, [one.coupon_type_id for one in types if one.is_shared], at)
    own = [one for one in types if not one.is_shared]
    by_index = await _codes(session, own, examine=False)
    few = [one for one in own if _is_to_be_examined(one, by_index[one.coupon_type_id])]
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


def _is_to_be_examined(one: Counted, counts: Counts) -> bool:
    """Whether each code is to be looked at: they are few, or only some of them are from outside."""
    before = _before(one)
    return counts.total <= FEW_CODES or 0 < before.external < before.total


async def _codes(session: Session, types: Sequence[Counted], *, examine: bool) -> dict[str, Counts]:
    return await store.read_codes(session, [one.coupon_type_id for one in types], examine=examine)


def _before(one: Counted) -> Counts:
    return one.before or Counts()


def _examined(one: Counted) -> datetime:
    return one.examined_at or _NEVER


def _with_external(counts: Counts, before: Counts) -> Counts:
    """Counts by the index, of a type whose codes are all from outside or none: the former are nobody's pool."""
    return replace(counts, issued=counts.total, pooled=0, external=before.external) if before.external else counts
