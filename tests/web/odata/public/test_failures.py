"""Responses when the service itself fails."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, cast

from promenade.errors import Unavailable
from promenade.web.access.auth import Authenticator, Caller
from promenade.web.odata.public import PublicApi
from promenade.workflows.context import Context

CALLER = Caller("acme", "integrator", "integrator", frozenset({"PublicApi.Read"}), 4e9)


class Gates:
    async def authenticate(self, scope: object) -> Caller:
        return CALLER


class Broken:
    """A context whose database fails with ``error``."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.database = self

    def clock(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    async def read(self, work: object, **scope: object) -> object:
        raise self.error

    write = read


async def ask(error: Exception, path: str = "/api/v1/Campaigns", body: bytes = b"", **headers: str) -> Any:
    """Return status, headers and body of a request that meets this database error."""
    service = PublicApi(cast("Context", Broken(error)), cast("Authenticator", Gates()))
    scope = {
        "type": "http",
        "method": "POST" if body else "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "promenade.correlation_id": b"c-1",
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    await service(scope, receive, send)
    start, end = sent
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], told, json.loads(end["body"])


async def test_an_unexpected_error_reveals_only_its_correlation_id() -> None:
    status, headers, body = await ask(RuntimeError("secret internals"))
    assert (status, headers["content-type"], headers["x-correlation-id"]) == (500, "application/problem+json", "c-1")
    assert (body["code"], body["detail"]) == ("INTERNAL_ERROR", "Something went wrong; quote c-1.")
    assert "secret" not in json.dumps(body)


async def test_odata_clients_get_failures_in_the_odata_format() -> None:
    status, headers, body = await ask(RuntimeError("secret internals"), odata_version="4.0")
    assert (status, headers["content-type"]) == (500, "application/json")
    assert body["error"]["code"] == "INTERNAL_ERROR"
    assert "secret" not in json.dumps(body)


async def test_a_part_of_a_batch_may_fail_alone() -> None:
    batch = {"requests": [{"id": "1", "method": "GET", "url": "Campaigns"}]}
    status, _, body = await ask(
        RuntimeError("secret internals"), "/api/v1/$batch", json.dumps(batch).encode(), content_type="application/json"
    )
    (part,) = body["responses"]
    assert (status, part["status"], part["body"]["error"]["code"]) == (200, 500, "INTERNAL_ERROR")
    assert "secret" not in json.dumps(body)


async def test_a_database_that_does_not_answer_is_503() -> None:
    status, _, body = await ask(Unavailable("DATABASE_UNAVAILABLE", "The database does not answer."))
    assert (status, body["code"]) == (503, "DATABASE_UNAVAILABLE")
