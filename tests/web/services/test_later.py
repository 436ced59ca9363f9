"""Lazily built routes are built once, by the first request for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient
from starlette.types import Receive, Scope

from promenade.app import opened_context
from promenade.cli.console import prepare_database
from promenade.settings import Settings
from promenade.web.http.endpoint import Answer, Edge, Endpoint
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.routing import Later, Served, routed
from promenade.web.services.cloud import CloudService


@pytest.mark.parametrize(
    "tokens",
    [{}, {"jwks_url": "https://issuer.example/keys", "issuer": "https://issuer.example"}],
    ids=["own", "other"],
)
async def test_every_lazily_built_application_has_its_routes_below_its_path(
    tmp_path: Path, tokens: dict[str, str]
) -> None:
    settings = Settings(data_dir=tmp_path, **tokens)  # type: ignore[arg-type]
    await asyncio.to_thread(prepare_database, settings)
    async with opened_context(settings) as context:
        service = CloudService(context, settings, RateLimits(per_tenant=0, per_client=0))
        for make in service.later.values():
            endpoints, services = make()
            reached = {root for root, other in service.later.items() if other == make}
            routes = [endpoint.route for endpoint in endpoints]
            for route in [*routes, *services]:
                assert any(route == root or route.startswith(f"{root}/") for root in reached), route
        routes = [endpoint.route for endpoint in service.at_once]
        assert "/pos/v2/evaluate" in routes
        assert "/health" in routes


async def test_concurrent_first_requests_build_the_routes_once() -> None:
    made: list[int] = []

    async def answer(scope: Scope, receive: Receive) -> Answer:
        return Answer(b"{}")

    def make() -> Served:
        made.append(1)
        return [Endpoint("/late/here", {"GET": answer})], {}

    app = Edge(routed([], {"/late": Later(make)}), lambda: "id")
    async with AsyncClient(transport=ASGITransport(app), base_url="http://localhost") as client:
        assert not made
        found = await asyncio.gather(*(client.get("/late/here") for _ in range(5)), client.get("/late/there"))
    assert [one.status_code for one in found] == [200, 200, 200, 200, 200, 404]
    assert made == [1]


async def test_a_failed_build_of_routes_is_retried() -> None:
    made: list[int] = []

    async def answer(scope: Scope, receive: Receive) -> Answer:
        return Answer(b"{}")

    def make() -> Served:
        made.append(1)
        if len(made) == 1:
            raise OSError("no file could be opened")
        return [Endpoint("/late", {"GET": answer})], {}

    app = Edge(routed([], {"/late": Later(make)}), lambda: "id")
    async with AsyncClient(transport=ASGITransport(app), base_url="http://localhost") as client:
        assert [(await client.get("/late")).status_code for _ in range(3)] == [500, 200, 200]
