"""Parse the values of OData's own headers and of ``Prefer`` strictly by their grammar (ABNF, chapter 8; RFC 7240).

A service ignores a preference that it does not understand. `parse_preferences` therefore skips malformed ones unless
``strict``, and uses the first of a repeated name, as RFC 7240 requires.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from odata_server.errors import ODataError, bad_request

__all__ = ["parse_header", "parse_preference", "parse_preferences", "parse_request_id"]

HEADER_SYNTAX = "HEADER_SYNTAX"

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105  # a token of HTTP is no secret
_VALUE = rf"(?:{_TOKEN}|\"(?:[^\"\\]|\\.)*\")"
_PREFERENCE = re.compile(
    rf"({_TOKEN})(?:[ \t]*=[ \t]*({_VALUE}))?((?:[ \t]*+;[ \t]*+(?:{_TOKEN}(?:=(?:{_VALUE}))?)?)*)"
)
_TERM = r"-?(?:\*|[^\W\d]\w*(?:\.[^\W\d]\w*)*\.(?:\*|[^\W\d]\w*))(?:#[^\W\d]\w*)?"
_SEPARATOR = re.compile(r"[ \t]*,[ \t]*")
_REQUEST_ID = re.compile(r"[\w.~-]+", re.ASCII)

# The values of the preferences that OData defines; None if the preference has no value.
_PREFERENCES: Mapping[str, re.Pattern[str] | None] = MappingProxyType(
    {
        "allow-entityreferences": None,
        "callback": None,
        "continue-on-error": re.compile("|true|false", re.IGNORECASE),
        "include-annotations": re.compile(f"{_TERM}(?:,{_TERM})*"),
        "maxpagesize": re.compile("[1-9][0-9]*"),
        "omit-values": re.compile("nulls|defaults"),
        "respond-async": None,
        "return": re.compile("representation|minimal"),
        "track-changes": None,
        "wait": re.compile("[0-9]+"),
    }
)
_CALLBACK = re.compile(r"[ \t]*;[ \t]*url[ \t]*=[ \t]*\"[A-Za-z][A-Za-z0-9+.-]*:[^\s\"]*\"", re.IGNORECASE)

_HEADERS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "asyncresult": re.compile("[0-9]{3}"),
        "content-id": _REQUEST_ID,
        "isolation": re.compile("snapshot", re.IGNORECASE),
        "odata-isolation": re.compile("snapshot", re.IGNORECASE),
        "odata-entityid": re.compile("[!-~\x80-\xff]+"),
        "odata-error": re.compile('{"code":[ -~]*'),
        "odata-maxversion": re.compile(r"[0-9]+\.[0-9]+"),
        "odata-version": re.compile(r"4\.0[1-9]?"),
    }
)


def parse_header(line: str) -> tuple[str, str]:
    """Parse ``OData-Version: 4.01`` to the name in lower case and the value.

    Raise ODataError 400 HEADER_SYNTAX, also for a header that OData does not define.
    """
    name, colon, value = line.partition(":")
    name, value = name.lower(), value.strip(" \t")
    if name == "prefer":
        parse_preferences(value, strict=True)
        return name, value
    pattern = _HEADERS.get(name)
    if not colon or pattern is None or pattern.fullmatch(value) is None:
        raise bad_request(
            HEADER_SYNTAX, f"{line[:60]} is not a header in the syntax of OData, at position 0.", name[:40]
        )
    return name, value


def parse_request_id(text: str) -> str:
    """Return the identifier of a request in a batch. Raise ODataError 400."""
    if _REQUEST_ID.fullmatch(text) is None:
        raise bad_request(HEADER_SYNTAX, f"{text[:60]} is not a request identifier, at position 0.", "Content-ID")
    return text


def parse_preference(text: str) -> tuple[str, str]:
    """Parse ``odata.maxpagesize=50`` to ``("maxpagesize", "50")``, without the prefix ``odata.`` and without quotes.

    The value of a preference without one is empty; that of a callback is its URL. Raise ODataError 400.
    """
    found = _PREFERENCE.fullmatch(text)
    if found is None:
        raise _malformed(text, 0)
    return _checked(found)


def parse_preferences(text: str, *, strict: bool = False) -> Mapping[str, str]:
    """Return all preferences of a ``Prefer`` header by name, as `parse_preference` returns them."""
    preferences: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _PREFERENCE.match(text, at)
        separator = None if found is None else _SEPARATOR.match(text, found.end())
        if found is None or (separator is None and found.end() < len(text)):
            if strict:
                raise _malformed(text, at)
            break
        try:
            name, value = _checked(found)
            preferences.setdefault(name, value)
        except ODataError:
            if strict:
                raise
        at = found.end() if separator is None else separator.end()
    return MappingProxyType(preferences)


def _checked(found: re.Match[str]) -> tuple[str, str]:
    name, value, parameters = found[1].lower().removeprefix("odata."), found[2] or "", found[3]
    value = re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == '"' else value
    if name == "callback":
        url = _CALLBACK.fullmatch(parameters)
        if url is None:
            raise _malformed(found[0], found.start())
        return name, url[0].partition('"')[2][:-1]
    pattern = _PREFERENCES.get(name)
    if name in _PREFERENCES and (value if pattern is None else pattern.fullmatch(value) is None):
        raise _malformed(found[0], found.start())
    return name, value


def _malformed(text: str, position: int) -> ODataError:
    return bad_request(HEADER_SYNTAX, f"'{text[:60]}' is not a preference, at position {position}.", "Prefer")
