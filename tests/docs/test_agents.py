"""The page about agents: what it says to put into a file of servers is what an agent's program starts."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

from promenade.web.agents.tools import TOOLS
from tests.docs.test_samples import ADDRESS, demo
from tests.kit.service import COMMAND, Service, promenade

__all__ = ["demo"]

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/how-to/agents.md").read_text("utf-8")


def made_client(demo: Service) -> dict[str, str]:
    """Create the client that the page creates, in the data directory of the demo."""
    (command,) = (one for one in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S) if "client create" in one)
    words = command.replace("\\\n", " ").replace("demo-data", demo.options[1]).strip()
    arguments = [one.strip('"') for one in re.findall(r'"[^"]*"|\S+', words)]
    made: dict[str, str] = json.loads(promenade(*arguments[1:]))
    return made


async def with_agent(demo: Service, tmp_path: Path, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Start what the page configures, with the client that the page creates, and let an agent work."""
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
    configured: dict[str, Any] = json.loads(block)["mcpServers"]["promenade"]
    assert configured["command"] == "promenade"
    client = made_client(demo)
    values = {"PROMENADE_CLIENT_ID": client["clientId"], "PROMENADE_CLIENT_SECRET": client["clientSecret"]}
    assert values.keys() == configured["env"].keys()
    arguments = [demo.url if one == ADDRESS else one for one in configured["args"]]
    parameters = StdioServerParameters(command=COMMAND, args=arguments, env={**os.environ, **values})
    with (tmp_path / "mcp.log").open("w") as log:
        async with Client(stdio_client(parameters, errlog=log)) as agent:
            return await work(agent)


def test_the_server_of_the_page_is_started_and_answers(demo: Service, tmp_path: Path) -> None:
    async def work(agent: Client) -> list[str]:
        found = await agent.call_tool("search_promotions", {"type": "COUPON", "limit": 100})
        first = found.structured_content["promotions"][0]["code"]
        document = await agent.call_tool("read_promotion", {"promotion": first})
        return [first, document.structured_content["document"]]

    code, document = asyncio.run(with_agent(demo, tmp_path, work))
    assert f"code: {code}\n" in document
    assert "type: COUPON\n" in document


def test_the_draft_of_the_page_is_written_by_the_tools_that_it_names(demo: Service, tmp_path: Path) -> None:
    (document,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", PAGE.partition("## From an idea")[2].partition("```")[0]))
    assert named <= set(TOOLS)
    promotion = {"promotion": "AUGUST-TEN"}
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()

    async def work(agent: Client) -> list[Any]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("compare_documents", {"document": document}),
            ("write_draft", {"document": document}),
            ("check_promotion", promotion),
            ("forecast_promotion", {**promotion, "dateFrom": yesterday, "dateTo": yesterday}),
            ("submit_promotion", promotion),
            ("activate_promotion", promotion),
        ]
        return [await agent.call_tool(name, arguments) for name, arguments in calls]

    *done, refused = asyncio.run(with_agent(demo, tmp_path, work))
    assert [one.is_error for one in done] == [False] * 5, done
    assert (done[0].structured_content["isNew"], done[1].structured_content["status"]) == (True, "DRAFT")
    assert done[4].structured_content["status"] == "PENDING_APPROVAL"
    assert "AGENTS_MAY_NOT_ACTIVATE" in refused.content[1].text
