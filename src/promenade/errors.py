"""What can go wrong, in the user's words: every error has a stable code and names the field it is about.

Only `web.problems` knows how these become HTTP statuses and bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Conflict",
    "Detail",
    "Forbidden",
    "Invalid",
    "NotAcceptable",
    "NotAllowed",
    "NotFound",
    "PromenadeError",
    "TooLarge",
    "TooMany",
    "Unauthorized",
    "Unavailable",
]


@dataclass(frozen=True, slots=True)
class Detail:
    """One of several faults of a request."""

    code: str
    message: str
    target: str | None = None


class PromenadeError(Exception):
    """Base of every error a caller is told about.

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
    """No credential, or one that does not hold."""


class Forbidden(PromenadeError):
    """The caller is known and may not do this."""


class NotFound(PromenadeError):
    """There is no such thing for this tenant."""


class NotAllowed(PromenadeError):
    """The resource does not take this verb; ``allow`` names the verbs it takes."""

    def __init__(self, code: str, message: str, allow: Sequence[str] = (), target: str | None = None) -> None:
        super().__init__(code, message, target)
        self.allow = tuple(allow)


class NotAcceptable(PromenadeError):
    """The body is in a media type or an encoding that is not spoken here."""


class Conflict(PromenadeError):
    """The state of things does not admit it."""


class TooLarge(PromenadeError):
    """The body exceeds its bound."""


class TooMany(PromenadeError):
    """A rate or a number of concurrent jobs is used up; ``retry_after_seconds`` says when to come back."""

    def __init__(self, code: str, message: str, retry_after_seconds: int, target: str | None = None) -> None:
        super().__init__(code, message, target)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(PromenadeError):
    """Something this service depends on does not answer; try again."""
