"""Sessions of a browser: a cookie that stands for a user, and the token that says the user's own page has sent a write.

A session is known to the process that began it and ends after half an hour without a request, by `end`, or with the
process. The cookie holds a random name and a signature over it; the CSRF token is another signature over the same name.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

__all__ = ["COOKIE", "IDLE", "Session", "Sessions"]

COOKIE = "promenade_session"
IDLE = timedelta(minutes=30)
"""How long a session lasts after its last request (specification, Limits)."""

_STEP_MAX = timedelta(minutes=1)  # what a clock may go back while it is kept right
_SESSIONS_MAX = 10_000
_COOKIE_HEADER_MAX = 8_192
_NAME_BYTES = 32


@dataclass(frozen=True, slots=True)
class Session:
    """Whom a browser speaks for: a user of one tenant. ``name`` is known to the browser and here.

    ``proof`` is what let the user in, such as the hash of a password: whoever looks a session up asks whether it still
    would.
    """

    name: str
    tenant_id: str
    user: str
    proof: str = field(default="", repr=False)


class Sessions:
    """The sessions of one process. ``random`` makes so many bytes that nobody can guess."""

    def __init__(self, clock: Callable[[], datetime], random: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._clock = clock
        self._random = random
        self._key = random(_NAME_BYTES)
        self._known: OrderedDict[str, tuple[Session, datetime]] = OrderedDict()  # the longest idle first

    def begin(self, tenant_id: str, user: str, proof: str = "") -> Session:
        """A new session."""
        session = Session(_text(self._random(_NAME_BYTES)), tenant_id, user, proof)
        self._known[session.name] = (session, self._clock())
        while len(self._known) > _SESSIONS_MAX:
            self._known.popitem(last=False)
        return session

    def end(self, session: Session) -> None:
        """Forget a session; its cookie is worth nothing from now on."""
        self._known.pop(session.name, None)

    def end_all(self) -> None:
        """Forget all of them, as when a password is changed."""
        self._known.clear()

    def cookie(self, session: Session, *, secure: bool) -> str:
        """The value of `Set-Cookie`. ``secure``: the browser reaches this host by https, and is to send it by no other
        way."""
        value = f"{session.name}.{self._signature('cookie', session.name)}"
        return f"{COOKIE}={value}{_attributes(secure)}"

    def no_cookie(self, *, secure: bool) -> str:
        """The value of `Set-Cookie` that makes a browser forget its session's cookie."""
        return f"{COOKIE}=; Max-Age=0{_attributes(secure)}"

    def find(self, cookie_header: str) -> Session | None:
        """The session that a request's cookies name, which counts as used now; None when there is none that lasts."""
        name, _, signature = _value_of(cookie_header).partition(".")
        # The names of cookies come from outside: bytes, for text that is not ASCII cannot be compared.
        if not hmac.compare_digest(signature.encode(), self._signature("cookie", name).encode()):
            return None
        session, used_at = self._known.get(name, (None, None))
        if session is None or used_at is None:
            return None
        now = self._clock()
        # A clock that was set back must not let a session sleep for longer; one that is in use loses at most this one.
        if not -_STEP_MAX <= now - used_at < IDLE:
            self.end(session)
            return None
        self._known[name] = (session, now)
        self._known.move_to_end(name)
        return session

    def csrf_token(self, session: Session) -> str:
        """What the pages of this session send along with every write."""
        return self._signature("csrf", session.name)

    def is_csrf_token(self, session: Session, given: str) -> bool:
        """Whether ``given`` is that."""
        return hmac.compare_digest(given.encode(), self.csrf_token(session).encode())

    def _signature(self, purpose: str, name: str) -> str:
        return _text(hmac.digest(self._key, f"{purpose} {name}".encode(), "sha256"))


def _attributes(secure: bool) -> str:
    return "; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _value_of(cookie_header: str) -> str:
    if len(cookie_header) > _COOKIE_HEADER_MAX:
        return ""
    for part in cookie_header.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return ""
