"""An identity provider on its own port: login page, code and PKCE, tokens by RS256 or ES256, logout.

It is as strict as the standards require: a code can be used once, the verifier, the address and the client must match,
and only the token endpoint allows other origins.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from tests.kit.code_flow import challenge_of

__all__ = ["IdentityProvider"]

CLIENT = "back-office-at-issuer"
_FORM = b"""<!DOCTYPE html><html lang="en"><head><title>Provider</title><link rel="icon" href="data:,"></head>
<body><h1>Provider</h1>
<form method="post"><label>Name <input name="name"></label><button>Log in</button></form></body></html>"""


class IdentityProvider:
    """Logs anybody in under the name they enter. ``claims`` are added to the usual claims of access tokens."""

    def __init__(self, key: RSAKey | ECKey) -> None:
        self.key = key
        self.claims: dict[str, Any] = {}
        self.audience = "promenade"
        self.discovery: dict[str, Any] = {}  # additions to the discovery document
        self.is_down = False
        self.names_itself = True
        self.asked: list[dict[str, str]] = []  # forms received by the token endpoint
        self.refused: list[str] = []
        self.left: list[dict[str, str]] = []  # parameters of each logout request
        self._codes: dict[str, dict[str, str]] = {}
        owner = self

        class Handler(_Handler):
            provider = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def options(self) -> tuple[str, ...]:
        """Return the options of `promenade serve` for this provider."""
        return ("--jwks-url", f"{self.url}/keys", "--issuer", self.url, "--login-client-id", CLIENT)

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/login?realm=retail",
            "token_endpoint": f"{self.url}/token",
            "end_session_endpoint": f"{self.url}/logout",
            "jwks_uri": f"{self.url}/keys",
            "authorization_response_iss_parameter_supported": self.names_itself,
            **self.discovery,
        }

    def code(self, asked: dict[str, str], name: str) -> str:
        code = secrets.token_urlsafe(16)
        self._codes[code] = {**asked, "name": name}
        return code

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Return the token endpoint's response to a form."""
        self.asked.append(form)
        made = self._codes.pop(form.get("code", ""), None)
        fits = made is not None and (
            form.get("client_id") == made["client_id"] == CLIENT
            and form.get("redirect_uri") == made["redirect_uri"]
            and challenge_of(form.get("code_verifier", "")) == made["code_challenge"]
        )
        if made is None or not fits:
            self.refused.append(form.get("code_verifier", ""))
            return 400, {"error": "invalid_grant", "error_description": "That code is not yours."}
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": self.audience,
            "sub": made["name"],
            "azp": CLIENT,
            "iat": now,
            "exp": now + 900,
        }
        head = {"alg": "RS256" if isinstance(self.key, RSAKey) else "ES256", "kid": self.key.kid}
        access = jwt.encode(head, {**usual, **self.claims}, self.key, algorithms=["RS256", "ES256"])
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 900, "id_token": "id-of-the-person"}


class _Handler(BaseHTTPRequestHandler):
    provider: IdentityProvider

    def do_GET(self) -> None:
        owner, where = self.provider, urlsplit(self.path)
        query = dict(parse_qsl(where.query))
        if owner.is_down:
            self._answer(503, b"{}")
        elif where.path == "/.well-known/openid-configuration":
            self._answer(200, json.dumps(owner.document()).encode())
        elif where.path == "/keys":
            self._answer(200, json.dumps({"keys": [owner.key.as_dict(private=False)]}).encode())
        elif where.path == "/login":
            self._answer(200, _FORM, {"content-type": "text/html"})
        elif where.path == "/logout":
            owner.left.append(query)
            self._answer(303, b"", {"location": query["post_logout_redirect_uri"]})
        else:
            self._answer(404, b"{}")

    def do_POST(self) -> None:
        owner, where = self.provider, urlsplit(self.path)
        form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
        if where.path == "/token":
            status, told = owner.token(form)
            self._answer(status, json.dumps(told).encode(), {"access-control-allow-origin": "*"})
            return
        asked = dict(parse_qsl(where.query))
        answer = {"code": owner.code(asked, form["name"]), "state": asked["state"]}
        if owner.names_itself:
            answer["iss"] = owner.url
        self._answer(303, b"", {"location": f"{asked['redirect_uri']}?{urlencode(answer)}"})

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
