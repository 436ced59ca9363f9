"""Aggregates of reports: counting, writing and reading are derived from the declarations of their columns.

The key columns of an aggregate are dimensions; every other column that declares how it grows is a measure, see
`promenade.model.measures`. Sales are counted as *facts*: objects with an attribute for each dimension and measure. A
column of an internal table (exposed by no service) names its attribute in ``info["of"]`` if it differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from math import prod
from operator import add, attrgetter, itemgetter, or_
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    Row,
    Table,
    case,
    delete,
    func,
    literal,
    null,
    select,
    union_all,
    update,
)

from odata_server.sql.connection import Kept
from promenade import model
from promenade.model.measures import Measure, Merge
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

Key = tuple[Any, ...]
_Join = Callable[[Any, Any], Any]


# ---- what a portion of sales comes to --------------------------------------------------------------------------------


def _last(one: Any, other: Any) -> Any:
    return one if other is None else other


def _first(one: Any, other: Any) -> Any:
    return other if one is None else one


def _same(one: Any, other: Any) -> Any:
    return one if one == other else None


def _sum_within(one: Any, other: Any) -> Any:
    return None if one is None or other is None else one + other


_JOINS: Mapping[Merge, _Join] = {
    Merge.SUM: add,
    Merge.DISTINCT: or_,
    Merge.LEAST: min,
    Merge.GREATEST: max,
    Merge.FIRST: _first,
    Merge.LAST: _last,
    Merge.LATEST: _last,
    Merge.SAME: _same,
    Merge.SUM_WITHIN: _sum_within,
}


class _Figures:
    """The totals of the facts for one table."""

    def __init__(self, name: str) -> None:
        measures = _measures(name)
        self._names = [column.name for column in _dimensions(name)], list(measures)
        self._key = _all_of([column.info.get("of", column.name) for column in _dimensions(name)])
        self._values = _all_of([one.of or column for column, one in measures.items()])
        self._joins = [(at, _JOINS[one.merge]) for at, one in enumerate(measures.values())]
        # LATEST and SUM_WITHIN need another column, and DISTINCT a set: they are handled separately.
        self._latest, self._within = (
            [(at, list(measures).index(one.by)) for at, one in enumerate(measures.values()) if one.merge is merge]
            for merge in (Merge.LATEST, Merge.SUM_WITHIN)
        )
        self._distinct = [at for at, one in enumerate(measures.values()) if one.merge is Merge.DISTINCT]
        sums = (Merge.SUM, Merge.DISTINCT, Merge.SUM_WITHIN)
        self._summed = [at for at, one in enumerate(measures.values()) if one.merge in sums]
        self._found: dict[Key, list[Any]] = {}

    def add(self, fact: object) -> None:
        key = self._key(fact)
        new = [*self._values(fact)]
        for at in self._distinct:
            new[at] = {new[at]}
        old = self._found.get(key)
        if old is None:
            self._found[key] = new
            return
        for at, by in self._latest:
            if new[by] < old[by]:
                new[at] = old[at]
        for at, by in self._within:
            if new[by] != old[by]:
                new[at] = None
        for at, join in self._joins:
            old[at] = join(old[at], new[at])

    def columns(self, sign: int) -> dict[str, Sequence[Any]]:
        """Return the rows' values by column, ordered by their keys; what is summed has this sign."""
        if not self._found:
            return {}
        found = sorted(self._found.items(), key=itemgetter(0))
        dimensions, measures = self._names
        keys = zip(*[key for key, _ in found], strict=True)
        columns: list[Sequence[Any]] = list(zip(*[values for _, values in found], strict=True))
        for at in self._distinct:
            columns[at] = [len(value) for value in columns[at]]
        if sign < 0:
            for at in self._summed:
                columns[at] = [None if value is None else -value for value in columns[at]]
        return dict(zip((*dimensions, *measures), (*keys, *columns), strict=True))


def _all_of(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads these attributes (at least one) as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    only = attrgetter(*names)
    return lambda fact: (only(fact),)


class Tally:
    """Totals of facts for several aggregates, and the rows to add to them."""

    def __init__(self, *names: str) -> None:
        self._tables = {name: _Figures(name) for name in names}

    def add(self, fact: object) -> None:
        """Add a fact, which has an attribute for every dimension and measure of the tables."""
        for one in self._tables.values():
            one.add(fact)

    async def write(self, session: Session, sign: int = 1) -> int:
        """Add the totals to one table after the other; return the number of rows.

        ``sign`` -1: facts that were added before are taken out of the sums; other measures stay as they are.
        """
        return sum([await _add_columns(session, name, one.columns(sign)) for name, one in self._tables.items()])


# ---- the columns of an aggregate -------------------------------------------------------------------------------------


@cache
def _dimensions(name: str) -> tuple[ColumnElement[Any], ...]:
    return tuple(column for column in table(name).primary_key.columns if column.name != "tenant_id")


@cache
def _measures(name: str) -> dict[str, Measure]:
    return {column.name: column.info["measure"] for column in table(name).c if column.info.get("measure")}


# ---- writing ---------------------------------------------------------------------------------------------------------


async def add_rows(session: Session, name: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Add rows (dimensions and measures), each with another key, to an aggregate; return their number.

    In a system session each row also contains its tenant.
    """
    return await _add_columns(session, name, _columns(rows)) if rows else 0


async def _add_columns(session: Session, name: str, columns: Mapping[str, Sequence[Any]]) -> int:
    if not columns:
        return 0
    given = {f"given_{column}": values for column, values in columns.items()}
    await session.merge_columns(_adding(session.dialect, name, tuple(columns)), given)
    return len(next(iter(columns.values())))


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    """Return the values of rows by column; all have the same ones."""
    return {column: [row[column] for row in rows] for column in rows[0]}


@cache
def _adding(dialect: str, name: str, columns: tuple[str, ...]) -> Kept:
    rows = table(name)
    first = upsert(dialect, rows).values({one: parameter(f"given_{one}", rows.c[one].type) for one in columns})
    changed = {
        column: _merged(rows, first.excluded, column, measure)
        for column, measure in _measures(name).items()
        if column in columns
    }
    return Kept(first.on_conflict_do_update(index_elements=list(rows.primary_key.columns), set_=changed))


async def add_missing(session: Session, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows (dimensions) that a table does not have yet; the sums of an aggregate begin with zero."""
    if rows:
        given = {f"given_{column}": values for column, values in _columns(rows).items()}
        await session.merge_columns(_beginning(session.dialect, name, tuple(rows[0])), given)


@cache
def _beginning(dialect: str, name: str, columns: tuple[str, ...]) -> Kept:
    rows = table(name)
    values: dict[str, Any] = {one: parameter(f"given_{one}", rows.c[one].type) for one in columns}
    values |= {column: 0 for column, measure in _measures(name).items() if measure.merge is Merge.SUM}
    return Kept(upsert(dialect, rows).values(values).on_conflict_do_nothing())


async def add_bounded(session: Session, name: str, of: str, keys: Sequence[Mapping[str, Any]]) -> int:
    """Insert what an aggregate lacks for some rows of the table ``of``; return how many rows these have altogether.

    Each has one for every combination of the dimensions that are declared with bounds, such as the hours of a week; the
    sums begin with zero, and the other dimensions are those of ``of``.
    """
    if keys:
        given = [{f"of_{column}": value for column, value in key.items()} for key in keys]
        await session.execute_many(_beginning_bounded(session.dialect, name, of), given)
    return len(keys) * prod(len(values) for values in _bounded(name).values())


def _bounded(name: str) -> dict[str, range]:
    entity = model.entity(name)
    return {
        field.name: range(int(field.minimum), int(field.maximum) + 1)
        for field in map(entity.field, entity.key)
        if field.minimum is not None and field.maximum is not None
    }


@cache
def _beginning_bounded(dialect: str, name: str, of: str) -> Kept:
    """The combinations are made by the database: a row for each as a parameter took longer than to insert it."""
    rows, owners = table(name), table(of)
    found: dict[str, ColumnElement[Any]] = {"tenant_id": owners.c.tenant_id}
    its = []
    for column in owners.primary_key.columns:
        if column.name != "tenant_id":
            found[column.name] = column
            its.append(column == parameter(f"of_{column.name}", column.type))
    for column_name, values in _bounded(name).items():
        one = union_all(*(select(literal(value, Integer()).label("value")) for value in values)).subquery(column_name)
        found[column_name] = one.c.value
    found |= {
        column: literal(0, rows.c[column].type)
        for column, measure in _measures(name).items()
        if measure.merge is Merge.SUM
    }
    wanted = select(*found.values()).where(*its)
    return Kept(upsert(dialect, rows).from_select(list(found), wanted, include_defaults=False).on_conflict_do_nothing())


async def delete_rows(
    session: Session, name: str, keys: Sequence[Mapping[str, Any]], *where: ColumnElement[bool]
) -> None:
    """Delete the rows with these keys, one by one, as SQLite reads a list of keys of several columns slowly."""
    if keys:
        rows = table(name)
        its = [rows.c[column] == parameter(f"of_{column}", rows.c[column].type) for column in keys[0]]
        given = [{f"of_{column}": value for column, value in key.items()} for key in keys]
        await session.execute_many(delete(rows).where(*its, *where), given)


async def set_columns(session: Session, name: str, rows: Sequence[Mapping[str, Any]], *, by: Sequence[str]) -> None:
    """Set columns of the rows of a table that have the same values in the columns ``by``."""
    if rows:
        given = [{f"given_{column}": value for column, value in row.items()} for row in rows]
        await session.execute_many(_setting(name, tuple(rows[0]), tuple(by)), given)


@cache
def _setting(name: str, columns: tuple[str, ...], by: tuple[str, ...]) -> Kept:
    rows = table(name)
    given: dict[str, Any] = {one: parameter(f"given_{one}", rows.c[one].type) for one in columns}
    its = [rows.c[one] == given.pop(one) for one in by]
    return Kept(update(rows).where(*its).values(given))


def kept_for(name: str) -> tuple[ColumnElement[Any], timedelta]:
    """Return the time in a table's rows that says how old they are, and how long they are kept after it."""
    (aged,) = (column for column in table(name).c if column.info.get("kept_days"))
    return aged, timedelta(days=aged.info["kept_days"])


async def purge(session: Session, name: str, at: datetime, limit: int) -> int:
    """Delete up to ``limit`` rows that are too old at ``at``, the oldest first; return how many.

    In a system session these are rows of all tenants.
    """
    aged, age = kept_for(name)
    is_old = aged < at - age
    found = await session.execute(select(*table(name).primary_key).where(is_old).order_by(aged).limit(limit))
    await delete_rows(session, name, [dict(row._mapping) for row in found], is_old)
    return len(found)


def _merged(rows: Table, given: Any, column: str, measure: Measure) -> ColumnElement[Any]:
    old, new = rows.c[column], given[column]
    match measure.merge:
        case Merge.LEAST:
            return case((new < old, new), else_=old)
        case Merge.GREATEST:
            return case((new > old, new), else_=old)
        case Merge.FIRST:
            return func.coalesce(old, new)
        case Merge.LAST:
            return func.coalesce(new, old)
        case Merge.LATEST:
            return case((given[measure.by] >= rows.c[measure.by], new), else_=old)
        case Merge.SAME:
            return case((old == new, old), else_=null())
        case Merge.SUM_WITHIN:
            return case((rows.c[measure.by] == given[measure.by], old + new), else_=null())
        case _:
            total: ColumnElement[Any] = old + new
            return total


# ---- reading ---------------------------------------------------------------------------------------------------------

_TOTALS: Mapping[Merge, Callable[..., ColumnElement[Any]]] = {
    Merge.SUM: func.sum,
    Merge.DISTINCT: func.sum,
    Merge.LEAST: func.min,
    Merge.GREATEST: func.max,
}


_SPANS: Mapping[Merge, _Join] = {Merge.SUM: add, Merge.DISTINCT: add, Merge.LEAST: min, Merge.GREATEST: max}


def totals(name: str) -> list[ColumnElement[Any]]:
    """Return the expressions that total several rows, for the measures that can be totalled."""
    return [
        _TOTALS[one.merge](table(name).c[column]).label(column)
        for column, one in _measures(name).items()
        if one.merge in _TOTALS
    ]


async def sums_between(
    session: Session,
    name: str,
    by: Sequence[str],
    first: date,
    end: date,
    *where: ColumnElement[bool],
) -> Sequence[Row[Any]]:
    """Total an aggregate that has a day or month from ``first`` to before ``end``, grouped by some dimensions."""
    rows = table(name)
    (grain,) = (column for column in _dimensions(name) if isinstance(column.type, Date))
    keys = [rows.c[one] for one in by]
    statement = select(*keys, *totals(name)).where(grain >= first, grain < end, *where)
    return await session.execute(statement.group_by(*keys))


def add_up(name: str, by: Sequence[str], rows: Iterable[Any]) -> dict[Key, dict[str, Any]]:
    """Add up the totals of several spans, which are rows with the measures of an aggregate, by some dimensions."""
    joins = {column: _SPANS[one.merge] for column, one in _measures(name).items() if one.merge in _SPANS}
    key_of = _all_of(by)
    found: dict[Key, dict[str, Any]] = {}
    for row in rows:
        key, new = key_of(row), {column: getattr(row, column) for column in joins}
        old = found.get(key)
        found[key] = new if old is None else {one: join(old[one], new[one]) for one, join in joins.items()}
    return found
