"""Query options of a URL, and those in the parentheses of ``$expand`` and ``$select``.

A name without ``$`` is a system option if it is one of the known names (case-insensitive); every other name without
``$`` is a custom option. The limits of `odata_server.parse.cursor` apply to all options of a request together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from odata_server.errors import ODataError, bad_request
from odata_server.expressions import Expression, SearchExpression
from odata_server.parse.apply import ApplyParser
from odata_server.syntax import ExpandItem, QueryOptions, SelectItem

__all__ = ["EXPAND_DEPTH_MAX", "OptionParser", "unknown_option"]

EXPAND_DEPTH_MAX = 4

_PAGING = frozenset({"filter", "search", "count", "orderby", "skip", "top"})
_COUNT = frozenset({"filter", "search"})
_LEVELS = frozenset({"levels"})
_EXPAND = _PAGING | {"select", "expand", "compute", "levels", "apply"}
_SELECT = _PAGING | {"compute", "select"}


class OptionParser(ApplyParser):
    """Parser for the values of system query options; `reset` moves to the next option and keeps the counts."""

    __slots__ = ()

    def reset(self, text: str, option: str) -> None:
        """Start parsing another text."""
        self.text = text
        self.option = option
        self.stop = 0
        self.depth = 0
        self.advance()

    def value_of(self, name: str) -> Any:
        """Parse the value of a system option, starting at the next token."""
        return _RULES[name](self)

    def alias_value(self) -> Expression:
        """Parse the value of ``@name``."""
        return self.expression()

    # ---- simple values --------------------------------------------------------------------------------------------

    def _boolean(self) -> bool:
        word = self.value.lower()
        if word not in {"true", "false"}:
            self.fail("true or false")
        self.advance()
        return word == "true"

    def _levels(self) -> int | str:
        if self.kind == "name" and self.value.lower() == "max":
            self.advance()
            return "max"
        if self.value.startswith("0"):
            self.fail("a number from 1, or max")
        return self.number()

    def _index(self) -> int:
        sign = -1 if self.value.startswith("-") else 1
        digits = self.value.removeprefix("-")
        if self.kind != "number" or not digits.isdigit() or len(digits) > 9:
            self.fail("a whole number")
        self.advance()
        return sign * int(digits)

    def _search_option(self) -> SearchExpression:
        return self.nested_search()

    # ---- $expand --------------------------------------------------------------------------------------------------

    def expand_items(self) -> tuple[ExpandItem, ...]:
        """Parse items separated by commas."""
        self.expands += 1
        if self.expands > EXPAND_DEPTH_MAX:
            message = f"$expand is nested more than {EXPAND_DEPTH_MAX} levels deep, at position {self.start}."
            raise bad_request("EXPAND_TOO_DEEP", message, self.option)
        found = [self._expand_item()]
        while self.skip(","):
            found.append(self._expand_item())
        self.expands -= 1
        return tuple(found)

    def _expand_item(self) -> ExpandItem:
        self.count()
        if self.kind == "dollar" and self.value == "$value":
            self.advance()
            return ExpandItem((), "$value")
        path: list[str] = []
        kind = ""
        while True:
            if self.kind == "dollar" and path and self.value in {"$ref", "$count"}:
                kind = self.value
                if kind == "$count" and path[-1] == "*":
                    self.fail("'$ref'")
                self.advance()
                break
            path.append(self._path_part(star=True))
            if not self.skip("/"):
                break
            if path[-1] == "*" and self.value != "$ref":
                self.fail("'$ref'")
        if path[-1] == "*":
            allowed = _LEVELS if not kind else frozenset()
        else:
            allowed = {"": _EXPAND, "$ref": _PAGING, "$count": _COUNT}[kind]
        options = None
        if self.kind == "(" and allowed:
            self.advance()
            options = self.nested(allowed)
            self.take(")", "';' or ')'")
        return ExpandItem(tuple(path), kind, options)

    def _path_part(self, *, star: bool) -> str:
        """Parse a name, an annotation or ``*``."""
        kind, value = self.kind, self.value
        if kind not in {"name", "at"} and not (star and kind == "*"):
            self.fail("a name")
        self.check_name()
        self.advance()
        return value

    # ---- $select --------------------------------------------------------------------------------------------------

    def select_items(self) -> tuple[SelectItem, ...]:
        """Parse items separated by commas."""
        found = [self._select_item()]
        while self.skip(","):
            found.append(self._select_item())
        return tuple(found)

    def _select_item(self) -> SelectItem:
        self.count_item()
        if self.skip("*"):
            return SelectItem(("*",))
        if self.kind == "name" and self.text.startswith(".*", self.stop):
            namespace = self.value
            self.move(self.stop + 2)
            return SelectItem((f"{namespace}.*",))
        path = [self._path_part(star=False)]
        while self.skip("/"):
            path.append(self._path_part(star=False))
        options = None
        if self.kind == "(":
            self.advance()
            if self.kind == "name" and self.text[self.stop :].lstrip(" \t")[:1] in {",", ")"}:
                path[-1] = f"{path[-1]}({','.join(self._names())})"
            else:
                options = self.nested(_SELECT)
            self.take(")", "';' or ')'")
        return SelectItem(tuple(path), options)

    def _names(self) -> list[str]:
        found = [self.take_identifier("the name of a parameter")]
        while self.skip(","):
            found.append(self.take_identifier("the name of a parameter"))
        return found

    # ---- options in parentheses -----------------------------------------------------------------------------------

    def nested(self, allowed: frozenset[str] = _EXPAND) -> QueryOptions:
        """Parse ``name=value`` separated by semicolons, up to the closing parenthesis or the end."""
        self.enter()
        start = self.start
        given: dict[str, Any] = {}
        aliases: dict[str, Expression] = {}
        while True:
            if self.kind == "at":
                alias = self._option_name()[1:]
                if alias in aliases:
                    self.fail("each alias once")
                aliases[alias] = self.alias_value()
            else:
                self._nested_option(given, allowed)
            if not self.skip(";"):
                break
        self.leave()
        return QueryOptions(
            **given,
            aliases=MappingProxyType(aliases),
            present=frozenset(given),
            text=self.text[start : self.start],
        )

    def _nested_option(self, given: dict[str, Any], allowed: frozenset[str]) -> None:
        position = self.start
        if self.kind not in {"dollar", "name"}:
            self.fail("a query option")
        name = self.value.lower().removeprefix("$")
        if name not in allowed:
            self.fail(f"one of the options {', '.join(sorted(allowed))}")
        if name in given:
            self.fail("each option once", position)
        self._option_name()
        given[name] = self.value_of(name)

    def _option_name(self) -> str:
        name = self.value
        if not self.followed_by("="):
            self.fail("'=' behind the name of an option", self.stop)
        self.advance()
        self.advance()
        return name


_RULES: Mapping[str, Callable[[OptionParser], Any]] = MappingProxyType(
    {
        "apply": OptionParser.transformations,
        "compute": OptionParser.compute_items,
        "count": OptionParser._boolean,
        "expand": OptionParser.expand_items,
        "filter": OptionParser.alias_value,
        "index": OptionParser._index,
        "levels": OptionParser._levels,
        "orderby": OptionParser.order_items,
        "search": OptionParser._search_option,
        "select": OptionParser.select_items,
        "skip": OptionParser.number,
        "top": OptionParser.number,
    }
)


def unknown_option(name: str) -> ODataError:
    """Return the error for an unknown name with ``$``."""
    return bad_request("UNKNOWN_QUERY_OPTION", f"There is no query option {name[:40]}.", name[:40])
