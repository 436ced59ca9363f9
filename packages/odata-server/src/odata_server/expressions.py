"""Expressions, searches and paths of a URL as frozen values: the syntax of OData 4.01 with unresolved names.

`odata_server.parse` creates them from text; `odata_server.sql` and `odata_server.resources` resolve them with a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from odata_server.edm import Primitive

__all__ = [
    "AllOf",
    "AnnotationOf",
    "AnyOf",
    "Binary",
    "BoundCall",
    "Call",
    "Case",
    "Cast",
    "CountOf",
    "EnumLiteral",
    "Expression",
    "In",
    "IsOf",
    "It",
    "JsonLiteral",
    "KeyPredicate",
    "ListExpression",
    "Literal",
    "Member",
    "ParameterAlias",
    "ResourcePath",
    "Root",
    "SearchAnd",
    "SearchExpression",
    "SearchNot",
    "SearchOr",
    "SearchTerm",
    "Segment",
    "TypeCast",
    "Unary",
]

# ---- expressions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal as a Python value (see `odata_server.edm`); null has no ``type``. A GUID in quotes is a String."""

    value: Any
    # a str: a primitive type that no property here can have, e.g. Edm.GeographyPoint
    type: Primitive | str | None = None


@dataclass(frozen=True, slots=True)
class EnumLiteral:
    """``Namespace.Color'Red,Blue'``."""

    type_name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JsonLiteral:
    """An array or object in JSON, as used in parameter aliases and function parameters."""

    value: Any


@dataclass(frozen=True, slots=True)
class ParameterAlias:
    """``@name``; its value is in `QueryOptions.aliases`."""

    name: str


@dataclass(frozen=True, slots=True)
class It:
    """``$it``, or ``$this`` when ``this``."""

    this: bool = False


@dataclass(frozen=True, slots=True)
class Root:
    """``$root/...``."""

    path: ResourcePath


@dataclass(frozen=True, slots=True)
class Member:
    """The property, navigation or variable ``name`` of ``source`` (None: the current entity, or a lambda variable)."""

    name: str
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class TypeCast:
    """A path segment that is a qualified type name: ``Namespace.Type``."""

    type_name: str
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class AnnotationOf:
    """A path segment ``@Namespace.Term`` (the name includes ``#qualifier``)."""

    term: str
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class CountOf:
    """``source/$count``, with optional ``$filter`` and ``$search``. ``source`` None: the current collection."""

    source: Expression | None
    filter: Expression | None = None
    search: SearchExpression | None = None


@dataclass(frozen=True, slots=True)
class AnyOf:
    """``source/any(variable:predicate)``; without a predicate it tests whether the collection is not empty."""

    source: Expression
    variable: str | None = None
    predicate: Expression | None = None


@dataclass(frozen=True, slots=True)
class AllOf:
    """``source/all(variable:predicate)``."""

    source: Expression
    variable: str
    predicate: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in function such as ``contains``; ``name`` is in lower case and includes the dot of ``geo.distance``."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A function of the model, called on ``source`` (None: the current entity); ``name`` as written."""

    name: str
    parameters: tuple[tuple[str, Expression], ...] = ()
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    """``not`` or ``-``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operator in lower case: ``and or eq ne gt ge lt le has add sub mul div divby mod``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class ListExpression:
    """``(1,2,3)``."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class In:
    """``left in right``; ``right`` is a list, a JSON array, an alias or a collection-valued path."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Cast:
    """``cast(source,type)``; without ``source``, a cast of the current instance. ``type_name`` is qualified."""

    type_name: str
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class IsOf:
    """``isof(source,type)``."""

    type_name: str
    source: Expression | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """``case(condition:value,...)``."""

    branches: tuple[tuple[Expression, Expression], ...]


Expression = (
    Literal
    | EnumLiteral
    | JsonLiteral
    | ParameterAlias
    | It
    | Root
    | Member
    | TypeCast
    | AnnotationOf
    | CountOf
    | AnyOf
    | AllOf
    | Call
    | BoundCall
    | Unary
    | Binary
    | ListExpression
    | In
    | Cast
    | IsOf
    | Case
)

# ---- $search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A search word, or a ``phrase`` in quotes."""

    text: str
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class SearchNot:
    """``NOT operand``."""

    operand: SearchExpression


@dataclass(frozen=True, slots=True)
class SearchAnd:
    """``left AND right``, also written with a space."""

    left: SearchExpression
    right: SearchExpression


@dataclass(frozen=True, slots=True)
class SearchOr:
    """``left OR right``."""

    left: SearchExpression
    right: SearchExpression


SearchExpression = SearchTerm | SearchNot | SearchAnd | SearchOr

# ---- resource paths -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyPredicate:
    """``(1)``: one value without a name (None); ``(a=1,b='x')``: names and values. Values are literals or aliases.

    The parentheses of a function call look the same; the model decides. ``()`` is a predicate without values.
    """

    values: tuple[tuple[str | None, Expression], ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of a path.

    ``name`` is the text between slashes: an identifier, a qualified name, ``$count``, ``$value``, ``$ref``,
    ``$metadata``, ``$batch``, ``$entity``, ``$all``, ``$crossjoin``, ``$each``, ``$filter``, ``$query``, ``$root``.
    ``predicates`` are its parentheses in order: key or parameters. ``expression`` is the argument of
    ``$filter(...)``, ``sets`` are the arguments of ``$crossjoin(...)``.
    """

    name: str
    predicates: tuple[KeyPredicate, ...] = ()
    expression: Expression | None = None
    sets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """The segments of a path relative to the service root; without segments it is the service document."""

    segments: tuple[Segment, ...]
