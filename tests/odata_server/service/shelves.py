"""The bookshop as a service, and a client of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from odata_server.engines import EngineDatabase
from odata_server.errors import ODataError
from odata_server.hooks import Access, Hooks
from odata_server.http import Request, Response
from odata_server.service import Service
from odata_server.source import OperationCall, Result
from odata_server.sql_source import SqlSource, SqlUnit
from tests.odata_server.bookshop import EDM, book, order, sql_model

__all__ = ["ROOT", "Answer", "Client", "ShopHooks", "ShopSource"]

ROOT = "/shop"


class OutOfStock(Exception):
    """An error defined by the host."""


class ShopSource(SqlSource):
    """The rows of the bookshop; ``calls`` are the invoked operations, which do nothing but respond."""

    def __init__(self, database: EngineDatabase) -> None:
        super().__init__(sql_model(), database, {EDM.qualified(name): self._invoke for name in EDM.operations})
        self.calls: list[OperationCall] = []

    async def _invoke(self, unit: SqlUnit, call: OperationCall) -> Result:
        self.calls.append(call)
        name, parameters = call.operation.name, call.parameters
        if name == "greet":
            return Result(value=f"Hello {parameters['name']}")
        if name == "priceIn":
            return Result(value=parameters.get("rate", 1) * 2)
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


class ShopHooks(Hooks):
    """Records the access checks; refuses what ``refused`` names as (kind, set)."""

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
        what = ("pass" if access.on_the_way else access.kind, access.entity_set.name if access.entity_set else None)
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
    """A response."""

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
        """The path of the created entity, from the root on."""
        return self.headers["Location"].removeprefix(f"{ROOT}/")


class Client:
    """Sends requests to the service; header names have underscores for dashes."""

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
