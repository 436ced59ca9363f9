"""Tests of the test infrastructure."""

from __future__ import annotations

import gc
import os
import re
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest
import redis.asyncio
from hypothesis import core

from promenade import app
from promenade.web.odata import source as odata
from tests.kit.databases import Databases
from tests.kit.groups import longest_first
from tests.kit.in_process import InProcess
from tests.kit.network import OutboundForbidden
from tests.kit.processes import free_port
from tests.kit.profile import Profile
from tests.kit.tiers import ROOT, TIERS, TWINS, misplaced, tier_of
from tests.kit.valkey import ValkeyServer

_PYTHON = """#!/bin/sh
case "$*" in
  *"-m alone and not soak"*) exit $TIMED ;;
  *"-m not soak and not alone"*) echo "the others ran"; exit $OTHERS ;;
esac
"""


@pytest.mark.parametrize(("timed", "others"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_make_check_runs_all_tests_and_fails_if_any_of_them_does(tmp_path: Path, timed: int, others: int) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("ruff", "mypy", "lint-imports", "python"):
        tool = tmp_path / "bin" / name
        tool.write_text(_PYTHON)
        tool.chmod(0o755)
    ready = (
        "DEV_READY=",
        "CSDL_SCHEMAS=",
        "CLIENTS_READY=",
        "CHROMIUM_NEEDED=",
        "PROMTOOL_NEEDED=",
        "ESLINT=/no/such/tool",
    )
    done = subprocess.run(
        ["make", "check", f"VENV={tmp_path}", *ready],
        cwd=ROOT,
        env={**os.environ, "TIMED": str(timed), "OTHERS": str(others)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "the others ran" in done.stdout, done.stderr
    assert (done.returncode == 0) == (timed == others == 0)


async def test_postgres_is_a_real_server(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        version = await connection.fetchval("SHOW server_version_num")
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        await connection.close()
    assert int(version) >= 150000


async def test_each_test_database_is_separate(databases: Databases) -> None:
    urls = [databases.create_empty("postgresql"), databases.create_empty("postgresql")]
    first, second = [await asyncpg.connect(url) for url in urls]
    await first.execute("CREATE TABLE mine (id int)")
    assert await second.fetchval("SELECT to_regclass('mine')") is None
    await first.close()
    await second.close()
    for url in urls:
        databases.drop(url)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await asyncpg.connect(urls[0])


async def test_the_valkey_server_can_be_stopped_and_restarted(valkey_server: ValkeyServer) -> None:
    client = redis.asyncio.Redis.from_url(valkey_server.url)
    await client.set("key", "value")
    assert await client.get("key") == b"value"
    valkey_server.stop()
    with pytest.raises(redis.exceptions.ConnectionError):
        await client.get("key")
    valkey_server.start()
    assert await client.get("key") is None
    await client.aclose()


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_no_address_outside_is_reached(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as outside, pytest.raises(OutboundForbidden):
        outside.connect((host, 80))


def test_no_name_outside_is_looked_up() -> None:
    with pytest.raises(OutboundForbidden):
        socket.getaddrinfo("example.org", 443)


def test_a_port_is_one_tests_until_its_process_ends() -> None:
    """However late a server starts to listen on it, and even if it restarts."""
    ports = {free_port() for _ in range(200)}
    assert len(ports) == 200
    taking = textwrap.dedent("""
        import sys
        from tests.kit.processes import _reservations
        print(sum(_reservations.take(int(port)) for port in sys.argv[1:]))
    """)
    command = [sys.executable, "-c", taking, *map(str, ports)]
    others = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert int(others.stdout) == 0


def test_free_ports_are_outside_the_kernels_ephemeral_range() -> None:
    given = []
    for _ in range(50):
        with socket.socket() as any_port:
            any_port.bind(("127.0.0.1", 0))
            given.append(any_port.getsockname()[1])
    assert max(free_port() for _ in range(50)) < min(given)


def test_a_service_in_this_process_leaves_it_as_it_was(databases: Databases, tmp_path: Path) -> None:
    """And an error at its start is raised instead of being waited out."""

    def state() -> tuple[object, ...]:
        return (
            app.clock,
            vars(app)["run_worker"],
            app.set_aside,
            odata.QUERY_SECONDS,
            gc.get_threshold(),
            gc.get_freeze_count() > 0,
        )

    before = state()
    url = databases.create("sqlite")
    with InProcess(url) as service, service.client() as http:
        assert http.get("/health").json()["status"] == "UP"
        assert http.get("/%2e%2e/nothing").status_code == 404
    databases.drop(url)
    with pytest.raises(Exception, match="no such table"):
        InProcess(f"sqlite:///{tmp_path}/empty.db").start()
    assert state() == before


def test_servers_do_not_outlive_a_killed_session(tmp_path: Path) -> None:
    """Killing the test process with SIGKILL also ends its servers."""
    session = textwrap.dedent("""
        import os, pathlib, signal, tempfile
        from tests.kit.valkey import ValkeyServer
        server = ValkeyServer(pathlib.Path(tempfile.mkdtemp()) / "log")
        server.start()
        print(server.port, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux signals children of a dead parent")
    done = subprocess.run(
        [sys.executable, "-c", session],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    port = int(done.stdout)
    while _listens(port):  # the kernel takes its time; the test's timeout bounds the wait
        pass


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


# --- tiers ------------------------------------------------------------------------------------------------------------


def test_every_path_in_the_table_of_tiers_exists() -> None:
    assert misplaced() == []
    assert misplaced(Path(__file__).parent) == [*TIERS, *TWINS]


def test_the_longest_path_decides_about_the_tier() -> None:
    assert tier_of("tests/reliability/fights/test_guessing.py") == "check"
    assert tier_of("tests/reliability/fights/test_explaining.py") == "test"
    assert tier_of("tests/reliability/test_units.py") == "test"
    with pytest.raises(KeyError, match="has no tier"):
        tier_of("tests/elsewhere/test_new.py")


COUNTS = """
    import sys, pytest
    class Counting:
        def pytest_collection_finish(self, session):
            for item in session.items:
                marks = {mark.name for mark in item.iter_markers()}
                waits = [mark for mark in ("alone", "soak", "check") if mark in marks]
                print("found", waits[0] if waits else "test", item.nodeid)
    sys.exit(pytest.main(["--collect-only", "-qq", "-m", "", *sys.argv[1:]], plugins=[Counting()]))
"""


def sorted_by_tier(seed: int, *paths: str) -> dict[str, set[str]]:
    """Return the tests collected at ``paths`` in a session with this seed, by tier."""
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(COUNTS), *paths],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
        cwd=Path(__file__).parent.parent,
        env=os.environ | {"PROMENADE_TEST_SEED": str(seed), "PYTEST_ADDOPTS": ""},
    )
    found: dict[str, set[str]] = {"test": set(), "check": set(), "soak": set(), "alone": set()}
    for line in told.stdout.splitlines():
        if line.startswith("found "):
            _, tier, name = line.split(" ", 2)
            found[tier].add(name)
    return found


def test_a_seed_draws_the_same_cases_and_another_seed_others_and_none_is_lost() -> None:
    paths = ["tests/contract/test_isolation.py", "tests/workflows/clockwork/pilots/test_pilots.py"]
    first, again, other = (sorted_by_tier(seed, *paths) for seed in (1, 1, 2))
    assert first == again
    assert first["test"] != other["test"]
    assert first["check"]
    assert set.union(*first.values()) == set.union(*other.values())
    on_postgresql = [name for name in first["test"] if "contract" in name and "[postgresql" in name]
    on_sqlite = [name for name in first["test"] if "contract" in name and "[sqlite" in name]
    assert len(on_sqlite) > 3 * len(on_postgresql) > 0
    left = [name for name in first["soak"] if "contract" in name and "[postgresql" in name]
    assert len(on_sqlite) > len(left) > len(on_postgresql)
    assert not [name for name in first["soak"] if "[sqlite" in name]


def test_examples_of_properties_are_drawn_from_the_seed_that_was_given() -> None:
    given = os.environ.get("PROMENADE_TEST_SEED")  # `make check` gives one, which its processes must all use
    if given:
        assert core.global_force_seed == int(given)


# --- order and what a run cost ----------------------------------------------------------------------------------------


def test_the_longest_files_go_first_and_keep_their_order() -> None:
    def item(name: str) -> Any:
        return SimpleNamespace(nodeid=name, get_closest_marker=lambda mark: None)

    items = [item(name) for name in ("a.py::one", "b.py::one", "a.py::two", "b.py::two", "b.py::three")]
    longest_first(items)
    assert [one.nodeid for one in items] == ["b.py::one", "b.py::two", "b.py::three", "a.py::one", "a.py::two"]


def test_the_durations_of_a_run_are_summed_by_folder(tmp_path: Path) -> None:
    profile = Profile(lambda: {"PostgreSQL": 3.0}, str(tmp_path / "profile.txt"))
    for name, seconds in (("tests/web/admin/test_a.py::test_b", 2.0), ("tests/engine/test_c.py::test_d", 1.0)):
        for when in ("setup", "call"):
            report = pytest.TestReport(name, ("", 0, ""), {}, "passed", None, when, duration=seconds)
            report.user_properties = [("spent", {"own": 0.5, "children": 0.25, "services": 1})]
            profile.pytest_runtest_logreport(report)
    text = "\n".join(profile.lines())
    assert re.search(r"^ +1 +4\.0 +1\.0 +0\.5 +2 +0  tests/web/admin$", text, re.MULTILINE)
    assert re.search(r"^ +2 +6\.0 +2\.0 +1\.0 +4 +0  all, ", text, re.MULTILINE)
    assert "PostgreSQL 3 s of CPU" in text
    assert text.splitlines()[-2:] == [
        "     4.0 s  tests/web/admin/test_a.py::test_b",
        "     2.0 s  tests/engine/test_c.py::test_d",
    ]
