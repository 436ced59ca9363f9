"""The tables as an OData service reads them: where each property is kept, by its name on the wire.

What a service does not show has no column here, so that no query, however it is put, can tell anything of it: not by
its result, nor by what it filters or orders by.

Of an active row with edit drafts everybody is told that somebody has a draft of it; the draft itself is read by its
owner alone, who is the session's user (`store.driver.tenancy`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from odata_server.draft import ADMINISTRATIVE_DATA, DRAFT_UUID, HAS_ACTIVE, HAS_DRAFT
from odata_server.sql.model import Column, EntityMap, SqlModel
from odata_server.sql.reader import SqlReader
from promenade import model
from promenade.interface import MINOR_VERSION
from promenade.model.codelists import Code
from promenade.model.declare import ADMIN, PUBLIC, EntityType, Field, Service
from promenade.model.draft_edm import draft_role
from promenade.model.edm import edm_for, served_entities
from promenade.model.ui.criticality import CRITICALITY, NEGATIVE, NEUTRAL, POSITIVE
from promenade.store.access.tenants import tenant_settings
from promenade.store.driver.schema import column_type, draft_table, table
from promenade.store.driver.tenancy import SESSION_MOMENT, SESSION_USER
from promenade.store.driver.types import ExactDecimal, Timestamp, string
from promenade.store.odata.text_indexes import text_index_of
from promenade.store.promotions.calendar import promotions_calendar
from promenade.store.promotions.condition_sentences import condition_summary
from promenade.store.reports import queries as report_queries
from promenade.store.reports.percentages import Percentage
from promenade.store.sales.kept import AUDIT, MARKS, REDEMPTIONS, SALES
from promenade.store.sales.log_parts import FINDERS, part_rows


@cache
def sql_model_for(service: Service) -> SqlModel:
    """What `odata_server.sql` reads a service from, made once. Tenants are kept apart below it, by `driver.tenancy`."""
    maps = {entity.set_name: _map(entity, service) for entity in served_entities(service)}
    for set_name in model.code_lists():
        maps[set_name] = EntityMap(code_list_rows(set_name), CODE_LIST_COLUMNS, etag=None)
    if service is ADMIN:
        maps[ADMINISTRATIVE_DATA] = administrative_map()
    return SqlModel(edm_for(service), maps)


def _map(entity: EntityType, service: Service) -> EntityMap:
    columns = columns_of(entity, service)
    index = text_index_of(entity, service)
    if service is ADMIN and draft_role(entity) is not None:
        return replace(with_drafts(entity, columns), text_index=index)
    etag = "version" if entity.is_versioned else None
    finders = FINDERS.get(entity.set_name, {})
    return EntityMap(rows_of(entity), columns, etag, finders=finders, text_index=index)


@cache
def reader_for(service: Service) -> SqlReader:
    """Return the reader of a service's rows in a session."""
    return SqlReader(sql_model_for(service))


# ---- tables and columns ---------------------------------------------------------------------------------------------


def rows_of(entity: EntityType) -> sa.FromClause:
    """Return the table that the rows of an entity are read from, or the query that replaces it."""
    if entity.packed:
        return part_rows(entity.set_name)
    return table(entity.set_name) if entity.stored else _QUERIES[entity.set_name]()


def columns_of(entity: EntityType, service: Service) -> dict[str, Column]:
    """Return the columns of an entity's properties that a service exposes."""
    columns: dict[str, Column] = {}
    for field in entity.fields:
        if field.shown_in(service):
            columns[field.wire] = _column(entity, field)
    for link in entity.links:
        if service not in link.hidden_from:
            columns[link.property_wire] = link.column
    if service is PUBLIC:
        columns["minorVersion"] = _minor_version
    return columns


def _column(entity: EntityType, field: Field) -> Column:
    if field.virtual:
        return COMPUTED[entity.set_name, field.name]
    if field.stored_scale is not None and field.stored_scale != field.scale:
        return _at_face_value(field)
    return field.name


def _minor_version(source: sa.FromClause) -> sa.ColumnElement[Any]:
    # Cast, because a bare number in ORDER BY is a column position.
    return sa.cast(sa.literal_column(str(MINOR_VERSION)), sa.Integer())


# ---- read otherwise than stored -----------------------------------------------------------------------------------


_QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {
    "PromotionsCalendar": promotions_calendar,
    "TenantSettings": tenant_settings,
    **report_queries.QUERIES,
}


class _FaceValue(ExactDecimal):
    """A decimal stored with more decimals than it is written with, read with the latter."""

    cache_ok = True

    def __init__(self, precision: int, scale: int, shown: int) -> None:
        super().__init__(precision, scale)
        self.shown = shown

    def process_result_value(self, value: Any | None, dialect: sa.Dialect) -> Any:
        number = super().process_result_value(value, dialect)
        return None if number is None else round(number, self.shown)


def _at_face_value(field: Field) -> Column:
    stored = column_type(field)
    assert isinstance(stored, ExactDecimal)  # noqa: S101 - only decimals have a scale
    kind = _FaceValue(stored.precision, stored.scale, field.scale or 0)
    return lambda source: sa.type_coerce(source.c[field.name], kind)


# ---- code lists ---------------------------------------------------------------------------------------------------


@cache
def code_list_rows(set_name: str) -> sa.FromClause:
    """Return the values of a code list as rows of a query: code, name, description and sequence.

    They are constants of the program, written out once per query.
    """
    rows = ", ".join(_written(code) for code in model.code_list(set_name).values)
    # The cast and the limit let SQLite index the list by code for a join; otherwise it would scan it for every row.
    names = "CAST(column1 AS TEXT) AS code, column2 AS name, column3 AS description, column4 AS sequence"
    written = (
        sa.text(f"SELECT {names} FROM (VALUES {rows}) AS written LIMIT 1000")  # noqa: S608 - nothing in it comes from outside
        .columns(
            sa.column("code", string(30)),
            sa.column("name", string(255)),
            sa.column("description", string(1000)),
            sa.column("sequence", sa.Integer()),
        )
        .subquery("written")
    )
    texts = (_by_bytes(written.c[name]) for name in ("code", "name", "description"))
    return sa.select(*texts, written.c.sequence).subquery(set_name.lower())


CODE_LIST_COLUMNS: Mapping[str, Column] = {name: name for name in ("code", "name", "description", "sequence")}
"""The columns of every code list."""


def _written(code: Code) -> str:
    texts = (_quoted(text) for text in (code.code, code.name, code.description))
    return f"({', '.join(texts)}, {code.sequence})"


def _quoted(text: str) -> str:
    """Return a text as an SQL literal; a colon is escaped, because it would begin a parameter."""
    return "'" + text.replace("'", "''").replace(":", "\\:") + "'"


class _ByBytes(FunctionElement[str]):
    """A text compared and sorted by its bytes, like every column of the tables.

    Applied to a column inside a query: outside, this becomes the column's own collation, which an explicit one
    overrides.
    """

    inherit_cache = True


@compiles(_ByBytes)
def _plain(element: _ByBytes, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(element.clauses, **kw)


@compiles(_ByBytes, "postgresql")
def _collated(element: _ByBytes, compiler: SQLCompiler, **kw: Any) -> str:
    return f'({compiler.process(element.clauses, **kw)} COLLATE "C")'


def _by_bytes(column: sa.ColumnElement[Any]) -> sa.Label[Any]:
    return sa.type_coerce(_ByBytes(column), column.type).label(column.key)


# ---- rows with edit drafts ------------------------------------------------------------------------------------------


LOCK_MINUTES = 15
"""How long after its last change a draft keeps others from what it is a draft of."""


def with_drafts(entity: EntityType, columns: Mapping[str, Column]) -> EntityMap:
    """Build the map of an entity with drafts from the columns that its active rows and its drafts have in common."""
    active, drafts = table(entity.set_name), draft_table(entity.set_name)
    own = sa.select(drafts).where(drafts.c.draft_owner == SESSION_USER, *_kept(entity, drafts))

    def of_same_key(source: sa.FromClause) -> tuple[sa.FromClause, list[sa.ColumnElement[bool]]]:
        # Including rows removed in the draft: nobody but its user may see what a draft will change.
        there = drafts.alias()
        return there, [there.c.id == source.c.id]

    def has_draft(source: sa.FromClause) -> sa.ColumnElement[Any]:
        there, conditions = of_same_key(source)
        return sa.exists(sa.select(1).select_from(there).where(*conditions).correlate_except(there))

    def draft_uuid(source: sa.FromClause) -> sa.ColumnElement[Any]:
        there, conditions = of_same_key(source)
        return sa.select(there.c.draft_uuid).where(*conditions).correlate_except(there).scalar_subquery()

    def has_active(source: sa.FromClause) -> sa.ColumnElement[Any]:
        # Not EXISTS: PostgreSQL would load all keys into a hash table, for the few drafts of one user.
        there = active.alias()
        found = sa.select(sa.true()).select_from(there).where(there.c.id == source.c.id).correlate_except(there)
        return sa.func.coalesce(found.scalar_subquery(), sa.false())

    return EntityMap(
        active,
        {**columns, HAS_DRAFT: has_draft, DRAFT_UUID: draft_uuid},
        etag="version",
        drafts=EntityMap(own.subquery(), {**columns, HAS_ACTIVE: has_active, DRAFT_UUID: "draft_uuid"}, etag="version"),
    )


def _kept(entity: EntityType, drafts: sa.FromClause) -> list[sa.ColumnElement[bool]]:
    """Return the condition "not removed from the draft"; a root is never removed."""
    return [] if entity.owner is None else [sa.not_(drafts.c.removed)]


# ---- who edits what -----------------------------------------------------------------------------------------------


def administrative_map() -> EntityMap:
    """Build the map of all drafts in the tenant: who has been editing and since when, but not their contents."""
    columns: dict[str, Column] = {
        DRAFT_UUID: "draft_uuid",
        "CreationDateTime": "created_at",
        "CreatedByUser": "created_by",
        "DraftIsCreatedByMe": _is_mine,
        "LastChangeDateTime": "changed_at",
        "LastChangedByUser": "created_by",
        "InProcessByUser": lambda drafts: sa.case((_is_locked(drafts), drafts.c.created_by), else_=sa.literal("")),
        "DraftIsProcessedByMe": lambda drafts: sa.and_(_is_mine(drafts), _is_locked(drafts)),
    }
    return EntityMap(draft_table("drafts"), columns)


def _is_mine(drafts: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.func.coalesce(drafts.c.created_by == SESSION_USER, sa.false())


def _is_locked(drafts: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.func.coalesce(_LockEnd(drafts.c.changed_at) > SESSION_MOMENT, sa.false())


class _LockEnd(FunctionElement[Any]):
    """The end of the lock of a draft, from the time of its last change."""

    type = Timestamp()
    inherit_cache = True


@compiles(_LockEnd)
def _microseconds(element: _LockEnd, compiler: SQLCompiler, **kw: Any) -> str:
    return f"({compiler.process(element.clauses, **kw)} + {LOCK_MINUTES * 60_000_000})"


@compiles(_LockEnd, "postgresql")
def _interval(element: _LockEnd, compiler: SQLCompiler, **kw: Any) -> str:
    return f"({compiler.process(element.clauses, **kw)} + INTERVAL '{LOCK_MINUTES} minutes')"


# ---- values that are computed on reading ----------------------------------------------------------------------------


def _remaining(source: sa.FromClause) -> sa.ColumnElement[Any]:
    rest = source.c.total_amount - source.c.consumed_amount - source.c.reserved_amount
    return sa.type_coerce(rest, ExactDecimal(18, 3))


# ---- criticality --------------------------------------------------------------------------------------------------


def _kept_since(kind: str) -> Callable[[sa.FromClause], sa.ColumnElement[Any]]:
    def since(source: sa.FromClause) -> sa.ColumnElement[Any]:
        its = MARKS.c.tenant_id == source.c.tenant_id, MARKS.c.kind == sa.literal_column(f"'{kind}'")
        return sa.select(MARKS.c.purged_before).where(*its).correlate(source).scalar_subquery()

    return since


def _status_criticality(source: sa.FromClause) -> sa.ColumnElement[Any]:
    coloured: dict[int, list[sa.ColumnElement[str]]] = {
        number: [sa.literal_column(f"'{code}'") for code, one in CRITICALITY.items() if one == number]
        for number in sorted(set(CRITICALITY.values()) - {NEUTRAL})
    }
    return sa.case(
        *((source.c.status.in_(codes), _number(number)) for number, codes in coloured.items()), else_=_number(NEUTRAL)
    )


def _failed_criticality(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return sa.case((source.c.failed_articles > _number(0), _number(NEGATIVE)), else_=_number(POSITIVE))


def _number(number: int) -> sa.ColumnElement[int]:
    return sa.literal_column(str(number), sa.Integer())


# ---- shares -------------------------------------------------------------------------------------------------------


def _utilization(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return Percentage(source.c.consumed_amount, source.c.total_amount)


def _total_share(source: sa.FromClause) -> sa.ColumnElement[Any]:
    shares = table("BudgetStakeholders")
    of_stakeholder = (
        sa.select(sa.func.coalesce(sa.func.sum(shares.c.share_percentage), _number(0)))
        .where(shares.c.tenant_id == source.c.tenant_id, shares.c.stakeholder_id == source.c.id)
        .correlate(source)
        .scalar_subquery()
    )
    return sa.cast(of_stakeholder, ExactDecimal(9, 2))


_WITH_STATUS = (
    "ArticleImportJobItems", "ArticleImportJobs", "BasketTests", "BudgetRequests", "Budgets", "CalculationLogs",
    "Campaigns",
    "CouponCodeBatches", "CouponCodes", "CouponTypes", "ImportJobs", "LocalDeployments", "NotificationLogs",
    "Promotions", "PromotionsCalendar", "SyncHistory",
)  # fmt: skip

COMPUTED: Mapping[tuple[str, str], Column] = {
    **dict.fromkeys(((name, "status_criticality") for name in _WITH_STATUS), _status_criticality),
    ("ArticleImportJobs", "failed_criticality"): _failed_criticality,
    ("Budgets", "remaining_amount"): _remaining,
    ("Budgets", "utilization"): _utilization,
    ("Conditions", "parameter_summary"): condition_summary,
    ("Stakeholders", "total_share_across_budgets"): _total_share,
    ("TenantSettings", "audit_logs_since"): _kept_since(AUDIT),
    ("TenantSettings", "redemption_logs_since"): _kept_since(REDEMPTIONS),
    ("TenantSettings", "sales_logs_since"): _kept_since(SALES),
    **report_queries.COMPUTED,
}
"""For an entity set and the name of a virtual field: its value over the rows that an entity is read of."""
