"""The command line as operators use it."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from promenade.cli import main
from promenade.store.driver.migrations import in_transaction, upgrade
from tests.conftest import StartService
from tests.kit.databases import Databases
from tests.kit.processes import free_port
from tests.kit.service import COMMAND, Service, promenade


def attempt(*arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        input=stdin,
        env={"PATH": "/usr/bin", **environment},
    )


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with a new database, in which a refused command leaves nothing."""
    directory = tmp_path_factory.mktemp("data")
    upgrade(f"sqlite:///{directory / 'promenade.db'}")
    return directory


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("serve", "--port", "http"), "--port"),
        (("serve", "--port", "70000"), "--port"),
        (("serve", "--edition", "kiosk"), "--edition"),
        (("serve", "--workers", "2"), "--workers above 1 needs PostgreSQL"),
        (("serve", "--database-url", "mysql://x"), "--database-url"),
        (("serve", "--database-url", "postgresql://[::1"), "--database-url"),
        (("clockwork", "--database-url", "postgresql://shop:99999/promenade"), "--database-url"),
        (("serve", "--redis-url", "http://x"), "--redis-url"),
        (("serve", "--public-url", "prices.example"), "--public-url"),
        (("serve", "--public-url", "prices.example:8080"), "--public-url"),
        (("serve", "--public-url", "https://prices.example:http"), "--public-url"),
        (("serve", "--public-url", "https://preise-für-alle.example"), "--public-url"),
        (("serve", "--public-url", "https://operator@prices.example"), "--public-url"),
        (("serve", "--public-url", "https://prices.example/?tenant=1"), "--public-url"),
        (("serve", "--jwks-url", "http://issuer.example/keys", "--issuer", "x"), "https"),
        (("serve", "--jwks-url", "https://issuer.example/keys"), "--issuer"),
        (("serve", "--colour", "red"), "--colour"),
        (("serve", "--webhook-allow", "http://hooks.internal"), "--webhook-allow"),
        (("serve", "--webhook-allow", "10.0.0.0/33"), "--webhook-allow"),
        (("serve", "--webhook-retry-schedule", "soon"), "whole seconds"),
        (("serve", "--webhook-retry-schedule", "5,0"), "--webhook-retry-schedule"),
        (("serve", "--webhook-retry-schedule", "5,2592001"), "from 1 to 2592000"),
        (("serve", "--webhook-allow", "*.internal"), "--webhook-allow"),
        (("serve", "--webhook-allow", "a.internal,b.internal"), "--webhook-allow"),
        (("serve", "--keep-events-days", "99999999999"), "--keep-events-days"),
        (("side-effects", "list", "--tenant", "nobody"), "nobody"),
        (("side-effects", "requeue", "--tenant", "nobody", "--all"), "nobody"),
        (("report", "rebuild", "--tenant", "nobody"), "nobody"),
        (("customer", "erase", "C-4711", "--tenant", "nobody"), "nobody"),
        (("customer", "erasures", "--tenant", "nobody"), "nobody"),
        (("serve", "--keep-sales-days", "0"), "--keep-sales-days"),
        (("worker", "--metrics-port", "0"), "--metrics-port"),
        (("sreve",), "sreve"),
        (("tenant", "create"), "TENANT"),
        (("tenant", "create", "t", "oops"), "name=value"),
        (("tenant", "create", "x" * 37), "36"),
        (("tenant", "create", "t", "combinationStrategy=LUCK"), "BEST_DEAL"),
        (("tenant", "create", "t", "pointsPerCurrencyUnit=many"), "pointsPerCurrencyUnit"),
        (("tenant", "create", "t", "pointsPerCurrencyUnit=-1"), "pointsPerCurrencyUnit"),
        (("tenant", "create", "t", "significanceLevel=0.9"), "significanceLevel"),
        (("tenant", "create", "t", "isOperator=perhaps"), "isOperator"),
        (("tenant", "create", "t", "colour=red"), "colour"),
        (("tenant", "set", "nobody", "name=x"), "nobody"),
        (("client", "create", "--tenant", "nobody", "--scope", "svc.POSReader"), "nobody"),
        (("client", "create", "--tenant", "t", "--scope", "all"), "svc.POSReader"),
        (("client", "delete", "nobody"), "nobody"),
        (("client", "rotate", "nobody"), "nobody"),
        (("replay", "t", "unknown", "1"), "iteration"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_wrong_value_is_one_clear_line(
    data_dir: Path,
    arguments: tuple[str, ...],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process: others of this file start the command."""
    for name in [one for one in os.environ if one.startswith("PROMENADE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PROMENADE_DATA_DIR", str(data_dir))
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, told = capsys.readouterr()
    assert (ended.value.code, out) == (2, ""), told
    assert told.count("\n") == 1
    assert words in told


@pytest.mark.parametrize("arguments", [("serve", "--port", "http"), ("tenant", "create", "t", "oops")])
def test_a_process_with_a_wrong_value_ends_with_one_clear_line(data_dir: Path, arguments: tuple[str, ...]) -> None:
    done = attempt(*arguments, PROMENADE_DATA_DIR=str(data_dir))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr


def test_a_customer_is_erased_by_a_command_and_another_one_tells_how_far_that_is(tmp_path: Path) -> None:
    where = {"PROMENADE_DATA_DIR": str(tmp_path)}
    upgrade(f"sqlite:///{tmp_path / 'promenade.db'}")
    assert attempt("tenant", "create", "northwind", **where).returncode == 0
    asked = attempt("customer", "erase", "C-4711", "--tenant", "northwind", **where)
    told = json.loads(asked.stdout)
    assert (told["status"], told["customerId"], told["completedAt"]) == ("PENDING", "C-4711", None)
    assert json.loads(attempt("customer", "erasures", "--tenant", "northwind", "--json", **where).stdout) == [told]
    early = attempt("customer", "erase", "C-4711", "--tenant", "northwind", "--forget", **where)
    assert (early.returncode, early.stdout) == (2, "")
    assert early.stderr == "promenade: The erasure has not ended yet; forget it afterwards.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("till-key", "list"),
        ("sync-link", "show"),
        ("client", "list"),
        ("clockwork",),
        ("tenant", "delete", "t", "--confirm", "t"),
        ("replay", "t", "unknown", "1"),
        ("local-admin", "reset-password", "--password-stdin"),
    ],
    ids=lambda value: value[0],
)
def test_a_command_makes_no_database_where_there_is_none(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A misspelt directory would look like a store that has forgotten everything."""
    directory = tmp_path / "misspelt"
    done = attempt(*arguments, PROMENADE_DATA_DIR=str(directory), stdin="correct horse battery")
    assert done.returncode == 2
    assert f"There is no database {directory / 'promenade.db'}" in done.stderr
    assert not directory.exists()


@pytest.mark.alone
def test_help_answers_at_once_and_names_the_environment() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = attempt("serve", "--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time, not elapsed time: 0.1 s, or 0.2 s if other processes use the caches.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1
    assert done.returncode == 0
    for option in ("HOST", "PORT", "WORKERS", "DATABASE_URL", "REDIS_URL", "JWKS_URL", "METRICS_TOKEN"):
        assert f"PROMENADE_{option}" in "".join(done.stdout.split())


def test_nothing_heavy_is_imported_for_help() -> None:
    code = "import sys, promenade.cli; print([m for m in ('sqlalchemy', 'uvicorn', 'msgspec') if m in sys.modules])"
    python = str(Path(COMMAND).with_name("python"))
    assert subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_options_come_from_the_environment(tmp_path: Path) -> None:
    done = attempt("serve", PROMENADE_PORT="many")
    assert done.returncode == 2
    assert "PROMENADE_PORT" in done.stderr


def test_tenants_are_made_changed_and_listed(tmp_path: Path) -> None:
    at = ("--data-dir", str(tmp_path))
    promenade("tenant", "create", "acme", "name=Acme", *at)
    promenade("tenant", "set", "acme", "combinationStrategy=BEST_DEAL", "enableProductionNudges=true", *at)
    (listed,) = json.loads(promenade("tenant", "list", "--json", *at))
    assert listed["tenantId"] == "acme"
    assert (listed["name"], listed["combinationStrategy"]) == ("Acme", "BEST_DEAL")
    assert listed["enableProductionNudges"] is True
    assert "Acme" in promenade("tenant", "list", *at)


def test_a_client_is_printed_as_json_for_machines(tmp_path: Path) -> None:
    at = ("--data-dir", str(tmp_path))
    promenade("tenant", "create", "acme", *at)
    made = json.loads(promenade("client", "create", "--tenant", "acme", "--scope", "svc.Admin", "--json", *at))
    assert set(made) == {"clientId", "clientSecret"}
    assert len(made["clientSecret"]) >= 43  # 256 bits
    (listed,) = json.loads(promenade("client", "list", "--json", *at))
    assert (listed["clientId"], listed["tenantId"], listed["scopes"]) == (made["clientId"], "acme", "svc.Admin")
    assert made["clientSecret"] not in json.dumps(listed)


def test_a_table_for_another_program_has_a_line_for_each_row(tmp_path: Path) -> None:
    name = "The shop at the corner of the street with the very long name " * 4
    promenade("tenant", "create", "acme", f"name={name.strip()}", "--data-dir", str(tmp_path))
    head, row = promenade("tenant", "list", "--data-dir", str(tmp_path)).splitlines()
    assert head.split()[0] == "tenantId"
    assert name.strip() in row


def test_postgresql_is_not_upgraded_automatically(databases: Databases) -> None:
    url = databases.create_empty("postgresql")
    try:
        done = attempt("serve", "--database-url", url)
        assert done.returncode == 1
        assert "promenade db upgrade" in done.stderr
        assert done.stderr.count("\n") == 1
        promenade("db", "upgrade", "--database-url", url)
        promenade("tenant", "create", "acme", "--database-url", url)
    finally:
        databases.drop(url)


@pytest.mark.parametrize("command", [("serve",), ("db", "upgrade"), ("tenant", "list")])
def test_a_database_of_a_newer_program_is_one_line_that_says_so(databases: Databases, command: tuple[str, ...]) -> None:
    url = databases.create("postgresql" if command == ("serve",) else "sqlite")
    try:
        owner = databases.owner_url(url)
        for told in ("alembic_version SET version_num", "schema_compatibility SET works_with"):
            newer = text(f"UPDATE {told} = '9999'")
            in_transaction(owner, lambda connection, newer=newer: connection.execute(newer))  # type: ignore[misc]
        done = attempt(*command, "--database-url", url)
        assert done.returncode == 1
        assert "newer version" in done.stderr
        assert done.stderr.count("\n") == 1
    finally:
        databases.drop(url)


def test_a_database_that_does_not_answer_is_one_line() -> None:
    done = attempt("tenant", "list", "--database-url", "postgresql://nobody@127.0.0.1:1/none")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_one_process_serves_a_sqlite_file_and_commands_work_beside_it(server: StartService, tmp_path: Path) -> None:
    running = server("--data-dir", str(tmp_path))
    for command in ("serve", "worker"):
        done = attempt(command, "--data-dir", str(tmp_path))
        assert done.returncode == 1
        assert "Another promenade serves" in done.stderr
        assert done.stderr.count("\n") == 1
    promenade("tenant", "create", "acme", "--data-dir", str(tmp_path))
    running.kill()  # the lock ends with its process, however that ends
    running.start()
    assert json.loads(promenade("tenant", "list", "--json", "--data-dir", str(tmp_path)))[0]["tenantId"] == "acme"


def test_a_worker_serves_its_metrics_where_it_is_told(tmp_path: Path, logs: Path) -> None:
    port = free_port()
    options = ("--data-dir", str(tmp_path), "--metrics-port", str(port))
    worker = Service(logs / "worker-metrics.log", *options, verb="worker", ready_path=None).start()
    try:
        deadline = time.monotonic() + 90
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    assert "svc_webhook_dead_letters_total" in answer.read().decode("utf-8")
                break
            except OSError:
                assert time.monotonic() < deadline, worker.output()
        taken = attempt("worker", "--data-dir", str(tmp_path / "other"), "--metrics-port", str(port))
        assert taken.returncode == 1
        assert taken.stderr.startswith("promenade: Metrics cannot be served on 127.0.0.1:")
        assert len(taken.stderr.splitlines()) == 1
    finally:
        worker.kill()


def test_reports_are_counted_anew_when_an_operator_says_so(tmp_path: Path) -> None:
    place = {"PROMENADE_DATA_DIR": str(tmp_path)}
    assert attempt("tenant", "create", "t", **place).returncode == 0
    done = attempt("report", "rebuild", "--tenant", "t", **place)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(tmp_path / "promenade.db")) as database:
        assert database.execute("SELECT tenant_id, rebuild FROM report_state").fetchall() == [("t", "EMPTYING")]


def test_a_copy_is_checked_and_its_fault_is_the_exit_code(databases: Databases) -> None:
    url = databases.create("sqlite")
    try:
        assert attempt("db", "check", "--database-url", url).returncode == 0
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as copy, copy:
            copy.execute("DROP INDEX ix_store_shares__expiry")
        done = attempt("db", "check", "--json", "--database-url", url)
        assert done.returncode == 1
        failed = [one["check"] for one in json.loads(done.stdout)["checks"] if one["status"] == "FAIL"]
        assert failed == ["tables"]
    finally:
        databases.drop(url)


@pytest.mark.parametrize(
    ("harm", "check", "said"),
    [
        ("UPDATE alembic_version SET version_num = '0000'", "tables", "older than this program"),
        (None, "file", "finds damage"),
    ],
    ids=["older", "damaged"],
)
def test_a_copy_is_checked_as_it_is(databases: Databases, harm: str | None, check: str, said: str) -> None:
    """It is neither upgraded nor taken for one that does not answer."""
    url = databases.create("sqlite")
    file = Path(url.removeprefix("sqlite:///"))
    try:
        if harm is None:
            whole = file.read_bytes()
            file.write_bytes(whole[:4096] + b"\xff" * 8192 + whole[12288:])
        else:
            with closing(sqlite3.connect(file)) as copy, copy:
                copy.execute(harm)
        before = file.read_bytes()
        done = attempt("db", "check", "--json", "--database-url", url)
        (found,) = json.loads(done.stdout)["checks"]
        assert (done.returncode, found["check"], found["status"]) == (1, check, "FAIL")
        assert said in found["message"]
        assert file.read_bytes() == before
    finally:
        databases.drop(url)
