"""An admin service, its users, and the batches that its user interface sends."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from promenade.store.driver.session import open_database
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import Databases, Dialect
from tests.kit.in_process import InProcess
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service
from tests.web.conftest import run

__all__ = [
    "ANNA",
    "BEN",
    "SECRET",
    "ZOE",
    "Desk",
    "Part",
    "active",
    "draft",
    "fault",
    "key_of",
    "one",
    "open_desk",
    "serve",
]

MADE = datetime(2026, 1, 1, tzinfo=UTC)
OWN, OTHER = "acme", "globex"
ANNA, BEN, ZOE = "anna", "ben", "zoe"
"""Anna and Ben work for one tenant, Zoe for another."""
USERS = {
    ANNA: (OWN, ("svc.Admin",)),
    BEN: (OWN, ("svc.Admin",)),
    ZOE: (OTHER, ("svc.Admin",)),
    "integrator": (OWN, ("PublicApi.Read", "PublicApi.Write")),
    "till": (OWN, ("svc.POSReader",)),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A request of a batch or its response: ``path`` is relative to `/admin/`; ``body`` is decoded JSON."""

    method: str = "GET"
    path: str = ""
    body: Any = None
    status: int = 0


@dataclass(kw_only=True)
class Desk(ApiClient):
    """The admin service and its users; ``status`` is the status that a write must have."""

    root = "/admin"
    usual = ANNA
    service_url: str
    database_url: str
    dialect: Dialect
    clock: MovedClock | None = None

    def later(self, *, minutes: int) -> None:
        """Advance the service's clock."""
        assert self.clock is not None
        self.clock.move(minutes=minutes)
        self.tokens.clear()

    def call(self, method: str, path: str, body: Any = None, *, user: str = ANNA, **headers: Any) -> httpx2.Response:
        """Send one request of a user; ``body`` is sent as JSON unless it is text."""
        content = body.encode() if isinstance(body, str) else body
        return super().call(method, path, content, client=user, **headers)

    def post(self, path: str, body: Any = None, *, status: int | None = None, **how: Any) -> httpx2.Response:
        answer = self.call("POST", path, {} if body is None else body, **how)
        assert status in {None, answer.status_code}, f"POST {path}: {answer.status_code} {answer.text}"
        return answer

    def patch(self, path: str, body: Any, *, status: int | None = None, **how: Any) -> httpx2.Response:
        answer = self.call("PATCH", path, body, **how)
        assert status in {None, answer.status_code}, f"PATCH {path}: {answer.status_code} {answer.text}"
        return answer

    def delete(self, path: str, *, status: int | None = None, **how: Any) -> httpx2.Response:
        answer = self.call("DELETE", path, **how)
        assert status in {None, answer.status_code}, f"DELETE {path}: {answer.status_code} {answer.text}"
        return answer

    def unique(self, prefix: str = "C") -> str:
        """Return a code that no other row has and that sorts in creation order."""
        return f"{prefix}{next(self._numbers):05}"

    def make(self, set_name: str, *, user: str = ANNA, active: bool = True, **values: Any) -> dict[str, Any]:
        """Create an entity or a draft and return it as the response shows it."""
        made: dict[str, Any] = self.post(set_name, {"IsActiveEntity": active, **values}, user=user, status=201).json()
        return made

    def promotion(self, *, user: str = ANNA, active: bool = True, **values: Any) -> str:
        """Create a promotion and return its ID."""
        return str(self.make("Promotions", user=user, active=active, **{"name": "Ten off", **values})["ID"])

    def pos_group(self, *, user: str = ANNA) -> str:
        """Create a POS group and return its ID."""
        code = self.unique("P")
        return str(self.make("PosGroups", user=user, code=code, name=f"Store {code}", currency="EUR")["ID"])

    def edit(
        self, entity_id: str, *, set_name: str = "Promotions", preserve: bool = True, user: str = ANNA
    ) -> httpx2.Response:
        """Call draftEdit."""
        path = f"{active(entity_id, set_name)}/AdminService.draftEdit"
        return self.post(path, {"PreserveChanges": preserve}, user=user)

    def activate(self, entity_id: str, *, set_name: str = "Promotions", user: str = ANNA) -> httpx2.Response:
        """Call draftActivate."""
        return self.post(f"{draft(entity_id, set_name)}/AdminService.draftActivate", user=user)

    def prepare(self, entity_id: str, *, set_name: str = "Promotions", user: str = ANNA) -> httpx2.Response:
        """Call draftPrepare."""
        return self.post(f"{draft(entity_id, set_name)}/AdminService.draftPrepare", user=user)

    def batch(self, parts: Sequence[Part], *, form: str, user: str = ANNA) -> list[Part]:
        """Return the responses to a batch: ``form`` is "json", "multipart", or "plain" (one request at a time)."""
        send = {"json": self._json_batch, "multipart": self._multipart_batch, "plain": self._one_by_one}[form]
        return send(parts, user)

    def _one_by_one(self, parts: Sequence[Part], user: str) -> list[Part]:
        answers = [self.call(part.method, _escaped(part.path), part.body, user=user) for part in parts]
        return [Part(status=one.status_code, body=one.json() if one.content else None) for one in answers]

    def _json_batch(self, parts: Sequence[Part], user: str) -> list[Part]:
        requests = [
            {"id": str(number), "method": part.method, "url": _escaped(part.path)}
            | ({} if part.body is None else {"body": part.body, "headers": {"content-type": "application/json"}})
            for number, part in enumerate(parts)
        ]
        answer = self.call("POST", "$batch", {"requests": requests}, user=user)
        assert answer.status_code == 200, answer.text
        found = {int(one["id"]): one for one in answer.json()["responses"]}
        return [Part(status=found[number]["status"], body=found[number].get("body")) for number in range(len(parts))]

    def _multipart_batch(self, parts: Sequence[Part], user: str) -> list[Part]:
        """Send a batch as OpenUI5 writes it: reads beside change sets of one request each."""
        lines: list[str] = []
        for number, part in enumerate(parts):
            inner = f"changes-{number}"
            if part.method == "GET":
                lines += ["--outer", *_http_part(part, None)]
            else:
                lines += ["--outer", f"Content-Type: multipart/mixed;boundary={inner}", ""]
                lines += [f"--{inner}", *_http_part(part, f"{number}.0"), f"--{inner}--"]
        body = "\r\n".join([*lines, "--outer--", ""])
        kind = "multipart/mixed; boundary=outer"
        answer = self.call("POST", "$batch", body, user=user, content_type=kind, prefer="odata.continue-on-error")
        assert answer.status_code == 200, answer.text
        return [_read_part(text) for text in answer.text.split("HTTP/1.1 ")[1:]]


def draft(entity_id: str, set_name: str = "Promotions") -> str:
    """Return the path of a draft."""
    return f"{set_name}(ID={entity_id},IsActiveEntity=false)"


def active(entity_id: str, set_name: str = "Promotions") -> str:
    """Return the path of an active entity."""
    return f"{set_name}(ID={entity_id},IsActiveEntity=true)"


def fault(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status and code of an error response in the OData format."""
    assert answer.headers["content-type"].startswith("application/json"), answer.text
    return answer.status_code, answer.json()["error"]["code"]


def _escaped(path: str) -> str:
    return quote(path, safe="/$=&(),'?:@*")


def _http_part(part: Part, content_id: str | None) -> list[str]:
    head = ["Content-Type:application/http", "Content-Transfer-Encoding:binary"]
    head += [] if content_id is None else [f"Content-ID:{content_id}"]
    lines = [
        *head,
        "",
        f"{part.method} {_escaped(part.path)} HTTP/1.1",
        "Accept:application/json;IEEE754Compatible=true",
    ]
    if part.body is None:
        return [*lines, "", ""]
    return [*lines, "Content-Type:application/json;charset=UTF-8;IEEE754Compatible=true", "", json.dumps(part.body), ""]


def _read_part(text: str) -> Part:
    head, _, rest = text.partition("\r\n\r\n")
    body = rest.partition("\r\n--")[0].strip()
    return Part(status=int(head[:3]), body=json.loads(body) if body else None)


async def furnish(database_url: str) -> None:
    """Create the tenants and their users."""
    database = await open_database(database_url)
    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
        for name, (tenant, scopes) in USERS.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


@contextmanager
def open_desk(databases: Databases, dialect: Dialect, clock: MovedClock) -> Iterator[Desk]:
    """Open a desk in this process, on its own database, with a clock that `Desk.later` moves."""
    database_url = databases.create(dialect)
    run(furnish(database_url))
    with InProcess(database_url, clock=clock) as service, service.client() as http:
        yield Desk(service_url=service.url, database_url=database_url, dialect=dialect, http=http, clock=clock)
    databases.drop(database_url)


@contextmanager
def serve(databases: Databases, dialect: Dialect, log: Path) -> Iterator[Desk]:
    """Serve a desk in a separate process, on its own database and clock, for clients over the network."""
    database_url = databases.create(dialect)
    run(furnish(database_url))
    file = log.with_suffix(".clock")
    clock = MovedClock(file)
    by_clock = (sys.executable, "-m", "tests.kit.moved_clock")
    service = Service(log, "--database-url", database_url, command=by_clock, env={"CLOCK_FILE": str(file)})
    service.start()
    try:
        with service.client() as http:
            yield Desk(service_url=service.url, database_url=database_url, dialect=dialect, http=http, clock=clock)
    finally:
        service.kill()
        databases.drop(database_url)


def one(desk: Desk, form: str, method: str, path: str, body: Any = None, *, user: str = ANNA) -> Part:
    """Send one request, directly or alone in a batch."""
    return desk.batch([Part(method, path, body)], form=form, user=user)[0]


def key_of(row: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the key of a row of a response."""
    return row["ID"], row["IsActiveEntity"]
