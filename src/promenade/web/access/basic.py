"""HTTP Basic for readers: spreadsheets and other tools that cannot get a token read with a client's ID and secret.

A tenant lets them in by a setting. A secret that travels with every request must not be able to change anything: only
clients that may do nothing but read are let in, and only to read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime

from starlette.types import Scope

from promenade.errors import Forbidden
from promenade.web.access.auth import Authentication, Caller
from promenade.web.access.oauth import address_of
from promenade.web.access.roles import REPORT_READER
from promenade.web.http.body import header
from promenade.web.http.problems import Challenged
from promenade.web.http.rate_limits import RateLimits
from promenade.web.http.refusals import note_caller
from promenade.workflows.access.clients import Client

SECONDS_KEPT = 30.0
"""How long a secret that was right is taken for right: so long may a withdrawn one still read."""

READING = frozenset({"PublicApi.Read", REPORT_READER})
"""The scopes that read and do nothing else."""

_KEPT_MAX = 1_000
_LENGTH_MAX = 2_048
_METHODS = frozenset({"GET", "HEAD"})
_CHALLENGE = b'Basic realm="promenade", charset="UTF-8"'

Find = Callable[[str, str, str], Awaitable[Client | None]]
"""Network address, client ID and secret -> the client; None: it is wrong, and was counted. Raises TooMany."""


class BasicReaders:
    """An authentication that also takes client ID and secret, where ``admits`` says that the tenant does."""

    def __init__(
        self,
        tokens: Authentication,
        find: Find,
        admits: Callable[[str], Awaitable[bool]],
        clock: Callable[[], datetime],
        limits: RateLimits,
    ) -> None:
        self._tokens = tokens
        self._find = find
        self._admits = admits
        self._clock = clock
        self._limits = limits
        self._known: OrderedDict[bytes, Caller] = OrderedDict()

    async def authenticate(self, scope: Scope) -> Caller:
        """Return the caller of a request.

        Raises what the authentication by token raises; by Basic also Forbidden (BASIC_NOT_ALLOWED), and TooMany
        (TOO_MANY_ATTEMPTS) after too many wrong secrets.
        """
        given = _given(scope)
        return await (self._tokens.authenticate(scope) if given is None else self._by_secret(scope, given))

    async def authenticate_browser(self, scope: Scope) -> Caller:
        """Return the caller of a request that may come from a browser. Raises as `authenticate` does."""
        given = _given(scope)
        return await (self._tokens.authenticate_browser(scope) if given is None else self._by_secret(scope, given))

    def csrf_token(self, caller: Caller) -> str:
        """Return the CSRF token that the caller's pages send with writes."""
        return self._tokens.csrf_token(caller)

    async def _by_secret(self, scope: Scope, given: bytes) -> Caller:
        if scope["method"] not in _METHODS:
            raise Forbidden("BASIC_NOT_ALLOWED", "HTTP Basic is for reading with GET: get a token for everything else.")
        fingerprint = hashlib.sha256(given).digest()
        now = self._clock().timestamp()
        caller = self._known.get(fingerprint)
        if caller is None or not 0 < caller.expires_at - now <= SECONDS_KEPT:
            self._known.pop(fingerprint, None)
            caller = await self._found(scope, given, now)
            self._known[fingerprint] = caller
            if len(self._known) > _KEPT_MAX:
                self._known.popitem(last=False)
        note_caller(caller.tenant_id, caller.client_id, caller.user)
        await self._limits.take(caller.tenant_id, caller.client_id)
        return caller

    async def _found(self, scope: Scope, given: bytes, now: float) -> Caller:
        client_id, secret = _read(given)
        client = await self._find(address_of(scope), client_id, secret)
        if client is None:
            raise _wrong()
        note_caller(client.tenant_id, client.client_id, client.client_id)
        if not await self._admits(client.tenant_id):
            message = "This tenant does not take HTTP Basic: get a token, or have basicForReaders switched on."
            raise Forbidden("BASIC_NOT_ALLOWED", message)
        if not READING.issuperset(client.scopes):
            message = f"HTTP Basic is for clients with no scopes but {' and '.join(sorted(READING))}."
            raise Forbidden("BASIC_NOT_ALLOWED", message)
        scopes = frozenset(client.scopes)
        return Caller(client.tenant_id, client.client_id, client.client_id, scopes, now + SECONDS_KEPT)


def _given(scope: Scope) -> bytes | None:
    """Return what a request says by HTTP Basic; None if it says nothing by it."""
    kind, _, given = (header(scope, b"authorization") or b"").partition(b" ")
    return given.strip() if kind.lower() == b"basic" else None


def _read(given: bytes) -> tuple[str, str]:
    """Return client ID and secret, as they are (RFC 7617): unlike at the token endpoint they are not encoded."""
    if len(given) > _LENGTH_MAX:
        raise _wrong()
    try:
        client_id, colon, secret = base64.b64decode(given, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise _wrong() from None
    if not colon:
        raise _wrong()
    return client_id, secret


def _wrong() -> Challenged:
    return Challenged("UNAUTHORIZED", "The client ID or the secret is wrong.", _CHALLENGE)
