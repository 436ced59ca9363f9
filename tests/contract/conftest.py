"""The public API with rows of every entity for two tenants; the whole suite runs on both databases."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from promenade import model
from promenade.model.declare import EntityType
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.contract.made_up import BEGINNING, ENTITIES, in_order, python_value, seeded_row, value
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.kit.logged import seed_rows
from tests.web.conftest import run

MINE, THEIRS = "mine", "theirs"
ROWS = 3
SECRET = "of-these-tests-only-0123456789abcdef"
CLIENTS = {
    "writer": (MINE, ("PublicApi.Read", "PublicApi.Write")),
    "reader": (MINE, ("PublicApi.Read",)),
    "only-writer": (MINE, ("PublicApi.Write",)),
    "till": (MINE, ("svc.POSReader", "svc.Admin")),
    "stranger": (THEIRS, ("PublicApi.Read", "PublicApi.Write")),
}


@dataclass
class Api:
    """`/api/v1` as its clients use it: ``call`` sends as one of them, with or without a body."""

    http: httpx2.Client
    clients: Mapping[str, tuple[str, str]]
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(100))
    _tokens: dict[str, str] = field(default_factory=dict)

    def token(self, client: str) -> str:
        if client not in self._tokens:
            client_id, secret = self.clients[client]
            form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
            self._tokens[client] = self.http.post("/oauth/token", data=form).json()["access_token"]
        return self._tokens[client]

    def call(
        self, method: str, path: str, body: Any = None, *, client: str | None = "writer", **headers: str
    ) -> httpx2.Response:
        """Send one request to ``/api/v1/<path>``; keyword arguments are headers, ``_`` for ``-``."""
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        if client is not None:
            sent["authorization"] = f"Bearer {self.token(client)}"
        content = None
        if body is not None:
            content = body if isinstance(body, bytes | str) else json.dumps(body)
            sent.setdefault("content-type", "application/json")
        return self.http.request(method, f"/api/v1/{path}", content=content, headers=sent)

    def get(self, path: str, *, client: str = "writer", status: int = 200, **headers: str) -> Any:
        """Return the decoded response to a GET that must have this status."""
        answer = self.call("GET", path, client=client, **headers)
        assert answer.status_code == status, f"GET {path}: {answer.status_code} {answer.text[:600]}"
        return answer.json() if answer.content else None

    def made(self, set_name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """POST a body, which must succeed; return the entity in the response."""
        answer = self.call("POST", set_name, body)
        assert answer.status_code == 201, f"POST {set_name} {body}: {answer.status_code} {answer.text[:800]}"
        found: dict[str, Any] = answer.json()
        return found

    def body(self, set_name: str, *, whole: bool = False) -> dict[str, Any]:
        """Return a valid body to create an entity: its required properties, or with ``whole`` all that can be set.

        Referenced entities are created first, so that no two bodies share a unique value.
        """
        entity = ENTITIES[set_name]
        number = next(self.numbers)
        body: dict[str, Any] = {}
        for one in entity.fields:
            settable = not (one.read_only or one.virtual or one.name in {"id", "tenant_id"})
            public = one.write_only or "public" not in {service.value for service in one.hidden_from}
            needed = one.required or one.wire in entity_natural_key(entity)
            if settable and public and (whole or needed):
                body[one.wire] = value(entity, one, number)
        for link in entity.links:
            if not link.read_only and (link.required or (whole and link.target != set_name)):
                body[link.property_wire] = self.made(link.target, self.body(link.target))["ID"]
        return {name: given for name, given in body.items() if given is not None}


def entity_natural_key(entity: EntityType) -> set[str]:
    """Return the wire names of the fields of the natural key."""
    return {one.wire for one in entity.fields if one.name in entity.natural_key}


async def _seed(database_url: str) -> None:
    """Create tenants, rows and clients in one process: a command for each would take longer than all of this."""
    database = await open_database(database_url)

    def work_of(tenant: str) -> Any:
        async def work(session: Session) -> None:
            for entity in in_order():
                fields = {one.wire: one for one in entity.fields}
                rows = [
                    {
                        name: python_value(fields[name], given) if name in fields else given
                        for name, given in seeded_row(tenant, entity, number).items()
                    }
                    for number in range(1, ROWS + 1)
                ]
                await seed_rows(session, entity.set_name, rows, at=BEGINNING, by="seed")

        return work

    try:
        for tenant in (MINE, THEIRS):
            await create_tenant(database, tenant, settings={}, at=BEGINNING, user="seed")
            await database.write(work_of(tenant), tenant=tenant)
        for name, (tenant, scopes) in CLIENTS.items():
            await create_client(
                database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, name=name, at=BEGINNING
            )
    finally:
        await database.close()


@pytest.fixture(scope="package", params=DIALECTS)
def api(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Api]:
    """Serve the rows, once for the package and database."""
    database_url = databases.create(request.param)
    run(_seed(database_url))
    # Without the worker, which would process batches of codes while tests change their fields.
    with InProcess(database_url, has_worker=False) as service, service.client() as http:
        yield Api(http, {name: (name, SECRET) for name in CLIENTS})
    databases.drop(database_url)


def code_of(answer: httpx2.Response) -> str:
    """Return the stable code of an error response, in either format."""
    body = answer.json()
    return str(body["error"]["code"] if "error" in body else body["code"])


def targets_of(answer: httpx2.Response) -> set[str]:
    """Return every property that an error response names."""
    body = answer.json()
    error = body.get("error", body)
    named = {error.get("target"), *(detail.get("target") for detail in error.get("details") or ())}
    return {target for target in named if target}


def model_entity(set_name: str) -> EntityType:
    """Return the declaration behind an entity set."""
    return model.entity(set_name)
