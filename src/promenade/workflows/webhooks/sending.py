"""A single HTTP attempt: no redirects, no proxies, no cookies, limited in time and size."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from unicodedata import category

import httpcore2
import httpx2

from promenade import __version__
from promenade.workflows.authoring.allowed import Allowed
from promenade.workflows.webhooks.addresses import GuardedBackend, NotPublic, Resolve, Unresolved
from promenade.workflows.webhooks.connections import Connections

SECONDS_MAX = 15.0  # for everything: look-up, connection, answer
BODY_SECONDS_MAX = 2.0  # for the answer's body once the status is known
BODY_BYTES_MAX = 4096  # read at most, so that the connection can be reused
BODY_CHARACTERS_MAX = 1000  # kept of it
RETRY_AFTER_MAX = timedelta(days=1)

_GONE = 410
_NO_TEXT = "\N{REPLACEMENT CHARACTER}"
_RETRY_AFTER_STATUSES = (429, 503)
_FIXED = (
    (b"user-agent", f"Promenade/{__version__}".encode()),
    (b"accept", b"*/*"),
)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt: ``http_status`` None: no answer. ``error`` None: it was delivered.

    ``retry_after`` is the wait that the receiver asks for, ``is_gone`` that it wants no more deliveries (410),
    ``body`` the beginning of what it answered.
    """

    http_status: int | None = None
    error: str | None = None
    retry_after: timedelta | None = None
    is_gone: bool = False
    body: str | None = None


@dataclass(slots=True)
class _Response:
    """What has come of a response so far; ``status`` 0: nothing."""

    status: int = 0
    retry_after: str | None = None
    body: bytes = b""


class _BadUrl(Exception):
    """A URL that cannot be called; its text says why."""


def trusted_roots() -> ssl.SSLContext:
    """Return a TLS context with the system's trusted certificates, or those of SSL_CERT_FILE.

    Takes tens of milliseconds.
    """
    return httpcore2.default_ssl_context()


class Sender:
    """A client that posts to receivers over kept connections; one per process and event loop. `close` it at the end."""

    def __init__(
        self,
        allowed: Allowed,
        tls: ssl.SSLContext,
        *,
        resolve: Resolve | None = None,
        seconds_max: float = SECONDS_MAX,
    ) -> None:
        self._allowed = allowed
        self._seconds_max = seconds_max
        self._connections = Connections(tls, GuardedBackend(allowed, resolve))

    async def close(self) -> None:
        """Close all open connections."""
        await self._connections.close()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, *, at: datetime) -> AttemptResult:
        """Post ``body``, whose content-type is in ``headers``; every failure is returned as an `AttemptResult`.

        Its short message reveals nothing of a receiver's network beyond what its subscriber wrote.
        """
        try:
            request = self._request(url, headers, body)
            response = await self._exchange(request)
        except TimeoutError:
            return AttemptResult(error=f"There was no answer within {self._seconds_max:g} seconds.")
        except Exception as error:  # any error caused by a foreign server is a failed attempt
            return AttemptResult(error=_sentence(error))
        return replace(_result_of(response.status, response.retry_after, at), body=_text_of(response.body))

    def _request(self, url: str, headers: Mapping[str, str], body: bytes) -> httpcore2.Request:
        try:
            parsed = httpx2.URL(url)
            host, port = parsed.raw_host, parsed.port
        except (httpx2.InvalidURL, ValueError) as error:
            raise _BadUrl("The callback URL cannot be read.") from error
        if parsed.scheme not in ("http", "https") or not host or parsed.userinfo:
            raise _BadUrl("The callback URL must be an https address without a user name.")
        name = host.decode("ascii")
        if port is not None and not 0 < port < 65536:
            raise _BadUrl("The callback URL has a port that does not exist.")
        if parsed.scheme == "http" and not self._allowed.names(name, port or 80):
            raise _BadUrl("The callback URL must be https; plain http is for hosts that the operator allows.")
        return httpcore2.Request(
            b"POST",
            httpcore2.URL(scheme=parsed.raw_scheme, host=host, port=port, target=parsed.raw_path),
            headers=[
                (b"host", parsed.netloc),
                *_FIXED,
                (b"content-length", str(len(body)).encode()),
                *((name.encode(), value.encode()) for name, value in headers.items()),
            ],
            content=body,
            extensions={"sni_hostname": name.removesuffix(".")},  # host names in certificates have no trailing dot
        )

    async def _exchange(self, request: httpcore2.Request) -> _Response:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._seconds_max
        found = _Response()
        try:
            async with asyncio.timeout_at(end) as limit, self._connections.exchange(request) as response:
                asked = next((value for name, value in response.headers if name.lower() == b"retry-after"), None)
                found.retry_after = None if asked is None else asked.decode("latin-1")
                found.status = response.status
                limit.reschedule(min(end, loop.time() + BODY_SECONDS_MAX))
                await _read_body(response, found)
        except (TimeoutError, httpcore2.NetworkError, httpcore2.ProtocolError):
            if not found.status:  # otherwise the status, and what came of the body, is the result
                raise
        return found


async def _read_body(response: httpcore2.Response, found: _Response) -> None:
    async for chunk in response.aiter_stream():
        found.body += chunk[: BODY_BYTES_MAX + 1 - len(found.body)]
        if len(found.body) > BODY_BYTES_MAX:
            return


def _text_of(body: bytes) -> str | None:
    """Return the beginning of a body; what is no text is replaced, as databases do not store all of it."""
    text = body.decode("utf-8", "replace")[:BODY_CHARACTERS_MAX].replace("\r\n", "\n")
    return "".join(one if category(one) != "Cc" or one in "\n\t" else _NO_TEXT for one in text) or None


def _result_of(status: int, retry_after: str | None, at: datetime) -> AttemptResult:
    if 200 <= status < 300:
        return AttemptResult(status)
    if 300 <= status < 400:
        return AttemptResult(status, f"The receiver answered {status}; redirects are not followed.")
    wait = _wait(retry_after, at) if retry_after is not None and status in _RETRY_AFTER_STATUSES else None
    return AttemptResult(status, f"The receiver answered {status}.", wait, is_gone=status == _GONE)


def _wait(retry_after: str, at: datetime) -> timedelta | None:
    """Return the wait that a receiver asks for, at most a day; None: the header cannot be parsed."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return RETRY_AFTER_MAX if len(text) > 6 else min(timedelta(seconds=int(text)), RETRY_AFTER_MAX)
    try:
        until = parsedate_to_datetime(text)
        wait = until - at
    except (ValueError, TypeError, OverflowError):  # TypeError: a time without a zone
        return None
    return min(max(wait, timedelta(0)), RETRY_AFTER_MAX)


def _sentence(error: Exception) -> str:
    if isinstance(error, _BadUrl):
        return str(error)
    if isinstance(error, NotPublic):
        return "The callback URL does not lead to a public address."
    if isinstance(error, Unresolved):
        return "The host name of the callback URL could not be resolved."
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "The receiver's certificate could not be verified."
        if isinstance(cause, ssl.SSLError):
            return "No TLS connection could be made with the receiver."
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, (httpcore2.ConnectError, httpcore2.ConnectTimeout)):
        return "No connection could be made to the receiver."
    if isinstance(error, (httpcore2.RemoteProtocolError, httpcore2.NetworkError)):
        return "The receiver closed the connection, or its answer was not valid HTTP."
    return "The attempt failed."
