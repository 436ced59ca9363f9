"""Which rows a query means of entities that have edit drafts: active ones, the caller's drafts, or both.

It follows from the path and the filter, so that most statements read one table and know nothing of the other:

- by key, what the key says;
- of a collection, what a condition that has to hold says of ``IsActiveEntity``; without any word of it the active ones.
  ``IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null`` are the caller's drafts together with all that is
  active and that the caller has no draft of, which is what user interfaces list;
- through a navigation, what that keeps or turns round, see `odata_server.edm.DraftWay`.

A condition on ``IsActiveEntity`` inside of ``$expand``, or on what a path leads to, is a condition like any other: the
navigation has said which rows there are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from odata_server.draft import ADMINISTRATIVE_DATA, HAS_ACTIVE, HAS_DRAFT, IS_ACTIVE, SIBLING
from odata_server.edm import DraftWay, EntityType, NavigationProperty
from odata_server.expressions import (
    Binary,
    Expression,
    It,
    Literal,
    Member,
    ParameterAlias,
    Unary,
)
from odata_server.source import ByFilter, ByKey, Query
from odata_server.sql.operands import chain_of
from odata_server.syntax import Filter, QueryOptions

__all__ = ["Which", "administrative_in", "meant", "pairs", "reached", "speaks_of_flags", "splits"]

_FLAGS = frozenset({IS_ACTIVE, HAS_ACTIVE, HAS_DRAFT})
_ALIASES_MAX = 10  # how many aliases may refer to one another in a chain
Aliases = Mapping[str, Expression]


class Which(StrEnum):
    """The kind of rows of an entity type with drafts; those of a type without drafts are all ACTIVE."""

    ACTIVE = "active"
    DRAFT = "draft"
    """Drafts of the caller."""
    MERGED = "merged"
    """Drafts of the caller, and what is active without one."""
    ALL = "all"
    """Drafts of the caller, and all that is active."""

    @property
    def fixed(self) -> bool:
        """Whether ``IsActiveEntity`` is the same in all of the rows."""
        return self in (Which.ACTIVE, Which.DRAFT)


# ---- navigations --------------------------------------------------------------------------------------------------


def reached(which: Which, navigation: NavigationProperty, target: EntityType) -> Which:
    """Return the kind of rows that a navigation reaches from these."""
    if target.draft is None or navigation.draft_way is DraftWay.ACTIVE:
        return Which.ACTIVE
    if not which.fixed:
        return Which.ALL
    if navigation.draft_way is DraftWay.SAME:
        return which
    return Which.DRAFT if which is Which.ACTIVE else Which.ACTIVE


def splits(navigation: NavigationProperty, target: EntityType, which: Which) -> bool:
    """Return whether both kinds of rows are read and the navigation leads to different rows from each."""
    return not which.fixed and target.draft is not None and navigation.draft_way is not DraftWay.ACTIVE


def pairs(navigation: NavigationProperty, target: EntityType, which: Which) -> tuple[tuple[str, str], ...]:
    """Return the join pairs of a navigation to ``which`` rows.

    For a single kind of rows the pair on ``IsActiveEntity`` is omitted.
    """
    if target.draft is None or not which.fixed:
        return navigation.on
    return tuple(pair for pair in navigation.on if pair[1] != IS_ACTIVE)


# ---- queries ------------------------------------------------------------------------------------------------------


def meant(query: Query, root: EntityType) -> tuple[Which, QueryOptions]:
    """Return which rows of its root a query means, and its options without the conditions that this implies."""
    options, steps = query.options, query.target.steps
    if root.draft is None:
        return Which.ACTIVE, options
    filters = [step.expression for step in steps if isinstance(step, ByFilter)]
    step = next((one for one in steps if not isinstance(one, ByFilter)), None)
    if isinstance(step, ByKey):
        return (Which.ACTIVE if step.key.get(IS_ACTIVE, True) else Which.DRAFT), options
    if step is not None:
        before = steps[: steps.index(step)]
        return _which([one.expression for one in before if isinstance(one, ByFilter)], options.aliases), options
    if options.apply:
        return _which([*filters, *_first_filters(options)], options.aliases), options
    if options.filter is None:
        return _which(filters, options.aliases), options
    rest = chain_of("and", options.filter)
    which = _which([*filters, *rest], options.aliases)
    if which is not Which.ALL or _mentions(filters, options.aliases):
        return which, options
    others = [one for one in rest if not _is_merging(one, options.aliases)]
    if len(others) == len(rest) or _mentions(others, options.aliases):
        return which, options
    return Which.MERGED, dataclasses.replace(options, filter=_all_of(others))


def _first_filters(options: QueryOptions) -> Iterator[Expression]:
    for one in options.apply:
        if not isinstance(one, Filter):
            return
        yield one.expression


def _which(conditions: Sequence[Expression], aliases: Aliases) -> Which:
    """Return the kind of rows that these conditions, all of which must hold, ask for."""
    for condition in conditions:
        for one in chain_of("and", condition):
            wanted = _demanded(_written_out(one, aliases), aliases)
            if wanted is not None:
                return Which.ACTIVE if wanted else Which.DRAFT
    return Which.ALL if _mentions(conditions, aliases) else Which.ACTIVE


def _demanded(condition: Expression, aliases: Aliases) -> bool | None:
    """Return the value of ``IsActiveEntity`` that a condition requires; None if it does not require one."""
    if _is_flag(condition):
        return True
    if isinstance(condition, Unary) and condition.operator == "not":
        wanted = _demanded(_written_out(condition.operand, aliases), aliases)
        return None if wanted is None else not wanted
    if isinstance(condition, Binary) and condition.operator in {"eq", "ne"}:
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            value = _written_out(other, aliases)
            if _is_flag(side) and isinstance(value, Literal) and isinstance(value.value, bool):
                return value.value == (condition.operator == "eq")
    return None


def _is_merging(condition: Expression, aliases: Aliases) -> bool:
    """Return whether this is ``IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null``, in either order."""
    parts = [_written_out(one, aliases) for one in chain_of("or", _written_out(condition, aliases))]
    if len(parts) != 2:
        return False
    for one, other in (parts, parts[::-1]):
        if _demanded(one, aliases) is False and isinstance(other, Binary) and other.operator == "eq":
            for side, value in ((other.left, other.right), (other.right, other.left)):
                if _is_sibling_flag(side) and _written_out(value, aliases) == Literal(None):
                    return True
    return False


def _is_own(source: Expression | None) -> bool:
    return source is None or (isinstance(source, It) and not source.this)


def _is_flag(expression: Expression) -> bool:
    return isinstance(expression, Member) and expression.name == IS_ACTIVE and _is_own(expression.source)


def _is_sibling_flag(expression: Expression) -> bool:
    if not isinstance(expression, Member) or expression.name != IS_ACTIVE:
        return False
    source = expression.source
    return isinstance(source, Member) and source.name == SIBLING and _is_own(source.source)


def _mentions(expressions: Sequence[Expression], aliases: Aliases) -> bool:
    """Return whether an expression mentions ``IsActiveEntity`` of the entity itself or of its sibling."""
    parts = (part for one in expressions for part in _parts(one, aliases))
    return any(_is_flag(part) or _is_sibling_flag(part) for part in parts)


def speaks_of_flags(expressions: Sequence[Expression]) -> bool:
    """Return whether an expression mentions a flag that distinguishes drafts from active entities, of any entity."""
    parts = (part for one in expressions for part in _parts(one, {}))
    return any(isinstance(part, ParameterAlias) or (isinstance(part, Member) and part.name in _FLAGS) for part in parts)


def _written_out(expression: Expression, aliases: Aliases) -> Expression:
    for _ in range(_ALIASES_MAX):
        if not isinstance(expression, ParameterAlias):
            break
        expression = aliases.get(expression.name, Literal(None))
    return expression


def _parts(expression: Expression, aliases: Aliases) -> Iterator[Any]:
    """Iterate over an expression and all its sub-expressions, each alias once."""
    waiting: list[Any] = [expression]
    met: set[str] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, ParameterAlias):
            yield one
            if one.name not in met and one.name in aliases:
                met.add(one.name)
                waiting.append(aliases[one.name])
        elif isinstance(one, tuple):
            waiting += one
        elif dataclasses.is_dataclass(one):
            yield one
            waiting += [getattr(one, field.name) for field in dataclasses.fields(one)]


def _all_of(conditions: Sequence[Expression]) -> Expression | None:
    found: Expression | None = None
    for one in conditions:
        found = one if found is None else Binary("and", found, one)
    return found


# ---- comparisons --------------------------------------------------------------------------------------------------


def administrative_in(*operands: Expression) -> list[Expression]:
    """Return the paths to ``DraftAdministrativeData`` whose properties are compared.

    Such a comparison, even with ``ne``, holds only for rows that have a draft; this does not apply to comparisons with
    null.
    """
    if Literal(None) in operands:
        return []
    return [
        part.source
        for one in operands
        for part in _parts(one, {})
        if isinstance(part, Member) and isinstance(part.source, Member) and part.source.name == ADMINISTRATIVE_DATA
    ]
