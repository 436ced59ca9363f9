"""The code flow as the back office performs it, step by step, so that tests can make a mistake at each step."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx2

__all__ = ["CLIENT", "Flow", "answered", "challenge_of", "new_verifier"]

CLIENT = "back-office"


def new_verifier() -> str:
    return secrets.token_urlsafe(32)


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of RFC 7636."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass
class Flow:
    """One sign-in at the server that ``http`` calls."""

    http: httpx2.Client
    state: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    verifier: str = field(default_factory=new_verifier)

    @property
    def home(self) -> str:
        return f"{str(self.http.base_url).rstrip('/')}/"

    def query(self, **changes: str | None) -> str:
        """Return the query parameters of the login page; None leaves a parameter out."""
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
        """Request the login page."""
        return self.http.get(f"/oauth/authorize?{self.query(**changes)}", headers=headers)

    def log_in(self, client_id: str, secret: str, /, headers: Any = None, **changes: str | None) -> httpx2.Response:
        """Submit the login form and return the response."""
        form = {"username": client_id, "password": secret}
        return self.http.post(f"/oauth/authorize?{self.query(**changes)}", data=form, headers=headers)

    def code(self, client_id: str, secret: str, **changes: str | None) -> str:
        """Return the code of a successful login."""
        answer = self.log_in(client_id, secret, **changes)
        assert answer.status_code == 303, answer.text
        return answered(answer)["code"]

    def redeem(self, code: str, /, headers: Any = None, **changes: str | None) -> httpx2.Response:
        """Redeem a code at the token endpoint and return the response."""
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
    """Return the parameters of the redirect; each must occur once."""
    query = urlsplit(answer.headers["location"]).query
    assert all(len(values) == 1 for values in parse_qs(query).values())
    return dict(parse_qsl(query))
