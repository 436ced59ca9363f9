"""Expressions of ``$filter``, ``$orderby`` and ``$compute``: precedence climbing over the tokens of a `Cursor`.

From highest to lowest precedence: paths, ``has`` and ``in``; ``-`` and ``not``; ``mul div divby mod``; ``add sub``;
``gt ge lt le``; ``eq ne``; ``and``; ``or`` (URL Conventions 5.1.1.16). Operators and the names of built-in functions
are case-insensitive, as 4.01 requires; names of the model are case-sensitive and are not resolved here.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from odata_server.edm import Primitive
from odata_server.expressions import (
    Binary,
    Call,
    Case,
    Cast,
    Expression,
    In,
    IsOf,
    ListExpression,
    Literal,
    Member,
    TypeCast,
    Unary,
)
from odata_server.parse.literals import LITERALS, is_literal, literal, quoted
from odata_server.parse.paths import PathParser

__all__ = ["ExpressionParser"]

_POWERS = MappingProxyType(
    {
        "or": 1,
        "and": 2,
        **dict.fromkeys(("eq", "ne"), 3),
        **dict.fromkeys(("lt", "le", "gt", "ge"), 4),
        **dict.fromkeys(("add", "sub"), 5),
        **dict.fromkeys(("mul", "div", "divby", "mod"), 6),
        **dict.fromkeys(("has", "in"), 8),
    }
)
_UNARY_POWER = 7
_CLOCK = re.compile("[ \t(,][0-9]{2}:[0-9]{2}")

# Number of arguments of each built-in function.
_FUNCTIONS = MappingProxyType(
    {
        **dict.fromkeys(("concat", "contains", "endswith", "indexof", "matchespattern", "startswith"), (2, 2)),
        **dict.fromkeys(("hassubset", "hassubsequence", "geo.distance", "geo.intersects"), (2, 2)),
        "substring": (2, 3),
        **dict.fromkeys(("length", "tolower", "toupper", "trim", "geo.length", "isdefined"), (1, 1)),
        **dict.fromkeys(("year", "month", "day", "hour", "minute", "second", "fractionalseconds"), (1, 1)),
        **dict.fromkeys(("totalseconds", "date", "time", "totaloffsetminutes", "round", "floor", "ceiling"), (1, 1)),
        **dict.fromkeys(("mindatetime", "maxdatetime", "now"), (0, 0)),
    }
)


class ExpressionParser(PathParser):
    """The grammar rules of expressions, on top of the paths and literals in the sibling modules."""

    __slots__ = ()

    def expression(self, power: int = 0) -> Expression:
        """Parse ``commonExpr``: operators with a precedence of at least ``power``."""
        left = self._unary()
        while self.kind == "name":
            operator = self.value
            binding = _POWERS.get(operator)
            if binding is None:
                operator = operator.lower()
                binding = _POWERS.get(operator)
            if binding is None or binding < power:
                break
            if not self.spaced():
                self.fail("spaces around an operator")
            self.advance()
            self.count()
            left = self._operation(operator, left, binding)
        return left

    def _operation(self, operator: str, left: Expression, binding: int) -> Expression:
        if operator == "in":
            return In(left, self._candidates())
        if operator == "has":
            position = self.start
            right = self.key_value()
            if isinstance(right, Literal) and right.type is not Primitive.STRING:
                self.fail("members of an enumeration", position)
            return Binary("has", left, right)
        return Binary(operator, left, self.expression(binding + 1))

    def _unary(self) -> Expression:
        kind = self.kind
        if kind == "name":
            if self.value.lower() == "not" and self.text[self.stop : self.stop + 1] in {" ", "\t", "("}:
                return self._negated("not")
            return self._named()
        if kind in LITERALS:
            return literal(self)
        if kind == "-":
            return self._negated("-")
        if kind == "(":
            return self._parentheses()
        return self.other_operand()

    def _negated(self, operator: str) -> Expression:
        self.advance()
        self.count()
        self.enter()
        operand = self.expression(_UNARY_POWER)
        self.leave()
        return Unary(operator, operand)

    def _parentheses(self) -> Expression:
        self.advance()
        self.enter()
        inner = self.expression()
        self.leave()
        self.take(")", "an operator or ')'")
        return inner

    # ---- names ----------------------------------------------------------------------------------------------------

    def _named(self) -> Expression:
        """Parse an operand that starts with a name: a keyword, a literal with a prefix, a call, or a path."""
        name = self.value
        if self.followed_by("("):
            return self._call(name)
        if self.followed_by("'"):
            return quoted(self, name)
        if not self.followed_by("/"):
            lower = name.lower()
            if lower in {"true", "false"}:
                self.advance()
                return Literal(lower == "true", Primitive.BOOLEAN)
            if name in {"null", "INF", "NaN"}:
                return literal(self)
            if "." in name:
                self.fail("'/' or '(' behind a qualified name", self.stop)
        self.count()
        self.check_name()
        self.advance()
        first: Expression = TypeCast(name) if "." in name else Member(name)
        return self.path(first) if self.kind == "/" else first

    def _call(self, name: str) -> Expression:
        lower = name.lower()
        self.count()
        self.enter()
        if lower in _FUNCTIONS:
            found: Expression = self._built_in(lower)
        elif lower in {"cast", "isof"}:
            found = self._typed(lower)
        elif lower == "case":
            found = self._case()
        elif lower in {"any", "all"}:
            self.fail("a path before any or all")
        elif lower == "aggregate":
            self.fail("a path before aggregate")
        else:
            found = self.called(None)
        self.leave()
        return self.path(found) if self.kind == "/" else found

    def _built_in(self, name: str) -> Expression:
        least, most = _FUNCTIONS[name]
        self.advance()
        self.advance()
        arguments: list[Expression] = []
        if self.kind != ")":
            arguments.append(self.expression())
            while self.skip(","):
                arguments.append(self.expression())
        if not least <= len(arguments) <= most:
            self.fail(f"{name} with {least if least == most else f'{least} to {most}'} arguments")
        self.take(")", "',' or ')'")
        return Call(name, tuple(arguments))

    def _typed(self, name: str) -> Expression:
        """Parse ``cast(source,type)`` and ``isof(source,type)``; the source is optional."""
        self.advance()
        self.advance()
        source: Expression | None = None
        if not self._type_is_last():
            source = self.expression()
            self.take(",")
        type_name = self._type_name()
        self.take(")")
        return Cast(type_name, source) if name == "cast" else IsOf(type_name, source)

    def _type_is_last(self) -> bool:
        if self.kind != "name":
            return False
        if self.value == "Collection" and self.followed_by("("):
            return True
        return self.text[self.stop :].lstrip(" \t")[:1] == ")"

    def _type_name(self) -> str:
        name = self.take("name", "the name of a type")
        if name == "Collection" and self.skip("("):
            name = f"Collection({self.take('name', 'the name of a type')})"
            self.take(")")
        return name

    def _case(self) -> Expression:
        self.advance()
        self.advance()
        branches = [self._branch()]
        while self.skip(","):
            branches.append(self._branch())
        self.take(")", "',' or ')'")
        return Case(tuple(branches))

    def _branch(self) -> tuple[Expression, Expression]:
        """Parse ``condition:value``.

        In ``gt 10:15`` the number 10 ends the condition, unless a colon follows 10:15.
        """
        self.count()
        start = self.start
        condition = self.expression()
        if self.kind != ":":
            end = len(self.text[: self.start].rstrip(" \t"))
            if _CLOCK.fullmatch(self.text, max(end - 6, 0), end):
                self.text = f"{self.text[: end - 3]} {self.text[end - 3 :]}"
                self.move(start)
                condition = self.expression()
        self.take(":")
        return condition, self.expression()

    # ---- lists ----------------------------------------------------------------------------------------------------

    def _candidates(self) -> Expression:
        """Parse the right operand of ``in``: a list of literals, or one expression with or without parentheses."""
        if self.kind != "(":
            return self._unary()
        opened = self.start
        self.advance()
        if self.skip(")"):
            return ListExpression(())
        self.enter()
        first = self.expression()
        self.leave()
        if self.kind == ")" and not is_literal(first):
            self.advance()
            return first
        items = [first]
        while self.skip(","):
            self.count_item()
            items.append(self._unary())
        if not all(is_literal(item) for item in items):
            self.fail("literals only, or one expression, in a list", opened)
        self.take(")", "',' or ')'")
        return ListExpression(tuple(items))
