"""What can go wrong, in the user's words: every error has a stable code and names the field it is about.

Only `web.http.problems` knows how these become HTTP statuses and bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Detail:
    """One of several faults of a request."""

    code: str
    message: str
    target: str | None = None


class PromenadeError(Exception):
    """Base class of every error that is reported to callers.

    ``code`` is stable and upper-case, ``target`` a path to the field in wire names, ``details`` further faults.
    """

    def __init__(self, code: str, message: str, target: str | None = None, details: Sequence[Detail] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.target = target
        self.details = tuple(details)


class Invalid(PromenadeError):
    """The request is malformed or breaks a rule; nothing was stored."""


class Unauthorized(PromenadeError):
    """There is no credential, or it is invalid."""


class Forbidden(PromenadeError):
    """The caller is authenticated but not allowed to do this."""


class NotFound(PromenadeError):
    """The tenant has no such resource."""


class Misdirected(PromenadeError):
    """The request is for a host name that the service does not answer to."""


class NotAllowed(PromenadeError):
    """The resource does not support this method; ``allow`` names those it supports."""

    def __init__(self, code: str, message: str, allow: Sequence[str] = (), target: str | None = None) -> None:
        super().__init__(code, message, target)
        self.allow = tuple(allow)


class NotAcceptable(PromenadeError):
    """The media type or the encoding of the body is not supported."""


class Conflict(PromenadeError):
    """The current state does not allow it."""


class TooLarge(PromenadeError):
    """The body exceeds its limit."""


class TooMany(PromenadeError):
    """A rate or the number of concurrent jobs is exhausted; ``retry_after_seconds`` says when to retry."""

    def __init__(self, code: str, message: str, retry_after_seconds: int, target: str | None = None) -> None:
        super().__init__(code, message, target)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(PromenadeError):
    """A dependency of the service does not respond; try again."""
