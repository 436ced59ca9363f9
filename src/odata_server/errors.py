"""What can go wrong with an OData request: status, stable code, message, target, and further faults.

A host's own exceptions become these by the ``translate`` hook of `odata_server.service.Service`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Fault", "ODataError", "bad_request", "not_found", "not_implemented"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One of several faults of a request; ``target`` is a path from the request's resource, e.g. ``items/0/price``."""

    code: str
    message: str
    target: str | None = None


@dataclass(eq=False)
class ODataError(Exception):
    """An answer that is no success. ``code`` is stable and upper-case; ``headers`` go on the answer (Allow, ...)."""

    status: int
    code: str
    message: str
    target: str | None = None
    details: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"


def bad_request(code: str, message: str, target: str | None = None, details: Sequence[Fault] = ()) -> ODataError:
    """The request is malformed or breaks a rule."""
    return ODataError(400, code, message, target, details)


def not_found(message: str = "There is nothing at this address.", code: str = "NOT_FOUND") -> ODataError:
    """The address leads nowhere."""
    return ODataError(404, code, message)


def not_implemented(what: str) -> ODataError:
    """Part of OData that this service does not offer, and says so."""
    return ODataError(501, "NOT_IMPLEMENTED", f"{what} is not offered by this service.")
