"""A client of a served interface: one token per client, JSON requests and responses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import httpx2

__all__ = ["SECRET", "ApiClient"]

SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
"""The secret of every client that tests make."""


@dataclass(kw_only=True)
class ApiClient:
    """A client of the service that can act as any client created with `SECRET`.

    Paths are relative to ``root``; those that begin with a slash are relative to the host. ``usual`` is the default
    client.
    """

    root: ClassVar[str]
    usual: ClassVar[str]
    http: httpx2.Client
    tokens: dict[str, str] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def token(self, client: str) -> str:
        if client not in self.tokens:
            form = {"grant_type": "client_credentials", "client_id": client, "client_secret": SECRET}
            answer = self.http.post("/oauth/token", data=form)
            assert answer.status_code == 200, answer.text
            self.tokens[client] = answer.json()["access_token"]
        return self.tokens[client]

    def call(
        self, method: str, path: str, body: Any = None, *, client: str | None = "", **headers: str
    ) -> httpx2.Response:
        """Send one request; ``body`` is sent as JSON unless it is bytes, ``headers`` have underscores for dashes.

        ``client``: None sends no token.
        """
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if client is not None:
            sent["authorization"] = f"Bearer {self.token(client or self.usual)}"
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if content is not None:
            sent.setdefault("content-type", "application/json")
        address = path if path.startswith("/") else f"{self.root}/{path}".removesuffix("/")
        return self.http.request(method, address, content=content, headers=sent)

    def get(self, path: str, **how: Any) -> httpx2.Response:
        return self.call("GET", path, **how)

    def read(self, path: str, **how: Any) -> Any:
        """Return the body of a GET that must succeed."""
        answer = self.get(path, **how)
        assert answer.status_code == 200, f"GET {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def post(self, path: str, body: Any = None, **how: Any) -> httpx2.Response:
        return self.call("POST", path, {} if body is None else body, **how)

    def patch(self, path: str, body: Any, **how: Any) -> httpx2.Response:
        return self.call("PATCH", path, body, **how)

    def delete(self, path: str, **how: Any) -> httpx2.Response:
        return self.call("DELETE", path, **how)

    def make(self, set_name: str, *, client: str = "", **values: Any) -> dict[str, Any]:
        """Create a row and return it as the response shows it."""
        answer = self.post(set_name, values, client=client)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def unique(self, prefix: str = "c") -> str:
        """Return a code that no other row has."""
        return f"{prefix}-{next(self._numbers)}"
