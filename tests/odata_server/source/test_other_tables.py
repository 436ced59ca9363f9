"""Tables as others have them: numbers made by the database, native types, tags that are not counters, no threads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    Uuid,
    create_engine,
)
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import CreateTable, DropTable

from odata_server.edm import (
    ComplexType,
    Container,
    Edm,
    EntitySet,
    EntityType,
    NavigationProperty,
    Primitive,
    Property,
    Schema,
)
from odata_server.engines import EngineConnection, EngineDatabase
from odata_server.hooks import Hooks
from odata_server.http import Request, Response
from odata_server.service import Service
from odata_server.sql.model import EntityMap, SqlModel
from odata_server.sql_source import SqlSource
from odata_server.tables.places import Places

SIZE = ComplexType(
    name="Size", properties=(Property(name="w", type=Primitive.INT32), Property(name="h", type=Primitive.INT32))
)
FOLDER = EntityType(
    name="Folder",
    key=("ID",),
    etag=True,
    properties=(
        Property(name="ID", type=Primitive.INT32, nullable=False, computed=True),
        Property(name="name", type=Primitive.STRING, nullable=False, max_length=50),
        Property(name="at", type=Primitive.DATE_TIME_OFFSET, precision=6),
        Property(name="size", type=SIZE),
    ),
    navigations=(
        NavigationProperty(name="pages", target="Page", collection=True, on=(("ID", "folder"),), composition=True),
    ),
)
PAGE = EntityType(
    name="Page",
    key=("ID",),
    properties=(
        Property(name="ID", type=Primitive.GUID, nullable=False),
        Property(name="folder", type=Primitive.INT32, nullable=False),
        Property(name="number", type=Primitive.INT32, nullable=False),
    ),
)
EDM = Edm(
    Schema(
        namespace="Files",
        entity_types=(FOLDER, PAGE),
        complex_types=(SIZE,),
        container=Container(
            entity_sets=(EntitySet(name="Folders", entity_type="Folder"), EntitySet(name="Pages", entity_type="Page"))
        ),
    )
)
METADATA = MetaData()
FOLDERS = Table(
    "folders",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(50), nullable=False),
    Column("at", DateTime),
    Column("size", JSON),
    Column("touched", String(40), default=lambda: "new", onupdate=lambda: datetime.now(UTC).isoformat()),
)
PAGES = Table(
    "pages",
    METADATA,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("folder", ForeignKey(FOLDERS.c.id), nullable=False),
    Column("number", Integer, nullable=False),
    UniqueConstraint("folder", "number"),
)
MODEL = SqlModel(
    EDM,
    {
        "Folder": EntityMap(FOLDERS, {"ID": "id", "name": "name", "at": "at", "size": "size"}, etag="touched"),
        "Page": EntityMap(PAGES, {"ID": "id", "folder": "folder", "number": "number"}),
    },
)


@pytest.fixture
async def files(bookshop: EngineDatabase) -> AsyncIterator[Service]:
    """A service of these tables."""

    async def make(connection: EngineConnection) -> None:
        for table in METADATA.sorted_tables:
            await connection.execute(CreateTable(table))

    async def drop(connection: EngineConnection) -> None:
        for table in reversed(METADATA.sorted_tables):
            await connection.execute(DropTable(table))

    await bookshop.write(make)
    yield Service(EDM, SqlSource(MODEL, bookshop), Hooks(), root="/files")
    await bookshop.write(drop)


async def send(service: Service, method: str, path: str, body: Any = None, **headers: str) -> Response:
    given = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await service.handle(Request(method, path, "", given, json.dumps(body).encode()), None)


async def test_the_database_numbers_rows_and_what_is_nested_follows(files: Service) -> None:
    body = {"name": "a", "at": "2024-05-01T10:00:00+02:00", "size": {"w": 1}, "pages": [{"number": 1}, {"number": 2}]}
    response = await send(files, "POST", "Folders", body)
    assert response.status == 201, response.body
    made = json.loads(response.body)
    assert response.headers["Location"] == f"/files/Folders({made['ID']})"
    assert made["at"].startswith("2024-05-01T08:00:00")
    assert made["size"] == {"w": 1} or made["size"] == {"w": 1, "h": None}
    assert made["@etag"] == 'W/"new"'
    pages = json.loads((await send(files, "GET", f"Folders({made['ID']})/pages")).body)["value"]
    assert sorted(page["number"] for page in pages) == [1, 2]
    page = pages[0]
    assert (await send(files, "GET", f"Pages({page['ID']})")).status == 200
    response = await send(files, "PATCH", f"Pages({page['ID']})", {"number": 3 - page["number"]})
    assert response.status == 409
    assert (await send(files, "PATCH", f"Folders({made['ID']})", {"size": {"h": 2}}, if_match='W/"new"')).status == 204
    changed = json.loads((await send(files, "GET", f"Folders({made['ID']})")).body)
    assert changed["size"] == {"w": 1, "h": 2}
    assert changed["@etag"] != 'W/"new"'
    assert (await send(files, "DELETE", f"Folders({made['ID']})")).status == 204
    assert json.loads((await send(files, "GET", "Pages")).body)["value"] == []


async def test_a_database_in_memory_serves_one_unit_after_the_other() -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    METADATA.create_all(engine)
    service = Service(EDM, SqlSource(MODEL, EngineDatabase(engine)), Hooks(), root="/files")
    answers = await asyncio.gather(*(send(service, "POST", "Folders", {"name": str(one)}) for one in range(8)))
    assert [one.status for one in answers] == [201] * 8
    engine.dispose()


async def test_a_database_that_others_keep_locked_is_said_to_be_busy(tmp_path: Any) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/x.db", connect_args={"timeout": 0})
    METADATA.create_all(engine)
    service = Service(EDM, SqlSource(MODEL, EngineDatabase(engine)), Hooks(), root="/files")
    with engine.connect() as other:
        other.exec_driver_sql("BEGIN IMMEDIATE")
        response = await send(service, "POST", "Folders", {"name": "x"})
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        other.rollback()
    assert (await send(service, "POST", "Folders", {"name": "x"})).status == 201
    engine.dispose()


def test_a_view_is_not_written() -> None:
    view = SqlModel(EDM, {"Folder": EntityMap(FOLDERS.select().subquery(), MODEL.maps["Folder"].columns)})
    with pytest.raises(ValueError, match="Folder is not mapped to a table"):
        Places(view).of(FOLDER)
