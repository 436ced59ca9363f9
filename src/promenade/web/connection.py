"""The connection that requests come over, with the bounds that the server leaves open (reliability X1).

The server under us reads headers and trailers of any length and waits for them for ever. Here what stands around a
body may have 64 KiB, a request must have come whole within a minute, and what is no HTTP is told so in our own form.
An offer to go on in another protocol, which some clients make with every first request, is passed over (RFC 9110, 7.8);
the server would lose the request's body with it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from promenade.errors import Invalid, PromenadeError, TooLarge
from promenade.web.problems import body_of, status_of

__all__ = ["HEAD_BYTES_MAX", "Connection"]

HEAD_BYTES_MAX = 64 * 1024
ARRIVAL_SECONDS_MAX = 60.0
_OF_THE_OFFER = frozenset({b"upgrade", b"http2-settings"})


class Connection(HttpToolsProtocol):
    """One connection of a client."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._is_arriving = True  # a request has begun, or is awaited for the first time
        self._is_around_body = False  # in its headers, or in its trailers
        self._head_bytes = 0
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
            self._go_on_in_http(data[offer.args[0] :])
        except httptools.HttpParserError:
            self._refuse(Invalid("MALFORMED_HTTP", "This is not an HTTP request."))
        if was_around_body and self._is_around_body:  # what it began in was one read, and that is bounded
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse(TooLarge("HEADERS_TOO_LARGE", "The headers exceed 64 KiB."))

    def on_message_begin(self) -> None:
        self._is_arriving = self._is_around_body = True
        self._head_bytes = 0
        self._since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_around_body = False
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Called by the parser; after the last chunk come the trailers."""
        self._is_around_body = True

    def on_body(self, body: bytes) -> None:
        self._is_around_body = False
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_arriving = self._is_around_body = False
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _go_on_in_http(self, rest: bytes) -> None:
        """Read a request that came with an offer again, without the offer; ``rest`` is what came after its headers."""
        method, version = self.parser.get_method(), self.parser.get_http_version().encode("ascii")
        if method == b"CONNECT":
            self._refuse(Invalid("MALFORMED_HTTP", "This is no proxy."))
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
        """Once a minute, not a timer per request: close what does not arrive."""
        waited = self.loop.time() - self._since
        if self._is_arriving and waited >= ARRIVAL_SECONDS_MAX:
            self.transport.close()
        else:
            wait = ARRIVAL_SECONDS_MAX - waited if self._is_arriving else ARRIVAL_SECONDS_MAX
            self._watch = self.loop.call_later(wait, self._look)

    def _refuse(self, error: PromenadeError) -> None:
        """Answer instead of a request that never became one, and hang up."""
        body = body_of(error)
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status_of(error)] + head + body)
        self.transport.close()
