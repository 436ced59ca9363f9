"""Check If-Match and If-None-Match against an entity's tag (RFC 9110, 13.1; Protocol 4.01, 8.2.4 and 8.2.5)."""

from __future__ import annotations

import re

from odata_server.errors import ODataError
from odata_server.http import Request

__all__ = ["check_write", "is_unchanged", "tag_of"]

_TAG = re.compile(r'(?:W/)?("[^"]*")')


def check_write(request: Request, etag: str | None) -> None:
    """Refuse to change an entity that differs from the client's version. Raise ODataError 412.

    ``etag`` is the current entity tag, or None if the entities have none: then only ``*`` matches.
    """
    wanted = request.headers.get("if-match")
    if wanted is not None and not _matches(wanted, etag):
        raise ODataError(412, "PRECONDITION_FAILED", "The entity has been changed in the meantime.", "If-Match")
    unwanted = request.headers.get("if-none-match")
    if unwanted is not None and _matches(unwanted, etag):
        raise ODataError(412, "PRECONDITION_FAILED", "The entity already exists.", "If-None-Match")


def is_unchanged(request: Request, etag: str | None) -> bool:
    """Return whether the client's copy is current, so that 304 is enough. Raise ODataError 412 if If-Match fails."""
    wanted = request.headers.get("if-match")
    if wanted is not None and not _matches(wanted, etag):
        raise ODataError(412, "PRECONDITION_FAILED", "The entity has been changed in the meantime.", "If-Match")
    known = request.headers.get("if-none-match")
    return known is not None and _matches(known, etag)


def tag_of(text: str) -> str:
    """Return an entity tag in header format; a source may omit the quotes."""
    return text if _TAG.fullmatch(text) else 'W/"' + text.replace('"', "") + '"'


def _matches(header: str, etag: str | None) -> bool:
    """Return whether the header matches by weak comparison: only the quoted parts count."""
    if header.strip() == "*":
        return True
    if etag is None:
        return False
    own = _TAG.fullmatch(etag)
    return own is not None and own.group(1) in _TAG.findall(header)
