"""The errors of an OData request: status, stable code, message, target, and further faults.

The ``translate`` hook of `odata_server.service.Service` converts a host's own exceptions into these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Fault", "ODataError", "bad_request", "not_found", "not_implemented"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One of several faults of a request; ``target`` is a path from the resource, e.g. ``items/0/price``."""

    code: str
    message: str
    target: str | None = None


@dataclass(eq=False)
class ODataError(Exception):
    """An error response. ``code`` is stable and upper-case; ``headers`` are sent with it (Allow, ...)."""

    status: int
    code: str
    message: str
    target: str | None = None
    details: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"


def bad_request(code: str, message: str, target: str | None = None, details: Sequence[Fault] = ()) -> ODataError:
    """Return the error for a request that is malformed or violates a rule."""
    return ODataError(400, code, message, target, details)


def not_found(message: str = "There is nothing at this address.", code: str = "NOT_FOUND") -> ODataError:
    """Return the error for a URL without a resource."""
    return ODataError(404, code, message)


def not_implemented(what: str) -> ODataError:
    """Return the error for a part of OData that this service does not support."""
    return ODataError(501, "NOT_IMPLEMENTED", f"{what} is not supported by this service.")
