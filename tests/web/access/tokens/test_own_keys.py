"""The built-in issuer changes its key and the secrets of its clients: running processes pick it up, and no client is
refused but those that shall be."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.cli import main
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.workflows.access.clients import create_client, delete_client, rotate_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET
from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.kit.moved_clock import MovedClock
from tests.kit.processes import free_port
from tests.kit.service import Service
from tests.web.conftest import TENANT, basket, furnish, run

LASTING_SECONDS = 14_400


@dataclass
class Chain:
    """The processes of one issuer: one on SQLite, two on PostgreSQL."""

    database_url: str
    services: list[Service]
    clock: MovedClock
    command: Callable[..., Any] = print

    def token(self, service: Service, client_id: str = "till", secret: str = SECRET) -> str:
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        answer = httpx2.post(f"{service.url}/oauth/token", data=form, timeout=30)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])

    def statuses(self, token: str) -> set[int]:
        """Return each process's status for the token."""
        headers = {"authorization": f"Bearer {token}"}
        answers = (
            httpx2.post(f"{service.url}/pos/v2/simulate", json=basket(), headers=headers, timeout=30)
            for service in self.services
        )
        return {answer.status_code for answer in answers}

    def published(self) -> list[set[str]]:
        """Return the keys that each process publishes."""
        answers = [httpx2.get(f"{service.url}/.well-known/jwks.json", timeout=30) for service in self.services]
        return [{key["kid"] for key in answer.json()["keys"]} for answer in answers]


async def furnished(url: str) -> None:
    """Create a tenant with prices and one client."""
    database = await open_database(url)
    at = datetime.now(UTC)
    try:
        await create_tenant(database, TENANT, settings={}, at=at, user="tests")
        await create_client(
            database, client_id="till", secret=SECRET, tenant_id=TENANT, scopes=["svc.POSReader"], at=at
        )
    finally:
        await database.close()
    await furnish(url)


@pytest.fixture(scope="module", params=DIALECTS)
def served(
    request: pytest.FixtureRequest, databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chain]:
    dialect: Dialect = request.param
    url = databases.create(dialect)
    run(furnished(url))
    directory = tmp_path_factory.mktemp("own-keys")
    clock = MovedClock(directory / "clock")
    ports = [free_port() for _ in range(2 if dialect == "postgresql" else 1)]
    services = [
        Service(
            logs / f"own-keys-{dialect}-{port}.log",
            *("--database-url", url, "--public-url", f"http://127.0.0.1:{ports[0]}", "--data-dir", str(directory)),
            env={"CLOCK_FILE": str(directory / "clock")},
            command=(sys.executable, "-m", "tests.kit.moved_clock"),
            port=port,
        )
        for port in ports
    ]
    for service in services:
        service.start()
    yield Chain(url, services, clock)
    for service in services:
        service.kill()
    databases.drop(url)


@pytest.fixture
def chain(served: Chain, capsys: pytest.CaptureFixture[str]) -> Chain:
    """Return the chain; the output of its commands is captured here."""

    def command(*arguments: str) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(["key", *arguments, "--json", "--database-url", served.database_url])
        printed = capsys.readouterr()
        assert not ended.value.code, printed.err
        return json.loads(printed.out)

    served.command = command
    return served


def test_a_key_of_2048_bits_from_before_goes_on_until_it_is_replaced(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("promenade.web.access.issuer.KEY_BITS", 2048)
    old = chain.command("rotate")["keyId"]
    monkeypatch.undo()
    token = chain.token(chain.services[0])
    assert json.loads(_decoded(token.partition(".")[0]))["kid"] == old
    assert len(_decoded(token.rpartition(".")[2])) == 2048 // 8
    assert chain.statuses(token) == {200}
    chain.command("rotate")
    assert len(_decoded(chain.token(chain.services[0]).rpartition(".")[2])) == 3072 // 8
    assert chain.statuses(token) == {200}
    chain.command("rotate", "--withdraw")


def test_a_new_key_signs_at_once_and_the_old_one_verifies_until_its_tokens_have_run_out(chain: Chain) -> None:
    old_token = chain.token(chain.services[0])
    assert chain.statuses(old_token) == {200}
    (old,) = chain.command("list")
    assert old["use"] == "signs and verifies"
    new = chain.command("rotate")["keyId"]
    for service in chain.services:
        token = chain.token(service)
        header = json.loads(_decoded(token.partition(".")[0]))
        assert header["kid"] == new
        assert chain.statuses(token) == {200}, "a process that has not heard of it looks at once"
    assert chain.statuses(old_token) == {200}
    assert chain.published() == [{old["keyId"], new}] * len(chain.services)
    assert [(one["keyId"], one["use"]) for one in chain.command("list")] == [
        (new, "signs and verifies"),
        (old["keyId"], "verifies"),
    ]
    chain.clock.move(seconds=LASTING_SECONDS + 31)
    assert chain.statuses(old_token) == {401}
    assert chain.published() == [{new}] * len(chain.services)
    assert chain.statuses(chain.token(chain.services[-1])) == {200}


def test_a_key_that_has_leaked_is_withdrawn_with_all_its_tokens(chain: Chain) -> None:
    old_token = chain.token(chain.services[-1])
    assert chain.statuses(old_token) == {200}
    new = chain.command("rotate", "--withdraw")["keyId"]
    assert [one["keyId"] for one in chain.command("list")] == [new]
    chain.clock.move(seconds=30)
    assert chain.statuses(old_token) == {401}
    assert chain.statuses(chain.token(chain.services[0])) == {200}
    chain.command("rotate")
    assert len(chain.command("list")) == 2


def change(chain: Chain, work: Callable[[Database], Awaitable[object]]) -> None:
    """Change something in the chain's database, as a command in another process does."""

    async def changed() -> None:
        database = await open_database(chain.database_url)
        try:
            await work(database)
        finally:
            await database.close()

    run(changed())


def test_tokens_of_a_deleted_client_are_refused_by_every_process_within_half_a_minute(chain: Chain) -> None:
    made = partial(create_client, client_id="gone", secret=SECRET, tenant_id=TENANT, scopes=["svc.POSReader"])
    change(chain, partial(made, at=chain.clock()))
    token = chain.token(chain.services[0], "gone")
    assert chain.statuses(token) == {200}
    change(chain, lambda database: delete_client(database, "gone"))
    chain.clock.move(seconds=30)
    assert chain.statuses(token) == {401}
    assert chain.statuses(chain.token(chain.services[0])) == {200}


def test_a_secret_that_has_leaked_takes_its_tokens_with_it(chain: Chain) -> None:
    thief = chain.token(chain.services[0])
    assert chain.statuses(thief) == {200}
    change(chain, lambda database: rotate_client(database, "till", "new", at=chain.clock(), withdraws=True))
    owner = chain.token(chain.services[-1], secret="new")
    assert chain.statuses(owner) == {200}, "got in the second of the change, perhaps"
    chain.clock.move(seconds=30)
    assert chain.statuses(thief) == {401}
    assert chain.statuses(owner) == {200}
    change(chain, lambda database: rotate_client(database, "till", SECRET, at=chain.clock()))
    assert {chain.statuses(chain.token(chain.services[0], secret=one)) == {200} for one in ("new", SECRET)} == {True}
    assert chain.statuses(owner) == {200}, "nothing was withdrawn this time"


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
