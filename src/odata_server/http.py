"""A request to a service and its answer, apart from any web server: the same whether it came alone or in a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Request", "Response"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``path`` is relative to the service root, without a leading slash and still percent-encoded, as is
    ``query``; the names of ``headers`` are lower-case. ``in_batch``: it came as a part of a ``$batch``. ``origin`` is
    how the client calls this host, e.g. ``https://shop.example:8443``; empty where that is not known.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b""
    in_batch: bool = False
    origin: str = ""


@dataclass(slots=True)
class Response:
    """One answer; header names in their usual spelling (``Content-Type``), each at most once."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
