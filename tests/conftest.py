"""Fixtures for every test: real PostgreSQL and Valkey, migrated databases, the service as a process.

Servers start on first use (with xdist: once, in the controlling process) and end with the session.
PROMENADE_TEST_POSTGRES_URL (a superuser) and PROMENADE_TEST_VALKEY_URL name running servers to use instead. Logs are in
build/test-logs/<session>; the header of the test run names the directory.
"""

from __future__ import annotations

import contextlib
import gc
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
from tests.kit.examples import PROFILE
from tests.kit.groups import longest_first
from tests.kit.migrate import grant, migrate
from tests.kit.network import allow_hosts, forbid_outbound
from tests.kit.postgres import PostgresServer
from tests.kit.profile import Measuring, Profile, processor_seconds
from tests.kit.service import Service
from tests.kit.tiers import sort_into_tiers
from tests.kit.valkey import ValkeyServer

if TYPE_CHECKING:
    from promenade.store.driver.session import Database

ROOT = Path(__file__).parent.parent
LOGS = pytest.StashKey[Path]()
SEED = pytest.StashKey[int]()
SERVERS = pytest.StashKey["Servers"]()

# No deadline and no health check on generation time: pauses of a shared machine say nothing about the code. The blob
# reproduces a failure without the examples before it.
_ANYWHERE: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
    "print_blob": True,
}
hypothesis.settings.register_profile("default", **_ANYWHERE)
hypothesis.settings.register_profile("quick", **_ANYWHERE, max_examples=25)
hypothesis.settings.register_profile("thorough", **_ANYWHERE, max_examples=2_000)
hypothesis.settings.load_profile(PROFILE)


# Plain tracebacks, as the service logs them: formatting one with the values of all frames takes seconds.
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.LogfmtRenderer(key_order=["level", "event"]),
    ]
)


class Servers:
    """The session's servers, each started when its URL is first requested."""

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

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor seconds used so far by the servers started here, by name."""
        started = {"PostgreSQL": self._postgres, "Valkey": self._valkey}
        return {name: processor_seconds(server.pid) for name, server in started.items() if server is not None}

    def stop(self) -> None:
        if self._postgres is not None:
            self._postgres.stop()
        if self._valkey is not None:
            self._valkey.close()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw the session's seed, which Hypothesis uses too if it was given: its plugin reads the option after this."""
    handed = getattr(config, "workerinput", None)  # set in the workers of xdist
    given = os.environ.get("PROMENADE_TEST_SEED")
    config.option.hypothesis_seed = config.option.hypothesis_seed or given
    if handed is None:
        logs = ROOT / "build" / "test-logs" / f"{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
        config.stash[SEED] = int(given or random.SystemRandom().randrange(2**32))
        config.stash[SERVERS] = Servers(logs)
    else:
        logs = Path(handed["logs"])
        config.stash[SEED] = handed["seed"]
        os.environ.setdefault("PROMENADE_TEST_POSTGRES_URL", handed["postgres_url"])
        os.environ.setdefault("PROMENADE_TEST_VALKEY_URL", handed["valkey_url"])
        config.stash[SERVERS] = Servers(logs)
    logs.mkdir(parents=True, exist_ok=True)
    config.stash[LOGS] = logs
    config.pluginmanager.register(Measuring())
    if handed is None:
        servers = config.stash[SERVERS]
        config.pluginmanager.register(Profile(servers.processor_seconds, os.environ.get("PROMENADE_TEST_PROFILE", "")))
    named = (os.environ.get(f"PROMENADE_TEST_{name}_URL") for name in ("POSTGRES", "VALKEY"))
    allow_hosts(host for host in (urlsplit(url).hostname for url in named if url) if host)
    forbid_outbound()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker where the shared servers are."""
    stash = node.config.stash
    servers = stash[SERVERS]
    node.workerinput["logs"] = str(stash[LOGS])
    node.workerinput["seed"] = stash[SEED]
    node.workerinput["postgres_url"] = servers.postgres_url()
    node.workerinput["valkey_url"] = servers.valkey_url()


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [
        f"logs: {config.stash[LOGS]}",
        f"seed: PROMENADE_TEST_SEED={config.stash[SEED]}; it also draws the cases that `make test` samples",
        f"marks: {config.option.markexpr or 'all'}; Hypothesis: {hypothesis.settings.get_current_profile_name()}",
    ]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark tests for their tiers before pytest selects by mark, and run the longest files first."""
    sort_into_tiers(items, config.stash[SEED])
    yield
    if hasattr(config, "workerinput"):
        longest_first(items)


def pytest_collection(session: pytest.Session) -> None:
    """Disable garbage collection while tests are collected: the growing heap would be scanned again and again."""
    if not session.config.pluginmanager.has_plugin("dsession"):  # the xdist controller, which only distributes
        gc.disable()


def pytest_collection_finish() -> None:
    """Enable garbage collection again, except for the collected tests, which stay in memory."""
    gc.freeze()
    gc.enable()


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
    """Return the directory for the output of servers."""
    return request.config.stash[LOGS]


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return a seed for the test's randomness: the session's, mixed with the test's name; printed on failure."""
    of_session = request.config.stash[SEED]
    print(f"repeat with PROMENADE_TEST_SEED={of_session}")
    return random.Random(f"{of_session} {request.node.nodeid}").randrange(2**32)


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of the session's PostgreSQL as its superuser."""
    return request.config.stash[SERVERS].postgres_url()


@pytest.fixture(scope="session")
def valkey_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of the session's Valkey, shared by all tests: use your own keys."""
    return request.config.stash[SERVERS].valkey_url()


@pytest.fixture
def valkey_server(logs: Path) -> Iterator[ValkeyServer]:
    """A Valkey server of the test's own that it may stop and start."""
    server = ValkeyServer(logs / f"valkey-{time.monotonic_ns()}.log")
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Creates migrated databases: `databases.create("sqlite")`; for fixtures of a wider scope than one test."""
    servers = request.config.stash[SERVERS]
    made = Databases(tmp_path_factory.mktemp("databases"), servers.postgres_url, migrate, grant)
    yield made
    made.close()


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """ "sqlite", then "postgresql": tests that depend on this run on both."""
    chosen: Dialect = request.param
    return chosen


@pytest.fixture
def database_url(databases: Databases, dialect: Dialect) -> Iterator[str]:
    """Return the URL of a fresh migrated database for this test; the test runs once per dialect."""
    url = databases.create(dialect)
    yield url
    databases.drop(url)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh migrated database, opened; the test runs once per dialect."""
    from promenade.store.driver.session import open_database

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
