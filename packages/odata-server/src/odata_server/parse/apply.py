"""``$apply``: the transformations of the data aggregation extension, and ``aggregate(...)`` inside expressions.

Transformations of the extension without a class in `odata_server.syntax` (nest, addnested, join, outerjoin, ancestors,
descendants, traverse, custom functions) are parsed and returned as a `CustomTransformation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from odata_server.expressions import CountOf, Expression, Member, TypeCast
from odata_server.parse.expression import ExpressionParser
from odata_server.syntax import (
    Aggregate,
    AggregateExpression,
    Apply,
    ApplySearch,
    Compute,
    ComputeItem,
    Concat,
    CustomTransformation,
    Filter,
    GroupBy,
    Identity,
    OrderBy,
    OrderItem,
    OrderTransformation,
    Skip,
    Top,
    TopOf,
    Transformation,
)

__all__ = ["ApplyParser"]

NUMBER_MAX = 2**31 - 1  # of $top, $skip and similar
Path = tuple[str, ...]

_METHODS = frozenset({"sum", "min", "max", "average", "countdistinct"})
_TOPS = frozenset({"topcount", "topsum", "toppercent", "bottomcount", "bottomsum", "bottompercent"})
_HIERARCHY = frozenset({"ancestors", "descendants", "traverse"})
_PRESERVING = frozenset({*_TOPS, *_HIERARCHY, "filter", "identity", "orderby", "search", "skip", "top"})


class ApplyParser(ExpressionParser):
    """The grammar rules of the aggregation extension."""

    __slots__ = ()

    def transformations(self, *, preserving: bool = False) -> Apply:
        """Parse one or more transformations separated by ``/``; ``preserving``: only those that keep the input rows."""
        self.enter()
        found = [self._transformation(preserving)]
        while self.skip("/"):
            found.append(self._transformation(preserving))
        self.leave()
        return tuple(found)

    def _transformation(self, preserving: bool) -> Transformation:
        self.count()
        name = self.value if self.kind == "name" else ""
        if name == "identity":
            self.advance()
            return Identity()
        if not self.followed_by("(") or (preserving and name not in _PRESERVING and "." not in name):
            self.fail("a transformation")
        if "." in name:
            return self._custom(name)
        rule = _TRANSFORMATIONS.get(name)
        if rule is None and name not in _TOPS:
            self.fail("a transformation")
        self.advance()
        self.advance()
        found = self._top_of(name) if rule is None else rule(self, name)
        self.take(")", "',' or ')'")
        return found

    def _custom(self, name: str) -> Transformation:
        call = self.called(None)
        return CustomTransformation(name, getattr(call, "parameters", ()))

    # ---- parts ----------------------------------------------------------------------------------------------------

    def number(self) -> int:
        """Parse digits with a value of at most `NUMBER_MAX`."""
        text = self.value
        if self.kind != "number" or not text.isdigit() or len(text) > 10 or int(text) > NUMBER_MAX:
            self.fail(f"a number from 0 to {NUMBER_MAX}")
        self.advance()
        return int(text)

    def compute_items(self) -> tuple[ComputeItem, ...]:
        """Parse ``expression as alias``, separated by commas."""
        found = [self._compute_item()]
        while self.skip(","):
            found.append(self._compute_item())
        return tuple(found)

    def _compute_item(self) -> ComputeItem:
        expression = self.expression()
        return ComputeItem(expression, self._alias())

    def _alias(self) -> str:
        self.take_word("as")
        return self.take_identifier("a name")

    def order_items(self) -> OrderBy:
        """Parse ``expression asc|desc``, separated by commas."""
        found = [self._order_item()]
        while self.skip(","):
            found.append(self._order_item())
        return tuple(found)

    def _order_item(self) -> OrderItem:
        expression = self.expression()
        if self.kind == "name" and self.text[self.start - 1] in " \t":
            word = self.value.lower()
            if word in {"asc", "desc"}:
                self.advance()
                return OrderItem(expression, word == "desc")
        return OrderItem(expression)

    def grouping_path(self) -> Path:
        """Parse names separated by slashes; the last must not be a type."""
        names = [self.value]
        self.check_name()
        self.take("name", "the path of a property")
        while self.kind == "/":
            self.advance()
            self.check_name()
            names.append(self.value)
            self.take("name", "the name of a property")
        if "." in names[-1]:
            self.fail("'/' and a property behind a type")
        return tuple(names)

    # ---- aggregate ------------------------------------------------------------------------------------------------

    def aggregation(self) -> None:
        self._aggregate_item(named=False)

    def _aggregate(self, _name: str) -> Transformation:
        items = [self._aggregate_item()]
        while self.skip(","):
            items.append(self._aggregate_item())
        return Aggregate(tuple(items))

    def _aggregate_item(self, *, named: bool = True) -> AggregateExpression:
        if self.kind == "name" and "." in self.value and self.text[self.stop : self.stop + 1] in {" ", "\t"}:
            expression: Expression = TypeCast(self.value)
            self.advance()
        else:
            expression = self.expression()
        method = None
        if not isinstance(expression, CountOf) and self.at_word("with"):
            method = self._method()
        custom = method is None and not isinstance(expression, CountOf)
        if custom and not isinstance(expression, Member):
            self.fail("'with' and a method")
        steps: list[tuple[tuple[Path, ...], str | None]] = []
        while self.at_word("from"):
            self.advance()
            paths = [self.grouping_path()]
            while self.skip(","):
                paths.append(self.grouping_path())
            steps.append((tuple(paths), self._method() if not custom or self.at_word("with") else None))
        alias = None
        if named and (not custom or steps or self.at_word("as")):
            alias = self._alias()
        return AggregateExpression(expression, method, alias, tuple(steps))

    def _method(self) -> str:
        self.take_word("with")
        if self.kind != "name" or (self.value not in _METHODS and "." not in self.value):
            self.fail("sum, min, max, average, countdistinct or a qualified name")
        name = self.value
        self.advance()
        return name

    # ---- groupby --------------------------------------------------------------------------------------------------

    def _group_by(self, _name: str) -> Transformation:
        self.take("(")
        paths: list[Path] = []
        rollups: list[tuple[Path, ...]] = []
        self._group_element(paths, rollups)
        while self.skip(","):
            self._group_element(paths, rollups)
        self.take(")", "',' or ')'")
        apply = self.transformations() if self.skip(",") else ()
        return GroupBy(tuple(paths), apply, tuple(rollups))

    def _group_element(self, paths: list[Path], rollups: list[tuple[Path, ...]]) -> None:
        self.count()
        name = self.value
        if not self.followed_by("(") or name not in {"rollup", "rolluprecursive"}:
            paths.append(self.grouping_path())
            return
        self.advance()
        self.advance()
        if name == "rollup":
            levels = [self.grouping_path()]
            while self.skip(","):
                levels.append(self.grouping_path())
            rollups.append(tuple(levels))
        else:
            self._hierarchy()
            if self.skip(","):
                self.transformations(preserving=True)
            self.offers_not("rolluprecursive(...)")
        self.take(")", "',' or ')'")

    # ---- the other transformations --------------------------------------------------------------------------------

    def _top_of(self, name: str) -> Transformation:
        count = self.expression()
        self.take(",")
        return TopOf(name, count, self.expression())

    def _compute(self, _name: str) -> Transformation:
        return Compute(self.compute_items())

    def _filter(self, _name: str) -> Transformation:
        return Filter(self.expression())

    def _search(self, _name: str) -> Transformation:
        return ApplySearch(self.nested_search())

    def _order_by(self, _name: str) -> Transformation:
        return OrderTransformation(self.order_items())

    def _top(self, _name: str) -> Transformation:
        return Top(self.number())

    def _skip(self, _name: str) -> Transformation:
        return Skip(self.number())

    def _concat(self, _name: str) -> Transformation:
        parts = [self.transformations()]
        self.take(",")
        parts.append(self.transformations())
        while self.skip(","):
            parts.append(self.transformations())
        return Concat(tuple(parts))

    def _nest(self, name: str) -> Transformation:
        found: list[Any] = []
        if name == "addnested":
            found.append(self._nest_path())
            self.take(",")
        while True:
            apply = self.transformations()
            found.append((apply, self._alias()))
            if not self.skip(","):
                return CustomTransformation(name, tuple(found))

    def _nest_path(self) -> Path:
        names = [self.take("name", "the path of a navigation")]
        while self.skip("/"):
            names.append(self.take("name", "the name of a navigation"))
        return tuple(names)

    def _join(self, name: str) -> Transformation:
        path = (self.take("at"),) if self.kind == "at" else self._nest_path()
        alias = self._alias()
        apply = self.transformations() if self.skip(",") else ()
        return CustomTransformation(name, (path, alias, apply))

    def _hierarchy(self) -> tuple[Any, ...]:
        if self.kind != "dollar" or self.value != "$root":
            self.fail("'$root/'")
        root = self.expression()
        self.take(",")
        qualifier = self.take_identifier("the name of a hierarchy")
        self.take(",")
        return root, qualifier, self.grouping_path()

    def _relatives(self, name: str) -> Transformation:
        """Parse ``ancestors`` and ``descendants``."""
        reference = self._hierarchy()
        self.take(",")
        start = self.transformations(preserving=True)
        distance, keep = None, False
        more = self.skip(",")
        if more and self.kind == "number":
            distance = self.number()
            more = self.skip(",")
        if more:
            if self.value != "keep":
                self.fail("'keep start'")
            self.advance()
            if self.value != "start":
                self.fail("'keep start'")
            self.advance()
            keep = True
        return CustomTransformation(name, (*reference, start, distance, keep))

    def _traverse(self, name: str) -> Transformation:
        reference = self._hierarchy()
        self.take(",")
        direction = self.value
        if direction not in {"preorder", "postorder"}:
            self.fail("preorder or postorder")
        self.advance()
        start: Apply = ()
        order: OrderBy = ()
        more = self.skip(",")
        if more and self._at_transformation():
            start = self.transformations(preserving=True)
            more = self.skip(",")
        if more:
            order = self.order_items()
        return CustomTransformation(name, (*reference, direction, start, order))

    def _at_transformation(self) -> bool:
        if self.kind != "name":
            return False
        return self.value == "identity" or (self.followed_by("(") and self.value in _PRESERVING)


_Rule = Callable[[ApplyParser, str], Transformation]
_TRANSFORMATIONS: Mapping[str, _Rule] = MappingProxyType(
    {
        "addnested": ApplyParser._nest,
        "aggregate": ApplyParser._aggregate,
        "ancestors": ApplyParser._relatives,
        "compute": ApplyParser._compute,
        "concat": ApplyParser._concat,
        "descendants": ApplyParser._relatives,
        "filter": ApplyParser._filter,
        "groupby": ApplyParser._group_by,
        "join": ApplyParser._join,
        "nest": ApplyParser._nest,
        "orderby": ApplyParser._order_by,
        "outerjoin": ApplyParser._join,
        "search": ApplyParser._search,
        "skip": ApplyParser._skip,
        "top": ApplyParser._top,
        "traverse": ApplyParser._traverse,
    }
)
