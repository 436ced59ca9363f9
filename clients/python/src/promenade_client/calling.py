"""How a call goes, without doing it: what to send, when to wait, when to take a new token, when to give up.

A call is a generator of steps. `Till` carries them out with threads in mind, `AsyncTill` on an event loop; nothing here
knows which, has a socket or looks at a clock that was not given to it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from promenade_client import wire
from promenade_client.errors import NotAllowed, PromenadeError, Refused, TooMany, Unavailable, error_of

T = TypeVar("T")
_TIMEOUT_MIN = 0.1


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """The ID and the secret of a client, for which the service gives tokens.

    ``token_url``: of the issuer, if it is not the service itself. ``scope``: only some of the client's scopes.
    """

    client_id: str
    client_secret: str = field(repr=False)
    token_url: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The key of a till in a store that has an instance of its own."""

    key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a call takes at most and how it is repeated. All times are in seconds.

    No attempt begins after ``deadline``; none waits longer than ``timeout`` for a connection, or for an answer. The
    pauses between attempts double from ``first_pause`` to ``longest_pause``; each is drawn between half of it and all
    of it by ``luck`` (a number from 0 to 1), so that tills do not come back all at once. ``Retry-After`` is heeded.
    """

    deadline: float = 15.0
    timeout: float = 5.0
    first_pause: float = 0.2
    longest_pause: float = 5.0
    clock: Callable[[], float] = time.monotonic
    luck: Callable[[], float] = random.random

    def pause(self, error: PromenadeError, repeats: int, ends: float) -> float | None:
        """Return how long to wait after an error before the next attempt; None if there is to be none."""
        if not isinstance(error, TooMany | Unavailable):
            return None
        usual = min(self.first_pause * 2 ** min(repeats, 32), self.longest_pause)
        waits = max(usual * (0.5 + self.luck() / 2), error.retry_after or 0.0)
        return waits if self.clock() + waits < ends else None


@dataclass(frozen=True, slots=True)
class Operation(Generic[T]):
    """One request of the interface and the kind of its answer."""

    method: str
    path: str
    answer: type[T]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; the outcome is a Reply, or the error for want of one."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class TakeToken:
    """Take the kept token, or renew it, one caller at a time; the outcome is the token or an error.

    ``stale`` is the token that was refused and must not be taken again.
    """

    tokens: Tokens
    stale: str | None


Steps = Generator[Send | Wait | TakeToken, Any, T]


class Tokens:
    """The token of a client. It is renewed in good time: a minute before it ends, or a tenth of its life."""

    def __init__(self, credentials: ClientCredentials, url: str, patience: Patience) -> None:
        self._credentials = credentials
        self._url = credentials.token_url or f"{url}/oauth/token"
        self._patience = patience
        self._token: str | None = None
        self._renew_at = 0.0

    def kept(self, stale: str | None) -> str | None:
        """Return the token, unless it is the stale one or about to end."""
        is_good = self._token != stale and self._patience.clock() < self._renew_at
        return self._token if is_good else None

    def renewal(self) -> Steps[str]:
        """Fetch a token. Raises PromenadeError."""
        form = {"grant_type": "client_credentials", "client_id": self._credentials.client_id}
        form["client_secret"] = self._credentials.client_secret
        if self._credentials.scope is not None:
            form["scope"] = self._credentials.scope
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        asked_at = self._patience.clock()
        reply = yield Send("POST", self._url, headers, urlencode(form).encode(), self._patience.timeout)
        try:
            content = _content(reply)
        except Refused as error:  # such as a scope that the client has not: no verdict about what it wanted to send
            raise NotAllowed(error.code, error.message, status=error.status) from None
        match content:
            case {"access_token": str(token), "expires_in": int(seconds)}:
                self._token = token
                self._renew_at = asked_at + seconds - min(60.0, seconds / 10)
                return token
        raise Unavailable("UNREADABLE_ANSWER", "The token endpoint's answer holds no token.", status=reply.status)


class Caller:
    """Carries out operations of one service, step by step."""

    def __init__(self, url: str, credentials: ClientCredentials | ApiKey, patience: Patience) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is no address: it begins with https:// or http://")
        self._url = url.rstrip("/")
        self._patience = patience
        self._credentials = credentials if isinstance(credentials, ApiKey) else Tokens(credentials, self._url, patience)

    def call(self, operation: Operation[T], *, repeats: bool = True) -> Steps[T]:
        """Send an operation until it is answered; without ``repeats`` once, and once more with a new token.

        Every operation is safe to repeat: the service counts a confirm, a cancel, a redemption or an order of coupons
        once, and an iteration that nobody confirms has no effect. Raises PromenadeError.
        """
        ends = self._patience.clock() + self._patience.deadline
        stale: str | None = None
        pauses = 0
        while True:
            token, reply = yield from self._attempt(operation, stale, ends)
            try:
                return _read(operation, _content(reply))
            except PromenadeError as error:
                if error.status == 401 and token is not None and stale is None:
                    stale = token
                    continue
                pause = self._patience.pause(error, pauses, ends) if repeats else None
                if pause is None:
                    raise
            yield Wait(pause)
            pauses += 1

    def _attempt(
        self, operation: Operation[Any], stale: str | None, ends: float
    ) -> Steps[tuple[str | None, Reply | PromenadeError]]:
        """Send an operation once; return the token it was sent with and what came of it."""
        headers = {"accept": "application/json", **operation.headers}
        if operation.content is not None:
            headers["content-type"] = "application/json"
        token: str | None = None
        if isinstance(self._credentials, ApiKey):
            headers["x-api-key"] = self._credentials.key
        else:
            taken = yield TakeToken(self._credentials, stale)
            if isinstance(taken, PromenadeError):
                return None, taken
            token = taken
            headers["authorization"] = f"Bearer {token}"
        timeout = min(self._patience.timeout, max(ends - self._patience.clock(), _TIMEOUT_MIN))
        reply = yield Send(operation.method, self._url + operation.path, headers, operation.content, timeout)
        return token, reply


def _content(reply: Reply | PromenadeError) -> object:
    """Return the JSON of a successful answer; raise the error otherwise."""
    if isinstance(reply, PromenadeError):
        raise reply
    if not 200 <= reply.status < 300:
        raise error_of(reply.status, reply.headers, reply.body)
    try:
        return wire.parse(reply.body)
    except wire.NotOfThisInterface as error:  # such as the page of a network that asks to log in
        raise Unavailable("UNREADABLE_ANSWER", str(error), status=reply.status) from None


def _read(operation: Operation[T], content: object) -> T:
    try:
        answer: T = wire.read(operation.answer, content)
    except wire.NotOfThisInterface as error:
        raise Unavailable("UNREADABLE_ANSWER", str(error)) from None
    return answer
