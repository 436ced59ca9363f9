"""The code flow as the back office goes through it, step by step, so that tests can put a foot wrong at each."""

from __future__ import annotations

import asyncio
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx2

from promenade.store.session import open_database
from promenade.workflows.clients import create_client
from promenade.workflows.tenants import create_tenant

__all__ = ["CLIENT", "Flow", "answered", "challenge_of", "make_clients", "new_verifier"]

CLIENT = "back-office"


def new_verifier() -> str:
    return secrets.token_urlsafe(32)


def challenge_of(verifier: str) -> str:
    """S256 of RFC 7636."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass
class Flow:
    """One sign-in at the server that ``http`` speaks to."""

    http: httpx2.Client
    state: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    verifier: str = field(default_factory=new_verifier)

    @property
    def home(self) -> str:
        return f"{str(self.http.base_url).rstrip('/')}/"

    def query(self, **changes: str | None) -> str:
        """What the page asks with; None leaves a parameter out."""
        asked: dict[str, str | None] = {
            "response_type": "code",
            "client_id": CLIENT,
            "redirect_uri": self.home,
            "state": self.state,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            **changes,
        }
        return urlencode({name: value for name, value in asked.items() if value is not None})

    def show(self, headers: Any = None, **changes: str | None) -> httpx2.Response:
        """The login page."""
        return self.http.get(f"/oauth/authorize?{self.query(**changes)}", headers=headers)

    def log_in(self, client_id: str, secret: str, /, headers: Any = None, **changes: str | None) -> httpx2.Response:
        """What sending the form leads to."""
        form = {"username": client_id, "password": secret}
        return self.http.post(f"/oauth/authorize?{self.query(**changes)}", data=form, headers=headers)

    def code(self, client_id: str, secret: str, **changes: str | None) -> str:
        """The code of a login that succeeds."""
        answer = self.log_in(client_id, secret, **changes)
        assert answer.status_code == 303, answer.text
        return answered(answer)["code"]

    def redeem(self, code: str, /, headers: Any = None, **changes: str | None) -> httpx2.Response:
        """What the token endpoint says to a code."""
        asked: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "client_id": CLIENT,
            "code": code,
            "redirect_uri": self.home,
            "code_verifier": self.verifier,
            **changes,
        }
        form = {name: value for name, value in asked.items() if value is not None}
        return self.http.post("/oauth/token", data=form, headers=headers)


def answered(answer: httpx2.Response) -> dict[str, str]:
    """The parameters that a browser is led back with, each once."""
    query = urlsplit(answer.headers["location"]).query
    assert all(len(values) == 1 for values in parse_qs(query).values())
    return dict(parse_qsl(query))


def make_clients(
    database_url: str, tenant: str, scopes: Mapping[str, Sequence[str]], *, is_new: bool = True
) -> dict[str, tuple[str, str]]:
    """Clients by role, ID and secret, of a tenant that is made, too; at one go, as programs take a second each."""
    clients = {role: (f"{role}-{secrets.token_hex(4)}", secrets.token_urlsafe(32)) for role in scopes}

    async def make() -> None:
        database = await open_database(database_url)
        at = datetime.now(UTC)
        try:
            if is_new:
                await create_tenant(database, tenant, settings={}, at=at, user="tests")
            for role, (client_id, secret) in clients.items():
                given = {"client_id": client_id, "secret": secret, "scopes": scopes[role]}
                await create_client(database, tenant_id=tenant, at=at, **given)  # type: ignore[arg-type]
        finally:
            await database.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, make()).result()
    return clients
