"""A counter that takes orders: orders with their items have drafts, customers have none.

`ACTIVE` and `DRAFTS` are the rows, `model_of(user)` the model for a user's session. The number of an order
determines who has a draft of it and the draft's contents, see `_of`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, DateTime, Integer, MetaData, String, Table, exists, insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from odata_server.draft import ADMINISTRATIVE_DATA, administrative_data, with_drafts
from odata_server.edm import (
    Container,
    DraftRole,
    Edm,
    EntitySet,
    EntityType,
    NavigationProperty,
    Primitive,
    Property,
    Schema,
)
from odata_server.engines import EngineDatabase
from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query
from odata_server.sql.model import EntityMap, SqlModel

__all__ = ["ACTIVE", "DRAFTS", "EDM", "NOW", "USERS", "Row", "fill", "model_of", "query_of"]

Row = dict[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
USERS = ("ann", "ben")
_ORDERS = 24


def _plain(name: str, *properties: Property, navigations: tuple[NavigationProperty, ...] = ()) -> EntityType:
    key = Property(name="ID", type=Primitive.INT32, nullable=False)
    return EntityType(name=name, key=("ID",), properties=(key, *properties), navigations=navigations, etag=True)


def _text(name: str, *, filterable: bool = True) -> Property:
    return Property(name=name, type=Primitive.STRING, max_length=50, searchable=True, filterable=filterable)


def _number(name: str) -> Property:
    return Property(name=name, type=Primitive.INT32)


_ITEMS = NavigationProperty(name="items", target="Item", collection=True, composition=True, on=(("ID", "order_ID"),))
_CUSTOMER = NavigationProperty(name="customer", target="Customer", on=(("customer_ID", "ID"),))
_ORDER = NavigationProperty(name="order", target="Order", on=(("order_ID", "ID"),))
_ALL_ORDERS = NavigationProperty(name="orders", target="Order", collection=True, on=(("ID", "customer_ID"),))

_ORDER_TYPE = _plain(
    "Order",
    _text("name"),
    _number("amount"),
    _number("customer_ID"),
    _text("verdict", filterable=False),
    navigations=(_ITEMS, _CUSTOMER),
)
_ITEM_TYPE = _plain("Item", _number("order_ID"), _text("label"), navigations=(_ORDER,))
_TYPES = (
    with_drafts(_ORDER_TYPE, DraftRole.ROOT, {"items"}),
    with_drafts(_ITEM_TYPE, DraftRole.NODE, {"order"}),
    _plain("Customer", _text("name"), navigations=(_ALL_ORDERS,)),
    administrative_data(),
)
_SETS = tuple(EntitySet(name=f"{one.name}s", entity_type=one.name) for one in _TYPES[:3])
_CONTAINER = Container(
    entity_sets=(*_SETS, EntitySet(name=ADMINISTRATIVE_DATA, entity_type=ADMINISTRATIVE_DATA)),
)
EDM = Edm(Schema(namespace="Counter", entity_types=_TYPES, container=_CONTAINER))

_METADATA = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(name, _METADATA, Column("ID", Integer, primary_key=True), Column("version", Integer), *columns)


def _order_columns() -> list[Column[Any]]:
    texts = [Column(name, String(50)) for name in ("name", "verdict")]
    return [*texts, Column("amount", Integer, index=True), Column("customer_ID", Integer)]


def _item_columns() -> list[Column[Any]]:
    return [Column("order_ID", Integer, index=True), Column("label", String(50))]


def _marks() -> list[Column[Any]]:
    return [Column("draft_uuid", String(36)), Column("owner", String(20))]


_CUSTOMERS = _table("customers", Column("name", String(50)))
_TABLES = {"Order": _table("orders", *_order_columns()), "Item": _table("items", *_item_columns())}
_DRAFT_TABLES = {
    "Order": _table("orders_drafts", *_order_columns(), *_marks()),
    "Item": _table("items_drafts", *_item_columns(), *_marks()),
}
_MAKING = Table(
    "drafts",
    _METADATA,
    Column("draft_uuid", String(36), primary_key=True),
    Column("owner", String(20), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)


def _map(entity_type: EntityType, user: str | None) -> EntityMap:
    active, drafts = _TABLES[entity_type.name], _DRAFT_TABLES[entity_type.name]
    columns: dict[str, Any] = {one.name: one.name for one in entity_type.properties if one.name in active.c}
    own = select(drafts).where(drafts.c.owner == user).subquery()

    def has(other: Table) -> Any:
        there = other.alias()
        return lambda source: exists(select(1).where(there.c.ID == source.c.ID).correlate_except(there))

    def draft_uuid(source: Any) -> Any:
        there = drafts.alias()
        found = select(there.c.draft_uuid).where(there.c.ID == source.c.ID).correlate_except(there)
        return found.scalar_subquery()

    drafted = EntityMap(own, {**columns, "HasActiveEntity": has(active), "DraftUUID": "draft_uuid"}, etag="version")
    columns |= {"HasDraftEntity": has(drafts), "DraftUUID": draft_uuid}
    return EntityMap(active, columns, etag="version", drafts=drafted)


def model_of(user: str | None) -> SqlModel:
    """Return the model with its tables, for one user's sessions."""
    owners = {"CreatedByUser": "owner", "InProcessByUser": "owner", "LastChangedByUser": "owner"}
    flags = dict.fromkeys(("DraftIsCreatedByMe", "DraftIsProcessedByMe"), lambda source: source.c.owner == user)
    moments = dict.fromkeys(("CreationDateTime", "LastChangeDateTime"), "at")
    return SqlModel(
        EDM,
        {
            "Order": _map(EDM.entity_types["Order"], user),
            "Item": _map(EDM.entity_types["Item"], user),
            "Customer": EntityMap(_CUSTOMERS, {"ID": "ID", "name": "name"}, etag="version"),
            ADMINISTRATIVE_DATA: EntityMap(_MAKING, {"DraftUUID": "draft_uuid", **owners, **flags, **moments}),
        },
    )


# ---- rows ---------------------------------------------------------------------------------------------------------


def _order(number: int, name: str, amount: int | None) -> Row:
    customer = number % 3 or None
    return {"ID": number, "name": name, "amount": amount, "customer_ID": customer, "verdict": "ok", "version": 1}


def _items(number: int, count: int) -> list[Row]:
    return [
        {"ID": number * 10 + at, "order_ID": number, "label": f"item {at}", "version": 1} for at in range(1, count + 1)
    ]


def _of(number: int) -> str | None:
    """Return who has a draft of an order: Ann, Ben or nobody."""
    return {1: "ann", 2: "ben"}.get(number % 4)


ACTIVE = {
    "Order": [_order(n, f"Order {n % 5}", None if n % 6 == 0 else n * 7 % 10) for n in range(1, _ORDERS + 1)],
    "Item": [item for n in range(1, _ORDERS + 1) for item in _items(n, n % 3)],
}
"""What everybody sees."""

_NEW = range(_ORDERS + 1, _ORDERS + 7)
_DRAFTED = [(n, owner) for n in (*range(1, _ORDERS + 1), *_NEW) if (owner := _of(n)) is not None]


def _marked(row: Row, number: int, owner: str) -> Row:
    return row | {"draft_uuid": f"00000000-0000-4000-8000-{number:012d}", "owner": owner, "version": 2}


DRAFTS = {
    "Order": [_marked(_order(n, f"Draft {n % 5}", n * 3 % 10 if n % 5 else None), n, owner) for n, owner in _DRAFTED],
    "Item": [_marked(item, n, owner) for n, owner in _DRAFTED for item in _items(n, (n + 1) % 4)],
}
"""What each is making, with its ``owner``: changed ones, and new ones."""


async def fill(database_engine: Any) -> EngineDatabase:
    """Create the tables and insert the rows."""
    statements: list[tuple[Any, list[Row]]] = [
        (insert(_CUSTOMERS), [{"ID": n, "name": f"Customer {n}", "version": 1} for n in (1, 2)]),
        (
            insert(_MAKING),
            [{"draft_uuid": one["draft_uuid"], "owner": one["owner"], "at": NOW} for one in DRAFTS["Order"]],
        ),
        *((insert(_TABLES[name]), rows) for name, rows in ACTIVE.items()),
        *((insert(_DRAFT_TABLES[name]), rows) for name, rows in DRAFTS.items()),
    ]
    if isinstance(database_engine, AsyncEngine):
        async with database_engine.begin() as waiting:
            await waiting.run_sync(_METADATA.create_all)
            for statement, rows in statements:
                await waiting.execute(statement, rows)
    else:
        with database_engine.begin() as connection:
            _METADATA.create_all(connection)
            for statement, rows in statements:
                connection.execute(statement, rows)
    return EngineDatabase(database_engine)


def query_of(address: str, **how: Any) -> Query:
    """Return the query for an unencoded URL: ``Orders(1)/items?$top=2``."""
    path, _, text = address.partition("?")
    options = parse_options(text.replace(" ", "%20"))
    target = resolve(EDM, parse_path(path), options.aliases).target
    if target is None:
        raise ValueError(f"{address} is no entities")
    return replace(Query(target=target, options=options, now=NOW), **how)
