"""The assumptions of the OASIS cases about names, checked on a parsed tree.

The grammar has rules such as ``primitiveProperty = odataIdentifier`` that only a model can tell apart; the case files
list the names of each rule. A case that must fail because of its names fails here, on the parser's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from odata_server.errors import bad_request
from odata_server.expressions import CountOf, Member, ResourcePath, TypeCast
from odata_server.syntax import Aggregate, AggregateExpression, CustomTransformation, GroupBy, QueryOptions


class Names:
    """The names in one case file, by rule."""

    def __init__(self, constraints: Mapping[str, Sequence[str]]) -> None:
        self._constraints = constraints

    def _is(self, name: str, *rules: str) -> bool:
        return any(name in self._constraints.get(rule, ()) for rule in rules)

    def is_type(self, name: str) -> bool:
        """Return whether this is the name of a complex type and nothing else."""
        return self._is(name, "complexTypeName") and not self._is(name, "complexProperty")

    def check_path(self, path: ResourcePath) -> ResourcePath:
        """Check that function imports come first, casts occur once, and ``$value`` follows what has one."""
        for before, segment in zip(path.segments, path.segments[1:], strict=False):
            name = segment.name.rpartition(".")[2]
            if self._is(name, "entityFunctionImport") and not self._is(name, "entityFunction"):
                raise bad_request("URI_SYNTAX", f"{name} stands at the root only, not at position {len(before.name)}.")
            if segment.name == "$value" and self._is(before.name, "complexProperty", "streamProperty"):
                raise bad_request("URI_SYNTAX", f"{before.name} has no $value, at position {len(before.name)}.")
            if segment.name == before.name and self._is(name, "entityTypeName"):
                raise bad_request("URI_SYNTAX", f"{name} twice in a row, at position {len(before.name)}.")
        return path

    def check_options(self, options: QueryOptions) -> QueryOptions:
        """Check that custom options are listed, and that ``$apply`` aggregates and groups by allowed names."""
        for name, _ in options.custom:
            if not self._is(name, "customName", "parameterName"):
                raise bad_request("QUERY_SYNTAX", f"{name} is no custom option, at position 0.")
        for part in _parts(options.apply):
            if isinstance(part, Aggregate):
                for item in part.items:
                    self._check_aggregate(item)
            elif isinstance(part, GroupBy):
                for path in (*part.paths, *(path for rollup in part.rollups for path in rollup)):
                    self._check_single_valued(path)
            elif isinstance(part, CustomTransformation) and part.name in {"join", "outerjoin"}:
                last = part.arguments[0][-1]
                if not self._is(last, "complexColProperty", "entityColNavigationProperty", "complexAnnotationInQuery"):
                    raise bad_request("QUERY_SYNTAX", f"{last} is no collection, at position 0.", "$apply")
        return options

    def _check_aggregate(self, item: AggregateExpression) -> None:
        expression = item.expression
        if item.method is None and not isinstance(expression, CountOf):
            assert isinstance(expression, Member)
            if not self._is(expression.name, "customAggregate"):
                raise bad_request("QUERY_SYNTAX", f"{expression.name} needs a method, at position 0.", "$apply")
        if not isinstance(expression, Member | CountOf | TypeCast):
            for part in _parts(expression):
                source = part.source if isinstance(part, Member) else None
                if isinstance(source, Member) and self._is(source.name, "entityColNavigationProperty"):
                    raise bad_request("QUERY_SYNTAX", f"{source.name} has many, at position 0.", "$apply")

    def _check_single_valued(self, path: tuple[str, ...]) -> None:
        for name in path[:-1]:
            if "." not in name and not self._is(name, "complexProperty", "entityNavigationProperty"):
                raise bad_request("QUERY_SYNTAX", f"{name} leads nowhere single, at position 0.", "$apply")


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value and all its parts."""
    yield value
    if isinstance(value, tuple | list):
        for one in value:
            yield from _parts(one)
    elif is_dataclass(value) and not isinstance(value, QueryOptions):
        for one in fields(value):
            yield from _parts(getattr(value, one.name))
