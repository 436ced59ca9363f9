"""Rows that are no entities: the values that a step of ``$apply`` gives the next one, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, null, select, type_coerce, union_all

from odata_server.errors import not_implemented
from odata_server.sql.projection import Convert, Record, Shape, computed_column
from odata_server.sql.terms import Term

__all__ = ["Derived", "stacked"]


@dataclass(slots=True)
class Derived:
    """A SELECT of named values in the making."""

    source: FromClause
    terms: dict[str, Term]
    conditions: list[ColumnElement[bool]] = field(default_factory=list)
    groups: list[ColumnElement[Any]] = field(default_factory=list)
    order: list[ColumnElement[Any]] = field(default_factory=list)
    limit: int | None = None
    offset: int = 0

    def statement(self) -> Select[Any]:
        """The SELECT of all values, in the order of their names."""
        columns = [term.element.label(f"v{at}") for at, term in enumerate(self.terms.values())]
        found = select(*columns).select_from(self.source).where(*self.conditions)
        found = found.group_by(*self.groups).order_by(*self.order)
        if self.limit is not None:
            found = found.limit(self.limit)
        return found.offset(self.offset) if self.offset else found

    def wrapped(self) -> Derived:
        """The same values over a sub-query: what comes next is done to what comes out of this."""
        inner = self.statement().subquery()
        return Derived(inner, _over(inner, self.terms))

    def records(self, rows: Sequence[Sequence[Any]], shape: Shape) -> list[Record]:
        """The rows of this SELECT as values of the model, paths as nested dicts."""
        converters = [computed_column(term, shape)[1] for term in self.terms.values()]
        paths = [tuple(name.split("/")) for name in self.terms]
        return [_record(row, paths, converters) for row in rows]


def _over(inner: FromClause, terms: Mapping[str, Term]) -> dict[str, Term]:
    return {
        name: replace(term, sql=type_coerce(inner.c[f"v{at}"], term.element.type), name=name, indexed=False)
        for at, (name, term) in enumerate(terms.items())
    }


def _record(row: Sequence[Any], paths: Sequence[tuple[str, ...]], converters: Sequence[Convert | None]) -> Record:
    record: Record = {}
    for value, path, convert in zip(row, paths, converters, strict=True):
        at = record
        for name in path[:-1]:
            at = at.setdefault(name, {})
        at[path[-1]] = convert(value) if convert is not None and value is not None else value
    return record


def stacked(parts: Sequence[Derived]) -> Derived:
    """The rows of all parts, one after the other; a value that a part does not have is null.

    Raises 501 where parts hold values of one name in different forms.
    """
    terms: dict[str, Term] = {}
    for part in parts:
        for name, term in part.terms.items():
            known = terms.setdefault(name, term)
            if (known.type, known.storage) != (term.type, term.storage):
                raise not_implemented(f"To concat values of different types as {name}")
    selects = []
    for part in parts:
        inner = part.statement().subquery()
        own = _over(inner, part.terms)
        columns = [
            (own[name].element if name in own else type_coerce(null(), term.element.type)).label(f"v{at}")
            for at, (name, term) in enumerate(terms.items())
        ]
        selects.append(select(*columns))
    union = union_all(*selects).subquery()
    return Derived(union, _over(union, {name: replace(term, nullable=True) for name, term in terms.items()}))
