"""An author's desk: one call is one unit of work; rows are read back by their wire names."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from sqlalchemy import insert, select

from promenade import model
from promenade.model.declare import EntityType, Field, Kind, Service
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.shapes import shape_of

__all__ = ["NOON", "OTHER", "TENANT", "Desk", "sample_row", "writable_sets"]

TENANT, OTHER = "tenant-a", "tenant-b"
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
Row = dict[str, Any]


class Desk:
    """One tenant's author. `now` is the time of the next unit."""

    def __init__(self, database: Database, tenant: str = TENANT, *, service: Service = Service.PUBLIC) -> None:
        self.database = database
        self.tenant = tenant
        self.service = service
        self.now = NOON
        self.options: dict[str, Any] = {}
        self.shown: Mapping[str, Any] = {}

    async def unit(self, work: Callable[[Authoring], Awaitable[Any]], **options: Any) -> Any:
        """Run one unit of work to its end."""

        async def run(session: Session) -> Any:
            named = {"user": "ann"} | self.options | options
            authoring = Authoring(session, at=self.now, new_id=lambda: str(uuid.uuid4()), service=self.service, **named)
            answer = await work(authoring)
            await authoring.finish()
            self.shown = authoring.shown_once
            return answer

        return await self.database.write(run, tenant=self.tenant)

    async def create(self, set_name: str, /, **row: Any) -> str:
        return str(await self.unit(lambda authoring: authoring.create(set_name, row)))

    async def create_row(self, set_name: str, row: Mapping[str, Any]) -> str:
        return str(await self.unit(lambda authoring: authoring.create(set_name, row)))

    async def create_many(self, set_name: str, rows: Sequence[Row]) -> list[str]:
        return list(await self.unit(lambda authoring: authoring.create_many(set_name, rows)))

    async def update(self, set_name: str, row_id: str, /, **changes: Any) -> None:
        await self.unit(lambda authoring: authoring.update(set_name, row_id, changes))

    async def remove(self, set_name: str, row_id: str) -> None:
        await self.unit(lambda authoring: authoring.remove(set_name, row_id))

    async def transition(self, set_name: str, row_id: str, verb: str) -> None:
        await self.unit(lambda authoring: authoring.transition(set_name, row_id, verb))

    async def rows(self, set_name: str, **where: Any) -> list[Row]:
        """Return rows of an entity set by wire name, filtered by ``where``, by ID; including ``version``."""
        wires = {**shape_of(set_name).wires, "version": "version"}
        rows = table(set_name)

        async def work(session: Session) -> list[Row]:
            found = await session.execute(select(rows).order_by(rows.c.id))
            return [{wires.get(name, name): value for name, value in row._mapping.items()} for row in found]

        every = await self.database.read(work, tenant=self.tenant)
        return [row for row in every if all(row[name] == value for name, value in where.items())]

    async def row(self, set_name: str, row_id: str) -> Row:
        (row,) = await self.rows(set_name, ID=row_id)
        return row

    async def system_rows(self, name: str) -> list[Row]:
        """Return rows of a system table by column."""

        async def work(session: Session) -> list[Row]:
            return [dict(row._mapping) for row in await session.execute(select(table(name)))]

        return await self.database.read(work, tenant=self.tenant)

    async def put(self, set_name: str, **columns: Any) -> str:
        """Insert a row by its columns, bypassing all rules, as tills and workers write."""
        row = {"id": str(uuid.uuid4()), "created_at": NOON, "modified_at": NOON, **columns}
        known = table(set_name).c
        await self.database.write(
            lambda session: session.rowcount(
                insert(table(set_name)), {key: value for key, value in row.items() if key in known}
            ),
            tenant=self.tenant,
        )
        return str(row["id"])

    async def given(self, set_name: str, **row: Any) -> str:
        """Create a row and everything it requires through authoring."""
        return await self.create_row(set_name, await self.sample(set_name) | row)

    async def sample(self, set_name: str, *, full: bool = False) -> Row:
        """Return a row that can be created, creating its links first; ``full``: with every property that a client
        may write.
        """
        entity = model.entity(set_name)
        row = sample_row(entity, full=full)
        for link in entity.links:
            if link.required or (full and not link.read_only and link.target != set_name):
                row[link.property_wire] = await self.given(link.target)
        for field in entity.fields:
            if field.refers_to and full:
                row[field.wire] = await self.given(field.refers_to)
        if set_name == "BasketTests":
            row["request"] = json.dumps({"posGroupId": await self.given("PosGroups")})
        return row


def writable_sets() -> list[str]:
    """Return the entity sets in which the public API can create rows."""
    return [entity.set_name for entity in model.entities() if entity.public.value == "RW"]


_RANDOM = Random(7)  # different names; their values do not matter


def sample_row(entity: EntityType, *, full: bool = False) -> Row:
    """Return values for the required properties, or for all writable ones; without links."""
    row: Row = {}
    ends = {end for _, end in entity.windows}
    for field in entity.fields:
        is_open = not (field.read_only or field.virtual or field.name in ("id", "tenant_id"))
        if is_open and (field.required or full) and field.refers_to is None:
            row[field.wire] = _value(entity, field)
            if field.name in ends:
                row[field.wire] += timedelta(days=1)
    if entity.set_name == "CouponTypes" and full:
        row |= {"codeType": "GENERIC", "genericCode": row["genericCode"].upper()}
    return row


def _value(entity: EntityType, field: Field) -> Any:
    special = {
        "currency": "EUR", "time_zone": "Europe/Berlin", "callback_url": "https://shop.example/hook",
        "event_types": ["*"], "scopes": ["svc.POSReader"],
        "secret": "s" * 24, "weekdays": "MON,TUE", "alphabet": "0123456789ABCDEF", "length": 12,
        "status": None, "source": "MANUAL", "prefix": "P", "suffix": "S", "country": "DE",
    }  # fmt: skip
    if (entity.set_name, field.wire) in {("Clients", "secret"), ("People", "invitation")}:
        return None  # the service makes it
    if field.name in special and special[field.name] is not None:
        return special[field.name]
    if field.code_list:
        return field.default or model.code_list(field.code_list).codes[0]
    if field.choices:
        return field.choices[0]
    plain: dict[Kind, Any] = {
        Kind.INTEGER: max(1, int(field.minimum or 0)), Kind.LONG: 1, Kind.DECIMAL: Decimal(1), Kind.BOOLEAN: True,
        Kind.TIMESTAMP: NOON, Kind.DATE: date(2026, 3, 2), Kind.TIME: time(8), Kind.TEXTS: ["*"],
    }  # fmt: skip
    return plain.get(field.kind, f"{field.name[:6]}-{_RANDOM.getrandbits(40):x}"[: field.length])
