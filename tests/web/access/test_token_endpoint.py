"""The built-in issuer as OAuth clients see it (RFC 6749, 4.4)."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.kit.contents import contents
from tests.kit.service import promenade
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, ServedShop, Shop, basket

GRANT = {"grant_type": "client_credentials"}


def ask(shop: Shop, **form: str) -> httpx2.Response:
    return shop.http.post("/oauth/token", data=form)


def credentials(shop: Shop, client: str = "till") -> dict[str, str]:
    client_id, secret = shop.clients[client]
    return {"client_id": client_id, "client_secret": secret}


def test_a_client_gets_a_token_for_four_hours(shop: Shop) -> None:
    answer = ask(shop, **GRANT, **credentials(shop))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert set(body) == {"access_token", "token_type", "expires_in", "scope"}
    assert (body["token_type"], body["expires_in"], body["scope"]) == ("bearer", 14_400, "svc.POSReader")


def test_the_published_keys_verify_the_token(shop: Shop) -> None:
    discovery = shop.http.get("/.well-known/openid-configuration").json()
    assert discovery["issuer"] == shop.url
    published = httpx2.get(discovery["jwks_uri"], timeout=60).json()
    assert all(set(key) & {"d", "p", "q"} == set() for key in published["keys"])
    token = jwt.decode(shop.token(), KeySet.import_key_set(published), algorithms=["RS256"])
    assert token.claims["iss"] == shop.url
    assert token.claims["aud"] == "promenade"
    assert token.claims["zid"] == TENANT
    assert token.claims["exp"] - token.claims["iat"] == 14_400


def test_keys_that_sign_are_worth_128_bits(shop: Shop) -> None:
    shop.token()
    for key in shop.http.get("/.well-known/jwks.json").json()["keys"]:
        modulus = base64.urlsafe_b64decode(key["n"] + "=" * (-len(key["n"]) % 4))
        assert (key["kty"], int.from_bytes(modulus, "big").bit_length()) == ("RSA", 3072)  # NIST SP 800-57, table 2


def test_the_secret_may_come_by_basic(shop: Shop) -> None:
    pair = ":".join(shop.clients["till"]).encode()
    headers = {"authorization": "Basic " + base64.b64encode(pair).decode()}
    assert shop.http.post("/oauth/token", data=GRANT, headers=headers).status_code == 200
    twice = shop.http.post("/oauth/token", data={**GRANT, **credentials(shop)}, headers=headers)
    assert (twice.status_code, twice.json()["error"]) == (400, "invalid_request")


def test_a_client_may_request_some_of_its_scopes(shop: Shop) -> None:
    part = ask(shop, **GRANT, **credentials(shop, "planner"), scope="PublicApi.Read")
    assert part.json()["scope"] == "PublicApi.Read"
    more = ask(shop, **GRANT, **credentials(shop), scope="svc.POSReader svc.Admin")
    assert (more.status_code, more.json()["error"]) == (400, "invalid_scope")


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({}, 400, "invalid_request"),
        ({"grant_type": "client_credentials"}, 401, "invalid_client"),
        ({"client_id": "x", "client_secret": "y"}, 400, "invalid_request"),
        ({"grant_type": "password", "client_id": "x", "client_secret": "y"}, 400, "unsupported_grant_type"),
        ({"grant_type": "client_credentials", "client_id": "nobody", "client_secret": "y"}, 401, "invalid_client"),
        ({"grant_type": "client_credentials", "client_id": "a\0b", "client_secret": "y"}, 401, "invalid_client"),
    ],
    ids=str,
)
def test_refusals_use_the_error_codes_of_the_standard(
    shop: Shop, form: dict[str, str], status: int, error: str
) -> None:
    answer = ask(shop, **form)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


@pytest.mark.parametrize("body", [b'{"grant_type":"client_credentials"}', b"\xff\xfe=1", b"a=1&a=2", b"x" * 20_000])
def test_a_body_that_is_not_a_form_is_refused(shop: Shop, body: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = shop.http.post("/oauth/token", content=body, headers=headers)
    assert answer.status_code in {400, 401, 413}
    assert set(answer.json()) == {"error", "error_description"}


def test_guessing_is_slowed_down_and_the_right_secret_always_passes(shop: Shop) -> None:
    client_id, secret = make_clients(shop.database_url, TENANT, {"guessed": ("svc.POSReader",)})["guessed"]
    form: dict[str, Any] = {**GRANT, "client_id": client_id}
    statuses = [ask(shop, **form, client_secret=f"guess-{number}").status_code for number in range(11)]
    assert statuses == [401] * 10 + [429]
    wrong = ask(shop, **form, client_secret="guess")
    assert wrong.status_code == 429
    assert int(wrong.headers["retry-after"]) > 0
    assert ask(shop, **form, client_secret=secret).status_code == 200  # nobody can lock a client out
    assert ask(shop, **GRANT, **credentials(shop)).status_code == 200  # others are not affected


def test_a_client_gets_tokens_by_both_secrets_after_a_rotation_and_none_when_it_is_removed(shop: Shop) -> None:
    at = ("--database-url", shop.database_url)
    made = json.loads(promenade("client", "create", "--tenant", TENANT, "--scope", "svc.POSReader", "--json", *at))
    client_id, secret = made["clientId"], made["clientSecret"]
    assert ask(shop, **GRANT, client_id=client_id, client_secret=secret).status_code == 200
    rotated = json.loads(promenade("client", "rotate", client_id, "--json", *at))
    assert set(rotated) == {"clientId", "clientSecret", "formerUntil"}
    for one in (secret, rotated["clientSecret"]):
        assert ask(shop, **GRANT, client_id=client_id, client_secret=one).status_code == 200
    promenade("client", "delete", client_id, *at)
    assert ask(shop, **GRANT, client_id=client_id, client_secret=secret).status_code == 401


def test_secrets_are_not_kept(shop: Shop) -> None:
    kept = contents(shop.database_url)
    for client_id, secret in shop.clients.values():
        assert client_id in kept
        assert secret not in kept


def test_a_token_outlives_a_restart_of_the_service(shop: ServedShop) -> None:
    token = shop.token()
    shop.service.stop()
    shop.service.restart()
    assert shop.token() == token
    assert shop.call("/pos/v2/simulate", basket()).status_code == 200


def test_a_form_over_sixteen_kibibytes_is_too_large(shop: Shop) -> None:
    answer = ask(shop, **GRANT, **credentials(shop), padding="x" * 16_384)
    assert answer.status_code == 413
    assert answer.json() == {"error": "invalid_request", "error_description": "The body exceeds 16 KiB."}
