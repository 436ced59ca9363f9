"""Convert the steps of a path to conditions: keys, navigations from a parent, filters in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, True_, bindparam, false, select, tuple_
from sqlalchemy.sql.elements import BinaryExpression

from odata_server.edm import Primitive
from odata_server.expressions import Expression
from odata_server.source import ByFilter, ByKey, Target
from odata_server.sql.drafts import Which, pairs
from odata_server.sql.scopes import Entity, Scope, Uses
from odata_server.sql.terms.comparison import compare, converted
from odata_server.sql.terms.typed import Context, Term, bind, literal_term
from odata_server.sql.translate import Translator

__all__ = ["KeyParameters", "scope_of"]

_TEXTS = {Primitive.STRING, Primitive.GUID}


@dataclass(slots=True)
class KeyParameters:
    """The named parameters for the keys of a path; ``complete``: all keys have become parameters."""

    terms: dict[str, tuple[int, str, Term]] = field(default_factory=dict)
    complete: bool = True

    def values(self, target: Target, context: Context) -> dict[str, Any]:
        """Return the values of the parameters for another target of the same form. Raise 400 TYPE_MISMATCH."""
        found = {}
        for name, (at, key, term) in self.terms.items():
            step = target.steps[at]
            if isinstance(step, ByKey):
                literal = converted(literal_term(step.key[key], None), term)
                found[name] = getattr(bind(literal, term, context), "value", None)
        return found

    def named(self, at: int, key: str, term: Term, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Replace the value in a condition by a named parameter."""
        right = condition.right if isinstance(condition, BinaryExpression) else None
        if not isinstance(right, BindParameter) or term.type not in _TEXTS:
            self.complete = False
            return condition
        name = f"key{at}_{key}"
        self.terms[name] = at, key, term
        return term.element == bindparam(name, right.value, type_=right.type)


def scope_of(
    target: Target,
    uses: Uses,
    aliases: Mapping[str, Expression],
    parameters: KeyParameters | None = None,
    *,
    which: Which = Which.ACTIVE,
) -> tuple[Scope, list[ColumnElement[bool]]]:
    """Return a scope for the entities of a target, and its conditions.

    A navigation becomes ``IN (SELECT ...)`` of its parents: both databases can use an index for it, and a missing
    parent has no children. ``which`` is the kind of rows of the root that the query means, see `drafts.meant`.
    """
    scope = Scope(uses, uses.place(target.root.entity_type, which))
    conditions: list[ColumnElement[bool]] = []
    for at, step in enumerate(target.steps):
        if isinstance(step, ByKey):
            conditions += key_conditions(scope.entity, step.key, parameters, at)
        elif isinstance(step, ByFilter):
            conditions.append(Translator(scope, aliases).condition(step.expression))
        else:
            inner = Scope(uses, uses.follow(step.navigation, scope.place))
            on = pairs(step.navigation, step.entity_type, inner.place.which)
            own = [scope.place.column(here) for here, _ in on]
            other = [inner.place.column(there) for _, there in on]
            parents = select(*own).select_from(scope.source).where(*conditions)
            parents = parents.correlate_except(*scope.tables)
            scope, conditions = inner, [(other[0] if len(other) == 1 else tuple_(*other)).in_(parents)]
    return scope, conditions


def key_conditions(
    entity: Entity, key: Mapping[str, Any], parameters: KeyParameters | None = None, at: int = 0
) -> list[ColumnElement[bool]]:
    """Return the conditions for a key. Raise 400 TYPE_MISMATCH for an invalid value."""
    found: list[ColumnElement[bool]] = []
    for name, value in key.items():
        if entity.place.is_constant(name):
            if value is not isinstance(entity.place.column(name), True_):
                found.append(false())
            continue
        term = entity.member(name)
        if isinstance(term, Term):
            plain = replace(term, finder=None)
            condition = compare("eq", plain, literal_term(value, None), entity.scope.uses.context, exact=False)
            if parameters is not None:
                condition = parameters.named(at, name, plain, condition)
            if term.finder is not None and isinstance(condition, BinaryExpression):
                condition = term.finder.narrowed(condition, "eq", [condition.right])
            found.append(condition)
    return found
