"""Who is asking: a bearer token becomes a Caller, and where browsers are served so does the cookie of a session.

A verified token is remembered, and holds for as long as it has not expired and its key is still one that is trusted.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from starlette.types import Scope

from promenade import metrics
from promenade.errors import Forbidden, Unauthorized
from promenade.web.body import header
from promenade.web.rate_limits import RateLimits
from promenade.web.sessions import IDLE, Session, Sessions
from promenade.web.tokens import (
    LEEWAY_SECONDS,
    TOKEN_LENGTH_MAX,
    TokenRefused,
    VerificationKey,
    read_token,
    verified_claims,
)

__all__ = [
    "CSRF_HEADER",
    "CSRF_TOKEN_REQUIRED",
    "Authentication",
    "Authenticator",
    "Caller",
    "KeySource",
    "scopes_of",
    "session_caller",
    "session_of",
]

_TOKENS_KEPT_MAX = 10_000
CSRF_HEADER = b"x-csrf-token"
CSRF_TOKEN_REQUIRED = "CSRF_TOKEN_REQUIRED"  # noqa: S105 - a code
SESSION_SCOPE = "svc.Admin"  # a session is the administrator's of a store
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_ANY_TOKEN = "not-needed"  # noqa: S105 - that is what it says
_NAME_LENGTH_MAX = 255  # of createdBy and its like


@dataclass(frozen=True, slots=True)
class Caller:
    """Whom a request speaks for. ``user`` is what createdBy and modifiedBy carry."""

    tenant_id: str
    user: str
    client_id: str
    scopes: frozenset[str]
    expires_at: float  # seconds since 1970
    session: Session | None = None  # of a browser; None: the caller came with a token

    def require_scope(self, *accepted: str) -> None:
        """Raise Forbidden (MISSING_SCOPE) unless the caller has one of ``accepted``."""
        if self.scopes.isdisjoint(accepted):
            raise Forbidden("MISSING_SCOPE", f"This needs the scope {' or '.join(accepted)}.")


class KeySource(Protocol):
    """The keys whose signatures are trusted."""

    async def find(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        """The key of this kind that a token names, the same object for as long as it is trusted; or None.

        Raises Unavailable when no keys can be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Verified:
    """Whom a token that held speaks for, and which key it held by."""

    caller: Caller
    key_id: str | None
    algorithm: str
    key: VerificationKey


class Authentication(Protocol):
    """How an edition tells who is asking; each method raises Unauthorized, Forbidden, TooMany and Unavailable."""

    async def authenticate(self, scope: Scope) -> Caller:
        """The caller of a request that comes with a credential of its own."""
        ...

    async def authenticate_browser(self, scope: Scope) -> Caller:
        """The caller of a request that may come from a browser."""
        ...

    def csrf_token(self, caller: Caller) -> str:
        """What the caller's pages send along with writes."""
        ...


def session_of(sessions: Sessions, scope: Scope) -> Session | None:
    """The session that the cookies of a request name, which counts as used now."""
    return sessions.find(_joined(scope, b"cookie"))


def session_caller(sessions: Sessions, session: Session, scope: Scope, now: datetime) -> Caller:
    """The caller of a request by a session. A write shows the session's token: Forbidden (CSRF_TOKEN_REQUIRED)."""
    if scope["method"] not in _SAFE_METHODS:
        given = (header(scope, CSRF_HEADER) or b"").decode("latin-1")
        if not sessions.is_csrf_token(session, given):
            raise Forbidden(CSRF_TOKEN_REQUIRED, "A write needs the X-CSRF-Token that a GET answers to `Fetch`.")
    scopes = frozenset({SESSION_SCOPE})
    return Caller(session.tenant_id, session.user, session.user, scopes, (now + IDLE).timestamp(), session)


def scopes_of(claim: object) -> frozenset[str]:
    """The scopes of a token: a list or a text with spaces, each without a leading ``<application>.`` part.

    ``myapp!t1.PublicApi.Read`` and ``myapp.PublicApi.Read`` both count as ``PublicApi.Read``.
    """
    texts = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return frozenset(_bare_scope(text) for text in texts if isinstance(text, str))


_AREAS = ("svc.", "PublicApi.")


def _bare_scope(scope: str) -> str:
    if scope.startswith(_AREAS):
        return scope
    # An application's name holds no dot, apart from one that comes after its exclamation mark (`app!t1.`).
    _, _, rest = scope.partition(".")
    return rest if rest.startswith(_AREAS) else scope


class Authenticator:
    """Verifies bearer tokens and remembers the verified ones, by hash, until they expire."""

    def __init__(
        self,
        keys: KeySource,
        tenant_exists: Callable[[str], Awaitable[bool]],
        clock: Callable[[], datetime],
        *,
        issuer: str,
        audience: str,
        tenant_claims: Sequence[str],
        scope_claims: Sequence[str] = ("scope",),
        sessions: Sessions | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        self._keys = keys
        self._tenant_exists = tenant_exists
        self._clock = clock
        self._issuer = issuer
        self._audience = audience
        self._tenant_claims = tuple(tenant_claims)
        self._scope_claims = tuple(scope_claims)
        self._sessions = sessions
        self._limits = limits
        self._verified: OrderedDict[bytes, _Verified] = OrderedDict()

    async def authenticate(self, scope: Scope) -> Caller:
        """The caller of a request.

        Raises Unauthorized (UNAUTHORIZED) without a token that holds, Forbidden (UNKNOWN_TENANT) for a tenant that
        does not exist, TooMany (RATE_LIMITED), and Unavailable when the keys cannot be had.
        """
        text = _bearer_token(scope)
        now = self._clock().timestamp()
        fingerprint = hashlib.sha256(text).digest()
        known = await self._remembered(fingerprint)
        (metrics.cache_miss if known is None else metrics.cache_hit).inc()
        if known is None:
            known = await self._verify(text, now)
            self._remember(fingerprint, known)
        elif known.caller.expires_at + LEEWAY_SECONDS <= now:
            self._verified.pop(fingerprint, None)
            raise Unauthorized("UNAUTHORIZED", "The token has expired.")
        caller = known.caller
        if not await self._tenant_exists(caller.tenant_id):
            raise Forbidden("UNKNOWN_TENANT", "The token's tenant is not known here.")
        if self._limits is not None:
            self._limits.take(caller.tenant_id, caller.client_id)
        return caller

    async def authenticate_browser(self, scope: Scope) -> Caller:
        """The caller of a request that may come from a browser: by a bearer token, or by the cookie of a session.

        A browser sends cookies with whatever any page makes it send, so a write by a cookie shows the session's CSRF
        token too. Raises what `authenticate` raises, and Forbidden (CSRF_TOKEN_REQUIRED).
        """
        session = None
        if self._sessions is not None and header(scope, b"authorization") is None:
            session = session_of(self._sessions, scope)
        if self._sessions is None or session is None:
            return await self.authenticate(scope)
        caller = session_caller(self._sessions, session, scope, self._clock())
        if not await self._tenant_exists(session.tenant_id):
            raise Forbidden("UNKNOWN_TENANT", "The session's tenant is not known here.")
        if self._limits is not None:
            self._limits.take(session.tenant_id, session.user)
        return caller

    def csrf_token(self, caller: Caller) -> str:
        """What a caller sends along with writes; whoever comes with a token of its own needs none, and any will do."""
        if self._sessions is None or caller.session is None:
            return _ANY_TOKEN
        return self._sessions.csrf_token(caller.session)

    async def _remembered(self, fingerprint: bytes) -> _Verified | None:
        known = self._verified.get(fingerprint)
        if known is None or await self._keys.find(known.key_id, known.algorithm) is known.key:
            return known
        self._verified.pop(fingerprint, None)  # its key was withdrawn: it is looked at as if for the first time
        return None

    def _remember(self, fingerprint: bytes, known: _Verified) -> None:
        self._verified[fingerprint] = known
        while len(self._verified) > _TOKENS_KEPT_MAX:
            self._verified.popitem(last=False)

    async def _verify(self, text: bytes, now: float) -> _Verified:
        try:
            token = read_token(text)
            key = await self._keys.find(token.key_id, token.algorithm)
            if key is None:
                raise TokenRefused
            claims = verified_claims(token, key, issuer=self._issuer, audience=self._audience, now=now)
        except TokenRefused:
            raise Unauthorized("UNAUTHORIZED", "The token is not valid here.") from None
        return _Verified(self._caller(claims), token.key_id, token.algorithm, key)

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        tenant = next((claims[name] for name in self._tenant_claims if claims.get(name) is not None), None)
        if not _is_name(tenant):
            raise Forbidden("UNKNOWN_TENANT", "The token names no tenant.")
        client_id = _first_name(claims, ("client_id", "cid", "azp")) or ""
        user = _first_name(claims, ("user_name", "sub")) or client_id
        scopes = scopes_of(next((claims[name] for name in self._scope_claims if name in claims), None))
        return Caller(str(tenant), user, client_id or user, scopes, float(claims["exp"]))


def _bearer_token(scope: Scope) -> bytes:
    """The token of a request's one Authorization header. Raises Unauthorized."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    kind, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    token = token.strip()
    if kind.lower() != b"bearer" or not token or len(token) > TOKEN_LENGTH_MAX:
        raise Unauthorized("UNAUTHORIZED", "A bearer token is needed.")
    return token


def _joined(scope: Scope, name: bytes) -> str:
    """A header that may come in several lines (RFC 9113, 8.2.3)."""
    return "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def _first_name(claims: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these claims that is a name."""
    found: str | None = next((claims[name] for name in names if _is_name(claims.get(name))), None)
    return found


def _is_name(value: object) -> bool:
    """Whether it can be shown and stored: short, no control characters, no halves of letters."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= _NAME_LENGTH_MAX
