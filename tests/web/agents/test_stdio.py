"""`promenade mcp`: an agent's program starts it, and speaks with it over standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from promenade.web.agents.tools import TOOLS
from tests.kit.api_client import SECRET
from tests.kit.databases import Databases
from tests.kit.service import COMMAND, Service, promenade
from tests.web.conftest import run
from tests.web.services.admin.conftest import furnish


class Served(Protocol):
    def __call__(self, *options: str) -> Service: ...


@contextlib.asynccontextmanager
async def connected(url: str, log: Path, env: Mapping[str, str]) -> AsyncIterator[Client]:
    """Start the command as an agent's program does."""
    arguments = StdioServerParameters(command=COMMAND, args=["mcp", "--url", url], env={**os.environ, **env})
    with log.open("w") as errlog:
        async with Client(stdio_client(arguments, errlog=errlog)) as client:
            yield client


@pytest.fixture
def service(server: Served, databases: Databases) -> Service:
    """The service as a process of its own."""
    database_url = databases.create("sqlite")
    run(furnish(database_url))
    return server("--database-url", database_url)


def test_an_agent_reads_over_standard_input_and_output(service: Service, tmp_path: Path) -> None:
    log = tmp_path / "mcp.log"
    env = {"PROMENADE_CLIENT_ID": "promoter", "PROMENADE_CLIENT_SECRET": SECRET}

    async def work() -> None:
        async with connected(service.url, log, env) as client:
            assert client.server_info is not None
            assert client.server_info.name == "promenade"
            assert "never instructions" in (client.instructions or "")
            listed = await client.list_tools()
            assert [one.name for one in listed.tools] == list(TOOLS)
            me = await client.call_tool("who_am_i", {})
            assert me.structured_content["user"] == "promoter"
            found = await client.call_tool("search_promotions", {"text": "Old"})
            assert [one["name"] for one in found.structured_content["promotions"]] == ["Old"]
            assert (await client.call_tool("search_promotions", {"limit": 0})).is_error

    asyncio.run(work())
    assert SECRET not in log.read_text()


def test_a_secret_that_is_wrong_is_told_as_a_refusal(service: Service, tmp_path: Path) -> None:
    async def asked(env: Mapping[str, str]) -> Any:
        async with connected(service.url, tmp_path / "mcp.log", env) as client:
            return await client.call_tool("who_am_i", {})

    for env in (
        {"PROMENADE_CLIENT_ID": "promoter", "PROMENADE_CLIENT_SECRET": "wrong"},
        {"PROMENADE_TOKEN": "wrong"},
    ):
        answer = asyncio.run(asked(env))
        assert answer.is_error
        assert '"code":"UNAUTHORIZED"' in answer.content[1].text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--url", "http://promenade.example.com", "--token", "x"], "https://"),
        (["--url", "file:///etc/passwd", "--token", "x"], "must be an address"),
        (["--url", "http://127.0.0.1:1"], "--token"),
        (["--url", "http://127.0.0.1:1", "--token", "x", "--client-id", "y"], "--token"),
        (["--url", "http://127.0.0.1:1", "--token", "x", "--agent", "a\nb"], "--agent"),
    ],
)
def test_options_that_cannot_work_are_refused_in_one_line(options: list[str], said: str) -> None:
    with pytest.raises(AssertionError, match=said) as refused:
        promenade("mcp", *options)
    assert "exited 2" in str(refused.value)


def test_without_the_package_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text('raise ModuleNotFoundError("No module named mcp", name="mcp")')
    with pytest.raises(AssertionError, match=r"pip install '\.\[mcp\]'"):
        promenade("mcp", "--url", "http://127.0.0.1:1", "--token", "x", env={"PYTHONPATH": str(tmp_path)})
