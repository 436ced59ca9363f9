"""Reports are read from a streaming replica, and nothing else is: while it lags, while it is gone, and afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from promenade.settings import Settings, SettingsError
from tests.kit.databases import Databases, past_the_wall
from tests.kit.in_process import InProcess
from tests.kit.migrate import grant, migrate
from tests.kit.postgres import PostgresServer
from tests.kit.processes import until
from tests.web.conftest import run
from tests.web.reports.conftest import Reporting, furnish

STREAMS = {"wal_level": "replica", "max_wal_senders": "4"}
REPORT = "PromotionPerformance?$orderby=promotionName&$select=promotionName,applicationsCount"


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[PostgresServer]:
    """A server that others may follow."""
    started = PostgresServer(tmp_path / "primary.log", STREAMS)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def url(primary: PostgresServer, tmp_path: Path) -> str:
    """The URL of a database on it, with reports of two tenants."""
    made = Databases(tmp_path, lambda: primary.url, migrate, grant).create("postgresql")
    run(furnish(made))
    return made


@pytest.fixture
def replica(primary: PostgresServer, url: str, tmp_path: Path) -> Iterator[PostgresServer]:
    """A server that follows it."""
    following = PostgresServer(tmp_path / "replica.log", STREAMS)
    following.follow(primary)
    following.start()
    yield following
    following.stop()


def at(url: str, server: PostgresServer) -> str:
    """The same database on another server."""
    parts = urlsplit(url)
    account = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{account}@127.0.0.1:{server.port}"))


def ask(url: str, query: str) -> Any:
    async def asked() -> Any:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    return run(asked())


def test_reports_come_from_the_replica_and_prices_from_the_primary(
    primary: PostgresServer, url: str, replica: PostgresServer
) -> None:
    superuser = past_the_wall(url)
    on_replica = superuser.replace(f":{primary.port}/", f":{replica.port}/")
    with InProcess(url, has_worker=False, reporting_database_url=at(url, replica)) as service, service.client() as http:
        reporting = Reporting(service=service, database_url=url, http=http)

        def counts(client: str = "promoter") -> list[int]:
            answer = reporting.get(REPORT, client=client)
            assert answer.status_code == 200, answer.text
            return [row["applicationsCount"] for row in answer.json()["value"]]

        before = counts()
        assert before
        assert len(before) + len(counts("stranger")) == ask(on_replica, "SELECT count(*) FROM promotion_performance")

        ask(on_replica, "SELECT pg_wal_replay_pause()")
        until(lambda: ask(on_replica, "SELECT pg_get_wal_replay_pause_state()") == "paused")
        ask(superuser, "UPDATE promotion_performance SET applications_count = applications_count + 1")
        assert counts() == before
        ask(on_replica, "SELECT pg_wal_replay_resume()")
        until(lambda: counts() == [one + 1 for one in before])

        replica.crash()
        gone = reporting.get(REPORT)
        assert (gone.status_code, gone.json()["error"]["code"]) == (503, "DATABASE_UNAVAILABLE")
        assert reporting.get("/api/v1/Promotions", client="integrator").status_code == 200
        assert http.get("/health/ready").status_code == 200
        replica.start()
        until(lambda: reporting.get(REPORT).status_code == 200)


@pytest.mark.parametrize(
    ("database", "replica_url", "said"),
    [
        (None, "postgresql://reader@127.0.0.1/shop", "needs PostgreSQL"),
        ("postgresql://server@127.0.0.1/shop", "sqlite:///shop.db", "must be postgresql://"),
        ("postgresql://server@127.0.0.1/shop", "127.0.0.1/shop", "must be postgresql://"),
    ],
)
def test_a_replica_that_cannot_be_one_is_refused(database: str | None, replica_url: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"--reporting-database-url {said}"):
        Settings(database=database, reporting_database_url=replica_url)


def test_the_password_of_the_replica_is_not_shown() -> None:
    url = "postgresql://server:s3cret@127.0.0.1/shop"
    assert "s3cret" not in repr(Settings(database="postgresql://server@127.0.0.1/shop", reporting_database_url=url))
