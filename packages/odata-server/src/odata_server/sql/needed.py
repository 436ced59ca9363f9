"""The texts that every matching row contains, for an index of texts: it may leave out rows without them.

The index ignores the case of the letters of Latin-1, and nothing else is asked of it: there are several ways to ignore
the case of other letters. Even of Latin-1 a few characters are left out where a comparison ignores the case of all
letters, because other letters have them as their small ones: ``i`` belongs to the Turkish capital I too, ``k`` to the
Kelvin sign, ``å`` to the sign of Ångström.
"""

from __future__ import annotations

import re

from odata_server.edm import Primitive
from odata_server.expressions import (
    Binary,
    Call,
    Expression,
    Literal,
    Member,
    SearchAnd,
    SearchExpression,
    SearchOr,
    SearchTerm,
)
from odata_server.sql.model import Needed
from odata_server.syntax import QueryOptions

__all__ = ["texts_needed"]

_LENGTH_MIN = 3  # an index knows no shorter texts
_ALTERNATIVES_MAX = 16
_EXACT = re.compile(rf"[\x01-\xb4\xb6-\xff]{{{_LENGTH_MIN},}}")  # without the micro sign, which is a Greek letter too
_EVERY_CASE = re.compile(rf"(?:(?![iIkKåÅßÿ])[\x01-\xb4\xb6-\xff]){{{_LENGTH_MIN},}}")
_CONTAINING = {"contains", "startswith", "endswith"}


def texts_needed(options: QueryOptions, properties: frozenset[str], searched: frozenset[str]) -> Needed | None:
    """Return what the rows of a query need; None: they may be any rows.

    The index has the texts of ``properties``; ``$search`` looks at ``searched``.
    """
    found = None if options.filter is None else _of_filter(options.filter, properties)
    if options.search is not None and searched <= properties:
        found = _all(found, _of_search(options.search))
    return found


def _of_search(expression: SearchExpression) -> Needed | None:
    match expression:
        case SearchTerm():
            return _runs(expression.text, every_case=not expression.text.isascii())
        case SearchAnd():
            return _all(_of_search(expression.left), _of_search(expression.right))
        case SearchOr():
            return _any(_of_search(expression.left), _of_search(expression.right))
        case _:
            return None


def _of_filter(expression: Expression, properties: frozenset[str]) -> Needed | None:
    if isinstance(expression, Call) and expression.name in _CONTAINING and len(expression.arguments) == 2:
        return _compared(expression.arguments[0], expression.arguments[1], properties)
    if not isinstance(expression, Binary):
        return None
    left, right = expression.left, expression.right
    match expression.operator:
        case "and":
            return _all(_of_filter(left, properties), _of_filter(right, properties))
        case "or":
            return _any(_of_filter(left, properties), _of_filter(right, properties))
        case "eq":
            return _compared(left, right, properties) or _compared(right, left, properties)
        case _:
            return None


def _compared(text: Expression, part: Expression, properties: frozenset[str]) -> Needed | None:
    every_case = isinstance(text, Call) and text.name == "tolower" and len(text.arguments) == 1
    if isinstance(text, Call) and every_case:
        text = text.arguments[0]
    if not isinstance(text, Member) or text.source is not None or text.name not in properties:
        return None
    if not isinstance(part, Literal) or part.type is not Primitive.STRING:
        return None
    return _runs(part.value, every_case=every_case)


def _runs(text: str, *, every_case: bool) -> Needed | None:
    found = (_EVERY_CASE if every_case else _EXACT).findall(text)
    return [frozenset(one.lower() for one in found)] if found else None


def _all(left: Needed | None, right: Needed | None) -> Needed | None:
    if left is None or right is None:
        return right if left is None else left
    if len(left) * len(right) > _ALTERNATIVES_MAX:
        return left
    return [one | other for one in left for other in right]


def _any(left: Needed | None, right: Needed | None) -> Needed | None:
    if left is None or right is None or len(left) + len(right) > _ALTERNATIVES_MAX:
        return None
    return [*left, *right]
