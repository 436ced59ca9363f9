"""The shapes of spatial literals. No property here has such a type, but the grammar includes them."""

from __future__ import annotations

import re

__all__ = ["geo_shape"]

_SRID = re.compile(r"SRID=[0-9]{1,5};", re.IGNORECASE)
_NUMBER = r"(?:[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?INF|NaN)"
_POSITION = rf"{_NUMBER}(?: {_NUMBER}){{1,3}}"
_POINT = rf"\({_POSITION}\)"
_LINE = rf"\({_POSITION}(?:,{_POSITION})+\)"
_RING = rf"\({_POSITION}(?:,{_POSITION})*\)"
_POLYGON = rf"\({_RING}(?:,{_RING})*\)"
_SHAPES = {
    "Point": _POINT,
    "LineString": _LINE,
    "Polygon": _POLYGON,
    "MultiPoint": rf"\((?:{_POINT}(?:,{_POINT})*)?\)",
    "MultiLineString": rf"\((?:{_LINE}(?:,{_LINE})*)?\)",
    "MultiPolygon": rf"\((?:{_POLYGON}(?:,{_POLYGON})*)?\)",
}
_ONE = re.compile("|".join(f"(?P<{name}>{name}{data})" for name, data in _SHAPES.items()), re.IGNORECASE)
_COLLECTION = re.compile(r"GeometryCollection\(", re.IGNORECASE)
_NESTED_MAX = 20


def geo_shape(text: str) -> str | None:
    """Return ``Point`` for ``SRID=0;Point(1 2)``, ``Collection`` for a GeometryCollection; None if not spatial."""
    srid = _SRID.match(text)
    if srid is None:
        return None
    if _COLLECTION.match(text, srid.end()):
        return "Collection" if _collection(text, srid.end(), 0) == len(text) else None
    found = _ONE.fullmatch(text, srid.end())
    return None if found is None else found.lastgroup


def _collection(text: str, start: int, depth: int) -> int | None:
    """Return the end of the collection that starts here."""
    opened = _COLLECTION.match(text, start)
    if opened is None or depth > _NESTED_MAX:
        return None
    at = opened.end()
    while True:
        one = _ONE.match(text, at)
        stop = _collection(text, at, depth + 1) if one is None else one.end()
        if stop is None or stop >= len(text):
            return None
        if text[stop] == ")":
            return stop + 1
        if text[stop] != ",":
            return None
        at = stop + 1
