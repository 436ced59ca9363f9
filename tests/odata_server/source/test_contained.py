"""Entities without a set of their own: read at their owner's address, written in its body alone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine
from sqlalchemy.pool import StaticPool

from odata_server import (
    Container,
    Edm,
    EngineDatabase,
    EntityMap,
    EntitySet,
    EntityType,
    Hooks,
    NavigationProperty,
    Primitive,
    Property,
    Schema,
    Service,
    SqlModel,
    SqlSource,
)

FOLDER = EntityType(
    name="Folder",
    key=("ID",),
    properties=(Property(name="ID", type=Primitive.INT32, nullable=False),),
    navigations=(
        NavigationProperty(
            name="pages", target="Page", collection=True, on=(("ID", "folder"),), partner="owner", composition=True
        ),
    ),
)
PAGE = EntityType(
    name="Page",
    key=("folder", "number"),
    properties=(
        Property(name="folder", type=Primitive.INT32, nullable=False),
        Property(name="number", type=Primitive.INT32, nullable=False),
        Property(name="text", type=Primitive.STRING, max_length=100),
    ),
    navigations=(NavigationProperty(name="owner", target="Folder", on=(("folder", "ID"),), partner="pages"),),
)
EDM = Edm(
    Schema(
        namespace="Files",
        entity_types=(FOLDER, PAGE),
        container=Container(entity_sets=(EntitySet(name="Folders", entity_type="Folder"),)),
    )
)


@pytest.fixture
async def files() -> AsyncIterator[httpx2.AsyncClient]:
    tables = MetaData()
    folders = Table("folders", tables, Column("ID", Integer, primary_key=True))
    keys = (Column(name, Integer, primary_key=True) for name in ("folder", "number"))
    pages = Table("pages", tables, *keys, Column("text", String(100)))
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    tables.create_all(engine)
    maps = {
        name: EntityMap(table, {one.name: one.name for one in table.columns})
        for name, table in (("Folder", folders), ("Page", pages))
    }
    service = Service(EDM, SqlSource(SqlModel(EDM, maps), EngineDatabase(engine)), Hooks(), root="")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(service), base_url="http://files.example") as client:
        yield client
    engine.dispose()


async def test_parts_without_a_set_are_written_with_their_owner(files: httpx2.AsyncClient) -> None:
    body = {"ID": 1, "pages": [{"number": 1, "text": "Rain"}, {"number": 2, "text": "Sun"}]}
    assert (await files.post("/Folders", json=body)).status_code == 201
    found = (await files.get("/Folders(1)/pages?$filter=text eq 'Sun'")).json()["value"]
    assert [one["number"] for one in found] == [2]
    assert (await files.get("/Folders(1)/pages(folder=1,number=1)/text")).json()["value"] == "Rain"
    changed = await files.patch("/Folders(1)", json={"pages": [{"number": 2, "text": "Snow"}]})
    assert changed.status_code == 204, changed.text
    found = (await files.get("/Folders?$expand=pages")).json()["value"]
    assert [(one["number"], one["text"]) for one in found[0]["pages"]] == [(2, "Snow")]
    for method, url in (
        ("POST", "/Folders(1)/pages"),
        ("PATCH", "/Folders(1)/pages(folder=1,number=2)"),
        ("DELETE", "/Folders(1)/pages(folder=1,number=2)"),
        ("GET", "/Folders(1)/pages/$ref"),
    ):
        answer = await files.request(method, url, json={"number": 3})
        assert (answer.status_code, answer.json()["error"]["code"]) == (501, "NOT_IMPLEMENTED"), (method, url)
    assert (await files.get("/Pages")).status_code == 404
