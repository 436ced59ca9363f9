"""Tokens that must be refused and tokens that must be accepted (reliability S4)."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from tests.kit.service import Service
from tests.web.conftest import TENANT, Shop, basket, fault

ISSUER = "https://issuer.example"
AUDIENCE = "tills"


class KeyServer:
    """An issuer's JWKS endpoint that counts its requests."""

    def __init__(self) -> None:
        self.keys: list[dict[str, Any]] = []
        self.asked = 0
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked += 1
                body = json.dumps({"keys": owner.keys}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/keys"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class External:
    """The shop behind an external issuer: `rsa` and `ec` are trusted, `evil` is not."""

    def __init__(self, service: Service, keys: KeyServer) -> None:
        self.service = service
        self.keys = keys
        self.rsa = RSAKey.generate_key(2048, {"kid": "rsa-1"}, private=True)
        self.ec = ECKey.generate_key("P-256", {"kid": "ec-1"}, private=True)
        with warnings.catch_warnings(action="ignore"):
            self.weak = RSAKey.generate_key(1024, {"kid": "weak-1"}, private=True)
        keys.keys = [key.as_dict(private=False) for key in (self.rsa, self.ec, self.weak)]
        keys.keys.append({"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "oct-1", "alg": "HS256"})

    def price(self, token: str) -> httpx2.Response:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        return httpx2.post(
            f"{self.service.url}/pos/v2/simulate", content=json.dumps(basket()), headers=headers, timeout=60
        )


@pytest.fixture(scope="module")
def external(shop: Shop, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[External]:
    keys = KeyServer()
    options = ("--jwks-url", keys.url, "--issuer", ISSUER, "--audience", AUDIENCE)
    database_url = shop.copied_database(tmp_path_factory.mktemp("external"))
    service = Service(logs / "external.log", "--database-url", database_url, *options)
    made = External(service, keys)
    service.start()
    yield made
    service.kill()
    keys.close()


def claims(**changes: Any) -> dict[str, Any]:
    """Return the claims of a good token with changes; None removes a claim, times are seconds from now."""
    now = int(time.time())
    made = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "till-7",
        "zid": TENANT,
        "scope": "svc.POSReader",
        "nbf": now,
        "exp": now + 600,
    }
    made.update(changes)
    for name in ("exp", "nbf"):
        if isinstance(changes.get(name), int):
            made[name] = now + changes[name]
    return {name: value for name, value in made.items() if value is not None}


def signed(key: RSAKey | ECKey, algorithm: str = "RS256", header: dict[str, Any] | None = None, **changes: Any) -> str:
    head = {"alg": algorithm, "kid": key.kid, **(header or {})}
    return jwt.encode(head, claims(**changes), key, algorithms=[algorithm])


def test_keys_of_the_jwks_address_are_trusted(external: External) -> None:
    assert external.price(signed(external.rsa)).status_code == 200
    assert external.price(signed(external.ec, "ES256")).status_code == 200


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"exp": -60}, 401),
        ({"exp": -10}, 200),  # within the leeway
        ({"exp": None}, 401),
        ({"exp": "never"}, 401),
        ({"nbf": 3600}, 401),
        ({"iss": "https://evil.example"}, 401),
        ({"iss": None}, 401),
        ({"aud": "others"}, 401),
        ({"aud": None}, 401),
        ({"aud": ["others", AUDIENCE]}, 200),
        ({"zid": None}, 403),
        ({"zid": None, "tenant": TENANT}, 200),
        ({"zid": "unknown"}, 403),
        ({"zid": "unknown", "tenant": TENANT}, 403),
        ({"scope": None}, 403),
        ({"scope": "svc.PromotionManager PublicApi.Read"}, 403),
        ({"scope": "svc.posreader"}, 403),
        ({"scope": ["svc.POSReader"]}, 200),
        ({"scope": "openid svc.Admin"}, 200),
        ({"scope": "myapp!t1.svc.POSReader"}, 200),
        ({"scope": ["myapp.svc.Admin"]}, 200),
        ({"scope": "myapp!t1.svc.POSReaderX"}, 403),
        ({"scope": {"svc.POSReader": True}}, 403),
    ],
    ids=str,
)
def test_the_claims_decide_whether_a_token_is_accepted(
    external: External, changes: dict[str, Any], status: int
) -> None:
    answer = external.price(signed(external.rsa, **changes))
    assert answer.status_code == status, answer.text
    if status == 401:
        assert fault(answer)[1] == "UNAUTHORIZED"
        assert answer.headers["www-authenticate"] == 'Bearer realm="promenade", error="invalid_token"'


def part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_without_a_signature_is_refused(external: External) -> None:
    for algorithm in ("none", "None", "NONE", ""):
        unsigned = f"{part({'alg': algorithm, 'kid': 'rsa-1'})}.{part(claims())}."
        assert external.price(unsigned).status_code == 401


def test_a_public_key_is_not_accepted_as_a_shared_secret(external: External) -> None:
    for secret in (external.rsa.as_pem(private=False), external.rsa.as_der(private=False)):
        text = f"{part({'alg': 'HS256', 'kid': 'rsa-1'})}.{part(claims())}"
        mac = base64.urlsafe_b64encode(hmac.digest(secret, text.encode(), "sha256")).rstrip(b"=").decode()
        assert external.price(f"{text}.{mac}").status_code == 401


def test_a_shared_secret_in_the_jwks_is_ignored(external: External) -> None:
    secret = OctKey.import_key({"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"})
    forged = jwt.encode({"alg": "HS256", "kid": "oct-1"}, claims(), secret, algorithms=["HS256"])
    assert external.price(forged).status_code == 401


def test_short_rsa_keys_are_ignored(external: External) -> None:
    assert external.price(signed(external.weak)).status_code == 401


@pytest.mark.parametrize("algorithm", ["RS384", "RS512", "PS256"])
def test_other_algorithms_are_refused(external: External, algorithm: str) -> None:
    assert external.price(signed(external.rsa, algorithm)).status_code == 401


def test_another_key_under_a_known_name_is_refused(external: External) -> None:
    evil = RSAKey.generate_key(2048, {"kid": "rsa-1"}, private=True)
    assert external.price(signed(evil)).status_code == 401


def test_keys_that_a_token_names_are_never_fetched(external: External) -> None:
    elsewhere = KeyServer()
    evil = RSAKey.generate_key(2048, {"kid": "evil-1"}, private=True)
    elsewhere.keys = [evil.as_dict(private=False)]
    try:
        for header in (
            {"jku": elsewhere.url},
            {"x5u": elsewhere.url},
            {"jwk": evil.as_dict(private=False)},
            {"jku": elsewhere.url, "kid": "rsa-1"},
        ):
            assert external.price(signed(evil, header=header)).status_code == 401
        assert elsewhere.asked == 0
    finally:
        elsewhere.close()


def test_unknown_key_ids_do_not_cause_a_flood_of_requests_to_the_issuer(external: External) -> None:
    external.price(signed(external.rsa))
    before = external.keys.asked
    for number in range(30):
        assert external.price(signed(external.rsa, header={"kid": f"unknown-{number}"})).status_code == 401
    assert external.keys.asked <= before + 1


@pytest.mark.parametrize("token", ["x", "a.b.c", "..", "a.b.c.d.e", "x" * 20_000, "eyJhbGciOiJSUzI1NiJ9.e30.x"])
def test_an_invalid_token_is_refused(external: External, token: str) -> None:
    assert external.price(token).status_code == 401


def test_a_token_changed_after_it_was_accepted_is_refused(external: External) -> None:
    good = signed(external.rsa)
    assert external.price(good).status_code == 200
    head, _, signature = good.split(".")
    assert external.price(f"{head}.{part(claims(zid='other'))}.{signature}").status_code == 401


def test_the_external_issuer_replaces_the_built_in_one(external: External) -> None:
    assert httpx2.post(f"{external.service.url}/oauth/token", timeout=60).status_code == 404


def test_without_a_token_the_answer_asks_for_one(shop: Shop) -> None:
    for headers in ({}, {"authorization": "Basic dXNlcjpwYXNz"}):
        answer = shop.http.post("/pos/v2/evaluate", headers=headers)
        assert fault(answer)[:2] == (401, "UNAUTHORIZED")
        assert answer.headers["www-authenticate"].startswith('Bearer realm="promenade"')


def test_roles_other_than_the_tills_do_not_price(shop: Shop) -> None:
    assert fault(shop.call("/pos/v2/evaluate", basket(), client="planner"))[:2] == (403, "MISSING_SCOPE")
    assert shop.call("/pos/v2/simulate", basket(), client="administrator").status_code == 200


@pytest.mark.parametrize(
    ("names", "user"),
    [
        ({"user_name": "ann"}, "ann"),
        ({"user_name": "\x00"}, "till-7"),
        ({"user_name": "a\nb"}, "till-7"),
        ({"user_name": "\ufeff", "sub": "", "client_id": "back-office"}, "back-office"),
    ],
    ids=ascii,
)
def test_user_names_are_printable_and_storable(external: External, names: dict[str, Any], user: str) -> None:
    """Every database must be able to store the name, and no user may be mistaken for another."""
    token = signed(external.rsa, **{"scope": "svc.Admin", **names})
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    made = httpx2.post(f"{external.service.url}/admin/Promotions", content="{}", headers=headers, timeout=60)
    assert (made.status_code, made.json()["createdBy"]) == (201, user)
