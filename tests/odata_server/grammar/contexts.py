"""Checks the fragment of a context URL (ABNF, chapter 3). A server writes these and never reads them."""

from __future__ import annotations

import re

from odata_server.errors import ODataError, bad_request
from odata_server.parse import parse_path
from tests.odata_server.grammar.names import Names

_NAME = r"[^\W\d]\w*"
_QUALIFIED = rf"{_NAME}(?:\.{_NAME})+"
_FIXED = re.compile(rf"\$ref|Collection\((?:\$ref|{_QUALIFIED})\)|{_QUALIFIED}")
_ITEM = re.compile(rf"\*|{_QUALIFIED}\.\*|{_NAME}\.\*|@?{_NAME}(?:\.{_NAME})*(?:\#{_NAME})?(?:/|\+)?")
_SUFFIX = re.compile(r"/\$(?:entity|delta|deletedEntity|link|deletedLink)$")


def check_context(text: str, names: Names) -> None:
    """Raise ODataError 400 unless ``text`` is ``#`` and a valid context URL fragment."""
    body = text.removeprefix("#")
    if body == text or "%" in body:
        raise _wrong(text, 0)
    path = body = _SUFFIX.sub("", body)
    if body.endswith(")"):
        stop = len(body)
        start = _opening(body, stop - 1)
        if _is_select_list(body, start):
            after = _select_list(body, start, names)
            if after != stop:
                raise _wrong(text, after)
            path = body[:start]
    if _FIXED.fullmatch(path) is None:
        try:
            names.check_path(parse_path(path))
        except ODataError:
            raise _wrong(text, 1) from None


def _opening(body: str, closing: int) -> int:
    depth = 0
    for position in range(closing, -1, -1):
        depth += {")": 1, "(": -1}.get(body[position], 0)
        if depth == 0:
            return position
    raise _wrong(body, closing)


def _is_select_list(body: str, start: int) -> bool:
    """Return whether the parentheses hold a select list, not a key or the type in ``Collection(...)``."""
    inside = body[start + 1 :]
    return not body[:start].endswith("Collection") and re.match(r"[0-9'-]", inside) is None


def _select_list(body: str, start: int, names: Names) -> int:
    at = start + 1
    if body[at] == ")":
        return at + 1
    while True:
        at = _select_item(body, at, names)
        if body[at : at + 1] == ")":
            return at + 1
        if body[at : at + 1] != ",":
            raise _wrong(body, at)
        at += 1


def _select_item(body: str, at: int, names: Names) -> int:
    slash = False
    while True:
        found = _ITEM.match(body, at)
        if found is None:
            raise _wrong(body, at)
        if slash and "." not in found[0] and names.is_type(found[0].rstrip("/+")):
            raise _wrong(body, at)  # a type in a context URL is qualified
        at, slash = found.end(), found[0].endswith("/")
        if not slash:
            return _select_list(body, at, names) if body[at : at + 1] == "(" else at


def _wrong(text: str, position: int) -> ODataError:
    return bad_request("URI_SYNTAX", f"{text} is no context, at position {position}.")
