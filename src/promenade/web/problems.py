"""How an error becomes an answer: one table from error class to status, and the forms of its body.

Nothing else in the product knows HTTP statuses of errors.
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
    NotAcceptable,
    NotAllowed,
    NotFound,
    PromenadeError,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
)

__all__ = [
    "STATUS",
    "Challenged",
    "Headers",
    "body_of",
    "headers_of",
    "internal_body",
    "odata_error",
    "problem_details",
    "status_of",
]

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
    TooMany: 429,
    Unavailable: 503,
}


class Challenged(Unauthorized):
    """An Unauthorized of a place that opens to something else than a bearer token; ``challenge`` says to what."""

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
    """The HTTP status of an error: that of the nearest class in the table."""
    for kind in type(error).__mro__:
        status = STATUS.get(kind)
        if status is not None:
            return status
    raise LookupError(f"{type(error).__name__} has no status") from error


def body_of(error: PromenadeError) -> bytes:
    """``{"error": {"code", "message", "target", "details"}}``.

    As in every message of the service, a member that has nothing to say is left out.
    """
    details = [_Detail(detail.code, detail.message, detail.target) for detail in error.details]
    return json.encode(_Envelope(_Error(error.code, error.message, error.target, details or UNSET)))


def internal_body(correlation_id: str) -> bytes:
    """A 500 says where to look in the log and nothing else."""
    return json.encode(_Envelope(_Error("INTERNAL_ERROR", f"Something went wrong; quote {correlation_id}.")))


def headers_of(error: PromenadeError, credential_was_sent: bool) -> Headers:
    """The headers HTTP asks for beside the status."""
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
        # What is left of the body is not read, so the connection cannot be used again.
        return [(b"connection", b"close")]
    return []


def odata_error(error: PromenadeError, *, credential_was_sent: bool = False) -> ODataError:
    """The same error in the words of `odata_server`."""
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
    """The body of an error for clients of plain REST (RFC 7807), with ``code``, ``target`` and ``details`` beside the
    members of the standard; ``instance`` is the address that was asked for."""
    problem: dict[str, Any] = {
        # The status says what kind of problem it is, the code which one.
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
