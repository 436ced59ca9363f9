"""The query string of a URL: split, decode and parse it option by option."""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from odata_server.errors import bad_request
from odata_server.expressions import Expression
from odata_server.parse.cursor import check_length, identifier
from odata_server.parse.encoding import cacheable, decode, decode_form
from odata_server.parse.options import OptionParser, unknown_option
from odata_server.syntax import QueryOptions

__all__ = ["QUERY_SYNTAX", "parse_options"]

QUERY_SYNTAX = "QUERY_SYNTAX"

_FORMAT = re.compile(r"(?:atom|json|xml)|[^/\s]+/[^/\s]+", re.IGNORECASE)
_SCHEMA_VERSION = re.compile(r"\*|[\w.~-]+", re.ASCII)
_TEXTS = frozenset({"format", "id", "schemaversion", "skiptoken", "deltatoken"})
_PARSED = frozenset({"apply", "compute", "count", "expand", "filter", "index", "orderby", "search", "select"})
_KNOWN = _PARSED | _TEXTS | {"skip", "top"}
_ONLY_WITH_DOLLAR = frozenset({"skiptoken", "deltatoken"})


def parse_options(text: str, *, in_expand: bool = False) -> QueryOptions:
    """Parse the options of a URL: ``text`` is the part after ``?``, percent-encoded, without a fragment.

    With ``in_expand`` it is instead the decoded text inside the parentheses of an expand. Raise ODataError 400
    (QUERY_SYNTAX, UNKNOWN_QUERY_OPTION, EXPRESSION_TOO_LARGE, EXPAND_TOO_DEEP) or 501, with the option's name as
    target.
    """
    if in_expand:
        parser = OptionParser(text, "$expand")
        found = parser.nested()
        parser.finish()
        return found
    return _cached(text) if cacheable(text) else _read(text)


@lru_cache(maxsize=512)
def _cached(text: str) -> QueryOptions:
    return _read(text)


def _read(text: str) -> QueryOptions:
    check_length(text, None)
    if "#" in text:
        raise bad_request(QUERY_SYNTAX, f"The query has a '#' at position {text.index('#')}; write %23.")
    given: dict[str, Any] = {}
    aliases: dict[str, Expression] = {}
    custom: list[tuple[str, str]] = []
    parser = OptionParser("", "The query")
    for part in text.split("&") if text else ():
        name, equals, value = part.partition("=")
        if "%" in name or "+" in name:
            name = decode_form(name, "The name of a query option", QUERY_SYNTAX)
        if name[:1] == "@":
            _alias(parser, aliases, name, value)
            continue
        key = _system_option(name)
        if key:
            _system(parser, given, key, value)
        elif name:
            custom.append((name, decode_form(value, name, QUERY_SYNTAX)))
        elif equals:
            raise bad_request(QUERY_SYNTAX, "A query option has no name.")
    return QueryOptions(
        **given,
        aliases=MappingProxyType(aliases),
        custom=tuple(custom),
        present=frozenset(given),
        text=text,
    )


def _system_option(name: str) -> str:
    """Return the name of a system option without ``$``, in lower case; empty for a custom option."""
    key = name.lower()
    if key[:1] == "$":
        key = key[1:]
        if key not in _KNOWN:
            raise unknown_option(name)
        return key
    return key if key in _KNOWN and key not in _ONLY_WITH_DOLLAR else ""


def _system(parser: OptionParser, given: dict[str, Any], key: str, value: str) -> None:
    option = f"${key}"
    if key in given:
        raise bad_request(QUERY_SYNTAX, f"{option} is given twice.", option)
    if not value:
        raise bad_request(QUERY_SYNTAX, f"{option} has no value, at position 0.", option)
    given[key] = _text(key, option, value) if key in _TEXTS else _parsed(parser, key, option, value)


def _parsed(parser: OptionParser, key: str, option: str, value: str) -> Any:
    decoded = decode_form(value, option, QUERY_SYNTAX)
    parser.reset(decoded, option)
    if key == "search":
        if ";" in value:
            parser.fail("%3B for a semicolon", decoded.index(";"))
    elif decoded[0] in " \t":
        parser.fail("no space at the start", 0)
    found = parser.value_of(key)
    parser.finish()
    return found


def _text(key: str, option: str, value: str) -> str:
    found = decode(value, option, QUERY_SYNTAX)
    if key == "format" and _FORMAT.fullmatch(found) is None:
        raise bad_request(QUERY_SYNTAX, "$format is json, xml, atom or a media type, at position 0.", option)
    if key == "schemaversion" and _SCHEMA_VERSION.fullmatch(found) is None:
        raise bad_request(QUERY_SYNTAX, "$schemaversion is '*' or a version, at position 0.", option)
    return found


def _alias(parser: OptionParser, aliases: dict[str, Expression], name: str, value: str) -> None:
    if not identifier(name[1:]):
        raise bad_request(QUERY_SYNTAX, f"{name[:40]} is not the name of a parameter alias.", name[:40])
    if name[1:] in aliases:
        raise bad_request(QUERY_SYNTAX, f"{name} is given twice.", name)
    parser.reset(decode_form(value, name, QUERY_SYNTAX), name)
    aliases[name[1:]] = parser.alias_value()
    parser.finish()
