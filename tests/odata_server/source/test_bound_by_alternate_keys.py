"""Links by alternate keys: they are looked up with the body that names them, all of one kind at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from sqlalchemy import Column, Engine, Integer, MetaData, String, Table, create_engine, event
from sqlalchemy.pool import StaticPool

from odata_server import (
    Access,
    Container,
    Edm,
    EngineDatabase,
    EntityMap,
    EntitySet,
    EntityType,
    Hooks,
    NavigationProperty,
    ODataError,
    Primitive,
    Property,
    Request,
    Schema,
    Service,
    SqlModel,
    SqlSource,
)


def _number(name: str, **more: Any) -> Property:
    return Property(name=name, type=Primitive.INT32, **more)


SHELF = EntityType(
    name="Shelf",
    key=("ID",),
    alternate_keys=(("label",), ("room", "place")),
    properties=(
        _number("ID", nullable=False),
        Property(name="label", type=Primitive.STRING, max_length=20),
        Property(name="room", type=Primitive.STRING, max_length=20),
        _number("place"),
    ),
    navigations=(
        NavigationProperty(name="books", target="Book", collection=True, on=(("ID", "shelf_ID"),), partner="shelf"),
    ),
)
BOOK = EntityType(
    name="Book",
    key=("ID",),
    alternate_keys=(("title",),),
    properties=(
        _number("ID", nullable=False),
        Property(name="title", type=Primitive.STRING, max_length=20),
        _number("shelf_ID"),
    ),
    navigations=(NavigationProperty(name="shelf", target="Shelf", on=(("shelf_ID", "ID"),), partner="books"),),
)
EDM = Edm(
    Schema(
        namespace="Library",
        entity_types=(SHELF, BOOK),
        container=Container(
            entity_sets=(
                EntitySet(name="Shelves", entity_type="Shelf"),
                EntitySet(name="Books", entity_type="Book"),
            )
        ),
    )
)
METADATA = MetaData()
TABLES = {
    one.name: Table(
        one.name,
        METADATA,
        *(
            Column(prop.name, Integer if prop.type is Primitive.INT32 else String(20), primary_key=prop.name == "ID")
            for prop in one.properties
        ),
    )
    for one in (SHELF, BOOK)
}


class Guard(Hooks):
    """Lets nobody read shelves who says ``blind``."""

    def permit(self, caller: Any, access: Access, request: Request) -> None:
        hidden = access.entity_set is not None and access.entity_set.name == "Shelves" and access.kind == "read"
        if hidden and "blind" in request.headers:
            raise ODataError(403, "FORBIDDEN", "You may not read shelves.")


@pytest.fixture
def engine() -> Engine:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    METADATA.create_all(engine)
    return engine


@pytest.fixture
async def library(engine: Engine) -> AsyncIterator[httpx2.AsyncClient]:
    maps = {name: EntityMap(table, {one.name: one.name for one in table.columns}) for name, table in TABLES.items()}
    service = Service(EDM, SqlSource(SqlModel(EDM, maps), EngineDatabase(engine)), Guard(), root="")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(service), base_url="http://library.example") as client:
        for number, label in enumerate(("A'1", "B"), 1):
            shelf = {"ID": number, "label": label, "room": "East", "place": number}
            assert (await client.post("/Shelves", json=shelf)).status_code == 201
        yield client
    engine.dispose()


async def _shelf_of(library: httpx2.AsyncClient, book: int) -> Any:
    return (await library.get(f"/Books({book})")).json()["shelf_ID"]


async def test_a_new_entity_is_bound_by_either_alternate_key(library: httpx2.AsyncClient) -> None:
    for number, address in enumerate(("Shelves(label='A''1')", "/Shelves(place=2,room='East')"), 1):
        made = await library.post("/Books", json={"ID": number, "title": f"T{number}", "shelf@bind": address})
        assert (made.status_code, made.json().get("shelf_ID")) == (201, number), made.text
    made = await library.post("/Books", json={"ID": 3, "title": "T3", "shelf": {"@id": "Shelves(label='B')"}})
    assert made.json()["shelf_ID"] == 2


async def test_a_change_an_upsert_and_a_reference_too(library: httpx2.AsyncClient) -> None:
    assert (await library.post("/Books", json={"ID": 1, "title": "T1"})).status_code == 201
    assert (await library.patch("/Books(1)", json={"shelf@bind": "Shelves(label='B')"})).status_code == 204
    assert await _shelf_of(library, 1) == 2
    body = {"ID": 2, "shelf@bind": "Shelves(label='B')"}
    assert (await library.patch("/Books(title='T2')", json=body)).status_code == 201
    assert await _shelf_of(library, 2) == 2
    link = {"@id": "Shelves(label='A''1')"}
    assert (await library.put("/Books(1)/shelf/$ref", json=link)).status_code == 204
    assert await _shelf_of(library, 1) == 1
    assert (await library.post("/Shelves(1)/books/$ref", json={"@id": "Books(title='T2')"})).status_code == 204
    assert await _shelf_of(library, 2) == 1
    assert (await library.delete("/Shelves(1)/books/$ref?$id=Books(title='T2')")).status_code == 204
    assert await _shelf_of(library, 2) is None


async def test_a_collection_is_bound_and_nested_entities_bind(library: httpx2.AsyncClient) -> None:
    for number in (1, 2):
        assert (await library.post("/Books", json={"ID": number, "title": f"T{number}"})).status_code == 201
    body = {"ID": 3, "label": "C", "books@bind": ["Books(title='T1')", "Books(2)"]}
    assert (await library.post("/Shelves", json=body)).status_code == 201
    assert [await _shelf_of(library, one) for one in (1, 2)] == [3, 3]


async def test_an_unknown_one_is_an_error_of_its_property_and_nothing_is_written(library: httpx2.AsyncClient) -> None:
    refused = await library.post("/Books", json={"ID": 1, "title": "T1", "shelf@bind": "Shelves(label='Z')"})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["target"]) == (400, "UNKNOWN_REFERENCE", "shelf")
    assert (await library.get("/Books/$count")).text == "0"
    assert (await library.put("/Books(1)/shelf/$ref", json={"@id": "Shelves(label='Z')"})).status_code == 404


async def test_who_may_not_read_the_set_cannot_look_into_it(library: httpx2.AsyncClient) -> None:
    body = {"ID": 1, "title": "T1", "shelf@bind": "Shelves(label='B')"}
    assert (await library.post("/Books", json=body, headers={"blind": "1"})).status_code == 403


async def test_many_links_take_few_statements(library: httpx2.AsyncClient, engine: Engine) -> None:
    for number in range(1, 121):
        assert (await library.post("/Books", json={"ID": number, "title": f"T{number}"})).status_code == 201
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *of: statements.append(of[2]))
    links = [f"Books(title='T{number}')" for number in range(1, 121)]
    assert (await library.post("/Shelves", json={"ID": 3, "books@bind": links})).status_code == 201
    looked_up = [one for one in statements if "title" in one and one.startswith("SELECT") and "OR" in one]
    assert len(looked_up) <= 6  # for each fifty how many there are, and which
