"""A service that trusts an issuer elsewhere, with a clock that tests move."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc.jwk import ECKey, RSAKey

from tests.kit.databases import Databases
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service, promenade
from tests.web.conftest import TENANT, basket, furnish, run
from tests.web.tokens.issuer import AUDIENCE, ISSUER, KeyServer, compact, new_ec, new_rsa


@dataclass
class Trusting:
    """A service and the issuer it trusts: `rsa` and `ec` are the issuer's keys."""

    http: httpx2.Client
    keys: KeyServer
    clock: MovedClock
    rsa: RSAKey
    ec: ECKey

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a good token, changed: None leaves one out."""
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
        """A token signed by ``key``, which is `rsa` unless it is said."""
        key = key or self.rsa
        algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
        head = {"alg": algorithm, "kid": key.kid, **(header or {})}
        return compact(head, self.claims(**changes), key, algorithm)

    def price(self, token: str | bytes, **how: Any) -> httpx2.Response:
        """What the service says to a basket with this token."""
        bearer = b"Bearer " + (token if isinstance(token, bytes) else token.encode("latin-1"))
        headers = [(b"authorization", bearer), (b"content-type", b"application/json")]
        return self.http.post("/pos/v2/simulate", content=json.dumps(basket()), headers=headers, **how)

    def status(self, token: str | bytes) -> int:
        """How it is answered."""
        return self.price(token).status_code

    def refuses(self, token: str) -> bool:
        """Whether it comes to that: who comes while keys are read, and that takes long, is answered as before."""
        while (status := self.status(token)) == 200:  # the test's own timeout is the bound
            pass
        return status == 401


@pytest.fixture(scope="package")
def serving(databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusting]:
    """Served once for all tests of this package."""
    database_url = databases.create("sqlite")
    promenade("tenant", "create", TENANT, "--database-url", database_url)
    run(furnish(database_url))
    clock_file = tmp_path_factory.mktemp("clock") / "clock"
    clock, rsa, ec = MovedClock(clock_file), new_rsa("rsa-1"), new_ec("ec-1")
    with KeyServer(rsa, ec) as keys:
        service = Service(
            logs / "trusting.log",
            *("--database-url", database_url, "--jwks-url", keys.url, "--issuer", ISSUER, "--audience", AUDIENCE),
            env={"CLOCK_FILE": str(clock_file)},
            command=(sys.executable, "-m", "tests.kit.moved_clock"),
        ).start()
        try:
            with httpx2.Client(base_url=service.url, timeout=30) as http:
                yield Trusting(http, keys, clock, rsa, ec)
        finally:
            service.kill()
            databases.drop(database_url)


@pytest.fixture
def trusting(serving: Trusting) -> Trusting:
    """The service, which knows its issuer's two keys and may look for others at once."""
    serving.keys.keys, serving.keys.answers = [serving.rsa, serving.ec], None
    serving.clock.move(seconds=301)
    assert serving.status(serving.token(new_ec("nobody's"))) == 401  # for which the keys are read to the end
    assert serving.status(serving.token()) == 200
    serving.clock.move(seconds=31)
    return serving
