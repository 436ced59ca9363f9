"""Entities addressed by alternate keys, of one property and of several, in plain tables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import httpx2
import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine
from sqlalchemy.pool import StaticPool

from odata_server.edm import Container, Edm, EntitySet, EntityType, Primitive, Property, Schema
from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from odata_server.hooks import Hooks
from odata_server.service import Service
from odata_server.source import Payload, Unit
from odata_server.sql.model import EntityMap, SqlModel
from odata_server.sql_source import SqlSource

T = TypeVar("T")
SHELF = EntityType(
    name="Shelf",
    key=("ID",),
    alternate_keys=(("label",), ("room", "number")),
    properties=(
        Property(name="ID", type=Primitive.GUID, nullable=False),
        Property(name="label", type=Primitive.STRING, max_length=20),
        Property(name="room", type=Primitive.STRING, max_length=20),
        Property(name="number", type=Primitive.INT32),
        Property(name="books", type=Primitive.INT32),
    ),
)


def _edm(*, insertable: bool = True) -> Edm:
    shelves = EntitySet(name="Shelves", entity_type="Shelf", insertable=insertable)
    return Edm(Schema(namespace="Library", entity_types=(SHELF,), container=Container(entity_sets=(shelves,))))


class Racing(SqlSource):
    """Before each write, another client has created the same entity and this one has not seen it, ``races`` times."""

    races = 0

    async def transact(self, caller: Any, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        if writes and self.races:
            self.races -= 1
            with suppress(Crossed):
                await super().transact(caller, self._crossed(work), writes=True)
            shelf = Payload({"label": "A", "books": 1})
            await super().transact(caller, lambda unit: unit.create(_edm().entity_sets["Shelves"], shelf), writes=True)
            raise ODataError(409, "ALREADY_EXISTS", "There is a shelf A.", "label")
        return await super().transact(caller, work, writes=writes)

    def _crossed(self, work: Callable[[Unit], Awaitable[T]]) -> Callable[[Unit], Awaitable[T]]:
        async def carry_out(unit: Unit) -> T:
            assert await work(unit) is not None
            raise Crossed

        return carry_out


class Crossed(Exception):
    """Rolls back."""


def _client(edm: Edm, races: int = 0) -> httpx2.AsyncClient:
    shelves = Table(
        "shelves",
        MetaData(),
        Column("id", String(36), primary_key=True),
        *(Column(name, String(20)) for name in ("label", "room")),
        *(Column(name, Integer) for name in ("number", "books")),
    )
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    shelves.metadata.create_all(engine)
    columns = {"ID": "id", **{name: name for name in ("label", "room", "number", "books")}}
    source = Racing(SqlModel(edm, {"Shelf": EntityMap(shelves, columns)}), EngineDatabase(engine))
    source.races = races
    transport = httpx2.ASGITransport(Service(edm, source, Hooks(), root="/odata"))
    return httpx2.AsyncClient(transport=transport, base_url="http://library.example")


@pytest.fixture
async def library() -> AsyncIterator[httpx2.AsyncClient]:
    async with _client(_edm()) as client:
        yield client


async def _patch(client: httpx2.AsyncClient, path: str, body: dict[str, Any], **headers: str) -> int:
    return (await client.patch(f"/odata/{path}", json=body, headers=headers)).status_code


async def test_each_key_finds_and_creates(library: httpx2.AsyncClient) -> None:
    assert await _patch(library, "Shelves(label='A''1')", {"books": 3, "room": "East", "number": 7}) == 201
    by_label = (await library.get("/odata/Shelves(label='A''1')")).json()
    assert (by_label["label"], by_label["books"]) == ("A'1", 3)
    for path in ("Shelves(room='East',number=7)", "Shelves(number=7,room='East')", f"Shelves({by_label['ID']})"):
        assert (await library.get(f"/odata/{path}")).json() == by_label
    assert await _patch(library, "Shelves(room='East',number=7)", {"books": 4}) == 204
    assert (await library.get("/odata/Shelves(label='A''1')/books")).json()["value"] == 4
    assert await _patch(library, "Shelves(room='West',number=7)", {"books": 1}) == 201
    assert (await library.get("/odata/Shelves/$count")).text == "2"
    assert (await library.delete("/odata/Shelves(room='West',number=7)")).status_code == 204
    assert (await library.get("/odata/Shelves(room='West',number=7)")).status_code == 404


@pytest.mark.parametrize("method", ["PATCH", "PUT"])
async def test_who_loses_a_race_to_create_an_entity_updates_it(method: str) -> None:
    async with _client(_edm(), races=1) as library:
        answer = await library.request(method, "/odata/Shelves(label='A')", json={"books": 9})
        assert answer.status_code == 204, answer.text
        assert (await library.get("/odata/Shelves(label='A')/books")).json()["value"] == 9
        assert (await library.get("/odata/Shelves/$count")).text == "1"


async def test_a_conflict_of_another_write_is_an_error_at_once() -> None:
    async with _client(_edm(), races=1) as library:
        answer = await library.post("/odata/Shelves", json={"label": "A", "books": 9})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "ALREADY_EXISTS")
        assert (await library.get("/odata/Shelves(label='A')/books")).json()["value"] == 1


@pytest.mark.parametrize(
    "key", ["room='East'", "number=7", "room='East',number='7'", "label=null", "label='a',number=7"]
)
async def test_a_part_of_a_key_and_a_wrong_value_are_none(library: httpx2.AsyncClient, key: str) -> None:
    assert await _patch(library, f"Shelves({key})", {"books": 1}) == 400


async def test_a_set_that_takes_no_inserts_creates_none() -> None:
    async with _client(_edm(insertable=False)) as library:
        assert await _patch(library, "Shelves(label='A')", {"books": 1}) == 404


async def test_metadata_names_the_keys_in_both_forms(library: httpx2.AsyncClient) -> None:
    found = (await library.get("/odata/$metadata", params={"$format": "json"})).json()["Library"]["Shelf"]
    keys = [[{"Name": name, "Alias": name} for name in key] for key in SHELF.alternate_keys]
    assert found["@Core.AlternateKeys"] == [{"Key": key} for key in keys]
    text = (await library.get("/odata/$metadata", params={"$format": "xml"})).text
    assert 'Term="Core.AlternateKeys"' in text


def test_a_key_of_unknown_properties_is_no_model() -> None:
    shelf = EntityType(name="Shelf", key=("ID",), alternate_keys=(("code",),), properties=SHELF.properties)
    with pytest.raises(ValueError, match="no key property code"):
        Edm(Schema(namespace="Library", entity_types=(shelf,), container=Container()))
