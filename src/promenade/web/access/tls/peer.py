"""Connections whose client may have presented a certificate.

Applications get it from the TLS handshake only; no request header can set it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from promenade.web.http.connection import Connection

PEER = "promenade.peer"
"""In the scope of a request: the client's certificate (DER) as the handshake verified it; absent without one."""

PEER_ISSUERS = "promenade.peer_issuers"
"""Beside it: the certificates (DER) that the client sent along to lead to an authority; not verified, may be none."""


class PeerConnection(Connection):
    """A TLS connection whose requests carry the client's certificate."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._peer: bytes | None = None
        self._peer_issuers: tuple[bytes, ...] = ()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        tls = transport.get_extra_info("ssl_object")
        if tls is not None:
            self._peer = tls.getpeercert(binary_form=True)
        if self._peer is not None:
            self._peer_issuers = tuple(_sent_along(tls))
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._peer is not None:
            self.say(PEER, self._peer)
            self.say(PEER_ISSUERS, self._peer_issuers)


def _sent_along(tls: Any) -> Iterable[bytes]:
    """Return the certificates sent with the client's; before Python 3.13 they are read from the underlying object."""
    chain = getattr(tls, "get_unverified_chain", None)
    if chain is not None:
        return list(chain()[1:])
    below = getattr(getattr(tls, "_sslobj", None), "get_unverified_chain", None)
    if below is None:
        return []
    binary = 2  # OpenSSL's X509_FILETYPE_ASN1
    return [one.public_bytes(binary) for one in (below() or [])[1:]]
