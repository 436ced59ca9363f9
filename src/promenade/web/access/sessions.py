"""Browser sessions: a cookie that identifies the user, and a CSRF token that proves a write comes from the user's page.

A session exists only in the process that created it. It ends after half an hour without a request, after twelve hours,
by `end`, or with the process. The cookie holds a random name and a signature over it; the CSRF token is another
signature over that name.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

COOKIE = "promenade_session"
HOST_ONLY = "__Host-"
"""What names of cookies begin with where browsers come by https: then they take the cookie from this very host alone,
by https, and not from a neighbour in the same domain (RFC 6265bis, 4.1.3.2)."""

IDLE = timedelta(minutes=30)
"""How long a session lasts after its last request (specification, Limits)."""

LONGEST = timedelta(hours=12)
"""How long it lasts at most, however much it is used: as long as a person's."""

_STEP_MAX = timedelta(minutes=1)  # how far a clock correction may set the clock back
_SESSIONS_MAX = 10_000
_COOKIE_HEADER_MAX = 8_192
_NAME_BYTES = 32


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a user of one tenant in a browser. ``name`` is known to the browser and this process.

    ``proof`` is the credential the user signed in with, such as the hash of a password: whoever looks up a session
    checks that it is still valid.
    """

    name: str
    tenant_id: str
    user: str
    proof: str = field(default="", repr=False)


class Sessions:
    """The sessions of one process. ``random`` returns that many cryptographically random bytes.

    ``is_secure``: browsers use https, and send the cookie by https only.
    """

    def __init__(
        self,
        clock: Callable[[], datetime],
        random: Callable[[int], bytes] = secrets.token_bytes,
        *,
        is_secure: bool = False,
    ) -> None:
        self._clock = clock
        self._cookie = f"{HOST_ONLY}{COOKIE}" if is_secure else COOKIE
        self._attributes = "; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if is_secure else "")
        self._random = random
        self._key = random(_NAME_BYTES)
        self._known: OrderedDict[str, tuple[Session, datetime, datetime]] = OrderedDict()  # longest idle first

    def begin(self, tenant_id: str, user: str, proof: str = "") -> Session:
        """Start a session and return it."""
        session = Session(_text(self._random(_NAME_BYTES)), tenant_id, user, proof)
        now = self._clock()
        self._known[session.name] = (session, now, now)
        while len(self._known) > _SESSIONS_MAX:
            self._known.popitem(last=False)
        return session

    def rebind(self, session: Session, proof: str) -> None:
        """Let a session go on with another proof, such as the hash of a password that its user has just chosen."""
        known = self._known.get(session.name)
        if known is not None:
            self._known[session.name] = (replace(session, proof=proof), *known[1:])

    def end(self, session: Session) -> None:
        """Delete a session; its cookie is no longer valid."""
        self._known.pop(session.name, None)

    def end_all(self) -> None:
        """Delete all sessions, for example when a password is changed."""
        self._known.clear()

    def cookie(self, session: Session) -> str:
        """Return the value of `Set-Cookie`."""
        value = f"{session.name}.{self._signature('cookie', session.name)}"
        return f"{self._cookie}={value}{self._attributes}"

    def no_cookie(self) -> str:
        """Return the value of `Set-Cookie` that deletes the session cookie in the browser."""
        return f"{self._cookie}=; Max-Age=0{self._attributes}"

    def find(self, cookie_header: str) -> Session | None:
        """Return the session of a request's cookies and mark it as used now; None if there is no valid one."""
        name, _, signature = self._value_of(cookie_header).partition(".")
        # The cookie comes from outside: compare bytes, because `compare_digest` refuses text that is not ASCII.
        if not hmac.compare_digest(signature.encode(), self._signature("cookie", name).encode()):
            return None
        known = self._known.get(name)
        if known is None:
            return None
        session, began_at, used_at = known
        now = self._clock()
        # A clock that was set back must not make an idle session last longer; an active user at worst loses this
        # session.
        if not -_STEP_MAX <= now - used_at < IDLE or now - began_at >= LONGEST:
            self.end(session)
            return None
        self._known[name] = (session, began_at, now)
        self._known.move_to_end(name)
        return session

    def csrf_token(self, session: Session) -> str:
        """Return the token that the session's pages send with every write."""
        return self._signature("csrf", session.name)

    def is_csrf_token(self, session: Session, given: str) -> bool:
        """Return whether ``given`` is the session's CSRF token."""
        return hmac.compare_digest(given.encode(), self.csrf_token(session).encode())

    def _value_of(self, cookie_header: str) -> str:
        if len(cookie_header) > _COOKIE_HEADER_MAX:
            return ""
        for part in cookie_header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == self._cookie:
                return value
        return ""

    def _signature(self, purpose: str, name: str) -> str:
        return _text(hmac.digest(self._key, f"{purpose} {name}".encode(), "sha256"))


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
