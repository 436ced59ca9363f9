"""Fixtures for every test: real PostgreSQL and Valkey, migrated databases, the service as a process.

Servers start at first need (with xdist: once, in the process that hands out the work) and end with the session.
PROMENADE_TEST_POSTGRES_URL (a superuser) and PROMENADE_TEST_VALKEY_URL name running
servers to use instead. Logs are in build/test-logs/<session>; the header of the test run names the directory.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import hypothesis
import pytest
import structlog

from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.kit.migrate import grant, migrate
from tests.kit.network import allow_hosts, forbid_outbound
from tests.kit.postgres import PostgresServer
from tests.kit.service import Service
from tests.kit.valkey import ValkeyServer

if TYPE_CHECKING:
    from promenade.store.session import Database

ROOT = Path(__file__).parent.parent
LOGS = pytest.StashKey[Path]()
SEED = pytest.StashKey[int]()
SERVERS = pytest.StashKey["Servers"]()

# No deadline, nor one for what makes examples: a shared machine's pauses are not a property of the code. The blob
# repeats a failure exactly.
_ANYWHERE: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
    "print_blob": True,
}
hypothesis.settings.register_profile("default", **_ANYWHERE)
hypothesis.settings.register_profile("thorough", **_ANYWHERE, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# In plain lines, as the service logs: with the values of all frames a traceback takes seconds to write.
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.LogfmtRenderer(key_order=["level", "event"]),
    ]
)


class Servers:
    """The session's servers, each started when its URL is first asked for."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._postgres: PostgresServer | None = None
        self._valkey: ValkeyServer | None = None

    def postgres_url(self) -> str:
        given = os.environ.get("PROMENADE_TEST_POSTGRES_URL")
        if given:
            return given
        if self._postgres is None:
            server = PostgresServer(self._logs / "postgres.log")
            server.start()
            self._postgres = server
        return self._postgres.url

    def valkey_url(self) -> str:
        given = os.environ.get("PROMENADE_TEST_VALKEY_URL")
        if given:
            return given
        if self._valkey is None:
            server = ValkeyServer(self._logs / "valkey.log")
            server.start()
            self._valkey = server
        return self._valkey.url

    def stop(self) -> None:
        if self._postgres is not None:
            self._postgres.stop()
        if self._valkey is not None:
            self._valkey.close()


def pytest_configure(config: pytest.Config) -> None:
    handed = getattr(config, "workerinput", None)  # set in the workers of xdist
    if handed is None:
        logs = ROOT / "build" / "test-logs" / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
        config.stash[SEED] = int(os.environ.get("PROMENADE_TEST_SEED") or random.SystemRandom().randrange(2**32))
        config.stash[SERVERS] = Servers(logs)
    else:
        logs = Path(handed["logs"])
        config.stash[SEED] = handed["seed"]
        os.environ.setdefault("PROMENADE_TEST_POSTGRES_URL", handed["postgres_url"])
        os.environ.setdefault("PROMENADE_TEST_VALKEY_URL", handed["valkey_url"])
        config.stash[SERVERS] = Servers(logs)
    logs.mkdir(parents=True, exist_ok=True)
    config.stash[LOGS] = logs
    named = (os.environ.get(f"PROMENADE_TEST_{name}_URL") for name in ("POSTGRES", "VALKEY"))
    allow_hosts(host for host in (urlsplit(url).hostname for url in named if url) if host)
    forbid_outbound()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist where the one set of servers is."""
    stash = node.config.stash
    servers = stash[SERVERS]
    node.workerinput["logs"] = str(stash[LOGS])
    node.workerinput["seed"] = stash[SEED]
    node.workerinput["postgres_url"] = servers.postgres_url()
    node.workerinput["valkey_url"] = servers.valkey_url()


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [f"logs: {config.stash[LOGS]}", f"seed: PROMENADE_TEST_SEED={config.stash[SEED]}"]


def pytest_unconfigure(config: pytest.Config) -> None:
    servers = config.stash.get(SERVERS, None)
    if servers is not None:
        servers.stop()
    logs = config.stash.get(LOGS, None)
    if logs is not None and not hasattr(config, "workerinput"):
        with contextlib.suppress(OSError):
            logs.rmdir()  # nothing was logged


@pytest.fixture(scope="session")
def logs(request: pytest.FixtureRequest) -> Path:
    """The directory that keeps what servers printed."""
    return request.config.stash[LOGS]


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed for the test's own randomness: this session's, mixed with the test's name, printed when it fails."""
    of_session = request.config.stash[SEED]
    print(f"repeat with PROMENADE_TEST_SEED={of_session}")
    return random.Random(f"{of_session} {request.node.nodeid}").randrange(2**32)


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """The URL of the session's PostgreSQL as its superuser."""
    return request.config.stash[SERVERS].postgres_url()


@pytest.fixture(scope="session")
def valkey_url(request: pytest.FixtureRequest) -> str:
    """The URL of the session's Valkey, shared by all tests: use keys of your own."""
    return request.config.stash[SERVERS].valkey_url()


@pytest.fixture
def valkey_server(logs: Path) -> Iterator[ValkeyServer]:
    """A Valkey of the test's own, to be stopped and started at will."""
    server = ValkeyServer(logs / f"valkey-{time.monotonic_ns()}.log")
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Makes migrated databases: `databases.create("sqlite")`; for fixtures of a wider scope than one test."""
    servers = request.config.stash[SERVERS]
    made = Databases(tmp_path_factory.mktemp("databases"), servers.postgres_url, migrate, grant)
    yield made
    made.close()


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """ "sqlite", then "postgresql": what depends on this runs on both."""
    chosen: Dialect = request.param
    return chosen


@pytest.fixture
def database_url(databases: Databases, dialect: Dialect) -> Iterator[str]:
    """The URL of a fresh migrated database of this test; the test runs once per dialect."""
    url = databases.create(dialect)
    yield url
    databases.drop(url)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh migrated database, opened; the test runs once per dialect."""
    from promenade.store.session import open_database

    opened = await open_database(database_url)
    yield opened
    await opened.close()


class StartService(Protocol):
    """See the fixture `server`."""

    def __call__(self, *options: str, **settings: Any) -> Service: ...


@pytest.fixture
def server(logs: Path, request: pytest.FixtureRequest) -> Iterator[StartService]:
    """A factory of running services: `server("--database-url", database_url)`; killed after the test.

    The keyword `verb` names another command ("demo", "worker"), `env` adds environment variables,
    `ready_path=None` starts a command that does not listen.
    """
    started: list[Service] = []
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:60]

    def start(*options: str, **settings: Any) -> Service:
        log = logs / f"{name}-{os.getpid()}-{len(started) + 1}-{time.monotonic_ns()}.log"
        service = Service(log, *options, **settings)
        started.append(service)
        return service.start()

    yield start
    for service in started:
        service.kill()
