"""Sample of all sales by day, with which promotions are compared, and the resulting analyses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Row, and_, delete, func, or_, select, text, update

from odata_server.sql.connection import Kept
from promenade.engine.definition import PromotionDefinition
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.pricing.definitions import PromotionRows
from promenade.store.pricing.promotion_rows import read_parts
from promenade.store.pricing.surroundings import load_places
from promenade.store.reports.arms import Sample, drop_results, keep_results, of_baskets, signed, to_baskets
from promenade.store.reports.sums import add_rows, sums_between

ALL_GROUPS = ""

_DAYS = table("basket_days")
_ANALYSES = table("PromotionUpliftAnalysis")
_PROMOTIONS = table("Promotions")
_BY_CURRENCY = "PromotionUpliftByCurrency"
_AUDIT = table("AuditLogs")
_GROUPS = table("PosGroups")
_USAGE = table("PromotionUsageByDay")

_BEGINNINGS = ("ACTIVATE", "START_PILOT")
_ENDS = ("DEACTIVATE", "END_PILOT", "EXPIRE", "ARCHIVE")
_RANGES_MAX = 50
_CHANGES = timedelta(days=3)
_DAY = timedelta(days=1)

BasketKey = tuple[str, date, str]
"""POS group, day and currency."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A promotion to be analysed. ``definition`` None: it was deleted.

    ``begun_at`` is when it was first activated, else created; ``ended_at`` when it was last ended, None while it runs.
    """

    promotion_id: str
    first_applied_on: date
    definition: PromotionDefinition | None
    begun_at: datetime | None
    ended_at: datetime | None


# --- Adding ----------------------------------------------------------------------------------------------------------


async def add_baskets(session: Session, days: Mapping[BasketKey, Sample], sign: int) -> int:
    """Add sales to days, or subtract them; return the number of rows written."""
    rows = [
        {
            "pos_group_id": group,
            "day": day,
            "currency": currency,
            "is_stale": group == ALL_GROUPS,
            **signed(of_baskets("", baskets), sign),
        }
        for (group, day, currency), baskets in sorted(days.items(), key=lambda item: item[0])
    ]
    return await add_rows(session, "basket_days", rows)


async def note_applied(session: Session, applied: Mapping[str, tuple[date, str]]) -> None:
    """Note the promotions that applied, each with its earliest day and its name at that time."""
    if applied:
        found = sorted(applied.items())
        given: dict[str, list[Any]] = {
            "given_promotion_id": [promotion_id for promotion_id, _ in found],
            "given_day": [day for _, (day, _) in found],
            "given_name": [name for _, (_, name) in found],
        }
        await session.merge_columns(_noting(session.dialect), given)


async def correct_applied(session: Session, promotion_ids: Collection[str]) -> None:
    """Set the first day of these promotions again after sales were cancelled; forget those that never applied."""
    for promotion_id in sorted(promotion_ids):
        first = select(func.min(_USAGE.c.day)).where(_USAGE.c.promotion_id == promotion_id)
        day = (await session.execute(first))[0][0]
        its = _ANALYSES.c.promotion_id == promotion_id
        if day is None:
            await session.rowcount(delete(_ANALYSES).where(its))
            await drop_results(session, _BY_CURRENCY, (promotion_id,))
        else:
            changed = update(_ANALYSES).where(its, _ANALYSES.c.first_applied_on != day)
            await session.rowcount(changed.values(first_applied_on=day, is_stale=True))


@cache
def _noting(dialect: str) -> Kept:
    first = upsert(dialect, _ANALYSES).values(
        promotion_id=parameter("given_promotion_id", _ANALYSES.c.promotion_id.type),
        first_applied_on=parameter("given_day", _ANALYSES.c.first_applied_on.type),
        kept_name=parameter("given_name", _ANALYSES.c.kept_name.type),
        baseline_transactions=0,
        promotion_transactions=0,
        is_stale=True,
    )
    return Kept(
        first.on_conflict_do_update(
            index_elements=["tenant_id", "promotion_id"],
            set_={"first_applied_on": first.excluded.first_applied_on, "is_stale": first.excluded.is_stale},
            where=first.excluded.first_applied_on < _ANALYSES.c.first_applied_on,
        )
    )


# --- What is to be analysed anew -------------------------------------------------------------------------------------


async def take_stale_days(session: Session) -> list[date]:
    """Return, in order, the days to which sales were added since the last call, and reset their marks."""
    # Written like the condition of the partial index, which SQLite would not use otherwise.
    taking = update(_DAYS).where(text("basket_days.is_stale")).values(is_stale=False).returning(_DAYS.c.day)
    return sorted({row.day for row in await session.execute(taking)})


async def mark_stale(session: Session, ranges: Sequence[tuple[date, date]], at: datetime) -> None:
    """Mark the analyses to be made again: their periods overlap these days (both included), or they have become due.

    Also those of promotions changed since their analysis: only recent changes are considered, as this runs every day.
    """
    for start in range(0, len(ranges), _RANGES_MAX):
        met = [
            and_(_ANALYSES.c.wanted_from <= last, _ANALYSES.c.promotion_to >= first)
            for first, last in ranges[start : start + _RANGES_MAX]
        ]
        await session.rowcount(update(_ANALYSES).where(or_(*met)).values(is_stale=True))
    its = _ANALYSES.alias("its")
    changed = (
        select(its.c.promotion_id)
        .select_from(_PROMOTIONS.join(its, its.c.promotion_id == _PROMOTIONS.c.id))
        .where(_PROMOTIONS.c.modified_at > at - _CHANGES, _PROMOTIONS.c.modified_at > its.c.computed_at)
    )
    again = or_(_ANALYSES.c.due_at <= at, _ANALYSES.c.promotion_id.in_(changed))
    await session.rowcount(update(_ANALYSES).where(again).values(is_stale=True))


async def read_subjects(session: Session, limit: int) -> list[Subject]:
    """Return up to ``limit`` promotions that must be analysed again."""
    stale = (
        select(_ANALYSES.c.promotion_id, _ANALYSES.c.first_applied_on)
        .where(_ANALYSES.c.is_stale)
        .order_by(_ANALYSES.c.promotion_id)
        .limit(limit)
    )
    wanted = {row.promotion_id: row.first_applied_on for row in await session.execute(stale)}
    if not wanted:
        return []
    rows = await session.execute(select(_PROMOTIONS).where(_PROMOTIONS.c.id.in_(list(wanted))))
    ids = [row.id for row in rows]
    read = PromotionRows(rows, await read_parts(session, ids) if ids else None)
    definitions = read.definitions(await load_places(session))
    made = {row.id: row.created_at for row in rows}
    moves = {row.entity_id: row for row in await session.execute(_moves(ids))} if ids else {}
    return [_subject(promotion_id, day, definitions, made, moves) for promotion_id, day in wanted.items()]


def _subject(
    promotion_id: str,
    day: date,
    definitions: Mapping[str, PromotionDefinition],
    made: Mapping[str, datetime],
    moves: Mapping[str, Row[Any]],
) -> Subject:
    moved = moves.get(promotion_id)
    begun = moved.begun_at if moved is not None and moved.begun_at is not None else made.get(promotion_id)
    definition = definitions.get(promotion_id)
    is_running = definition is not None and definition.status in ("ACTIVE", "PILOT")
    ended = None if moved is None or is_running else moved.ended_at
    return Subject(promotion_id, day, definition, begun, ended)


def _moves(ids: Sequence[str]) -> Any:
    """Select when promotions were first started and last ended."""
    begun = func.min(_AUDIT.c.timestamp).filter(_AUDIT.c.action.in_(_BEGINNINGS)).label("begun_at")
    ended = func.max(_AUDIT.c.timestamp).filter(_AUDIT.c.action.in_(_ENDS)).label("ended_at")
    return (
        select(_AUDIT.c.entity_id, begun, ended)
        .where(_AUDIT.c.entity_type == "Promotions", _AUDIT.c.entity_id.in_(ids))
        .group_by(_AUDIT.c.entity_id)
    )


async def time_zones(session: Session) -> dict[str, str]:
    """Return the time zone of each POS group."""
    rows = await session.execute(_ZONES)
    return {row.id: row.time_zone or "UTC" for row in rows}


_ZONES = Kept(select(_GROUPS.c.id, _GROUPS.c.time_zone))


async def first_sales(session: Session, groups: Iterable[str]) -> dict[str, date]:
    """Return the day of the first sale of these POS groups in each currency."""
    sold = _DAYS.c.pos_group_id.in_(sorted(groups)), _DAYS.c.transactions != 0  # all may have been cancelled
    firsts = select(_DAYS.c.currency, func.min(_DAYS.c.day).label("day")).where(*sold).group_by(_DAYS.c.currency)
    return {row.currency: row.day for row in await session.execute(firsts)}


async def basket_days(
    session: Session, groups: Iterable[str], since: date, until: date, *, is_of_others: bool = False
) -> dict[str, dict[date, Sample]]:
    """Return the sales of these POS groups by currency and day, from ``since`` to ``until``, both included.

    ``is_of_others``: those of all other POS groups instead.
    """
    its = _DAYS.c.pos_group_id
    in_groups = its.not_in(sorted({*groups, ALL_GROUPS})) if is_of_others else its.in_(sorted(groups))
    rows = await sums_between(session, "basket_days", ("day", "currency"), since, until + _DAY, in_groups)
    found: dict[str, dict[date, Sample]] = {}
    for row in rows:
        found.setdefault(row.currency, {})[row.day] = to_baskets("", row)
    return found


# --- What came of it -------------------------------------------------------------------------------------------------


async def keep_analyses(
    session: Session, rows: Sequence[Mapping[str, Any]], by_currency: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Store analyses, and those by currency of the promotions in ``by_currency``.

    An analysis stays marked if an earlier application of its promotion was found meanwhile.
    """
    if by_currency:
        await drop_results(session, _BY_CURRENCY, list(by_currency))
        every = [row for of_promotion in by_currency.values() for row in of_promotion]
        await keep_results(session, _BY_CURRENCY, every, ("promotion_id", "currency"))
    by_form: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        names = tuple(name for name in row if name not in ("promotion_id", "first_applied_on"))
        by_form.setdefault(names, []).append({f"given_{name}": value for name, value in row.items()})
    for names, given in by_form.items():
        await session.execute_many(_keeping(names), given)


@cache
def _keeping(names: tuple[str, ...]) -> Kept:
    values: dict[str, Any] = {name: parameter(f"given_{name}", _ANALYSES.c[name].type) for name in names}
    first = parameter("given_first_applied_on", _ANALYSES.c.first_applied_on.type)
    key = parameter("given_promotion_id", _ANALYSES.c.promotion_id.type)
    return Kept(
        update(_ANALYSES)
        .where(_ANALYSES.c.promotion_id == key)
        .values(**values, is_stale=_ANALYSES.c.first_applied_on != first, version=_ANALYSES.c.version + 1)
    )
