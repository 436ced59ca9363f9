"""Agents at the admin service of `tests.web.services.admin`, which call its tools by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client

from promenade.web.agents.server import UNTRUSTED, make_server
from promenade.web.agents.service import Service
from promenade.web.agents.stdio import ClientSecret
from tests.kit.api_client import SECRET
from tests.kit.databases import Databases
from tests.web.conftest import run
from tests.web.services.admin.conftest import Admin, served


class Threaded(httpx2.AsyncBaseTransport):
    """The service in the test's own process, for a client that awaits."""

    def __init__(self, within: httpx2.BaseTransport) -> None:
        self._within = within

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        answer = await asyncio.to_thread(self._within.handle_request, request)
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.read())


@dataclass(kw_only=True)
class Agents(Admin):
    """The service, and an agent that works for whichever client a test says."""

    usual = "promoter"

    def ask(self, tool: str, client: str = "promoter", agent: str = "tester", **arguments: Any) -> types.CallToolResult:
        """Call a tool and return what the protocol's client got."""

        async def call() -> types.CallToolResult:
            transport = Threaded(self.service.transport())  # type: ignore[attr-defined]
            async with httpx2.AsyncClient(base_url=self.service.url, transport=transport) as http:
                server = make_server(Service(http, ClientSecret(client, SECRET), agent))
                async with Client(server) as caller:
                    return await caller.call_tool(tool, arguments)

        return run(call())  # type: ignore[no-any-return]

    def use(self, tool: str, client: str = "promoter", **arguments: Any) -> dict[str, Any]:
        """Return the result of a call that must succeed: what is shown is what is structured."""
        answer = self.ask(tool, client, **arguments)
        assert not answer.is_error, shown(answer)
        assert json.loads(shown(answer)) == answer.structured_content
        found: dict[str, Any] = answer.structured_content
        return found

    def refusal(self, tool: str, client: str = "promoter", **arguments: Any) -> tuple[str, str | None]:
        """Return code and target of the refusal of a call."""
        answer = self.ask(tool, client, **arguments)
        assert answer.is_error, shown(answer)
        problem: Mapping[str, Any] = json.loads(shown(answer))
        return problem["code"], problem.get("target")


def shown(answer: types.CallToolResult) -> str:
    """Return the data of a result as an agent is shown it, after what marks it as data."""
    mark, data = answer.content
    assert isinstance(mark, types.TextContent)
    assert mark.text == UNTRUSTED
    assert isinstance(data, types.TextContent)
    return data.text


@pytest.fixture(scope="module")
def agents(databases: Databases) -> Iterator[Agents]:
    """Serve the admin service in this process, anew for each file: its tests leave promotions that run."""
    with served(databases, "sqlite") as admin:
        yield Agents(service=admin.service, database_url=admin.database_url, http=admin.http)
