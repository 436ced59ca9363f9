"""The connection that requests come over, with the bounds that the server leaves open (reliability X1).

The server under us reads headers and trailers of any length and waits for them for ever. Here what stands around a
body may have 64 KiB, a request must have come whole within a minute, and what is no HTTP is told so in our own form.
An offer to go on in another protocol, which some clients make with every first request, is passed over (RFC 9110, 7.8);
the server would lose the request's body with it.

uvicorn has no public interface for any of this. Every private part of it that this program uses is used in this file,
and a test says which part has changed in a new version.
"""

from __future__ import annotations

import asyncio
from email.utils import formatdate
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from promenade.errors import Invalid, PromenadeError, TooLarge
from promenade.web.http.problems import body_of, status_of
from promenade.web.http.protection import ALWAYS

HEAD_BYTES_MAX = 64 * 1024
ARRIVAL_SECONDS_MAX = 60.0
_TOO_LARGE = "The headers exceed 64 KiB."
_BESIDE_A_HEADER = 4  # ": " and the end of its line
_OF_THE_OFFER = frozenset({b"upgrade", b"http2-settings"})


class Connection(HttpToolsProtocol):
    """A client's connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._is_arriving = True  # a request has begun, or the first one is awaited
        self._is_around_body = False  # in the headers or the trailers
        self._head_bytes = 0  # of reads that brought nothing else
        self._named_bytes = 0  # of what the parser has told
        self._since = 0.0
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch = self.loop.call_later(ARRIVAL_SECONDS_MAX, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._watch is not None:
            self._watch.cancel()

    def data_received(self, data: bytes) -> None:
        was_around_body = self._is_around_body
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._continue_as_http(data[offer.args[0] :])
        except httptools.HttpParserError:
            if self._named_bytes > HEAD_BYTES_MAX:
                self._refuse(TooLarge("HEADERS_TOO_LARGE", _TOO_LARGE))
            else:
                self._refuse(Invalid("MALFORMED_HTTP", "This is not an HTTP request."))
            return
        # The parser tells a header when it is complete, so what has no end is counted as it comes in.
        if was_around_body and self._is_around_body:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse(TooLarge("HEADERS_TOO_LARGE", _TOO_LARGE))

    def on_message_begin(self) -> None:
        self._is_arriving = self._is_around_body = True
        self._head_bytes = self._named_bytes = 0
        self._since = self.loop.time()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._name(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._name(len(name) + len(value) + _BESIDE_A_HEADER)
        super().on_header(name, value)

    def _name(self, size: int) -> None:
        """Count what the parser tells of address, headers and trailers, and stop it once that is too much."""
        self._named_bytes += size
        if self._named_bytes > HEAD_BYTES_MAX:
            raise ValueError(_TOO_LARGE)  # the parser raises an error of its own

    def say(self, name: str, value: object) -> None:
        """Put something into the scope of the request that has begun."""
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[name] = value

    def on_headers_complete(self) -> None:
        self._is_around_body = False
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Note the start of a chunk (called by the parser); the trailers follow the last one."""
        self._is_around_body = True

    def on_body(self, body: bytes) -> None:
        self._is_around_body = False
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_arriving = self._is_around_body = False
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _continue_as_http(self, rest: bytes) -> None:
        """Parse a request with an upgrade offer again without the offer; ``rest`` is what followed its headers."""
        method, version = self.parser.get_method(), self.parser.get_http_version().encode("ascii")
        if method == b"CONNECT":
            self._refuse(Invalid("MALFORMED_HTTP", "This server is not a proxy."))
            return
        lines = [b"%s %s HTTP/%s" % (method, self.url, version)]
        for name, value in self.headers:
            if name == b"connection":
                kept = [token for token in value.split(b",") if token.strip().lower() not in _OF_THE_OFFER]
                lines.append(b"connection: " + b",".join(kept))
            elif name not in _OF_THE_OFFER:
                lines.append(b"%s: %s" % (name, value))
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.data_received(b"\r\n".join([*lines, b"", rest]))

    def _look(self) -> None:
        """Close the connection if its request is overdue; runs once a minute instead of a timer per request."""
        waited = self.loop.time() - self._since
        if self._is_arriving and waited >= ARRIVAL_SECONDS_MAX:
            self.transport.close()
        else:
            wait = ARRIVAL_SECONDS_MAX - waited if self._is_arriving else ARRIVAL_SECONDS_MAX
            self._watch = self.loop.call_later(wait, self._look)

    def _refuse(self, error: PromenadeError) -> None:
        """Answer malformed input with an error and close the connection."""
        body = body_of(error)
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n" % len(body)
        protection = b"".join(b"%s: %s\r\n" % one for one in ALWAYS)
        self.transport.write(STATUS_LINE[status_of(error)] + head + protection + b"\r\n" + body)
        self.transport.close()


class Connections:
    """The open connections of a listener of our own, which shares nothing with the server that uvicorn runs.

    ``kind`` is what each of them is; it must be the one that ``config`` names.
    """

    def __init__(self, config: uvicorn.Config, kind: type[Connection]) -> None:
        self._config = config
        self._kind = kind
        self._state = ServerState()

    def __len__(self) -> int:
        return len(self._state.connections)

    @property
    def addresses(self) -> list[str]:
        """Where each of them comes from."""
        open_now: Any = self._state.connections
        return [(one.client or ("",))[0] for one in open_now]

    @property
    def is_idle(self) -> bool:
        """Whether there are neither connections nor requests that are being answered."""
        return not self._state.connections and not self._state.tasks

    def make(self, loop: asyncio.AbstractEventLoop) -> Connection:
        """A connection for a client that is accepted just now."""
        return self._kind(config=self._config, server_state=self._state, app_state={}, _loop=loop)

    def date(self) -> None:
        """Date the answers that are sent from now on; to be called every second."""
        self._state.default_headers = [(b"date", formatdate(usegmt=True).encode("ascii"))]

    def finish(self) -> None:
        """Close each connection after the request that it answers just now."""
        for connection in list(self._state.connections):
            connection.shutdown()

    def abort(self) -> None:
        """Cut off what is still being answered."""
        for request in list(self._state.tasks):
            request.cancel()
        open_now: Any = list(self._state.connections)
        for connection in open_now:
            connection.transport.abort()
