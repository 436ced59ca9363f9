"""The bookshop as a service: its rows read by the library, written by the fewest statements that will do."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from odata_server.edm import EntitySet, Primitive
from odata_server.engines import EngineConnection, EngineDatabase
from odata_server.errors import ODataError
from odata_server.hooks import Access, Hooks
from odata_server.http import Request, Response
from odata_server.service import Service
from odata_server.source import Key, OperationCall, Payload, Query, Result, Rows, Unit
from odata_server.sql.reader import SqlReader
from tests.odata_server.bookshop import EDM, book, order, sql_model

__all__ = ["ROOT", "Answer", "Client", "ShopHooks", "ShopSource"]

T = TypeVar("T")
ROOT = "/shop"
MODEL = sql_model()
READER = SqlReader(MODEL)


class OutOfStock(Exception):
    """An error of the host's own."""


class ShopUnit:
    """One transaction."""

    def __init__(self, connection: EngineConnection, calls: list[OperationCall]) -> None:
        self._connection = connection
        self._calls = calls

    async def read(self, query: Query) -> Rows:
        return await READER.read(self._connection, query)

    async def count(self, query: Query) -> int:
        return await READER.count(self._connection, query)

    async def create(self, entity_set: EntitySet, payload: Payload) -> Key:
        mapped, entity_type = MODEL.maps[entity_set.entity_type], EDM.entity_types[entity_set.entity_type]
        values = {prop.name: prop.default for prop in entity_type.properties if prop.default is not None}
        if entity_type.property_by_name[entity_type.key[0]].type is Primitive.GUID:
            values[entity_type.key[0]] = str(uuid4())
        values |= payload.values
        row = {str(mapped.columns[name]): value for name, value in values.items()}
        if entity_type.etag:
            row["version"] = 1
        await self._connection.execute(mapped.selectable.insert().values(row))  # type: ignore[attr-defined]
        for name, nested in payload.nested.items():
            navigation = entity_type.navigation_by_name[name]
            inner_set = EDM.set_of(navigation.target)
            assert inner_set is not None
            for item in nested.items:
                link = {other: values[own] for own, other in navigation.on}
                await self.create(inner_set, Payload({**item.values, **link}, item.nested))
        return {name: values[name] for name in entity_type.key}

    async def update(self, entity_set: EntitySet, key: Key, payload: Payload, *, replace: bool) -> None:
        table: Any = MODEL.maps[entity_set.entity_type].selectable
        columns = MODEL.maps[entity_set.entity_type].columns
        row = {str(columns[name]): value for name, value in payload.values.items()}
        if EDM.entity_types[entity_set.entity_type].etag:
            row["version"] = table.c.version + 1
        if row:
            await self._connection.execute(table.update().where(*self._where(entity_set, key)).values(row))

    async def delete(self, entity_set: EntitySet, key: Key) -> None:
        table: Any = MODEL.maps[entity_set.entity_type].selectable
        await self._connection.execute(table.delete().where(*self._where(entity_set, key)))

    def _where(self, entity_set: EntitySet, key: Key) -> list[Any]:
        mapped = MODEL.maps[entity_set.entity_type]
        return [mapped.selectable.c[str(mapped.columns[name])] == value for name, value in key.items()]

    async def invoke(self, call: OperationCall) -> Result:
        self._calls.append(call)
        name, parameters = call.operation.name, call.parameters
        if name == "greet":
            return Result(value=f"Hello {parameters['name']}")
        if name == "priceIn":
            return Result(value=parameters["rate"] * 2)
        if name == "cheapest":
            return Result(key={"ID": book(8)})
        if name == "order":
            return Result(key={"ID": order(1)}, status=201, headers={"X-Order": "1"})
        if name == "stockReport":
            return Result(value=[{"title": "Emma", "stock": 0, "value": None}])
        if name == "crash":
            raise RuntimeError("the till is on fire")
        if name == "reprice":
            raise OutOfStock("nothing to reprice")
        return Result(value=parameters.get("reason"))


class ShopSource:
    """Where the rows are; ``calls`` are the operations that were invoked."""

    def __init__(self, database: EngineDatabase) -> None:
        self._database = database
        self.calls: list[OperationCall] = []

    async def transact(self, caller: Any, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        async def in_unit(connection: EngineConnection) -> T:
            return await work(ShopUnit(connection, self.calls))

        return await (self._database.write if writes else self._database.read)(in_unit)


class ShopHooks(Hooks):
    """Remembers what was asked; refuses what ``refused`` names as (kind, set)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.refused: set[tuple[str, str | None]] = set()
        self.added: dict[str, Any] = {}

    async def authenticate(self, scope: Mapping[str, Any]) -> Any:
        if any(name == b"authorization" and value == b"nobody" for name, value in scope["headers"]):
            raise ODataError(401, "UNAUTHORIZED", "Who are you?", headers={"WWW-Authenticate": "Bearer"})
        return "me"

    def permit(self, caller: Any, access: Access, request: Request) -> None:
        assert caller == "me"
        what = (access.kind, access.entity_set.name if access.entity_set else None)
        self.asked.append(what)
        if what in self.refused:
            raise ODataError(403, "FORBIDDEN", "Not you.")

    def translate(self, error: Exception) -> ODataError | None:
        return ODataError(409, "OUT_OF_STOCK", str(error)) if isinstance(error, OutOfStock) else None

    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC)

    def extras(self, caller: Any) -> Mapping[str, Any]:
        return self.added


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        found: str = self.json["error"]["code"]
        return found

    def path(self) -> str:
        """Where what was created is, from the root on."""
        return self.headers["Location"].removeprefix(f"{ROOT}/")


class Client:
    """Sends requests to the service; header names with underscores."""

    def __init__(self, source: Any) -> None:
        self.hooks = ShopHooks()
        self.source = source
        self.service = Service(EDM, source, self.hooks, root=ROOT)

    async def __call__(self, method: str, url: str, body: Any = None, **headers: str) -> Answer:
        path, _, query = url.partition("?")
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        names = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        response: Response = await self.service.handle(Request(method, path, query, names, raw), "me")
        assert response.headers["OData-Version"] in {"4.0", "4.01"}
        return Answer(response.status, response.headers, response.body)

    async def get(self, url: str, **headers: str) -> Any:
        answer = await self("GET", url, **headers)
        assert answer.status == 200, answer.body
        return answer.json


def is_guid(text: str) -> bool:
    return str(UUID(text)) == text
