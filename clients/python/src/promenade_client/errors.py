"""What can go wrong, one class per kind. Their codes are stable, their messages are for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from promenade_client.wire import NotOfThisInterface, parse

_NO_VERDICT = (408, 425)  # of the connection, not of the request


@dataclass(frozen=True, slots=True)
class Fault:
    """One of several faults of a request."""

    code: str
    message: str
    field: str | None


class PromenadeError(Exception):
    """A call that did not succeed.

    ``code`` is stable; ``status`` is that of HTTP, None without an answer; ``correlation_id`` finds the request in the
    service's log.
    """

    def __init__(
        self, code: str, message: str, *, status: int | None = None, correlation_id: str | None = None
    ) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.status = status
        self.correlation_id = correlation_id


class Refused(PromenadeError):
    """The service has refused the request for good: the same request will be refused again, nothing was done.

    ``field`` is the path of the field that is wrong, if one is; ``faults`` are all faults of the request. ``command``
    is the number under which a queue has set it aside.
    """

    def __init__(
        self, code: str, message: str, *, field: str | None = None, faults: tuple[Fault, ...] = (), **more: Any
    ) -> None:
        super().__init__(code, message, **more)
        self.field = field
        self.faults = faults
        self.command: int | None = None


class NotAllowed(PromenadeError):
    """The credentials are wrong, or do not allow this."""


class _Temporary(PromenadeError):
    """What may succeed later; ``retry_after`` is how many seconds the service asks to wait, if it does."""

    def __init__(self, code: str, message: str, *, retry_after: float | None = None, **more: Any) -> None:
        super().__init__(code, message, **more)
        self.retry_after = retry_after


class TooMany(_Temporary):
    """Too many requests: wait for ``retry_after`` seconds."""


class Unavailable(_Temporary):
    """There was no answer, or none of this interface. With ``was_sent`` the request may have been carried out."""

    def __init__(self, code: str, message: str, *, was_sent: bool = True, **more: Any) -> None:
        super().__init__(code, message, **more)
        self.was_sent = was_sent


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> PromenadeError:
    """Return the error that an answer without success reports."""
    about: dict[str, Any] = {"status": status, "correlation_id": headers.get("x-correlation-id")}
    found = _reported(body)
    if status == 429:
        return TooMany(*_said(found, "TOO_MANY"), retry_after=_seconds(headers), **about)
    if status in (401, 403):
        return NotAllowed(*_said(found, "NOT_ALLOWED"), **about)
    is_verdict = 400 <= status < 500 and status not in _NO_VERDICT
    if found is None or not is_verdict or found["code"] == "NOT_FOUND":  # NOT_FOUND: nothing is at this address
        return Unavailable(*_said(found, f"HTTP_{status}"), retry_after=_seconds(headers), **about)
    details = found.get("details")
    faults = tuple(
        Fault(*_said(one, "UNKNOWN"), field=_text(one.get("target")))
        for one in (details if isinstance(details, list) else ())
        if isinstance(one, dict)
    )
    return Refused(*_said(found, "UNKNOWN"), field=_text(found.get("target")), faults=faults, **about)


def _reported(body: bytes) -> dict[str, Any] | None:
    """Return the ``error`` of a documented body, or what the token endpoint says in the same form."""
    try:
        whole = parse(body)
    except NotOfThisInterface:
        return None
    error = whole.get("error") if isinstance(whole, dict) else None
    if isinstance(error, str) and isinstance(whole, dict):
        return {"code": error, "message": whole.get("error_description")}
    return error if isinstance(error, dict) and isinstance(error.get("code"), str) else None


def _said(found: dict[str, Any] | None, otherwise: str) -> tuple[str, str]:
    if found is None:
        return otherwise, "The answer is not one of Promenade's."
    return _text(found.get("code")) or otherwise, _text(found.get("message")) or ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After``; a date counts from the answer's own."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        waits = parsedate_to_datetime(said) - parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return None
    return max(waits.total_seconds(), 0.0)
