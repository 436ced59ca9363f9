"""Decisions that a host makes for its service: permissions, error format, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from odata_server.edm import EntitySet, Operation
from odata_server.errors import ODataError
from odata_server.http import Request, Response, error_response
from odata_server.source import Key, Unit

__all__ = ["Access", "Hooks"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The operation that a request is about to perform.

    ``kind`` is read, create, update, delete, invoke or metadata. ``entity_set`` is the affected set (None for
    metadata and for unbound operations), ``operation`` the invoked operation. A read through a navigation or an
    expand asks for each set on the way. ``on_the_way``: a write only passes through this set or checks there whether
    an entity exists, and reveals nothing of its content. ``of_draft``: the operation affects an existing edit draft
    or a part of one.
    """

    kind: str
    entity_set: EntitySet | None = None
    operation: Operation | None = None
    on_the_way: bool = False
    of_draft: bool = False


class Hooks:
    """The hooks of a host, with sensible defaults.

    Every method may raise `ODataError`, or an error of the host that `translate` knows.
    """

    page_size = 1000
    """Rows of a page at most, outermost and expanded alike."""
    body_bytes_max = 10 * 1024 * 1024
    body_seconds_max = 30.0
    """How long a body may take to arrive."""
    batch_parts_max = 100
    batch_answer_bytes_max = 10 * 1024 * 1024
    """What the answers of one batch may come to; once they do, what is left of it is refused."""
    batch_seconds_max = 20.0
    """How long the requests of one batch may take; after that, what is left of it is refused."""
    default_version = "4.01"
    """In which forms to answer a client that sends no OData-MaxVersion: ``4.01`` or ``4.0``."""
    patch_returns = "minimal"
    """What PATCH and PUT answer without a Prefer: ``minimal`` (204) or ``representation`` (200)."""

    async def authenticate(self, scope: Mapping[str, Any]) -> Any:
        """Return the caller for an ASGI scope; all other hooks get it as ``caller``."""
        return None

    def permit(self, caller: Any, access: Access, request: Request) -> None:
        """Raise an error if ``caller`` is not permitted to do this."""

    def translate(self, error: Exception) -> ODataError | None:
        """Convert one of the host's own errors to an `ODataError`; None if it is unexpected and becomes a 500."""
        return None

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        """Return the response to a failed request in OData version ``version``."""
        return error_response(error, version)

    def now(self) -> datetime:
        """Return the time of a request, aware and in UTC."""
        return datetime.now(UTC)

    def tells_once(self, unit: Unit, entity_set: EntitySet, key: Key) -> bool:
        """Return whether the response to this write contains data that no later response will contain.

        It is then sent together with the key, even to a client that prefers a minimal response.
        """
        return False

    def extras(self, caller: Any) -> Mapping[str, Any]:
        """Return top-level members to add to every successful JSON body that does not already have them."""
        return _NOTHING
