"""Maps errors to responses: one table from error class to HTTP status, and the formats of the error body.

No other module of the product knows the HTTP status of an error.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from msgspec import UNSET, Struct, UnsetType, json

from odata_server.errors import Fault, ODataError
from promenade.errors import (
    Conflict,
    Forbidden,
    Invalid,
    Misdirected,
    NotAcceptable,
    NotAllowed,
    NotFound,
    PromenadeError,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
)

Headers = list[tuple[bytes, bytes]]

STATUS: dict[type[PromenadeError], int] = {
    Invalid: 400,
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    NotAllowed: 405,
    Conflict: 409,
    TooLarge: 413,
    NotAcceptable: 415,
    Misdirected: 421,
    TooMany: 429,
    Unavailable: 503,
}


class Challenged(Unauthorized):
    """An Unauthorized for an endpoint that does not accept bearer tokens; ``challenge`` names what it accepts."""

    def __init__(self, code: str, message: str, challenge: bytes) -> None:
        super().__init__(code, message)
        self.challenge = challenge


class _Detail(Struct, frozen=True, omit_defaults=True):
    code: str
    message: str
    target: str | None = None


class _Error(Struct, frozen=True, omit_defaults=True):
    code: str
    message: str
    target: str | None = None
    details: list[_Detail] | UnsetType = UNSET


class _Envelope(Struct, frozen=True):
    error: _Error


def status_of(error: PromenadeError) -> int:
    """Return the HTTP status of an error: that of its nearest class in the table."""
    for kind in type(error).__mro__:
        status = STATUS.get(kind)
        if status is not None:
            return status
    raise LookupError(f"{type(error).__name__} has no status") from error


def body_of(error: PromenadeError) -> bytes:
    """Return ``{"error": {"code", "message", "target", "details"}}``.

    As in every message of the service, empty members are left out.
    """
    details = [_Detail(detail.code, detail.message, detail.target) for detail in error.details]
    return json.encode(_Envelope(_Error(error.code, error.message, error.target, details or UNSET)))


def internal_body(correlation_id: str) -> bytes:
    """Return the body of a 500: it names the correlation ID for the log and nothing else."""
    return json.encode(_Envelope(_Error("INTERNAL_ERROR", f"Something went wrong; quote {correlation_id}.")))


def headers_of(error: PromenadeError, credential_was_sent: bool) -> Headers:
    """Return the headers that HTTP requires for the status."""
    if isinstance(error, Challenged):
        return [(b"www-authenticate", error.challenge)]
    if isinstance(error, Unauthorized):
        challenge = b'Bearer realm="promenade"'
        if credential_was_sent:
            challenge += b', error="invalid_token"'
        return [(b"www-authenticate", challenge)]
    if isinstance(error, NotAllowed):
        return [(b"allow", ", ".join(error.allow).encode("ascii"))]
    if isinstance(error, TooMany):
        return [(b"retry-after", b"%d" % error.retry_after_seconds)]
    if isinstance(error, TooLarge):
        # The rest of the body is not read, so the connection cannot be reused.
        return [(b"connection", b"close")]
    return []


def odata_error(error: PromenadeError, *, credential_was_sent: bool = False) -> ODataError:
    """Return the error as an `odata_server` error."""
    return ODataError(
        status_of(error),
        error.code,
        error.message,
        error.target,
        [Fault(detail.code, detail.message, detail.target) for detail in error.details],
        {
            "-".join(part.capitalize() for part in name.decode("ascii").split("-")): value.decode("ascii")
            for name, value in headers_of(error, credential_was_sent)
        },
    )


def problem_details(error: ODataError, instance: str) -> bytes:
    """Return the body of an error for plain REST clients (RFC 7807).

    It has ``code``, ``target`` and ``details`` in addition to the standard's members; ``instance`` is the requested
    URL.
    """
    problem: dict[str, Any] = {
        # The status gives the kind of problem, the code the exact problem.
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
        "instance": instance,
        "code": error.code,
    }
    if error.target is not None:
        problem["target"] = error.target
    if error.details:
        problem["details"] = [
            {"code": fault.code, "message": fault.message} | ({"target": fault.target} if fault.target else {})
            for fault in error.details
        ]
    return json.encode(problem)
