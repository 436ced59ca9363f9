"""A served administration, its users, and the batches that its user interface sends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2

from promenade.store.session import open_database
from promenade.workflows.clients import create_client
from promenade.workflows.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import Databases, Dialect
from tests.kit.processes import die_with_parent
from tests.web.conftest import run

__all__ = ["ANNA", "BEN", "SECRET", "ZOE", "Desk", "Part", "active", "draft", "fault", "key_of", "one", "serve"]

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
_START_SECONDS_MAX = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A request of a batch or its answer: ``path`` is relative to `/admin/`; ``body`` is decoded JSON."""

    method: str = "GET"
    path: str = ""
    body: Any = None
    status: int = 0


@dataclass(kw_only=True)
class Desk(ApiClient):
    """The administration and its users; ``status`` is the one that a write must have."""

    root = "/admin"
    usual = ANNA
    service_url: str
    database_url: str
    dialect: Dialect

    def later(self, *, minutes: int) -> None:
        """Let time pass for the service."""
        assert self.http.post("/test-clock", content=str(60 * minutes)).status_code == 204
        self.tokens.clear()

    def call(self, method: str, path: str, body: Any = None, *, user: str = ANNA, **headers: Any) -> httpx2.Response:
        """One request of a user; ``body`` is sent as JSON unless it is text."""
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
        """A code that no other row has, and that sorts as it was made."""
        return f"{prefix}{next(self._numbers):05}"

    def make(self, set_name: str, *, user: str = ANNA, active: bool = True, **values: Any) -> dict[str, Any]:
        """A new entity, or a new draft, as the answer to its making shows it."""
        made: dict[str, Any] = self.post(set_name, {"IsActiveEntity": active, **values}, user=user, status=201).json()
        return made

    def promotion(self, *, user: str = ANNA, active: bool = True, **values: Any) -> str:
        """The ID of a new promotion."""
        return str(self.make("Promotions", user=user, active=active, **{"name": "Ten off", **values})["ID"])

    def pos_group(self, *, user: str = ANNA) -> str:
        """The ID of a new POS group."""
        code = self.unique("P")
        return str(self.make("PosGroups", user=user, code=code, name=f"Store {code}", currency="EUR")["ID"])

    def edit(
        self, entity_id: str, *, set_name: str = "Promotions", preserve: bool = True, user: str = ANNA
    ) -> httpx2.Response:
        """draftEdit."""
        path = f"{active(entity_id, set_name)}/AdminService.draftEdit"
        return self.post(path, {"PreserveChanges": preserve}, user=user)

    def activate(self, entity_id: str, *, set_name: str = "Promotions", user: str = ANNA) -> httpx2.Response:
        """draftActivate."""
        return self.post(f"{draft(entity_id, set_name)}/AdminService.draftActivate", user=user)

    def prepare(self, entity_id: str, *, set_name: str = "Promotions", user: str = ANNA) -> httpx2.Response:
        """draftPrepare."""
        return self.post(f"{draft(entity_id, set_name)}/AdminService.draftPrepare", user=user)

    def batch(self, parts: Sequence[Part], *, form: str, user: str = ANNA) -> list[Part]:
        """The answers to a batch: ``form`` is "json", "multipart", or "plain" for one request after the other."""
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
        """As OpenUI5 writes it: reads beside change sets of one request each."""
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
    """The address of a draft."""
    return f"{set_name}(ID={entity_id},IsActiveEntity=false)"


def active(entity_id: str, set_name: str = "Promotions") -> str:
    """The address of an active entity."""
    return f"{set_name}(ID={entity_id},IsActiveEntity=true)"


def fault(answer: httpx2.Response) -> tuple[int, str]:
    """Status and code of a refusal, which is told as OData has it."""
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
    """The tenants and their users."""
    database = await open_database(database_url)
    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
        for name, (tenant, scopes) in USERS.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


@contextmanager
def serve(databases: Databases, dialect: Dialect, log: Path) -> Iterator[Desk]:
    """A desk on a database of its own, with a clock that `Desk.later` moves."""
    database_url = databases.create(dialect)
    run(furnish(database_url))
    with socket.create_server(("127.0.0.1", 0)) as listening, log.open("ab") as output:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.drafts.serving", database_url, str(listening.fileno()), str(log.parent)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent(signal.SIGTERM),
            pass_fds=[listening.fileno()],
        )
    try:
        with httpx2.Client(base_url=url, timeout=_START_SECONDS_MAX) as http:
            assert http.get("/health").status_code == 200, log.read_text()[-4000:]
            yield Desk(service_url=url, database_url=database_url, dialect=dialect, http=http)
    finally:
        process.kill()
        process.wait()
        databases.drop(database_url)


def one(desk: Desk, form: str, method: str, path: str, body: Any = None, *, user: str = ANNA) -> Part:
    """One request, by itself or alone in a batch."""
    return desk.batch([Part(method, path, body)], form=form, user=user)[0]


def key_of(row: Mapping[str, Any]) -> tuple[str, bool]:
    """The key of a row of an answer."""
    return row["ID"], row["IsActiveEntity"]
