"""A client of the bookshop: sends requests to a real service on a real database."""

from __future__ import annotations

import json
from typing import Any

from odata_server.engines import EngineDatabase
from odata_server.hooks import Hooks
from odata_server.http import Request, Response
from odata_server.service import Service
from tests.odata_server.bookshop import EDM, source

__all__ = ["ROOT", "Shop"]

ROOT = "/odata/shop"


class Shop:
    """The bookshop as a service."""

    def __init__(self, database: EngineDatabase) -> None:
        self.service = Service(EDM, source(database), Hooks(), root=ROOT)

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """Send one request; a body is sent as JSON."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = b""
        if body is not None:
            given.setdefault("content-type", "application/json")
            raw = json.dumps(body).encode()
        path, _, query = path.partition("?")
        return await self.service.handle(Request(method, path, query, given, raw), "Ada")

    async def get(self, path: str) -> Any:
        """Return the resource at a path; it must exist."""
        response = await self.send("GET", path)
        assert response.status == 200, response.body
        return json.loads(response.body)

    async def refused(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, list[tuple[str, Any]]]:
        """Send a request that must be refused; return the status, and each fault's code and target."""
        response = await self.send(method, path, body, **headers)
        assert response.status >= 400, response.body
        error = json.loads(response.body)["error"]
        faults = error.get("details") or [error]
        return response.status, [(fault["code"], fault.get("target")) for fault in faults]

    async def done(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send a request that must succeed, and return the body, if any."""
        response = await self.send(method, path, body, **headers)
        assert response.status < 300, response.body
        return json.loads(response.body) if response.body else None
