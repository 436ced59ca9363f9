"""Peers of the listener for certificates: they shake hands for real, and keep connections when they are told to."""

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
from tests.web.imports.mtls.openssl import Identity

__all__ = ["INGEST", "SOAP", "Door", "Kept", "message", "until"]

INGEST = "/api/v1/master-data/ProductMerchandiseViewReplicationBulkRequest"
SOAP = "/api/v1/master-data/soap"
SECONDS_MAX = 90.0


def message() -> bytes:
    """A message that was never sent before, of one article."""
    product = {"ActionCode": "04", "ProductID": "A-1", "Description": "Apples"}
    body = {
        "MessageHeader": {"ID": str(uuid4())},
        "ProductMerchandiseViewReplicationRequestMessage": [{"Product": product}],
    }
    return json.dumps(body).encode()


def until(holds: Callable[[], bool], seconds: float = SECONDS_MAX) -> None:
    """Ask again and again until it holds; the service has seconds to take a file up."""
    latest = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < latest, "it never came to hold"


class Kept:
    """A connection that is kept open; each `post` is one more request on it."""

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
        """What is below."""
        return self._socket

    @property
    def session(self) -> ssl.SSLSession | None:
        """What another connection may try to take up again."""
        return self._socket.session

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def post(
        self, body: bytes | None = None, path: str = INGEST, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a message; the status and the decoded body (text when it is not JSON)."""
        sent = {"content-type": "application/json", **(headers or {})}
        return self._ask("POST", path, message() if body is None else body, sent)

    def get(self, path: str) -> tuple[int, Any]:
        """GET ``path``."""
        return self._ask("GET", path, None, {})

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, Any]:
        self._connection.request(method, path, body=body, headers=dict(headers))
        response = self._connection.getresponse()
        text = response.read().decode()
        # INVARIANT: it is the same connection still, or nothing is shown about those that are kept.
        assert self._connection.sock is self._socket
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text

    @property
    def server_certificate(self) -> bytes:
        """What the server showed (DER)."""
        shown = self._socket.getpeercert(binary_form=True)
        assert isinstance(shown, bytes)
        return shown

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


@dataclass
class Door:
    """A service with a listener for certificates, and the files it was given."""

    cert: Path
    key: Path
    ca: Path
    crl: Path
    authority: Path  # whom peers trust to name servers
    port: int = field(default_factory=free_port)
    service: Service | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """For `promenade serve`."""
        files = {"cert": self.cert, "key": self.key, "ca": self.ca, "crl": self.crl, "port": self.port}
        return tuple(text for name, value in files.items() for text in (f"--mtls-{name}", str(value)))

    @property
    def output(self) -> str:
        """What the service printed."""
        assert self.service is not None
        return self.service.output()

    def context(self, identity: Identity | None = None) -> ssl.SSLContext:
        """What a careful client shakes hands with."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if identity is not None:
            context.load_cert_chain(identity.cert, identity.key)
        return context

    def keep(self, identity: Identity | None = None, context: ssl.SSLContext | None = None) -> Kept:
        """A new connection, kept open."""
        return Kept(self, identity, context)

    def post(self, identity: Identity | None = None, **request: Any) -> tuple[int, Any]:
        """One message over a connection of its own; raises OSError when hands were not shaken."""
        with self.keep(identity) as connection:
            return connection.post(**request)

    def status(self, identity: Identity | None = None) -> int:
        """The status that one message gets."""
        return self.post(identity)[0]
