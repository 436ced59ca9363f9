"""Translates constraint violations of both databases into the same terms of the model.

Rules are checked before rows are written, but two concurrent units of work can still both pass. Then the database
detects the conflict, and this module turns its error into one that can be returned to the caller.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.exc import DBAPIError, IntegrityError

from promenade.store.driver import schema
from promenade.store.driver.unit import Session


class Constraint(StrEnum):
    """The kind of constraint that was violated."""

    UNIQUE = "unique"
    REFERENCE = "reference"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class _Known:
    kind: Constraint
    set_name: str | None
    columns: tuple[str, ...]


class BrokenConstraint(Exception):
    """A row was rejected. ``set_name`` and ``columns`` (without the tenant) are set if the database reports them."""

    def __init__(self, kind: Constraint, set_name: str | None, columns: tuple[str, ...]) -> None:
        super().__init__(f"{kind} constraint of {set_name} on {', '.join(columns)}")
        self.kind = kind
        self.set_name = set_name
        self.columns = columns


@asynccontextmanager
async def guarded(session: Session) -> AsyncIterator[None]:
    """Run a part of the unit of work in a savepoint; roll it back and raise `BrokenConstraint` on a violation."""
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
    """Parse ``UNIQUE constraint failed: campaigns.tenant_id, campaigns.code``; references give no details."""
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
    return {table.name: table.info.get("entity", table.name) for table in schema.metadata.tables.values()}


@cache
def _constraints() -> Mapping[str, _Known]:
    """Return all named constraints of the tables."""
    known: dict[str, _Known] = {}
    for table in schema.metadata.tables.values():
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
