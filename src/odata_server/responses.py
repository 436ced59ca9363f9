"""Answers, made from what they say."""

from __future__ import annotations

from typing import Any

import msgspec

from odata_server.errors import ODataError
from odata_server.http import Response

__all__ = ["error_body", "error_response"]


def error_body(error: ODataError) -> dict[str, Any]:
    """The object under ``error`` (JSON Format 4.01, chapter 21.1), with the severity that SAP's clients read."""
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
    """The answer OData prescribes to a failed request, always ``application/json``."""
    headers = {"Content-Type": "application/json", "OData-Version": version, **error.headers}
    return Response(error.status, headers, msgspec.json.encode({"error": error_body(error)}))
