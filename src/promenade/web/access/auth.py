"""Authentication: a bearer token becomes a Caller, as does a session cookie where browsers are served.

A verified token is cached, and is valid until it expires or its key is no longer trusted.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from starlette.types import Scope

from promenade import metrics
from promenade.errors import Forbidden, Invalid, Unauthorized
from promenade.model.access.groups import Outside
from promenade.tracing import spanned
from promenade.web.access.sessions import IDLE, Session, Sessions
from promenade.web.access.tokens import (
    LEEWAY_SECONDS,
    TOKEN_LENGTH_MAX,
    TokenRefused,
    VerificationKey,
    read_token,
    verified_claims,
)
from promenade.web.http.body import header
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.refusals import note_caller, note_missing

_TOKENS_KEPT_MAX = 10_000
AGENT_HEADER = b"promenade-agent"
AGENT_LENGTH_MAX = 100
CSRF_HEADER = b"x-csrf-token"
CSRF_TOKEN_REQUIRED = "CSRF_TOKEN_REQUIRED"  # noqa: S105 - a code
SESSION_CLAIM = "promenade_session"
"""The claim with which the own issuer names the session of the person who got a token."""

SESSION_SCOPE = "svc.Admin"  # a session belongs to a store's administrator
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_ANY_TOKEN = "not-needed"  # noqa: S105 - that is what it says
_NAME_LENGTH_MAX = 255  # of createdBy and similar properties


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request. ``user`` is the value of createdBy and modifiedBy."""

    tenant_id: str
    user: str
    client_id: str
    scopes: frozenset[str]
    expires_at: float  # seconds since 1970
    session: Session | None = None  # of a browser; None: the caller sent a token
    outside: Outside | None = None  # what an outside issuer's token says; None: it is of the own one
    agent: str | None = None  # the agent that works for the caller, by the name that it gives; None: none does
    session_id: str | None = None  # the session in which a person got the token from the own issuer; None: a client did

    def require_scope(self, *accepted: str) -> None:
        """Raise Forbidden (MISSING_SCOPE) unless the caller has one of ``accepted``."""
        if self.scopes.isdisjoint(accepted):
            note_missing(" or ".join(accepted))
            raise Forbidden("MISSING_SCOPE", f"This needs the scope {' or '.join(accepted)}.")


class KeySource(Protocol):
    """A source of the keys whose signatures are trusted."""

    async def find(self, key_id: str | None, algorithm: str) -> VerificationKey | None:
        """Return the key of this kind that a token names, the same object for as long as it is trusted; or None.

        Raises Unavailable if the keys cannot be obtained.
        """
        ...


class GroupScopes(Protocol):
    """What the groups of an outside issuer give."""

    issuer: str

    async def scopes_of(self, tenant_id: str, groups: frozenset[str]) -> frozenset[str]:
        """Return the scopes that these groups of the issuer give in a tenant."""
        ...


@dataclass(frozen=True, slots=True)
class _Verified:
    """The caller of a verified token, when it was issued (seconds since 1970), and the key that verified it."""

    caller: Caller
    issued_at: float
    key_id: str | None
    algorithm: str
    key: VerificationKey


class Authentication(Protocol):
    """The authentication of an edition; each method raises Unauthorized, Forbidden, TooMany and Unavailable."""

    async def authenticate(self, scope: Scope) -> Caller:
        """Return the caller of a request that has its own credential."""
        ...

    async def authenticate_browser(self, scope: Scope) -> Caller:
        """Return the caller of a request that may come from a browser."""
        ...

    def csrf_token(self, caller: Caller) -> str:
        """Return the CSRF token that the caller's pages send with writes."""
        ...


def session_of(sessions: Sessions, scope: Scope) -> Session | None:
    """Return the session named by a request's cookies, and mark it as used now."""
    return sessions.find(_joined(scope, b"cookie"))


def session_caller(sessions: Sessions, session: Session, scope: Scope, now: datetime) -> Caller:
    """Return the caller of a session's request.

    A write without the session's CSRF token raises Forbidden (CSRF_TOKEN_REQUIRED).
    """
    note_caller(session.tenant_id, session.user, session.user)
    if scope["method"] not in _SAFE_METHODS:
        given = (header(scope, CSRF_HEADER) or b"").decode("latin-1")
        if not sessions.is_csrf_token(session, given):
            raise Forbidden(
                CSRF_TOKEN_REQUIRED,
                "Send the X-CSRF-Token header with every write; a GET with `X-CSRF-Token: Fetch` returns the token.",
            )
    scopes = frozenset({SESSION_SCOPE})
    return Caller(session.tenant_id, session.user, session.user, scopes, (now + IDLE).timestamp(), session)


def scopes_of(claim: object) -> frozenset[str]:
    """Return the scopes of a token: a list or a space-separated text, each without a leading ``<application>.`` part.

    ``myapp!t1.PublicApi.Read`` and ``myapp.PublicApi.Read`` both count as ``PublicApi.Read``.
    """
    texts = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return frozenset(_bare_scope(text) for text in texts if isinstance(text, str))


def _groups_of(claim: object) -> frozenset[str]:
    """Return the groups of a token: a list, or a text that is one group, as names of groups may have spaces."""
    texts = claim if isinstance(claim, list) else [claim]
    return frozenset(text for text in texts if isinstance(text, str) and _is_name(text))


_AREAS = ("svc.", "PublicApi.")


def _bare_scope(scope: str) -> str:
    if scope.startswith(_AREAS):
        return scope
    # An application's name contains no dot except one after its exclamation mark (`app!t1.`).
    _, _, rest = scope.partition(".")
    return rest if rest.startswith(_AREAS) else scope


class Authenticator:
    """Verifies bearer tokens and caches the verified ones, by hash, until they expire."""

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
        group_claims: Sequence[str] = ("groups",),
        groups: GroupScopes | None = None,
        accepts: Callable[[str, str, str | None, float], Awaitable[bool]] | None = None,
        sessions: Sessions | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        """``accepts`` tells of the own issuer whether a token for a tenant has not been withdrawn: which client got it,
        or in which session a person did, and when. ``groups``: the issuer is an outside one, whose groups give scopes.
        """
        self._keys = keys
        self._tenant_exists = tenant_exists
        self._accepts = accepts
        self._clock = clock
        self._issuer = issuer
        self._audience = audience
        self._tenant_claims = tuple(tenant_claims)
        self._scope_claims = tuple(scope_claims)
        self._group_claims = tuple(group_claims)
        self._groups = groups
        self._sessions = sessions
        self._limits = limits
        self._verified: OrderedDict[bytes, _Verified] = OrderedDict()

    @spanned("access")
    async def authenticate(self, scope: Scope) -> Caller:
        """Return the caller of a request.

        Raises Unauthorized (UNAUTHORIZED) without a valid token, Forbidden (UNKNOWN_TENANT) for a tenant that does not
        exist, TooMany (RATE_LIMITED), Invalid (BAD_AGENT), and Unavailable if the keys cannot be obtained.
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
        note_caller(caller.tenant_id, caller.client_id, caller.user)
        if not await self._tenant_exists(caller.tenant_id):
            raise Forbidden("UNKNOWN_TENANT", "The token's tenant is not known here.")
        accepts = self._accepts
        if accepts and not await accepts(caller.tenant_id, caller.client_id, caller.session_id, known.issued_at):
            raise Unauthorized("UNAUTHORIZED", "The token has been withdrawn.")
        if self._groups is not None and caller.outside is not None and caller.outside.groups:
            given = await self._groups.scopes_of(caller.tenant_id, caller.outside.groups)
            caller = replace(caller, scopes=caller.scopes | given)
        if self._limits is not None:
            await self._limits.take(caller.tenant_id, caller.client_id)
        agent = agent_of(scope)
        return caller if agent is None else replace(caller, agent=agent)

    async def authenticate_browser(self, scope: Scope) -> Caller:
        """Return the caller of a request that may come from a browser: by a bearer token, or by a session cookie.

        A browser sends cookies with requests that any page triggers, so a write by cookie must send the session's CSRF
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
            await self._limits.take(session.tenant_id, session.user)
        return caller

    def csrf_token(self, caller: Caller) -> str:
        """Return the CSRF token for a caller's writes; a caller with a bearer token needs none, and any value will
        do.
        """
        if self._sessions is None or caller.session is None:
            return _ANY_TOKEN
        return self._sessions.csrf_token(caller.session)

    async def _remembered(self, fingerprint: bytes) -> _Verified | None:
        known = self._verified.get(fingerprint)
        if known is None or await self._keys.find(known.key_id, known.algorithm) is known.key:
            return known
        self._verified.pop(fingerprint, None)  # its key was withdrawn: verify it again from scratch
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
        issued_at = float(claims.get("iat", 0))
        return _Verified(self._caller(claims), issued_at, token.key_id, token.algorithm, key)

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        tenant = next((claims[name] for name in self._tenant_claims if claims.get(name) is not None), None)
        if not _is_name(tenant):
            raise Forbidden("UNKNOWN_TENANT", "The token names no tenant.")
        client_id = _first_name(claims, ("client_id", "cid", "azp")) or ""
        user = _first_name(claims, ("user_name", "sub")) or client_id
        scopes = scopes_of(next((claims[name] for name in self._scope_claims if name in claims), None))
        outside = None
        if self._groups is not None:
            groups = _groups_of(next((claims[name] for name in self._group_claims if name in claims), None))
            outside = Outside(self._groups.issuer, scopes, groups)
        session_id = claims.get(SESSION_CLAIM) if self._accepts is not None else None
        expires_at = float(claims["exp"])
        return Caller(str(tenant), user, client_id or user, scopes, expires_at, outside=outside, session_id=session_id)


def agent_of(scope: Scope) -> str | None:
    """Return the agent that a request names. Raises Invalid (BAD_AGENT)."""
    given = [value for name, value in scope["headers"] if name == AGENT_HEADER]
    if not given:
        return None
    name: str = given[0].decode("latin-1").strip()
    if len(given) > 1 or not (0 < len(name) <= AGENT_LENGTH_MAX and name.isascii() and name.isprintable()):
        message = f"Promenade-Agent names one agent, in up to {AGENT_LENGTH_MAX} printable characters of ASCII."
        raise Invalid("BAD_AGENT", message)
    return name


def _bearer_token(scope: Scope) -> bytes:
    """Return the token of a request's only Authorization header. Raises Unauthorized."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    kind, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    token = token.strip()
    if kind.lower() != b"bearer" or not token or len(token) > TOKEN_LENGTH_MAX:
        raise Unauthorized("UNAUTHORIZED", "A bearer token is needed.")
    return token


def _joined(scope: Scope, name: bytes) -> str:
    """Join the lines of a header that may be sent in several (RFC 9113, 8.2.3)."""
    return "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def _first_name(claims: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of these claims that is a valid name."""
    found: str | None = next((claims[name] for name in names if _is_name(claims.get(name))), None)
    return found


def _is_name(value: object) -> bool:
    """Return whether a value can be displayed and stored: short, without control characters and lone surrogates."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= _NAME_LENGTH_MAX
