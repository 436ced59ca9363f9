"""The server's cache of an external issuer's sign-in metadata: read on demand, kept, and harmless when unavailable."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.errors import Unavailable
from promenade.settings import Settings, SettingsError
from promenade.web.access.fetching import FETCH_FAILURES, fetch_json
from promenade.web.access.sign_in import ExternalSignIn, SignIn
from tests.kit.processes import free_port
from tests.kit.service import Service

ISSUER = "https://login.example/realms/retail"
DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/auth",
    "token_endpoint": f"{ISSUER}/token",
}
OPTIONS: dict[str, Any] = {"jwks_url": f"{ISSUER}/keys", "issuer": ISSUER, "login_client_id": "office"}


class Issuer:
    """Answers with ``document``; if it is an exception, raises it."""

    def __init__(self, document: Any = DOCUMENT) -> None:
        self.document = document
        self.asked: list[str] = []
        self.answers = asyncio.Event()
        self.answers.set()
        self.begun = asyncio.Event()  # a client is waiting for the response
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def clock(self) -> datetime:
        return self.now

    async def fetch(self, url: str) -> Any:
        self.asked.append(url)
        if not self.answers.is_set():
            self.begun.set()
        await self.answers.wait()
        if isinstance(self.document, Exception):
            raise self.document
        return self.document

    def sign_in(self, **options: Any) -> ExternalSignIn:
        return ExternalSignIn(Settings(**{**OPTIONS, **options}), self.clock, self.fetch)


async def test_metadata_is_read_on_demand_for_all_and_again_after_five_minutes() -> None:
    issuer = Issuer({**DOCUMENT, "end_session_endpoint": f"{ISSUER}/out", "jwks_uri": "https://elsewhere.example"})
    sign_in = issuer.sign_in(login_scope="openid office")
    assert issuer.asked == []
    issuer.answers.clear()
    asyncio.get_running_loop().call_later(0.1, issuer.answers.set)  # when all have arrived
    told = await asyncio.gather(*(sign_in({}) for _ in range(20)))
    assert issuer.asked == [f"{ISSUER}/.well-known/openid-configuration"]
    assert set(told) == {
        SignIn(
            "cloud",
            issuer=ISSUER,
            client_id="office",
            authorization_endpoint=f"{ISSUER}/auth",
            token_endpoint=f"{ISSUER}/token",
            end_session_endpoint=f"{ISSUER}/out",
            scope="openid office",
        )
    }
    issuer.now += timedelta(seconds=299)
    await sign_in({})
    assert len(issuer.asked) == 1
    issuer.now += timedelta(seconds=1)
    issuer.document = OSError("down")
    assert await sign_in({}) == told[0]  # the cached metadata stays
    assert len(issuer.asked) == 2


async def test_during_a_refresh_other_requests_use_the_cached_metadata() -> None:
    issuer = Issuer()
    sign_in = issuer.sign_in()
    known = await sign_in({})
    issuer.now += timedelta(minutes=5)
    issuer.answers.clear()
    asking = asyncio.ensure_future(sign_in({}))
    await issuer.begun.wait()
    async with asyncio.timeout(10):
        assert await asyncio.gather(*(sign_in({}) for _ in range(20))) == [known] * 20
    issuer.answers.set()
    assert await asking == known
    assert len(issuer.asked) == 2


@pytest.mark.parametrize("url", ["https://login.example:x/", "https://[::g]/", "https://a\u2028b/", "x"])
async def test_an_invalid_address_counts_as_a_failed_fetch(url: str) -> None:
    with pytest.raises(FETCH_FAILURES):
        await fetch_json(url)


async def test_an_unavailable_issuer_is_not_asked_again_for_a_while() -> None:
    issuer = Issuer(OSError("down"))
    sign_in = issuer.sign_in()
    for _ in range(3):
        with pytest.raises(Unavailable) as found:
            await sign_in({})
        assert found.value.code == "SIGN_IN_UNAVAILABLE"
    assert len(issuer.asked) == 1
    issuer.document = DOCUMENT
    issuer.now += timedelta(seconds=15)
    assert (await sign_in({})).token_endpoint == f"{ISSUER}/token"


async def test_the_document_may_be_elsewhere() -> None:
    issuer = Issuer()
    await issuer.sign_in(login_url="https://login.example/discovery")({})
    assert issuer.asked == ["https://login.example/discovery"]


async def test_without_a_client_id_no_metadata_is_fetched() -> None:
    issuer = Issuer()
    assert await issuer.sign_in(login_client_id=None)({}) == SignIn("cloud", issuer=ISSUER)
    assert issuer.asked == []


@pytest.mark.parametrize(
    "document",
    [
        None, [], "x", {}, {**DOCUMENT, "issuer": f"{ISSUER}/"}, {**DOCUMENT, "issuer": None},
        {**DOCUMENT, "token_endpoint": None}, {**DOCUMENT, "token_endpoint": 1},
        {**DOCUMENT, "token_endpoint": "http://login.example/token"},
        {**DOCUMENT, "token_endpoint": "https://login.example; script-src *"},
        {**DOCUMENT, "token_endpoint": "https://*/token"},
        {**DOCUMENT, "token_endpoint": "https://login.example:x/token"},
        {**DOCUMENT, "token_endpoint": "https://a:b@login.example/token"},
        {**DOCUMENT, "authorization_endpoint": "javascript:alert(1)"},
        {**DOCUMENT, "authorization_endpoint": f"{ISSUER}/auth#x"},
        {**DOCUMENT, "authorization_endpoint": f"{ISSUER}/a b"},
        {**DOCUMENT, "authorization_endpoint": "//login.example/auth"},
        {**DOCUMENT, "end_session_endpoint": "data:text/html,x"},
    ],
    ids=repr,
)  # fmt: skip
async def test_a_document_that_cannot_be_trusted_is_not_used(document: Any) -> None:
    with pytest.raises(Unavailable):
        await Issuer(document).sign_in()({})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"login_client_id": "office"}, "give --jwks-url"),
        ({"login_url": "https://login.example"}, "give --jwks-url"),
        ({**OPTIONS, "login_client_id": None, "login_url": "https://login.example"}, "needs --login-client-id"),
        ({**OPTIONS, "login_client_id": " "}, "must not be empty"),
        ({**OPTIONS, "login_scope": ""}, "must not be empty"),
        ({**OPTIONS, "issuer": "login.example"}, "--issuer must be https"),
        ({**OPTIONS, "login_url": "http://login.example/x"}, "--login-url must be https"),
        ({**OPTIONS, "issuer": "http://login.example"}, "--issuer must be https"),
    ],
    ids=str,
)
def test_settings_that_cannot_hold_are_refused_at_the_start(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Settings(**options)


def test_plain_http_is_accepted_on_loopback() -> None:
    Settings(**{**OPTIONS, "issuer": "http://127.0.0.1:9000"})
    Settings(**{**OPTIONS, "issuer": "anything", "login_url": "http://localhost:9000/x"})


def test_an_issuer_that_is_down_stops_neither_the_start_nor_the_page(logs: Path, tmp_path: Path) -> None:
    issuer = f"http://127.0.0.1:{free_port()}"
    options = ("--jwks-url", f"{issuer}/keys", "--issuer", issuer, "--login-client-id", "office")
    service = Service(logs / "sign-in-down.log", "--data-dir", str(tmp_path), *options).start()
    try:
        with httpx2.Client(base_url=service.url, timeout=30) as http:
            page = http.get("/")
            assert page.status_code == 200
            assert "connect-src 'self';" in page.headers["content-security-policy"]
            told = http.get("/ui/sign-in.json")
            assert (told.status_code, told.json()["error"]["code"]) == (503, "SIGN_IN_UNAVAILABLE")
            for address in ("/oauth/authorize", "/oauth/token", "/oauth/login.css"):
                assert http.get(address).status_code == 404
        assert "sign-in not known" in service.output()
    finally:
        service.kill()
