"""The tools over standard input and output, for an agent on somebody's own machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx2
from mcp.server.stdio import stdio_server

from promenade.errors import Unauthorized, Unavailable
from promenade.web.agents.server import make_server
from promenade.web.agents.service import Credential, Service

__all__ = ["ClientSecret", "GivenToken", "serve_stdio"]

_SECONDS = 60.0
_EARLIER_SECONDS = 60.0  # than it expires, a token is replaced


class GivenToken:
    """A token that somebody else has got, and that ends when it ends."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def authorization(self, http: httpx2.AsyncClient, *, is_refused: bool) -> str | None:
        """Return the header; there is no other token."""
        return None if is_refused else f"Bearer {self._token}"


class ClientSecret:
    """Tokens that the service's own issuer gives to a client for its secret."""

    def __init__(self, client_id: str, secret: str, seconds: Callable[[], float] = time.monotonic) -> None:
        self._client_id = client_id
        self._secret = secret
        self._seconds = seconds
        self._token, self._until = "", 0.0

    async def authorization(self, http: httpx2.AsyncClient, *, is_refused: bool) -> str | None:
        """Return the header, with a new token if there is none that is valid.

        Raises Unauthorized (UNAUTHORIZED) for a wrong secret, and Unavailable (SERVICE_FAILED).
        """
        if is_refused or not self._token or self._seconds() >= self._until:
            form = {"grant_type": "client_credentials", "client_id": self._client_id, "client_secret": self._secret}
            answer = await http.post("/oauth/token", data=form)
            if answer.status_code == 401:
                raise Unauthorized("UNAUTHORIZED", "The client ID or the secret is wrong.")
            if answer.status_code != 200:
                raise Unavailable("SERVICE_FAILED", f"The issuer of tokens answers {answer.status_code}.")
            given: dict[str, Any] = answer.json()
            self._token = str(given["access_token"])
            self._until = self._seconds() + int(given["expires_in"]) - _EARLIER_SECONDS
        return f"Bearer {self._token}"


async def serve_stdio(url: str, credential: Credential, agent: str) -> None:
    """Serve the tools of the service at ``url`` until standard input ends."""
    async with httpx2.AsyncClient(base_url=url, timeout=_SECONDS, follow_redirects=False) as http:
        server = make_server(Service(http, credential, agent))
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())
