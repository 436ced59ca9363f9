"""Column types for the internal tables, which no service exposes."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

from promenade.store.driver.types import Timestamp, string

Definition = tuple[str, str, bool, tuple[SchemaItem, ...]]
"""Name, what it is for, whether tenants own its rows, columns and constraints."""


def text(name: str, length: int | None, doc: str, *, nullable: bool = False) -> sa.Column[str]:
    """Text of at most ``length`` characters; None: unlimited."""
    return sa.Column(name, string(length), nullable=nullable, doc=doc)


def identity(name: str, doc: str, *, nullable: bool = False) -> sa.Column[str]:
    """A UUID or an equivalent ID."""
    return text(name, 36, doc, nullable=nullable)


def moment(name: str, doc: str, *, nullable: bool = False) -> sa.Column[object]:
    """A time stamp in UTC."""
    return sa.Column(name, Timestamp(), nullable=nullable, doc=doc)


def content(name: str, doc: str, *, nullable: bool = False) -> sa.Column[bytes]:
    """Bytes that only this program reads."""
    return sa.Column(name, sa.LargeBinary(), nullable=nullable, doc=doc)


def count(name: str, doc: str, *, default: int | None = 0, big: bool = False) -> sa.Column[int]:
    """An integer that is never null."""
    return sa.Column(name, sa.BigInteger() if big else sa.Integer(), nullable=False, default=default, doc=doc)


def iteration(*, counter: bool = True) -> tuple[sa.Column[object], ...]:
    """Columns that identify a transaction, or one iteration of it."""
    columns: list[sa.Column[object]] = [
        sa.Column("origin", string(36), nullable=False, doc="cloud, or the deployment that priced it."),
        sa.Column("transaction_id", string(50), nullable=False, doc="The till's transaction."),
    ]
    if counter:
        columns.append(
            sa.Column("transaction_counter", sa.Integer(), nullable=False, doc="The iteration, counted from 1.")
        )
    return tuple(columns)


def key(table: str, *columns: str, tenant: bool = True) -> sa.PrimaryKeyConstraint:
    """The primary key; for a tenant table it starts with the tenant."""
    return sa.PrimaryKeyConstraint(*(("tenant_id",) if tenant else ()), *columns, name=f"pk_{table}__key")


def partial_index(
    name: str, *columns: str | sa.Column[object], where: sa.ColumnElement[bool] | sa.TextClause
) -> sa.Index:
    """An index of the rows that meet ``where``.

    `set_index_conditions` adds the condition for PostgreSQL later: naming its options here would load its dialect.
    """
    return sa.Index(name, *columns, sqlite_where=where, info={"where": where})
