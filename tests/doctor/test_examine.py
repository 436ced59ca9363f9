"""What `promenade doctor` finds in a cloud and in a store, when all is well and when something is broken."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import insert, update

from promenade import __version__
from promenade.cli import main
from promenade.cli.doctor_command import _print
from promenade.doctor import Finding, Verdict, data, examine, service, worst
from promenade.doctor.findings import judge_clock, judge_expiry
from promenade.doctor.machine import examine_packages, judge_room
from promenade.errors import Unavailable
from promenade.settings import Settings
from promenade.store.access.local_store import set_password
from promenade.store.clockwork.jobs import add_clock_rows
from promenade.store.driver.faults import database_errors
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.store.replica.link import LinkSettings, write_attempt, write_settings, write_synced
from promenade.store.replica.uploads import add, reject
from promenade.store.sales.jobs import job_row
from promenade.store.sales.kept import keep_check
from promenade.workflows.access.certificate_authority import CertificateAuthority
from promenade.workflows.access.local_admin import establish_store
from promenade.workflows.access.tenants import create_tenant
from tests.kit.databases import DIALECTS, Databases, Dialect, past_the_wall
from tests.kit.processes import free_port
from tests.kit.receiver import Answer, Drip, Receiver
from tests.workflows.webhooks.test_sending import certified

TENANT = "local"
LINKED = ("link", "cloud", "cloud-clock", "cloud-version")
OK, WARN, FAIL = Verdict.OK, Verdict.WARN, Verdict.FAIL
JSON = {"content-type": "application/json"}


def now() -> datetime:
    return datetime.now(UTC)


def said(body: object, status: int = 200) -> Answer:
    return Answer(status, JSON, json.dumps(body).encode())


def health(**changes: object) -> Answer:
    told = {"status": "UP", "version": __version__, "timestamp": now().isoformat(), "checks": {}}
    return said(told | changes)


def told(findings: Sequence[Finding], check: str) -> list[tuple[Verdict, str]]:
    """Return verdict and message of the findings of one check."""
    return [(one.verdict, one.message) for one in findings if one.check == check]


def verdicts(findings: Sequence[Finding], check: str) -> list[Verdict]:
    return [verdict for verdict, _ in told(findings, check)]


@pytest.fixture
async def store(databases: Databases) -> AsyncIterator[tuple[Settings, Database]]:
    """Return a store with a password, whose service answers nowhere."""
    url = databases.create("sqlite")
    database = await open_database(url)
    await establish_store(database, TENANT, instance_id="i", api_key="a" * 64, at=now())
    await database.write(lambda session: set_password(session, "hash", now()), system=True)
    yield Settings(database=url, port=free_port()), database
    await database.close()
    databases.drop(url)


async def link(database: Database, url: str, *, error: str | None = None, minutes_ago: float | None = 0) -> None:
    """Link the store, as if it had last exchanged data, or tried to, some minutes ago; None: never."""
    settings = LinkSettings(url, url, "store", "s3cret", "S-1", None, None, 60)

    async def work(session: Session) -> None:
        await write_settings(session, settings, at=now(), forget=True)
        if minutes_ago is not None:
            at = now() - timedelta(minutes=minutes_ago)
            await write_attempt(session, at=at, error=error)
            await write_synced(session, "c", at=at)

    await database.write(work, system=True)


def test_the_library_installed_beside_promenade_is_warned_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert list(examine_packages()) == []
    installed = tmp_path / "odata_server-1.2.3.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.4\nName: odata-server\nVersion: 1.2.3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = examine_packages()
    assert (found.check, found.verdict) == ("packages", WARN)
    assert "odata-server 1.2.3 is installed" in found.message


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_cloud_that_has_just_been_made(databases: Databases, dialect: Dialect) -> None:
    url = databases.create(dialect)
    with Receiver() as service:
        service.answers("/health", health())
        findings = await examine(Settings(database=url, public_url=service.url), now)
    databases.drop(url)
    assert [one.check for one in findings if one.verdict is not OK] == ["worker"]
    assert "No worker has run" in told(findings, "worker")[0][1]
    assert {"disk", "database", "schema", "clock", "service", "version"} <= {one.check for one in findings}
    assert not {"link", "uploads", "password"} & {one.check for one in findings}
    assert all((one.remedy is None) == (one.verdict is OK) for one in findings)


async def test_a_role_that_tenants_are_not_kept_from(databases: Databases) -> None:
    url = databases.create("postgresql")
    findings = await examine(Settings(database=past_the_wall(url), port=free_port()), now)
    databases.drop(url)
    assert verdicts(findings, "role") == [WARN]
    assert "is a superuser" in told(findings, "role")[0][1]


@pytest.mark.parametrize(
    ("content", "check", "says"),
    [
        (None, "database", "There is no database"),
        (b"no database at all" * 100, "database", "The database cannot be used: file is not a database"),
        (b"", "schema", "It has no tables yet"),
    ],
)
async def test_a_file_that_is_no_database_of_ours(tmp_path: Path, content: bytes | None, check: str, says: str) -> None:
    file = tmp_path / "promenade.db"
    if content is not None:
        file.write_bytes(content)
    findings = await examine(Settings(data_dir=tmp_path, port=free_port()), now)
    assert verdicts(findings, check) == [FAIL]
    assert told(findings, check)[0][1].startswith(says)
    assert verdicts(findings, "work") == [Verdict.SKIPPED]
    assert (file.read_bytes() if file.exists() else None) == content


def remedy(findings: Sequence[Finding], check: str) -> str:
    (found,) = [one for one in findings if one.check == check]
    return found.remedy or ""


async def test_a_backup_is_advised_only_for_a_file_that_is_damaged(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, port=free_port())
    (tmp_path / "promenade.db").mkdir()
    assert "may read and write" in remedy(await examine(settings, now), "database")
    (tmp_path / "promenade.db").rmdir()
    (tmp_path / "promenade.db").write_bytes(b"no database at all" * 100)
    assert "restore the last backup" in remedy(await examine(settings, now), "database")


def test_a_database_that_does_not_answer_in_time() -> None:
    with pytest.raises(Unavailable, match="it did not answer in time"), database_errors():
        raise TimeoutError


async def test_a_database_of_a_newer_version(databases: Databases) -> None:
    url = databases.create("sqlite")
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    findings = await examine(Settings(database=url, port=free_port()), now)
    assert verdicts(findings, "schema") == [OK]
    assert "newer version" in told(findings, "schema")[0][1]
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
        database.execute("UPDATE schema_compatibility SET works_with = '9999'")
    findings = await examine(Settings(database=url, port=free_port()), now)
    databases.drop(url)
    assert verdicts(findings, "schema") == [FAIL]
    assert "newer version" in told(findings, "schema")[0][1]


async def test_a_server_that_does_not_answer() -> None:
    url = f"postgresql://nobody:s3cret@127.0.0.1:{free_port()}/promenade"
    findings = await examine(Settings(database=url, port=free_port()), now)
    assert verdicts(findings, "database") == [FAIL]
    assert "s3cret" not in str(findings)


async def test_a_database_that_accepts_and_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "PATIENCE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://promenade@127.0.0.1:{silent.getsockname()[1]}/promenade"
        began = monotonic()
        findings = await examine(Settings(database=url, port=free_port()), now)
    assert verdicts(findings, "database") == [FAIL]
    assert monotonic() - began < 30  # asyncpg itself waits for 60


async def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    findings = await examine(Settings(data_dir=tmp_path / "none", port=free_port()), now)
    assert verdicts(findings, "disk") == [FAIL]
    assert not (tmp_path / "none").exists()


async def test_a_clock_that_was_set_back(store: tuple[Settings, Database]) -> None:
    settings, _ = store
    findings = await examine(settings, lambda: now() - timedelta(hours=1))
    assert verdicts(findings, "clock") == [FAIL]
    assert "before the last write" in told(findings, "clock")[0][1]


async def test_a_service_that_is_down_old_or_something_else(store: tuple[Settings, Database]) -> None:
    settings, _ = store
    assert verdicts(await examine(settings, now), "service") == [FAIL]
    with Receiver() as service:
        running = replace(settings, public_url=service.url)
        service.answers("/health", said({"hello": "world"}), Answer(200, JSON, b"<html>"), health(version="0.0.9"),
                        health(checks={"database": {"status": "UP"}, "cache": {"status": "DOWN"}}))  # fmt: skip
        for _ in range(2):
            assert verdicts(await examine(running, now), "service") == [FAIL]
        old = await examine(running, now)
        assert (verdicts(old, "service"), verdicts(old, "version")) == ([OK], [WARN])
        assert told(await examine(running, now), "service")[0][1].endswith("is down: cache.")


async def test_a_store_that_anybody_could_take_over(store: tuple[Settings, Database]) -> None:
    settings, database = store
    assert verdicts(await examine(settings, now), "password") == [OK]
    await database.write(lambda session: set_password(session, None, now()), system=True)
    assert verdicts(await examine(settings, now), "password") == [FAIL]


async def test_a_link_and_the_cloud_at_its_end(store: tuple[Settings, Database]) -> None:
    settings, database = store
    assert told(await examine(settings, now), "link") == [
        (OK, "The store has no cloud: it prices and sells on its own.")
    ]
    with Receiver() as cloud:
        cloud.answers("/oauth/token", said({"access_token": "good", "token_type": "bearer", "expires_in": 3600}))
        cloud.answers("/health", health())
        await link(database, cloud.url)
        findings = await examine(settings, now)
        assert [verdicts(findings, one) for one in LINKED] == [[OK], [OK], [OK], [OK]]
        assert {one.path for one in cloud.requests()} == {"/oauth/token", "/health"}
        cloud.answers("/health", health(version="0.9.0", timestamp=(now() + timedelta(seconds=90)).isoformat()))
        await link(database, cloud.url, error="It answered 500.", minutes_ago=1)
        findings = await examine(settings, now)
        assert [verdicts(findings, one) for one in LINKED] == [[FAIL], [OK], [FAIL], [WARN]]
        assert "It answered 500." in told(findings, "link")[0][1]
        cloud.answers("/health", said({"it": "works"}))
        assert verdicts(await examine(settings, now), "cloud") == [FAIL]
        cloud.answers("/oauth/token", said({"error": "invalid_client"}, 401))
        await link(database, cloud.url, minutes_ago=60)
        findings = await examine(settings, now)
        assert [verdicts(findings, one) for one in ("link", "cloud")] == [[WARN], [FAIL]]
        assert "refuses this client" in told(findings, "cloud")[0][1]
    await link(database, cloud.url, minutes_ago=None)
    findings = await examine(settings, now)
    assert [verdicts(findings, one) for one in ("link", "cloud")] == [[WARN], [FAIL]]
    assert "s3cret" not in str(findings)


async def test_the_certificate_of_a_cloud(
    store: tuple[Settings, Database], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, database = store
    server, trusted = certified(tmp_path)
    with Receiver(tls=server) as cloud:
        await link(database, cloud.url)
        assert verdicts(await examine(settings, now), "certificate") == [FAIL]
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        assert verdicts(await examine(settings, now), "certificate") == [WARN]  # it is valid for a day


async def test_the_files_of_certificates(tmp_path: Path, store: tuple[Settings, Database]) -> None:
    settings, _ = store
    authority = CertificateAuthority(tmp_path, days=365, at=now())
    authority.open(())
    cert, key = authority.issue("prices.example")
    named = replace(settings, mtls_port=8443, mtls_cert=cert, mtls_key=key, mtls_ca=tmp_path / "ca.pem",
                    mtls_crl=tmp_path / "ca.crl")  # fmt: skip
    late = now() + timedelta(days=400)
    assert verdicts(await examine(named, now), "certificate")[:2] == [OK, OK]
    assert verdicts(await examine(named, lambda: late), "certificate")[::2] == [FAIL, FAIL]
    (tmp_path / "ca.crl").unlink()
    assert "No such file" in told(await examine(named, now), "certificate")[2][1]


async def test_whose_side_effects_have_failed(store: tuple[Settings, Database]) -> None:
    settings, database = store
    jobs = table("side_effect_jobs")

    async def fail(session: Session, number: int) -> None:
        for sale in range(number):
            job, row = job_row(job_id=f"j-{number}-{sale}", origin="i", transaction_id=f"T-{sale}",
                               transaction_counter=1, payload=b"", at=now())  # fmt: skip
            await session.execute_many(job, row)
        await session.rowcount(update(jobs).values(status="FAILED"))

    for number in range(1, 8):
        await database.write(partial(fail, number=number), tenant=f"tenant-{number}")
    named = ", ".join(f"{number} of tenant-{number}" for number in (7, 6, 5, 4, 3))
    message = f"Side effects of sales have failed: {named}, and those of 2 more tenants."
    assert (WARN, message) in told(await examine(settings, now), "side-effects")


async def test_whose_sales_wait_for_a_check_of_the_archive(databases: Databases) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    settings, at = Settings(database=url, port=free_port()), datetime(2026, 8, 10, tzinfo=UTC)

    async def wait(tenant: str, months: Sequence[int]) -> None:
        await create_tenant(database, tenant, settings={"salesLogDays": "30"}, at=at, user="tests")
        rows: list[dict[str, object]] = [
            {"id": f"log-{month}", "transaction_id": f"T-{month}", "transaction_counter": 1, "status": "CALCULATED",
             "subtotal": 0, "discount": 0, "grand_total": 0, "currency": "EUR", "source": "btp", "evaluated_at": at,
             "confirmed_at": datetime(2026, month, 2, tzinfo=UTC), "created_at": at, "modified_at": at}
            for month in months
        ]  # fmt: skip
        await database.write(
            lambda session: session.execute_many(insert(table("CalculationLogs")), rows), tenant=tenant
        )

    async def found() -> list[tuple[Verdict, str, str]]:
        findings = await examine(replace(settings, keep_sales_days=30), lambda: at)
        return [(one.verdict, one.message, one.remedy or "") for one in findings if one.check == "archive"]

    await wait("new", [7, 8])  # none of these months is over for 30 days
    assert await found() == []
    await wait("north wind", [3, 5, 8])
    message = (
        "Logs of sales of north wind from 2026-03 to 2026-05 are to be deleted, and wait for a check of all months of"
        " the archive, which was never done."
    )
    remedy = (
        "Run `promenade archive write --tenant 'north wind' --archive ...`, then `promenade archive check --tenant"
        " 'north wind' --archive ...`, each month."
    )
    assert await found() == [(WARN, message, remedy)]
    assert "archive" not in {one.check for one in await examine(settings, lambda: at)}  # prices are kept for longer
    await database.write(lambda session: keep_check(session, archived_before=None, at=at), tenant="north wind")
    ((_, message, _),) = await found()
    assert message.endswith("which was last done on 2026-08-10.")
    for number in range(6):
        await wait(f"tenant-{number}", [6])
    ((*_, last), rest) = (await found())[-2:]
    assert last.startswith("Run `promenade archive write --tenant tenant-3 ")
    assert rest[1] == "Logs of sales of 2 more tenants wait for it, too."
    await database.close()
    databases.drop(url)


async def test_work_that_nobody_does(store: tuple[Settings, Database]) -> None:
    settings, database = store
    old = now() - timedelta(days=2)

    async def leave(session: Session) -> None:
        for number, status in enumerate(("PENDING", "PENDING", "FAILED")):
            job, row = job_row(job_id=f"j-{number}", origin="i", transaction_id=f"T-{number}", transaction_counter=1,
                               payload=b"", at=old)  # fmt: skip
            await session.execute_many(job, row)
            await session.rowcount(update(table("side_effect_jobs")).where(
                table("side_effect_jobs").c.id == f"j-{number}").values(status=status))  # fmt: skip
            await add(session, "COUPON", f"c-{number}", transaction_id=None, transaction_counter=0, payload=b"",
                      happened_at=old)  # fmt: skip
        await reject(session, {"c-0": "It is unknown."}, now())

    await database.write(leave, tenant=TENANT)
    assert verdicts(await examine(settings, now), "uploads") == []  # nobody waits for them without a cloud
    await link(database, f"http://127.0.0.1:{free_port()}")
    findings = await examine(settings, now)
    assert told(findings, "side-effects") == [
        (FAIL, "2 side effects of confirmed sales wait, the oldest for 2 days."),
        (WARN, f"Side effects of sales have failed: 1 of {TENANT}."),
    ]
    assert told(findings, "uploads") == [
        (WARN, "The cloud has refused 1 sales or coupons."),
        (WARN, "2 sales and coupons wait to be sent to the cloud, the oldest for 2 days."),
    ]
    assert worst(findings) is FAIL


async def test_sales_that_wait_for_longer_than_shares_last(store: tuple[Settings, Database]) -> None:
    settings, database = store
    await link(database, f"http://127.0.0.1:{free_port()}")

    async def leave(session: Session) -> None:
        await add(session, "COUPON", "c", transaction_id=None, transaction_counter=0, payload=b"",
                  happened_at=now() - timedelta(days=15))  # fmt: skip

    await database.write(leave, tenant=TENANT)
    assert verdicts(await examine(settings, now), "uploads") == [FAIL]


async def test_jobs_of_the_clock_that_nobody_runs_or_that_have_trouble(store: tuple[Settings, Database]) -> None:
    settings, database = store
    due = now() - timedelta(minutes=5)
    await database.write(lambda session: add_clock_rows(session, ["purge.jobs"], due), system=True)
    assert told(await examine(settings, now), "worker") == [(FAIL, "Jobs of the clock are late: purge.jobs.")]
    failed = update(table("clockwork")).values(last_error="It broke.", due_at=now() + timedelta(hours=9))
    await database.write(lambda session: session.rowcount(failed), system=True)
    assert told(await examine(settings, now), "worker") == [(WARN, "Jobs of the clock that have trouble: purge.jobs.")]


async def test_an_answer_that_never_ends_is_not_waited_for(
    store: tuple[Settings, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, _ = store
    monkeypatch.setattr(service, "_SECONDS_MAX", 0.5)
    with Receiver() as slow:
        slow.answers("/health", Drip(0.1, of="body"))
        findings = await examine(replace(settings, public_url=slow.url), now)
    assert verdicts(findings, "service") == [FAIL]


@pytest.mark.parametrize(
    ("cloud", "remedy"), [("0.0.9", "Upgrade the cloud"), ("9.0.0", "Upgrade the store"), ("0.1.7", "")]
)
async def test_the_one_with_the_older_version_is_to_be_upgraded(
    store: tuple[Settings, Database], cloud: str, remedy: str
) -> None:
    settings, database = store
    with Receiver() as other:
        other.answers("/oauth/token", said({"access_token": "good", "token_type": "bearer", "expires_in": 3600}))
        other.answers("/health", health(version=cloud))
        await link(database, other.url)
        findings = await examine(settings, now)
    (found,) = [one.remedy for one in findings if one.check == "cloud-version"]
    assert (found or "").partition(":")[0] == remedy


def test_the_command_says_by_its_exit_code_whether_something_fails(
    databases: Databases, capsys: pytest.CaptureFixture[str]
) -> None:
    url = databases.create("sqlite")
    with Receiver() as running:
        running.answers("/health", health())
        for address, code, status in ((running.url, 0, "WARN"), (f"http://127.0.0.1:{free_port()}", 1, "FAIL")):
            with pytest.raises(SystemExit) as ended:
                main(["doctor", "--database-url", url, "--public-url", address, "--json"])
            said_so = json.loads(capsys.readouterr().out)
            assert (int(ended.value.code or 0), said_so["status"]) == (code, status)
            assert {"check", "status", "message", "remedy"} == said_so["checks"][0].keys()
    databases.drop(url)


ODD_ANSWERS = [
    b'{"version":"0.1.0","timestamp":"2026-01-01T00:00:00"}',
    b'{"version":"%s"}' % (b"9" * 5000),
    b'{"version":"1","x":%s%s}' % (b"[" * 20_000, b"]" * 20_000),
    b'{"version":"\xff"}',
    b'{"version":"1","x":"%s"}' % (b"x" * 100_000),
]


@pytest.mark.parametrize("body", ODD_ANSWERS)
async def test_whatever_a_service_answers(store: tuple[Settings, Database], body: bytes) -> None:
    settings, database = store
    with Receiver() as other:
        other.answers("/oauth/token", said({"access_token": "good", "token_type": "bearer", "expires_in": 3600}))
        other.answers("/health", Answer(200, JSON, body))
        await link(database, other.url)
        findings = await examine(replace(settings, public_url=other.url), now)
    assert verdicts(findings, "service") == [FAIL]
    assert verdicts(findings, "cloud") == [FAIL] or len(body) > 50_000


def test_what_a_service_answers_forges_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    _print([Finding.warn("version", "0.1.0 is installed here, \x1b[2J9.9\nOK  all answers.", "Restart it.")])
    assert capsys.readouterr().out.splitlines()[0].endswith("here,  [2J9.9 OK  all answers.")


def test_rooms_clocks_and_expiries_are_judged() -> None:
    gb = 1_000_000_000
    assert [judge_room(free, size, "/data").verdict for free, size in (
        (50 * gb, 0), (50 * gb, 60 * gb), (gb, 0), (gb // 10, 0))] == [OK, WARN, WARN, FAIL]  # fmt: skip
    assert [judge_clock(ahead, "it").verdict for ahead in (0, -4.9, 5, -59, 60, -60)] == [
        OK, OK, WARN, WARN, FAIL, FAIL,
    ]  # fmt: skip
    assert "10 seconds behind" in judge_clock(-10, "it").message
    days = (31, 29, 0, -3)
    assert [judge_expiry("It", timedelta(days=one), "").verdict for one in days] == [OK, WARN, FAIL, FAIL]
    assert worst([]) is OK
