"""Which endpoint a request is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from promenade.web.endpoint import Endpoint, not_found

__all__ = ["routed"]


def routed(endpoints: Sequence[Endpoint], services: Mapping[str, ASGIApp]) -> ASGIApp:
    """Lead each request to its endpoint: a path without parameters, every till's, by one look-up.

    Where no endpoint is meant, ``services`` have everything at and below their paths.
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
