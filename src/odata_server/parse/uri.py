"""Whole URLs, as in ``$batch`` and entity IDs: what stands below the service root, its path and its options."""

from __future__ import annotations

import re

from odata_server.errors import bad_request
from odata_server.expressions import ResourcePath
from odata_server.parse.path import URI_SYNTAX, parse_path
from odata_server.parse.query import parse_options
from odata_server.syntax import QueryOptions

__all__ = ["below_root", "parse_entity_id", "parse_relative_uri"]

_HOST = re.compile(r"https?://[^/?#\s]+(?=/)", re.IGNORECASE)
_ALLOWED = {
    "$batch": frozenset({"format"}),
    "$metadata": frozenset({"format"}),
    "$entity": frozenset({"format", "id"}),
}
_ENTITY_CAST = _ALLOWED["$entity"] | {"select", "expand"}


def below_root(text: str, root: str) -> str:
    """The part of a URL below the service root: ``Orders(1)`` for ``Orders(1)``, ``/api/v1/Orders(1)`` and
    ``https://host/api/v1/Orders(1)``. ``root``: the absolute path of the root. 400 for an address outside of it.
    """
    host = _HOST.match(text)
    if host is None and not text.startswith("/"):
        return text
    below = text[host.end() :] if host else text
    base = root.rstrip("/") + "/"
    if not below.startswith(base):
        raise bad_request(URI_SYNTAX, f"{text[:200]} is no address in this service.")
    return below[len(base) :]


def parse_relative_uri(text: str) -> tuple[ResourcePath, QueryOptions]:
    """Path and options of a URL below the service root (``odataRelativeUri``), percent-encoded.

    Raises ODataError 400, also for an option that ``$entity``, ``$metadata`` and ``$batch`` do not take.
    """
    path_text, _, query = text.partition("?")
    path, options = parse_path(path_text), parse_options(query)
    first = path.segments[0].name if path.segments else ""
    allowed = _ALLOWED.get(first)
    if allowed is not None:
        if first == "$entity":
            if options.id is None:
                raise bad_request("QUERY_SYNTAX", "$entity needs $id.", "$id")
            allowed = _ENTITY_CAST if len(path.segments) > 1 else allowed
        refused = sorted(options.present - allowed)
        if refused:
            message = f"{first} takes no ${refused[0]}; it stands at position {len(path_text) + 1} or later."
            raise bad_request("QUERY_SYNTAX", message, f"${refused[0]}")
    return path, options


def parse_entity_id(text: str, root: str = "") -> ResourcePath:
    """The entity that an ID names, as in ``@id``, ``nav@odata.bind`` and ``$id``: relative to the service root,
    absolute on this host, or a whole URL; see `below_root`. Raises ODataError 400 URI_SYNTAX.
    """
    below = below_root(text, root)
    if "?" in below or "#" in below or not below:
        raise bad_request(URI_SYNTAX, f"{text[:200]} does not name an entity.")
    return parse_path(below)
