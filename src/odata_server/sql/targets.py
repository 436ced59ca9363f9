"""The steps of a path as conditions: keys, navigations from a parent, filters in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, select, tuple_

from odata_server.expressions import Expression
from odata_server.source import ByFilter, ByKey, Target
from odata_server.sql.comparison import compare
from odata_server.sql.scopes import Entity, Scope, Uses
from odata_server.sql.terms import Term, literal_term
from odata_server.sql.translate import Translator

__all__ = ["key_conditions", "scope_of"]


def scope_of(target: Target, uses: Uses, aliases: Mapping[str, Expression]) -> tuple[Scope, list[ColumnElement[bool]]]:
    """A scope for the entities of a target, and the conditions that make them so.

    A navigation is ``IN (SELECT ...)`` of its parents: an index serves it on both databases, and a parent that is
    missing has no children.
    """
    scope = Scope(uses, uses.place(target.root.entity_type))
    conditions: list[ColumnElement[bool]] = []
    for step in target.steps:
        if isinstance(step, ByKey):
            conditions += key_conditions(scope.entity, step.key)
        elif isinstance(step, ByFilter):
            conditions.append(Translator(scope, aliases).condition(step.expression))
        else:
            inner = Scope(uses, uses.place(step.entity_type.name))
            own = [scope.place.column(here) for here, _ in step.navigation.on]
            other = [inner.place.column(there) for _, there in step.navigation.on]
            parents = select(*own).select_from(scope.source).where(*conditions)
            parents = parents.correlate_except(*scope.tables)
            scope, conditions = inner, [(other[0] if len(other) == 1 else tuple_(*other)).in_(parents)]
    return scope, conditions


def key_conditions(entity: Entity, key: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    """That an entity has this key. Raises 400 TYPE_MISMATCH for a value that is none."""
    found = []
    for name, value in key.items():
        term = entity.member(name)
        if isinstance(term, Term):
            found.append(compare("eq", term, literal_term(value, None), entity.scope.uses.context, exact=False))
    return found
