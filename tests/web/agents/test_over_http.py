"""`serve --mcp`: the tools over streamable HTTP, for tokens of our own issuer and of outside ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import TokenStorage
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from promenade import settings
from promenade.settings import Settings, SettingsError
from promenade.web.agents.tools import TOOLS
from tests.kit.api_client import SECRET
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service
from tests.web.access.tokens.conftest import Trusting
from tests.web.access.tokens.issuer import AUDIENCE, ISSUER, KeyServer, new_ec, new_rsa
from tests.web.agents.conftest import Agents, Threaded
from tests.web.conftest import run
from tests.web.services.admin.conftest import OWN, furnish


class Served(Protocol):
    def __call__(self, *options: str) -> Service: ...


Work = Callable[[Client], Awaitable[Any]]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


class Memory(TokenStorage):
    """Keeps what the SDK's client has got."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.info: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.info = client_info


@pytest.fixture(scope="module")
def agents(databases: Databases) -> Iterator[Agents]:
    """Serve the service with `--mcp` in this process."""
    database_url = databases.create("sqlite")
    run(furnish(database_url))
    with InProcess(database_url, has_worker=False, mcp=True) as service, service.client() as http:
        yield Agents(service=service, database_url=database_url, http=http)
    databases.drop(database_url)


def connected(agents: Agents, work: Work, *, mode: str = "auto", **how: Any) -> Any:
    """Let the SDK's client work at `/mcp`."""

    async def connect() -> Any:
        transport = Threaded(agents.service.transport())  # type: ignore[attr-defined]
        async with httpx2.AsyncClient(transport=transport, **how) as http:
            reached = streamable_http_client(f"{agents.service.url}/mcp", http_client=http)
            async with Client(reached, mode=mode) as client:
                return await work(client)

    return asyncio.run(connect())


def bearer(agents: Agents, client: str = "promoter", **more: str) -> dict[str, Any]:
    return {"headers": {"authorization": f"Bearer {agents.token(client)}", **more}}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_gets_a_token_by_what_the_service_tells_and_works(agents: Agents, mode: str) -> None:
    memory = Memory()
    provider = ClientCredentialsOAuthProvider(
        f"{agents.service.url}/mcp", memory, "promoter", SECRET, "client_secret_post", issuer=agents.service.url
    )

    async def work(client: Client) -> list[Any]:
        listed = await client.list_tools()
        assert [one.name for one in listed.tools] == list(TOOLS)
        return [
            await client.call_tool("who_am_i", {}),
            await client.call_tool("search_promotions", {"text": "Old"}),
            await client.call_tool("price_basket", {"posGroup": "x", "lines": []}),
        ]

    me, found, refused = connected(agents, work, mode=mode, auth=provider)
    assert memory.tokens is not None
    assert (me.structured_content["user"], me.structured_content["tenantId"]) == ("promoter", OWN)
    assert [one["name"] for one in found.structured_content["promotions"]] == ["Old"]
    assert refused.is_error


def test_tools_work_behind_a_proxy(databases: Databases) -> None:
    url = databases.create("sqlite")
    run(furnish(url))
    call = {"method": "tools/call", "params": {"name": "search_promotions", "arguments": {"text": "Old"}}}
    with (
        InProcess(url, has_worker=False, mcp=True, public_url="https://prices.example") as service,
        service.client(headers={"host": "prices.example"}) as http,
    ):
        proxied = Agents(service=service, database_url=url, http=http)
        headers = {**ACCEPT, "authorization": f"Bearer {proxied.token('promoter')}"}
        answer = http.post("/mcp", json={**LIST, **call}, headers=headers)
    databases.drop(url)
    assert [one["name"] for one in answer.json()["result"]["structuredContent"]["promotions"]] == ["Old"]


def test_without_a_token_the_answer_says_where_to_get_one(agents: Agents) -> None:
    for token in (None, "Bearer wrong", "Basic eDp5"):
        sent = ACCEPT if token is None else {**ACCEPT, "authorization": token}
        answer = agents.http.post("/mcp", json=LIST, headers=sent)
        assert answer.status_code == 401, answer.text
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith("Bearer ")
        assert ('error="invalid_token"' in challenge) == (token is not None)
        place = challenge.partition('resource_metadata="')[2].partition('"')[0]
        assert place == f"{agents.service.url}/.well-known/oauth-protected-resource/mcp"
        metadata = agents.http.get(place).json()
        assert metadata["resource"] == f"{agents.service.url}/mcp"
        assert metadata["authorization_servers"] == [agents.service.url]
        configuration = agents.http.get("/.well-known/openid-configuration").json()
        assert configuration["issuer"] in metadata["authorization_servers"]


def test_each_request_has_the_rights_of_its_own_token(agents: Agents) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool("search_promotions", {})

    assert not connected(agents, work, **bearer(agents)).is_error
    assert "MISSING_SCOPE" in connected(agents, work, **bearer(agents, "till")).content[1].text
    theirs = connected(agents, work, **bearer(agents, "stranger")).structured_content
    ours = connected(agents, work, **bearer(agents)).structured_content
    assert not {one["ID"] for one in theirs["promotions"]} & {one["ID"] for one in ours["promotions"]}


def test_the_trail_names_the_agent_of_a_request(agents: Agents) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool("write_draft", {"document": f"code: {agents.unique('D')}\nname: Empty\n"})

    for more, name in (({}, "mcp"), ({"promenade-agent": "planner 7"}, "planner 7")):
        made = connected(agents, work, **bearer(agents, **more)).structured_content
        asked = f"AuditLogs?$filter=ownerId eq '{made['promotionId']}'"
        (entry,) = agents.read(asked, client="admin")["value"]
        assert (entry["actor"], entry["agent"]) == ("promoter", name)


def told(answer: httpx2.Response) -> tuple[int, str]:
    assert answer.headers["content-type"].startswith("application/"), answer.text
    body = answer.json()
    return answer.status_code, body.get("error", body)["code"]


def test_what_is_no_message_of_the_protocol_is_refused(agents: Agents) -> None:
    sent = {**ACCEPT, **bearer(agents)["headers"]}
    for method in ("GET", "DELETE", "PUT"):
        answer = agents.http.request(method, "/mcp", headers=sent)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert told(agents.http.post("/mcp", content=b"x" * (1024 * 1024 + 1), headers=sent)) == (413, "BODY_TOO_LARGE")
    form = {**sent, "content-type": "text/plain"}
    assert told(agents.http.post("/mcp", json=LIST, headers=form)) == (415, "UNSUPPORTED_MEDIA_TYPE")
    wrong: list[Any] = [[], [LIST], [LIST, LIST], None, 5, "x", {}, {**LIST, "method": 5}, {**LIST, "id": None}]
    wrong += [{**LIST, "id": 1.5}, {**LIST, "id": True}, {**LIST, "jsonrpc": "1.0"}, {**LIST, "params": [1]}]
    wrong += [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    bodies = [b"{", b"", b"\xff", b"[" * 100_000, *(json.dumps(one).encode() for one in wrong)]
    for body in bodies:
        assert told(agents.http.post("/mcp", content=body, headers=sent)) == (400, "BAD_MESSAGE"), body[:80]
    call = {**LIST, "method": "tools/call", "params": {"name": 5, "arguments": "secret words"}}
    answer = agents.http.post("/mcp", json=call, headers=sent)
    assert "pydantic" not in answer.text
    assert "secret" not in answer.text
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert agents.http.post("/mcp", json=notice, headers=sent).status_code == 202
    foreign = {**sent, "origin": "https://evil.example"}
    assert agents.http.post("/mcp", json=LIST, headers=foreign).status_code == 403
    assert agents.http.post("/mcp/x", json=LIST, headers=sent).status_code == 405
    answer = agents.http.post("/mcp", json=LIST, headers=sent)
    assert answer.status_code == 200
    assert answer.headers["x-correlation-id"]


def test_an_agent_works_over_the_network(server: Served, databases: Databases) -> None:
    database_url = databases.create("sqlite")
    run(furnish(database_url))
    service = server("--database-url", database_url, "--mcp")
    provider = ClientCredentialsOAuthProvider(
        f"{service.url}/mcp", Memory(), "promoter", SECRET, "client_secret_basic", issuer=service.url
    )

    async def work() -> list[Any]:
        async with (
            httpx2.AsyncClient(auth=provider, timeout=60) as http,
            Client(streamable_http_client(f"{service.url}/mcp", http_client=http)) as client,
        ):
            # Several at once: each request is answered on its own.
            return await asyncio.gather(*(client.call_tool("search_promotions", {}) for _ in range(4)))

    answers = asyncio.run(work())
    assert [one.structured_content["total"] for one in answers] == [1] * 4
    said = [line for line in service.output().splitlines() if "event=agent.called" in line]
    assert len(said) == 4, service.output()
    for field in ("tool=search_promotions", "agent=mcp", f"tenant={OWN}", "user=promoter"):
        assert field in said[0]


def test_a_persons_token_of_an_outside_issuer_is_taken_like_everywhere(databases: Databases, tmp_path: Path) -> None:
    database_url = databases.create("sqlite")
    run(furnish(database_url))
    clock, rsa = MovedClock(tmp_path / "clock"), new_rsa("rsa-1")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "who_am_i", "arguments": {}}}
    with KeyServer(rsa) as keys:
        trust: dict[str, Any] = {"jwks_url": keys.url, "issuer": ISSUER, "audience": AUDIENCE, "mcp": True}
        with InProcess(database_url, clock=clock, has_worker=False, **trust) as service, service.client() as http:
            house = Trusting(http, keys, clock, rsa, new_ec("ec-1"))
            told = http.get("/.well-known/oauth-protected-resource/mcp").json()
            assert told["authorization_servers"] == [ISSUER]

            def ask(**claims: Any) -> httpx2.Response:
                token = house.token(**{"zid": OWN, "sub": "rosa", "scope": "svc.PromotionManager", **claims})
                return http.post("/mcp", json=call, headers={**ACCEPT, "authorization": f"Bearer {token}"})

            assert ask().json()["result"]["structuredContent"]["user"] == "rosa"
            for wrong in ({"aud": "another service"}, {"iss": "https://evil.example"}, {"exp": 1}):
                assert ask(**wrong).status_code == 401, wrong
            assert ask(zid="nobody's").status_code == 403
    databases.drop(database_url)


@pytest.mark.parametrize(("values", "said"), [({"edition": "local-store"}, "for the cloud")])
def test_it_is_refused_where_it_cannot_work(values: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Settings(mcp=True, **values)


def test_without_the_package_the_server_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install '\.\[mcp\]'"):
        Settings(mcp=True)


def test_agents_have_no_tools_unless_the_operator_says_so(databases: Databases) -> None:
    database_url = databases.create("sqlite")
    run(furnish(database_url))
    with InProcess(database_url, has_worker=False) as service, service.client() as http:
        assert http.post("/mcp", json=LIST, headers=ACCEPT).status_code == 404
        assert http.get("/.well-known/oauth-protected-resource/mcp").status_code == 404
    databases.drop(database_url)
