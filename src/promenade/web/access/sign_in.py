"""How users sign in to the back office: at the built-in issuer, an external one, or with a store's password."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.types import Scope

from promenade.errors import Unauthorized, Unavailable
from promenade.log import Logger
from promenade.settings import CLOUD, LOCAL_STORE, LOOPBACK_HOSTS, Settings
from promenade.web.access.api_key import StoreAuthenticator
from promenade.web.access.fetching import FETCH_FAILURES, fetch_json
from promenade.web.access.oauth import BACK_OFFICE, origin_of
from promenade.workflows.access.local_admin import KnownStore

_FRESH_SECONDS = 300.0
_PAUSE_SECONDS = 15.0  # after a failure: an issuer that hangs must not delay every page
_log = Logger("promenade.web")


class SignIn(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How users sign in to the back office."""

    edition: str  #: `cloud` or `local-store`.
    issuer: str | None = None  #: The issuer's name, as in `iss`.
    client_id: str | None = None  #: Client ID of the back office at the issuer; it has no secret. Null: not configured.
    authorization_endpoint: str | None = None  #: Where users sign in at the issuer.
    token_endpoint: str | None = None  #: Where a code is exchanged for a token.
    session_endpoint: str | None = None  #: Where tabs get tokens by the cookie that they share. Null: they share none.
    sign_out_endpoint: str | None = None  #: Where that sign-in is ended.
    end_session_endpoint: str | None = None  #: Where users sign out at the issuer.
    scope: str | None = None  #: The scopes to request.
    names_issuer: bool = False  #: Whether every response of the issuer contains `iss` (RFC 9207).
    is_set_up: bool | None = None  #: For a store: whether it has a password.
    has_session: bool | None = None  #: For a store: whether the request has the cookie of a valid session.


SignInProvider = Callable[[Scope], Awaitable[SignIn]]
"""Returns the sign-in for a request. Raises Unavailable (SIGN_IN_UNAVAILABLE)."""


def built_in_sign_in(issuer_url: str) -> SignInProvider:
    """Return the sign-in at the built-in issuer; its URLs use the host name under which the page was opened."""
    how = SignIn(
        CLOUD,
        issuer=issuer_url,
        client_id=BACK_OFFICE,
        authorization_endpoint="/oauth/authorize",
        token_endpoint="/oauth/token",  # noqa: S106 - an address
        session_endpoint="/oauth/session",
        sign_out_endpoint="/oauth/sign-out",
        names_issuer=True,
    )

    async def answer(scope: Scope) -> SignIn:
        return how

    return answer


def store_sign_in(known: KnownStore, authenticator: StoreAuthenticator) -> SignInProvider:
    """Return the sign-in with a store's password, if one is set."""

    async def answer(scope: Scope) -> SignIn:
        try:
            await authenticator.session(scope)
            has_session = True
        except Unauthorized:
            has_session = False
        is_set_up = (await known.read()).password_hash is not None
        return SignIn(LOCAL_STORE, is_set_up=is_set_up, has_session=has_session)

    return answer


class ExternalSignIn:
    """Sign-in at an external issuer, with endpoints from its discovery document (OpenID Connect Discovery 1.0).

    The document is fetched when the back office is first opened, and again after five minutes, by one request at a
    time; other requests use the known document meanwhile. If the fetch fails, the known document stays in use and the
    fetch is retried after 15 s.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], datetime],
        fetch: Callable[[str], Awaitable[Any]] = fetch_json,
    ) -> None:
        self._issuer = settings.issuer_url
        self._client_id = settings.login_client_id
        self._scope = settings.login_scope
        self._url = settings.discovery_url
        self._clock = clock
        self._fetch = fetch
        self._known: SignIn | None = None
        self._tried_at: float | None = None
        self._failed = False
        self._asking = asyncio.Lock()

    async def __call__(self, scope: Scope) -> SignIn:
        """Return the sign-in data for the page. Raises Unavailable (SIGN_IN_UNAVAILABLE)."""
        if self._client_id is None:
            return SignIn(CLOUD, issuer=self._issuer)
        if self._is_due() and not (self._known is not None and self._asking.locked()):
            async with self._asking:
                if self._is_due():
                    await self._ask(self._client_id)
        if self._known is None:
            text = "The token issuer's sign-in address is not available at the moment; the server's log says why."
            raise Unavailable("SIGN_IN_UNAVAILABLE", text)
        return self._known

    def _is_due(self) -> bool:
        wait = _PAUSE_SECONDS if self._failed else _FRESH_SECONDS
        # Also due if the clock was set back.
        return self._tried_at is None or abs(self._clock().timestamp() - self._tried_at) >= wait

    async def _ask(self, client_id: str) -> None:
        try:
            document = await self._fetch(self._url)
            self._known = _sign_in(document, self._issuer, client_id, self._scope)
            self._failed = False
        except FETCH_FAILURES as error:
            self._failed = True
            _log.warning("sign-in not known", address=self._url, reason=str(error) or type(error).__name__)
        self._tried_at = self._clock().timestamp()


def _sign_in(document: object, issuer: str, client_id: str, scope: str) -> SignIn:
    """Return the sign-in data from a discovery document. Raises ValueError."""
    if not isinstance(document, dict):
        raise ValueError("the answer is not a discovery document")
    if document.get("issuer") != issuer:
        raise ValueError(f"the document belongs to an issuer other than {issuer}")
    return SignIn(
        CLOUD,
        issuer=issuer,
        client_id=client_id,
        authorization_endpoint=_endpoint(document, "authorization_endpoint"),
        token_endpoint=_endpoint(document, "token_endpoint"),
        end_session_endpoint=_endpoint(document, "end_session_endpoint")
        if document.get("end_session_endpoint")
        else None,
        scope=scope,
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _endpoint(document: Mapping[str, Any], name: str) -> str:
    """Return an endpoint's URL if a browser may be sent there. Raises ValueError."""
    url = document.get(name)
    origin = origin_of(url) if isinstance(url, str) else None
    if not isinstance(url, str) or origin is None:
        raise ValueError(f"{name} is missing or is not a URL")
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK_HOSTS:
        raise ValueError(f"{name} must be https (http only on loopback)")
    if parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(f"{name} is not a URL")
    return url
