"""What the database says when a row breaks a constraint, in the words of the model and alike on both databases.

Rules are checked before rows are written; two units at the same time can still both pass. Then the database is the
judge, and this makes its verdict one that the caller can be told.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.exc import DBAPIError, IntegrityError

from promenade.store.schema import metadata
from promenade.store.unit import Session

__all__ = ["BrokenConstraint", "Constraint", "guarded"]


class Constraint(StrEnum):
    """What kind of constraint was broken."""

    UNIQUE = "unique"
    REFERENCE = "reference"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class _Known:
    kind: Constraint
    set_name: str | None
    columns: tuple[str, ...]


class BrokenConstraint(Exception):
    """A row was refused. ``set_name`` and ``columns`` (without the tenant) as far as the database tells."""

    def __init__(self, kind: Constraint, set_name: str | None, columns: tuple[str, ...]) -> None:
        super().__init__(f"{kind} constraint of {set_name} on {', '.join(columns)}")
        self.kind = kind
        self.set_name = set_name
        self.columns = columns


@asynccontextmanager
async def guarded(session: Session) -> AsyncIterator[None]:
    """A part of the unit whose broken constraints are raised as `BrokenConstraint`, with all it did undone."""
    try:
        async with session.savepoint():
            yield
    except IntegrityError as error:
        known = _of_postgresql(error) if session.dialect == "postgresql" else _of_sqlite(error)
        raise BrokenConstraint(known.kind, known.set_name, known.columns) from error


def _of_postgresql(error: IntegrityError) -> _Known:
    cause: BaseException = error
    while isinstance(cause, DBAPIError) and cause.orig is not None:
        cause = cause.orig
    name = getattr(cause.__cause__ or cause, "constraint_name", None) or ""
    return _constraints().get(name, _Known(Constraint.CHECK, None, ()))


def _of_sqlite(error: IntegrityError) -> _Known:
    """``UNIQUE constraint failed: campaigns.tenant_id, campaigns.code``; of references it says nothing more."""
    text = str(error.orig)
    what, _, names = text.partition(" constraint failed")
    if what == "FOREIGN KEY":
        return _Known(Constraint.REFERENCE, None, ())
    if what == "UNIQUE":
        places = [name.strip().partition(".") for name in names.lstrip(": ").split(",")]
        columns = tuple([column for _, _, column in places if column != "tenant_id"])
        return _Known(Constraint.UNIQUE, _sets().get(places[0][0]), columns)
    return _constraints().get(names.lstrip(": "), _Known(Constraint.CHECK, None, ()))


@cache
def _sets() -> Mapping[str, str]:
    return {table.name: table.info.get("entity", table.name) for table in metadata.tables.values()}


@cache
def _constraints() -> Mapping[str, _Known]:
    """Every named constraint of the tables."""
    known: dict[str, _Known] = {}
    for table in metadata.tables.values():
        for constraint in table.constraints:
            if isinstance(constraint, UniqueConstraint | PrimaryKeyConstraint):
                kind = Constraint.UNIQUE
            elif isinstance(constraint, ForeignKeyConstraint):
                kind = Constraint.REFERENCE
            elif isinstance(constraint, CheckConstraint):
                kind = Constraint.CHECK
            else:
                continue
            columns = () if kind is Constraint.CHECK else tuple([c.name for c in constraint.columns])
            set_name = _sets()[table.name]
            known[str(constraint.name)] = _Known(kind, set_name, tuple([c for c in columns if c != "tenant_id"]))
    return known
