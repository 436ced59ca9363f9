"""The database: whether it answers, has this program's tables, keeps tenants apart, and agrees on the time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from promenade.doctor.findings import CLOCKS_DIFFER, Finding, judge_clock
from promenade.errors import Unavailable
from promenade.settings import Settings
from promenade.store.driver.checkup import clock_of
from promenade.store.driver.faults import database_errors
from promenade.store.driver.migrations import HEAD, current
from promenade.store.driver.postgresql.partitions import months_end
from promenade.store.driver.postgresql.roles import needless_power
from promenade.store.driver.session import open_database
from promenade.store.driver.sqlite.files import file_of
from promenade.store.driver.unit import Database

PATIENCE_SECONDS = 5.0
"""That the database may take to answer: somebody waits for the doctor."""
_MONTHS_AHEAD = timedelta(days=45)
"""How long there must be months for: a run of `promenade db partition` that was missed leaves time for another."""
_DAMAGED = ("not a database", "malformed")  # as SQLite says it


def examine_database(settings: Settings, clock: Callable[[], datetime]) -> Sequence[Finding]:
    """Look at everything but the rows."""
    url = settings.database_url
    file = file_of(url)
    if file is not None and not file.exists():
        remedy = "Name the right one with --data-dir or --database-url, or start the service once, which makes it."
        return [Finding.fail("database", f"There is no database {file}.", remedy)]
    if file is not None and file.stat().st_size == 0:
        return [_schema(None)]
    try:
        with database_errors():
            revision = current(url, patience=PATIENCE_SECONDS)
            told = clock_of(url, patience=PATIENCE_SECONDS)
            is_current = revision is not None and revision >= HEAD
            power = needless_power(url) if is_current else None
            ends = months_end(url) if is_current else {}
    except Unavailable as error:
        if error.code == "SCHEMA_AHEAD":
            return [Finding.fail("schema", error.message, "Install the version that has upgraded it, or a newer one.")]
        remedy = "See that the server runs, that --database-url and its password are right, and that a firewall lets"
        if file is not None:
            return [Finding.fail("database", error.message, _remedy_of_file(error.message))]
        return [Finding.fail("database", error.message, f"{remedy} this machine through.")]
    findings = [Finding.ok("database", f"{'SQLite' if file is not None else 'PostgreSQL'} answers.")]
    findings.append(_schema(revision))
    if power is not None:
        message = f"The role {power[0]} {power[1]}, so the database would not keep tenants apart for us."
        remedy = "Serve as a role that owns nothing: `promenade db grant ROLE` as the owner, then --database-url."
        findings.append(Finding.warn("role", message, remedy))
    if ends:
        findings.append(_months(ends, clock()))
    if told is not None:
        findings.append(_clock(told, clock(), is_file=file is not None))
    return findings


def _months(ends: Mapping[str, datetime], now: datetime) -> Finding:
    table = min(ends, key=lambda one: ends[one])
    message = f"Tables are partitioned by month, {table} until {ends[table]:%Y-%m-%d}."
    if ends[table] > now + _MONTHS_AHEAD:
        return Finding.ok("months", message)
    return Finding.warn("months", message, "Run `promenade db partition` as the owner of the tables, once a month.")


def _remedy_of_file(message: str) -> str:
    """A backup replaces sales that were made since, so it is for a file that is damaged, and for nothing else."""
    if any(one in message for one in _DAMAGED):
        return "Stop the service, keep a copy of the file, and restore the last backup."
    return "See that this user may read and write the file and its directory, and that no other program holds it."


def _schema(revision: str | None) -> Finding:
    if revision == HEAD:
        return Finding.ok("schema", f"Its tables are those of this version ({HEAD}).")
    if revision is not None and revision > HEAD:
        return Finding.ok(
            "schema", f"Its tables are of a newer version ({revision}), on which this one ({HEAD}) works."
        )
    found = "It has no tables yet" if revision is None else f"Its tables are of an older version ({revision})"
    remedy = "Run `promenade db upgrade`; SQLite is also upgraded when the service starts."
    return Finding.fail("schema", f"{found}; this program needs {HEAD}.", remedy)


def _clock(told: datetime, now: datetime, *, is_file: bool) -> Finding:
    ahead = (now - told).total_seconds()
    if not is_file:
        return judge_clock(ahead, "the database's server")
    if ahead > -CLOCKS_DIFFER:
        return Finding.ok("clock", f"It is {now:%Y-%m-%d %H:%M:%S} UTC, later than the last write to the database.")
    message = f"It is {now:%Y-%m-%d %H:%M:%S} UTC, {-ahead:.0f} seconds before the last write to the database."
    return Finding.fail("clock", message, "The clock was set back: let it be set by NTP (`timedatectl set-ntp true`).")


@asynccontextmanager
async def opened(settings: Settings, *, seconds_max: float = 10.0) -> AsyncIterator[Database]:
    """Open the database, and close it at the end; ``seconds_max``: what a statement may take."""
    database = await open_database(settings.database_url, seconds_max=seconds_max)
    try:
        yield database
    finally:
        await database.close()
