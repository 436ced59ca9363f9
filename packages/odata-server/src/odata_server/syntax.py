"""Query options of a URL, as frozen values; see `odata_server.expressions`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from odata_server.expressions import Expression, SearchExpression

__all__ = [
    "Aggregate",
    "AggregateExpression",
    "Apply",
    "ApplySearch",
    "Compute",
    "ComputeItem",
    "Concat",
    "CustomTransformation",
    "ExpandItem",
    "Filter",
    "GroupBy",
    "Identity",
    "OrderBy",
    "OrderItem",
    "OrderTransformation",
    "QueryOptions",
    "SelectItem",
    "Skip",
    "Top",
    "TopOf",
    "Transformation",
]

# ---- query options ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderItem:
    """An expression to order by."""

    expression: Expression
    descending: bool = False


OrderBy = tuple[OrderItem, ...]


@dataclass(frozen=True, slots=True)
class ComputeItem:
    """``expression as alias``."""

    expression: Expression
    alias: str


@dataclass(frozen=True, slots=True)
class SelectItem:
    """A path of names; ``("*",)`` is all properties, ``("Namespace.*",)`` all operations. ``options`` as in 4.01."""

    path: tuple[str, ...]
    options: QueryOptions | None = None


@dataclass(frozen=True, slots=True)
class ExpandItem:
    """A path of navigation (and type) names, or ``("*",)``.

    ``kind`` is ``""``, ``"$ref"``, ``"$count"`` or ``"$value"``. ``options.levels`` holds ``$levels``.
    """

    path: tuple[str, ...]
    kind: str = ""
    options: QueryOptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """The query options of a request, or those in the parentheses of an expand; None or empty if absent.

    ``levels`` is a number or ``"max"``. ``aliases`` are the ``@name=value`` of the URL, ``custom`` all options that
    are neither system options nor aliases. ``present`` names the system options of the request, without ``$``, in
    lower case. ``text`` is the parsed text, for links to further pages.
    """

    filter: Expression | None = None
    orderby: OrderBy = ()
    select: tuple[SelectItem, ...] = ()
    expand: tuple[ExpandItem, ...] = ()
    compute: tuple[ComputeItem, ...] = ()
    search: SearchExpression | None = None
    apply: Apply = ()
    top: int | None = None
    skip: int | None = None
    count: bool | None = None
    levels: int | str | None = None
    skiptoken: str | None = None
    deltatoken: str | None = None
    format: str | None = None
    id: str | None = None
    index: int | None = None
    schemaversion: str | None = None
    aliases: Mapping[str, Expression] = field(default_factory=lambda: MappingProxyType({}))
    custom: tuple[tuple[str, str], ...] = ()
    present: frozenset[str] = frozenset()
    text: str = ""


# ---- $apply -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AggregateExpression:
    """``expression with method as alias``.

    ``method`` None: a custom aggregate or ``$count`` (then ``expression`` is a `CountOf`). ``from_`` is as in the
    grammar, kept for completeness.
    """

    expression: Expression
    method: str | None
    alias: str | None
    from_: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``aggregate(...)``."""

    items: tuple[AggregateExpression, ...]


@dataclass(frozen=True, slots=True)
class GroupBy:
    """``groupby((a,b/c),transformations)``; ``rollups`` are the paths inside ``rollup(...)``."""

    paths: tuple[tuple[str, ...], ...]
    apply: Apply = ()
    rollups: tuple[tuple[tuple[str, ...], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """``filter(...)``."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class ApplySearch:
    """``search(...)``."""

    expression: SearchExpression


@dataclass(frozen=True, slots=True)
class Compute:
    """``compute(...)``."""

    items: tuple[ComputeItem, ...]


@dataclass(frozen=True, slots=True)
class TopOf:
    """``topcount(n,expression)`` and similar; ``name`` in lower case."""

    name: str
    count: Expression
    expression: Expression


@dataclass(frozen=True, slots=True)
class Top:
    """``top(n)``."""

    count: int


@dataclass(frozen=True, slots=True)
class Skip:
    """``skip(n)``."""

    count: int


@dataclass(frozen=True, slots=True)
class OrderTransformation:
    """``orderby(...)``."""

    items: OrderBy


@dataclass(frozen=True, slots=True)
class Concat:
    """``concat(a,b)``: the rows of all parts."""

    parts: tuple[Apply, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """``identity``."""


@dataclass(frozen=True, slots=True)
class CustomTransformation:
    """A transformation that the grammar defines but this library does not implement; answered with 501."""

    name: str
    arguments: tuple[Any, ...] = ()


Transformation = (
    Aggregate
    | GroupBy
    | Filter
    | ApplySearch
    | Compute
    | TopOf
    | Top
    | Skip
    | OrderTransformation
    | Concat
    | Identity
    | CustomTransformation
)
Apply = tuple[Transformation, ...]
