"""Routing of requests to endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from promenade.web.http.endpoint import Endpoint, not_found

Served = tuple[Sequence[Endpoint], Mapping[str, ASGIApp]]
"""Endpoints, and the services that have everything at and below their paths, see `routed`."""


def routed(endpoints: Sequence[Endpoint], services: Mapping[str, ASGIApp]) -> ASGIApp:
    """Route each request to its endpoint; a path without parameters, as tills use, needs a single look-up.

    A request that matches no endpoint goes to the first of ``services`` whose root is the path or above it.
    """
    exact: dict[str, ASGIApp] = {endpoint.route: endpoint for endpoint in endpoints if "{" not in endpoint.route}
    routes = [
        Route(endpoint.route, endpoint, include_in_schema=False)
        for endpoint in endpoints
        if endpoint.route not in exact
    ]

    async def below(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        found = [one for root, one in services.items() if path == root or path.startswith(f"{root}/")]
        await (found[0] if found else not_found)(scope, receive, send)

    router = Router(routes=routes, default=below, redirect_slashes=False)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        await exact.get(scope["path"], router)(scope, receive, send)

    return route


class Later:
    """An application that ``make`` imports and builds on its first request.

    This happens in a thread, so that other requests, above all those of tills, are served meanwhile.
    """

    def __init__(self, make: Callable[[], Served]) -> None:
        self._make = make
        self._made: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        made = self._made or await self._put_together()
        await made(scope, receive, send)

    async def _put_together(self) -> ASGIApp:
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(lambda: routed(*self._make()))
            return self._made
