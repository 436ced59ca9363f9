"""What a host decides for its service: who may do what, how errors look, how much is too much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from odata_server.edm import EntitySet, Operation
from odata_server.errors import ODataError
from odata_server.http import Request, Response
from odata_server.responses import error_response
from odata_server.source import Key, Unit

__all__ = ["Access", "Hooks"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a request is about to do: ``kind`` is read, create, update, delete, invoke or metadata.

    ``entity_set`` is the set it does it to (None for metadata and for unbound operations), ``operation`` what it
    invokes. Reading through a navigation or an expand asks for each set on the way. ``on_the_way``: a write passes
    through this set, or looks there whether an entity exists, and tells nothing of what it holds. ``of_draft``: it is
    done to an edit draft, or to a part of one, that is there already.
    """

    kind: str
    entity_set: EntitySet | None = None
    operation: Operation | None = None
    on_the_way: bool = False
    of_draft: bool = False


class Hooks:
    """Sensible defaults; a host overrides what it knows better. Every method may raise `ODataError`, or an error of
    the host's own that `translate` knows."""

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
        """Who calls, from an ASGI scope; handed to everything else as ``caller``."""
        return None

    def permit(self, caller: Any, access: Access, request: Request) -> None:
        """Raise if ``caller`` may not do this."""

    def translate(self, error: Exception) -> ODataError | None:
        """One of the host's own errors in OData's words; None: it is not expected, and becomes a 500."""
        return None

    def render_error(self, request: Request, error: ODataError, version: str) -> Response:
        """The answer to a request that failed; ``version`` is the OData version to answer in."""
        return error_response(error, version)

    def now(self) -> datetime:
        """The time of a request, aware, in UTC."""
        return datetime.now(UTC)

    def tells_once(self, unit: Unit, entity_set: EntitySet, key: Key) -> bool:
        """Whether the answer to a write of this entity holds what no other answer will.

        It is told with the key then, even to a client that prefers to be told nothing.
        """
        return False

    def extras(self, caller: Any) -> Mapping[str, Any]:
        """Members for the top level of every JSON body that is a success, unless they are there already."""
        return _NOTHING
