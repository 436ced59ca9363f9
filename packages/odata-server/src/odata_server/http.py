"""A request to a service and its response, independent of a web server and of whether it is part of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from odata_server.errors import ODataError

__all__ = ["Request", "Response", "error_response"]


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    ``path`` is relative to the service root, without a leading slash and still percent-encoded, like ``query``; the
    names of ``headers`` are lower-case. ``in_batch``: it is a part of a ``$batch``. ``origin`` is the client's URL
    of this host, e.g. ``https://shop.example:8443``; empty if unknown.
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
    """One response; header names have their usual spelling (``Content-Type``), each at most once."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def error_body(error: ODataError) -> dict[str, Any]:
    """Return the object under ``error`` (JSON Format 4.01, chapter 21.1), with the severity that SAP's clients read."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.target is not None:
        body["target"] = error.target
    if error.details:
        body["details"] = [
            {"code": fault.code, "message": fault.message}
            | ({} if fault.target is None else {"target": fault.target})
            | {"@Common.numericSeverity": 4}
            for fault in error.details
        ]
    body["@Common.numericSeverity"] = 4
    return body


def error_response(error: ODataError, version: str) -> Response:
    """Return the response that OData prescribes for a failed request, always ``application/json``.

    Its messages are English; a host that translates them says so in the headers of its errors.
    """
    headers = {
        "Content-Type": "application/json",
        "Content-Language": "en",
        "OData-Version": version,
        **error.headers,
    }
    return Response(error.status, headers, msgspec.json.encode({"error": error_body(error)}))
