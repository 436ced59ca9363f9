"""Resource paths, and whole URLs as in ``$batch`` and entity IDs.

A path is split at the slashes of the wire, each segment decoded and read for itself. A segment without parentheses may
be anything, because keys may be written as segments (``Orders/A17``); the first one is a name. What each segment means,
the model decides.
"""

from __future__ import annotations

import re
from functools import lru_cache

from odata_server.errors import ODataError, bad_request
from odata_server.expressions import ResourcePath, Segment
from odata_server.parse.cursor import identifier
from odata_server.parse.encoding import cacheable, decode
from odata_server.parse.options import OptionParser
from odata_server.parse.query import parse_options
from odata_server.syntax import QueryOptions

__all__ = ["URI_SYNTAX", "below_root", "parse_entity_id", "parse_path", "parse_relative_uri"]

_HOST = re.compile(r"https?://[^/?#\s]+(?=/)", re.IGNORECASE)
_ALLOWED = {
    "$batch": frozenset({"format"}),
    "$metadata": frozenset({"format"}),
    "$entity": frozenset({"format", "id"}),
}
_ENTITY_CAST = _ALLOWED["$entity"] | {"select", "expand"}


def below_root(text: str, root: str) -> str:
    """Return the part of a URL below the service root.

    It is ``Orders(1)`` for ``Orders(1)``, ``/api/v1/Orders(1)`` and ``https://host/api/v1/Orders(1)``. ``root``: the
    absolute path of the root. Raise 400 for a URL outside of it.
    """
    host = _HOST.match(text)
    if host is None and not text.startswith("/"):
        return text
    below = text[host.end() :] if host else text
    base = root.rstrip("/") + "/"
    if not below.startswith(base):
        raise bad_request(URI_SYNTAX, f"{text[:200]} is not an address in this service.")
    return below[len(base) :]


def parse_relative_uri(text: str) -> tuple[ResourcePath, QueryOptions]:
    """Parse the path and options of a URL below the service root (``odataRelativeUri``), percent-encoded.

    Raise ODataError 400, also for an option that ``$entity``, ``$metadata`` and ``$batch`` do not accept.
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
            message = f"{first} does not take ${refused[0]}; it stands at position {len(path_text) + 1} or later."
            raise bad_request("QUERY_SYNTAX", message, f"${refused[0]}")
    return path, options


def parse_entity_id(text: str, root: str = "") -> ResourcePath:
    """Parse an entity ID, as in ``@id``, ``nav@odata.bind`` and ``$id``.

    It is relative to the service root, absolute on this host, or a whole URL; see `below_root`. Raise ODataError 400
    URI_SYNTAX.
    """
    below = below_root(text, root)
    if "?" in below or "#" in below or not below:
        raise bad_request(URI_SYNTAX, f"{text[:200]} does not name an entity.")
    return parse_path(below)


URI_SYNTAX = "URI_SYNTAX"

_PATH = "The path"
_SEGMENTS_MAX = 30
_LENGTH_MAX = 64 * 1024
_ROOTS = frozenset({"$metadata", "$batch", "$entity", "$all"})
_LAST = frozenset({"$count", "$value", "$ref", "$query", "$metadata", "$batch"})
_DOLLAR = frozenset({"$count", "$value", "$ref", "$query", "$each"})
_MARK = re.compile("'|%27|\\(|%28|\\)|%29")
_PLAIN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_OPEN_FILTER = re.compile(r"\$filter(?:\(|%28)")


def parse_path(text: str) -> ResourcePath:
    """Parse the path of a URL below the service root, percent-encoded and without a leading slash.

    A trailing slash is ignored. Raise ODataError 400 URI_SYNTAX, 501.
    """
    return _cached(text) if cacheable(text) else _read(text)


@lru_cache(maxsize=512)
def _cached(text: str) -> ResourcePath:
    return _read(text)


def _read(text: str) -> ResourcePath:
    if len(text) > _LENGTH_MAX:
        raise _error(_LENGTH_MAX, f"at most {_LENGTH_MAX} characters")
    segments: list[Segment] = []
    offset = 0
    parser = OptionParser("", _PATH, URI_SYNTAX)  # shared, so that the limits apply to all expressions together
    for raw in _split(text):
        if segments and segments[-1].name in _LAST:
            raise _error(offset, f"nothing behind {segments[-1].name}")
        segments.append(_segment(parser, raw, offset, first=not segments))
        if len(segments) > _SEGMENTS_MAX:
            raise _error(offset, f"at most {_SEGMENTS_MAX} segments")
        offset += len(raw) + 1
    return ResourcePath(tuple(segments))


def _error(position: int, expected: str) -> ODataError:
    return bad_request(URI_SYNTAX, f"{_PATH} cannot be read at position {position}: expected {expected}.")


def _split(text: str) -> list[str]:
    """Split a path into segments; the expression of ``$filter(...)`` keeps its slashes."""
    if not text or text == "/":
        return []
    pieces = text.removesuffix("/").split("/")
    if "$filter" not in text:
        return pieces
    found: list[str] = []
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        if _OPEN_FILTER.match(piece):
            rest = "/".join([piece, *pieces[at:]])
            end = _closing(rest)
            piece = rest[:end]
            at += piece.count("/")
            if "/" not in rest[end : end + 1] and end < len(rest):
                raise _error(text.index(piece) + end, "'/' behind $filter(...)")
        found.append(piece)
        if len(found) > _SEGMENTS_MAX:
            break  # the caller refuses the excess
    return found


def _closing(text: str) -> int:
    """Return the end of the first parenthesised part of a text, or its length if it is not closed."""
    depth, quoted = 0, False
    for mark in _MARK.finditer(text):
        what = mark[0]
        if what in {"'", "%27"}:
            quoted = not quoted
        elif not quoted:
            depth += 1 if what in {"(", "%28"} else -1
            if depth == 0:
                return mark.end()
    return len(text)


def _segment(parser: OptionParser, raw: str, offset: int, *, first: bool) -> Segment:
    if _PLAIN.fullmatch(raw) and len(raw) <= 128:
        if first and "." in raw:
            raise _error(offset, "the name of an entity set, singleton or import")
        return Segment(raw)
    text = decode(raw, None, URI_SYNTAX)
    if not text:
        raise _error(offset, "a segment")
    if "(" in text:
        parser.reset(text, _PATH)
        return _with_parentheses(parser, offset, first=first)
    if text in _ROOTS if first else text in _DOLLAR:
        return Segment(text)
    if text.startswith("$"):
        raise _error(offset, "a segment that OData defines")
    if first and not identifier(text):
        raise _error(offset, "the name of an entity set, singleton or import")
    return Segment(text)


def _with_parentheses(parser: OptionParser, offset: int, *, first: bool) -> Segment:
    name = parser.value
    try:
        if parser.kind == "dollar":
            found = _dollar(parser, name, first=first)
        elif parser.kind == "name" and parser.start == 0 and not (first and "." in name):
            parser.check_name()
            parser.advance()
            found = Segment(name, parser.predicates(parser.key_value))
        else:
            parser.fail("a name")
        parser.finish()
    except ODataError as error:
        error.target = None
        if offset:
            error.message = f"{error.message} (The segment starts at position {offset}.)"
        raise
    return found


def _dollar(parser: OptionParser, name: str, *, first: bool) -> Segment:
    parser.advance()
    if name == "$filter" and not first:
        parser.take("(")
        expression = parser.expression()
        parser.take(")", "an operator or ')'")
        return Segment(name, expression=expression)
    if name == "$crossjoin" and first:
        parser.take("(")
        sets = [parser.take_identifier("the name of an entity set")]
        while parser.skip(","):
            sets.append(parser.take_identifier("the name of an entity set"))
        parser.take(")", "',' or ')'")
        return Segment(name, sets=tuple(sets))
    raise parser.error("a segment that may have parentheses", 0)
