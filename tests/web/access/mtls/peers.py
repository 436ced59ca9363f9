"""Peers of the mutual-TLS listener: they perform real handshakes and can keep connections open."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.kit.processes import free_port
from tests.kit.service import Service
from tests.web.access.mtls.openssl import Identity

__all__ = ["INGEST", "SOAP", "Door", "Kept", "message", "until"]

INGEST = "/api/v1/master-data/ProductMerchandiseViewReplicationBulkRequest"
SOAP = "/api/v1/master-data/soap"
SECONDS_MAX = 90.0


def message() -> bytes:
    """Return a new message with one article."""
    product = {"ActionCode": "04", "ProductID": "A-1", "Description": "Apples"}
    body = {
        "MessageHeader": {"ID": str(uuid4())},
        "ProductMerchandiseViewReplicationRequestMessage": [{"Product": product}],
    }
    return json.dumps(body).encode()


def until(holds: Callable[[], bool], seconds: float = SECONDS_MAX) -> None:
    """Poll until the condition holds; the service has a few seconds to pick up a file."""
    latest = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < latest, "it never came to hold"


class Kept:
    """A connection that is kept open; each `post` sends one more request on it."""

    def __init__(
        self,
        door: Door,
        identity: Identity | None,
        context: ssl.SSLContext | None = None,
        session: ssl.SSLSession | None = None,
    ) -> None:
        context = context or door.context(identity)
        self._connection = http.client.HTTPSConnection("127.0.0.1", door.port, timeout=SECONDS_MAX, context=context)
        line = socket.create_connection(("127.0.0.1", door.port), timeout=SECONDS_MAX)
        try:
            self._socket = context.wrap_socket(line, server_hostname="127.0.0.1", session=session)
        except BaseException:
            line.close()
            raise
        self._connection.sock = self._socket

    @property
    def line(self) -> ssl.SSLSocket:
        """The underlying socket."""
        return self._socket

    @property
    def session(self) -> ssl.SSLSession | None:
        """The TLS session, which another connection may try to resume."""
        return self._socket.session

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def post(
        self, body: bytes | None = None, path: str = INGEST, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a message; return the status and the decoded body (text when it is not JSON)."""
        sent = {"content-type": "application/json", **(headers or {})}
        return self._ask("POST", path, message() if body is None else body, sent)

    def get(self, path: str) -> tuple[int, Any]:
        """GET ``path``."""
        return self._ask("GET", path, None, {})

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, Any]:
        self._connection.request(method, path, body=body, headers=dict(headers))
        response = self._connection.getresponse()
        text = response.read().decode()
        # INVARIANT: it is still the same connection; otherwise the test would prove nothing about kept connections.
        assert self._connection.sock is self._socket
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text

    @property
    def server_certificate(self) -> bytes:
        """The server's certificate (DER)."""
        shown = self._socket.getpeercert(binary_form=True)
        assert isinstance(shown, bytes)
        return shown

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@dataclass
class Door:
    """A service with a mutual-TLS listener, and its files."""

    cert: Path
    key: Path
    ca: Path
    crl: Path
    authority: Path  # the authority that peers trust for server certificates
    port: int = field(default_factory=free_port)
    service: Service | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options for `promenade serve`."""
        files = {"cert": self.cert, "key": self.key, "ca": self.ca, "crl": self.crl, "port": self.port}
        return tuple(text for name, value in files.items() for text in (f"--mtls-{name}", str(value)))

    @property
    def output(self) -> str:
        """The service's output so far."""
        assert self.service is not None
        return self.service.output()

    def context(self, identity: Identity | None = None) -> ssl.SSLContext:
        """Return the TLS context of a careful client."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if identity is not None:
            context.load_cert_chain(identity.cert, identity.key)
        return context

    def keep(self, identity: Identity | None = None, context: ssl.SSLContext | None = None) -> Kept:
        """Open a new connection and keep it open."""
        return Kept(self, identity, context)

    def post(self, identity: Identity | None = None, **request: Any) -> tuple[int, Any]:
        """Send one message over its own connection; raise OSError if the handshake fails."""
        with self.keep(identity) as connection:
            return connection.post(**request)

    def status(self, identity: Identity | None = None) -> int:
        """Return the status of one message."""
        return self.post(identity)[0]
