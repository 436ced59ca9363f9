"""Parse paths, calls of the model's functions, lambdas and JSON inside expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from odata_server.edm import Primitive
from odata_server.expressions import (
    AllOf,
    AnnotationOf,
    AnyOf,
    BoundCall,
    CountOf,
    Expression,
    It,
    JsonLiteral,
    KeyPredicate,
    ListExpression,
    Literal,
    Member,
    ParameterAlias,
    ResourcePath,
    Root,
    SearchExpression,
    Segment,
    TypeCast,
)
from odata_server.parse.cursor import Cursor, identifier
from odata_server.parse.literals import LITERALS, is_literal, json_text, literal, quoted
from odata_server.parse.search import search_expression

__all__ = ["PathParser"]


class PathParser(Cursor, ABC):
    """Parser for the continuations of a path, and for operands that do not start with a name."""

    __slots__ = ()

    @abstractmethod
    def expression(self, power: int = 0) -> Expression:
        """Parse an expression; see `odata_server.parse.expression`."""

    @abstractmethod
    def aggregation(self) -> None:
        """Parse the content of the parentheses of ``path/aggregate(...)``; see `odata_server.parse.apply`."""

    def check_name(self) -> None:
        """Check that each part of the name at the next token has at most 128 characters."""
        if len(self.value) > 128 and any(len(part) > 128 for part in self.value.split(".")):
            self.fail("a name of at most 128 characters")

    # ---- operands -------------------------------------------------------------------------------------------------

    def other_operand(self) -> Expression:
        """Parse an operand that is neither a name nor a plain literal."""
        kind = self.kind
        if kind == "dollar":
            return self._variable()
        if kind == "at":
            name = self.value[1:]
            self.count()
            self.advance()
            first: Expression = ParameterAlias(name) if identifier(name) else AnnotationOf(name)
            return self.path(first)
        if kind in {"[", "{"}:
            return self.json()
        raise self.error("an expression")

    def _variable(self) -> Expression:
        self.count()
        name, start = self.value, self.start
        self.advance()
        if name == "$it":
            return self.path(It())
        if name == "$this":
            return self.path(It(this=True))
        if name == "$root" and self.kind == "/":
            return self._root()
        if name == "$these" and self.kind == "/":
            return self._these()
        if name == "$count":
            return self._count(None)
        raise self.error("an expression", start)

    def _these(self) -> Expression:
        """Parse ``$these/$count`` and ``$these/aggregate(...)``: the input collection of a transformation."""
        self.advance()
        if self.kind == "dollar" and self.value == "$count":
            self.advance()
            return self._count(None)
        if self.kind == "name" and self.value == "aggregate" and self.followed_by("("):
            return self._aggregated(It(this=True))
        raise self.error("'$count' or 'aggregate('")

    # ---- paths ----------------------------------------------------------------------------------------------------

    def path(self, source: Expression) -> Expression:
        """Parse the rest of a path, if there is one."""
        while self.kind == "/" and self.text[self.start - 1] not in " \t":
            if self.text[self.stop : self.stop + 1] in {" ", "\t"}:
                self.fail("a name directly behind '/'", self.stop)
            self.advance()
            self.count()
            if self.kind == "name":
                source = self._step(source)
            elif self.kind == "at":
                source = AnnotationOf(self.value[1:], source)
                self.advance()
            elif self.kind == "dollar" and self.value == "$count":
                self.advance()
                return self._count(source)
            elif self.kind == "dollar" and self.value == "$filter" and self.followed_by("("):
                source = self._filtered(source)
                if isinstance(source, CountOf):
                    return source
            else:
                self.fail("a name, '$count', 'any' or 'all'")
        return source

    def _step(self, source: Expression) -> Expression:
        name = self.value
        if self.followed_by("("):
            lower = name.lower()
            if lower in {"any", "all"}:
                return self._lambda(lower, source)
            if name == "aggregate":
                return self._aggregated(source)
            return self.called(source)
        self.check_name()
        self.advance()
        return TypeCast(name, source) if "." in name else Member(name, source)

    def _lambda(self, kind: str, source: Expression) -> Expression:
        self.advance()
        self.advance()
        if kind == "any" and self.skip(")"):
            return AnyOf(source)
        self.enter()
        variable = self.take_identifier("a variable")
        self.take(":")
        predicate = self.expression()
        self.leave()
        self.take(")", "an operator or ')'")
        return AnyOf(source, variable, predicate) if kind == "any" else AllOf(source, variable, predicate)

    def _count(self, source: Expression | None, filtered: Expression | None = None) -> Expression:
        """Parse the optional ``($filter=...;$search=...)`` after ``$count``."""
        found_filter, search = filtered, None
        if self.kind == "(" and source is not None:
            self.advance()
            self.enter()
            given: set[str] = set()
            while not given or self.skip(";"):
                name = self.count_option()
                if name in given or (name == "filter" and filtered is not None):
                    self.fail("each option once", self.start)
                given.add(name)
                if name == "filter":
                    found_filter = self.expression()
                else:
                    search = self.nested_search()
            self.leave()
            self.take(")", "';' or ')'")
        return CountOf(source, found_filter, search)

    def count_option(self) -> str:
        """Parse the name of the next option in the parentheses of ``$count``; the cursor is then at its value."""
        name = self.value.lower().lstrip("$")
        if name not in {"filter", "search"}:
            self.fail("'$filter' or '$search'")
        self.advance()
        if self.kind != "=":
            self.fail("'='")
        self.advance()
        return name

    def nested_search(self) -> SearchExpression:
        """Parse a search expression, starting at the next token."""
        return search_expression(self)

    def _filtered(self, source: Expression) -> Expression:
        """Parse ``/$filter(...)``; only a count may follow, because the tree has no other place for the condition."""
        self.advance()
        self.advance()
        self.enter()
        condition = self.expression()
        self.leave()
        self.take(")", "an operator or ')'")
        if self.kind == "/":
            slash = self.start
            self.advance()
            if self.kind == "dollar" and self.value == "$count":
                self.advance()
                return self._count(source, condition)
            self.move(slash)
        self.offers_not("A $filter(...) inside a path that no $count follows")
        self._keys()
        return source

    def _aggregated(self, source: Expression) -> Expression:
        self.advance()
        self.advance()
        self.enter()
        self.aggregation()
        self.leave()
        self.take(")", "',' or ')'")
        self.offers_not("aggregate(...) inside an expression")
        return source

    # ---- calls and keys -------------------------------------------------------------------------------------------

    def called(self, source: Expression | None) -> Expression:
        """Parse ``Name(parameter=value,...)``; a key in the parentheses is well-formed but not supported."""
        name = self.value
        self.check_name()
        self.advance()
        self.advance()
        parameters: list[tuple[str, Expression]] = []
        if self.kind == ")":
            self.advance()
        elif self.kind == "name" and self.followed_by("="):
            self.enter()
            parameters.append(self._parameter())
            while self.skip(","):
                parameters.append(self._parameter())
            self.leave()
            self.take(")", "',' or ')'")
        else:
            self.key_value()
            self.take(")")
            self.offers_not("A key inside an expression")
        self._keys()
        return BoundCall(name, tuple(parameters), source)

    def _keys(self) -> None:
        """Parse keys after a collection, which the tree cannot represent."""
        while self.kind == "(" and self.text[self.start - 1] == ")":
            self.predicate(self.expression)
            self.offers_not("A key inside an expression")

    def _parameter(self) -> tuple[str, Expression]:
        name = self.take_identifier("the name of a parameter")
        self.take("=")
        return name, self.expression()

    def _root(self) -> Expression:
        """Parse ``$root/Set('key')/property``, as long as the segments are those of a resource path."""
        segments: list[Segment] = []
        while self.kind == "/" and self.text[self.stop : self.stop + 1] not in {"$", "@"}:
            position = self.start
            self.advance()
            if self.kind != "name":
                self.fail("a name")
            if self.value.lower() in {"any", "all", "aggregate"} and self.followed_by("("):
                self.move(position)
                break
            self.count()
            self.check_name()
            name = self.value
            self.advance()
            segments.append(Segment(name, self.predicates(self.expression)))
        if not segments:
            self.fail("a name")
        return self.path(Root(ResourcePath(tuple(segments))))

    def predicates(self, value: Any) -> tuple[KeyPredicate, ...]:
        """Parse all parentheses directly after a name; ``value`` parses the value of a named one."""
        found: list[KeyPredicate] = []
        while self.kind == "(" and self.text[self.start - 1] not in " \t":
            if len(found) == 2:
                self.fail("at most parameters and a key")
            found.append(self.predicate(value))
        return tuple(found)

    def predicate(self, value: Any) -> KeyPredicate:
        """Parse ``(1)``, ``(a=1,b=2)`` or ``()``."""
        self.advance()
        if self.skip(")"):
            return KeyPredicate(())
        values: list[tuple[str | None, Expression]] = []
        if self.kind == "name" and self.followed_by("="):
            self.enter()
            while not values or self.skip(","):
                name = self.take_identifier("a name")
                self.take("=")
                values.append((name, value()))
            self.leave()
        else:
            values.append((None, self.key_value()))
        self.take(")", "',' or ')'")
        return KeyPredicate(tuple(values))

    def key_value(self) -> Expression:
        """Parse a literal or a parameter alias."""
        if self.kind in LITERALS:
            return literal(self)
        if self.kind == "at" and identifier(self.value[1:]):
            name = self.value[1:]
            self.advance()
            return ParameterAlias(name)
        if self.kind == "name":
            if self.followed_by("'"):
                return quoted(self, self.value)
            lower = self.value.lower()
            if lower in {"true", "false"}:
                self.advance()
                return Literal(lower == "true", Primitive.BOOLEAN)
            if self.value in {"null", "INF", "NaN"}:
                return literal(self)
        raise self.error("a literal or a parameter alias")

    # ---- JSON -----------------------------------------------------------------------------------------------------

    def json(self) -> Expression:
        """Parse ``[...]`` or ``{...}`` to a `JsonLiteral`; an array that contains expressions is a `ListExpression`."""
        self.enter()
        found = self._array() if self.kind == "[" else JsonLiteral(self._object())
        self.leave()
        return found

    def _array(self) -> Expression:
        self.advance()
        items: list[Expression | JsonLiteral] = []
        if self.kind != "]":
            items.append(self._json_value())
            while self.skip(","):
                items.append(self._json_value())
        self.take("]", "',' or ']'")
        if all(isinstance(item, JsonLiteral) or is_literal(item) for item in items):
            return JsonLiteral([item.value if isinstance(item, JsonLiteral | Literal) else item for item in items])
        return ListExpression(tuple(items))

    def _object(self) -> dict[str, Any]:
        self.advance()
        found: dict[str, Any] = {}
        while self.kind != "}":
            if self.kind != "text":
                self.fail("a name in double quotes")
            name = json_text(self)
            self.take(":")
            value = self._json_value()
            if isinstance(value, JsonLiteral | Literal):
                found[name] = value.value
            else:
                self.offers_not("An expression inside a JSON object")
            if self.kind != "}":
                self.take(",", "',' or '}'")
                if self.kind == "}":
                    self.fail("a name in double quotes")
        self.advance()
        return found

    def _json_value(self) -> Expression:
        self.count_item()
        if self.kind == "text":
            return JsonLiteral(json_text(self))
        if self.kind in {"[", "{"}:
            return self.json()
        return self.expression()
