"""Parse single options or expressions from text without percent-encoding, for bodies, annotations and tests."""

from __future__ import annotations

from typing import Any

from odata_server.expressions import Expression, SearchExpression
from odata_server.parse.options import OptionParser
from odata_server.parse.query import parse_options
from odata_server.syntax import Apply, ComputeItem, ExpandItem, OrderBy, QueryOptions, SelectItem

__all__ = [
    "parse_apply",
    "parse_compute",
    "parse_expand",
    "parse_expand_options",
    "parse_expression",
    "parse_filter",
    "parse_literal",
    "parse_orderby",
    "parse_search",
    "parse_select",
]


def _value(name: str, text: str) -> Any:
    option = f"${name}"
    parser = OptionParser(text, option)
    found = parser.value_of(name)
    parser.finish()
    return found


def parse_filter(text: str) -> Expression:
    """Parse the value of ``$filter``."""
    return parse_expression(text)


def parse_expression(text: str, option: str = "$filter") -> Expression:
    """Parse any expression; ``option`` is the name used in errors."""
    parser = OptionParser(text, option)
    found = parser.expression()
    parser.finish()
    return found


def parse_literal(text: str, option: str = "The literal") -> Expression:
    """Parse a literal as written in URLs, e.g. ``'Milk'``, ``42``, ``duration'P1D'``, or an array or object in JSON."""
    parser = OptionParser(text, option)
    if parser.kind == "at":
        parser.fail("a literal")
    found = parser.json() if parser.kind in {"[", "{"} else parser.key_value()
    parser.finish()
    return found


def parse_orderby(text: str) -> OrderBy:
    """Parse the value of ``$orderby``."""
    found: OrderBy = _value("orderby", text)
    return found


def parse_select(text: str) -> tuple[SelectItem, ...]:
    """Parse the value of ``$select``."""
    found: tuple[SelectItem, ...] = _value("select", text)
    return found


def parse_expand(text: str) -> tuple[ExpandItem, ...]:
    """Parse the value of ``$expand``."""
    found: tuple[ExpandItem, ...] = _value("expand", text)
    return found


def parse_expand_options(text: str) -> QueryOptions:
    """Parse the options in the parentheses of an expand."""
    return parse_options(text, in_expand=True)


def parse_compute(text: str) -> tuple[ComputeItem, ...]:
    """Parse the value of ``$compute``."""
    found: tuple[ComputeItem, ...] = _value("compute", text)
    return found


def parse_search(text: str) -> SearchExpression:
    """Parse the value of ``$search``."""
    found: SearchExpression = _value("search", text)
    return found


def parse_apply(text: str) -> Apply:
    """Parse the value of ``$apply``."""
    found: Apply = _value("apply", text)
    return found
