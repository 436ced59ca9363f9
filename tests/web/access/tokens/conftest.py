"""A service that trusts an external issuer, with a clock that tests move."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from joserfc.jwk import ECKey, RSAKey

from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.kit.moved_clock import MovedClock
from tests.kit.tenants import make_tenants
from tests.web.access.tokens.issuer import AUDIENCE, ISSUER, KeyServer, compact, new_ec, new_rsa
from tests.web.conftest import TENANT, basket, furnish, run


@dataclass
class Trusting:
    """A service and its trusted issuer: `rsa` and `ec` are the issuer's keys."""

    http: httpx2.Client
    keys: KeyServer
    clock: MovedClock
    rsa: RSAKey
    ec: ECKey

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of a good token with changes; None removes a claim."""
        now = int(self.clock().timestamp())
        made = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "till-7",
            "zid": TENANT,
            "scope": "svc.POSReader",
            "iat": now,
            "nbf": now,
            "exp": now + 600,
        }
        return {name: value for name, value in {**made, **changes}.items() if value is not None}

    def token(self, key: RSAKey | ECKey | None = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """Return a token signed by ``key``, by default `rsa`."""
        key = key or self.rsa
        algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
        head = {"alg": algorithm, "kid": key.kid, **(header or {})}
        return compact(head, self.claims(**changes), key, algorithm)

    def price(self, token: str | bytes, **how: Any) -> httpx2.Response:
        """Price a basket with this token."""
        bearer = b"Bearer " + (token if isinstance(token, bytes) else token.encode("latin-1"))
        headers = [(b"authorization", bearer), (b"content-type", b"application/json")]
        return self.http.post("/pos/v2/simulate", content=json.dumps(basket()), headers=headers, **how)

    def status(self, token: str | bytes) -> int:
        """Return the status for this token."""
        return self.price(token).status_code

    def refuses(self, token: str) -> bool:
        """Return whether the token is eventually refused: while keys are reread, answers stay as before."""
        while (status := self.status(token)) == 200:  # the test's own timeout is the bound
            pass
        return status == 401

    def know_its_issuer(self) -> None:
        """Make the service load the issuer's two keys, whatever earlier tests made it read.

        Afterwards it may look for other keys immediately.
        """
        self.keys.keys, self.keys.answers = [self.rsa, self.ec], None
        self.clock.move(seconds=301)
        assert self.status(self.token(new_ec("nobody's"))) == 401  # which makes the service read the keys to the end
        assert self.status(self.token()) == 200
        self.clock.move(seconds=31)


@pytest.fixture(scope="package")
def serving(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusting]:
    """Serve in this process, once for all tests of this package."""
    database_url = databases.create("sqlite")
    make_tenants(database_url, TENANT)
    run(furnish(database_url))
    clock, rsa, ec = MovedClock(tmp_path_factory.mktemp("clock") / "clock"), new_rsa("rsa-1"), new_ec("ec-1")
    with KeyServer(rsa, ec) as keys:
        trust: dict[str, Any] = {"jwks_url": keys.url, "issuer": ISSUER, "audience": AUDIENCE}
        with InProcess(database_url, clock=clock, **trust) as service, service.client() as http:
            yield Trusting(http, keys, clock, rsa, ec)
    databases.drop(database_url)


@pytest.fixture
def trusting(serving: Trusting) -> Trusting:
    """Return a service that knows its issuer's two keys and may look for others immediately."""
    serving.know_its_issuer()
    return serving
