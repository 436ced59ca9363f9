"""The ground that other tests stand on is tested too."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import asyncpg
import pytest
import redis.asyncio

from tests.kit.databases import Databases
from tests.kit.network import OutboundForbidden
from tests.kit.processes import free_port
from tests.kit.valkey import ValkeyServer


async def test_postgres_is_a_real_server(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        version = await connection.fetchval("SHOW server_version_num")
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        await connection.close()
    assert int(version) >= 150000


async def test_a_database_is_alone(databases: Databases) -> None:
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


async def test_valkey_comes_and_goes(valkey_server: ValkeyServer) -> None:
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
    """However long it takes until somebody listens on it, and whether it listens again and again."""
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


def test_a_port_is_none_that_the_kernel_gives_away() -> None:
    given = []
    for _ in range(50):
        with socket.socket() as any_port:
            any_port.bind(("127.0.0.1", 0))
            given.append(any_port.getsockname()[1])
    assert max(free_port() for _ in range(50)) < min(given)


def test_servers_do_not_outlive_a_killed_session(tmp_path: Path) -> None:
    """kill -9 of the test process takes its servers along."""
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
    while _listens(port):  # the kernel ends it in its own time; the test's timeout bounds the wait
        pass


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
