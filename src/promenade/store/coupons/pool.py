"""Issuing of coupon codes: taken from the pool, or created on demand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Integer, literal_column, select

from odata_server.sql.connection import Kept
from promenade.store.authoring.faults import BrokenConstraint, Constraint, guarded
from promenade.store.authoring.statements import insert_rows
from promenade.store.coupons.shared_codes import shared_form
from promenade.store.coupons.transitions import ISSUE
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_CONFIGURATIONS = table("CouponCodeConfigurations")


@dataclass(frozen=True, slots=True)
class CodeShape:
    """The format of a type's generated codes."""

    prefix: str | None
    suffix: str | None
    length: int
    alphabet: str
    check_character: bool


@dataclass(frozen=True, slots=True)
class IssuingType:
    """The data of a coupon type needed to create and issue codes; ``shape`` None: it has no code configuration."""

    id: str
    code: str
    status: str
    code_type: str
    generic_code: str | None
    valid_to: datetime | None
    validity_days: int | None
    requires_activation: bool
    shape: CodeShape | None

    @property
    def is_generic(self) -> bool:
        return self.code_type == "GENERIC"


@dataclass(frozen=True, slots=True)
class Issue:
    """The reason, the validity and other attributes of an issue of codes; ``channel`` is an issuanceChannel."""

    coupon_type_id: str
    promotion_id: str | None
    transaction_id: str | None
    channel: str
    status: str  # ACTIVE, or CREATED until its customer activates it
    issued_at: datetime
    valid_until: datetime | None
    user: str | None  # the issuing user; None: the service itself
    reason: str | None
    metadata: str | None  # JSON
    issued_under: str | None = None  # identifies the transaction if its ID alone does not; see `coupon_issuing`

    @property
    def key(self) -> str | None:
        """The key under which the code is stored: unique per transaction, whatever its origin."""
        return self.issued_under or self.transaction_id

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the transition `ISSUE`, except the code's ID and customer."""
        return {
            "at": self.issued_at,
            "status": self.status,
            "promotion": self.promotion_id,
            "issued_under": self.key,
            "channel": self.channel,
            "reason": self.reason,
            "metadata": self.metadata,
            "ends": self.valid_until,
            "user": self.user,
        }

    @property
    def columns(self) -> dict[str, Any]:
        """The column values of a code that is made when it is issued, except its customer."""
        return {
            "status": self.status,
            "issued_at": self.issued_at,
            "issuing_promotion_id": self.promotion_id,
            "issuing_transaction_id": self.key,
            "issuance_channel": self.channel,
            "issue_reason": self.reason,
            "issue_metadata": self.metadata,
            "modified_at": self.issued_at,
            "modified_by": self.user,
            "valid_until": self.valid_until,
        }


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """A code issued to a customer. The code itself is a secret: it is shown only to the caller who requested it."""

    id: str
    code: str
    valid_until: datetime | None


_TYPE_ID = parameter("coupon_type_id", _TYPES.c.id.type)
_TYPE_NAME = parameter("coupon_type_name", _TYPES.c.name.type)
_READ_TYPE = (
    select(
        _TYPES.c.id,
        _TYPES.c.code,
        _TYPES.c.status,
        _TYPES.c.code_type,
        _TYPES.c.generic_code,
        _TYPES.c.valid_to,
        _TYPES.c.validity_days,
        _TYPES.c.requires_activation,
        _CONFIGURATIONS.c.id.label("configuration_id"),
        _CONFIGURATIONS.c.prefix,
        _CONFIGURATIONS.c.suffix,
        _CONFIGURATIONS.c.length,
        _CONFIGURATIONS.c.alphabet,
        _CONFIGURATIONS.c.check_character,
    )
    .join_from(_TYPES, _CONFIGURATIONS, _CONFIGURATIONS.c.coupon_type_id == _TYPES.c.id, isouter=True)
    .where(_TYPES.c.id == _TYPE_ID)
)


@cache
def _reading_type(is_held: bool) -> Kept:
    return Kept(_READ_TYPE.with_for_update(read=True, of=_TYPES) if is_held else _READ_TYPE)


@cache
def _finding_types(by_id: bool, by_name: bool) -> Kept:
    named = [*([_TYPES.c.id == _TYPE_ID] if by_id else ()), *([_TYPES.c.name == _TYPE_NAME] if by_name else ())]
    return Kept(select(_TYPES.c.id).where(*named).limit(2))


async def read_type(session: Session, coupon_type_id: str, *, held: bool = False) -> IssuingType | None:
    """Return the coupon type with its code configuration, or None; ``held`` locks it until the unit of work ends."""
    is_held = held and session.dialect == "postgresql"
    rows = await session.execute(_reading_type(is_held), {"coupon_type_id": coupon_type_id})
    if not rows:
        return None
    row = rows[0]
    shape = None
    if row.configuration_id is not None:
        shape = CodeShape(row.prefix, row.suffix, row.length, row.alphabet, row.check_character)
    return IssuingType(
        row.id,
        row.code,
        row.status,
        row.code_type,
        row.generic_code,
        row.valid_to,
        row.validity_days,
        row.requires_activation,
        shape,
    )


async def find_types(session: Session, coupon_type_id: str | None, name: str | None) -> list[str]:
    """Return the IDs of up to two coupon types with this ID, this name, or both; None: any. Empty if both are None."""
    if coupon_type_id is None and name is None:
        return []
    statement = _finding_types(coupon_type_id is not None, name is not None)
    given = {"coupon_type_id": coupon_type_id, "coupon_type_name": name}
    return [row.id for row in await session.execute(statement, given)]


async def issued_for(
    session: Session, transaction_id: str, promotion_id: str, coupon_type_id: str
) -> IssuedCode | None:
    """Return the code issued for this transaction, promotion and type, or None."""
    rows = await session.execute(
        select(_CODES.c.id, _CODES.c.code, _CODES.c.valid_until).where(
            _CODES.c.issuing_transaction_id == transaction_id,
            _CODES.c.issuing_promotion_id == promotion_id,
            _CODES.c.coupon_type_id == coupon_type_id,
        )
    )
    return IssuedCode(*tuple(rows[0])) if rows else None


@lru_cache(maxsize=64)  # most calls ask for one
def _pooled(dialect: str, number: int) -> Kept:
    statement = (
        select(_CODES.c.id, _CODES.c.code, _CODES.c.valid_until)
        .where(
            _CODES.c.coupon_type_id == parameter("coupon_type_id", _CODES.c.coupon_type_id.type),
            ISSUE.in_state("ACTIVE"),
        )
        # makes the planner use the index of issued codes, on a table without statistics too
        .order_by(_CODES.c.issued_at)
        # a literal: for a parameter the planner assumes a tenth of all rows
        .limit(literal_column(str(number), Integer))
    )
    # Concurrent issues take other codes.
    return Kept(statement.with_for_update(skip_locked=True) if dialect == "postgresql" else statement)


async def take_from_pool(session: Session, issue: Issue, customer_ids: Sequence[str | None]) -> list[IssuedCode]:
    """Issue an unissued code of the type to each customer, never an external one; fewer if the pool runs out."""
    number = len(customer_ids)
    if number == 0:
        return []
    given = {"coupon_type_id": issue.coupon_type_id, "at": issue.issued_at}
    rows = await session.execute(_pooled(session.dialect, number), given)
    issued = issue.parameters
    taken = [{**issued, "id": row.id, "customer": one} for row, one in zip(rows, customer_ids, strict=False)]
    await session.execute_many(ISSUE.one, taken)
    return [IssuedCode(row.id, row.code, issue.valid_until or row.valid_until) for row in rows]


@hot_statement(
    "shared codes among",
    postgresql="""
        SELECT generic_code FROM coupon_types WHERE tenant_id = $1::varchar AND generic_code = ANY($2::varchar[])
    """,
)
def _shared_codes(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant_id, texts = params
    return connection.execute(
        "SELECT generic_code FROM coupon_types"
        " WHERE tenant_id = ? AND generic_code IN (SELECT value FROM json_each(?))",
        (tenant_id, json.dumps(texts)),
    ).fetchall()


async def add_codes(session: Session, codes: Sequence[Mapping[str, Any]]) -> set[str]:
    """Insert codes (rows with the same columns) and return the IDs of those whose text was not taken.

    A text is taken if another code of the tenant has it, or if it is the shared code of a GENERIC type, in
    whatever case.
    """
    forms = [shared_form(row["code"]) for row in codes]
    shared = {code for (code,) in await session.hot("shared codes among", (session.tenant, forms))}
    rows = [dict(row) for row, form in zip(codes, forms, strict=True) if form not in shared]
    try:
        async with guarded(session):
            await insert_rows(session, "CouponCodes", rows)
    except BrokenConstraint as broken:
        if broken.kind is not Constraint.UNIQUE:
            raise
    else:
        return {row["id"] for row in rows}
    # Rare: only after a conflict is each code inserted with its own check.
    added = upsert(session.dialect, _CODES).on_conflict_do_nothing(index_elements=[_CODES.c.tenant_id, _CODES.c.code])
    await session.execute_many(added, rows)
    found = await session.execute(select(_CODES.c.id).where(_CODES.c.id.in_([row["id"] for row in rows])))
    return {row.id for row in found}


async def codes_by_id(session: Session, code_ids: list[str]) -> dict[str, str]:
    """Return the secret codes by ID."""
    rows = await session.execute(select(_CODES.c.id, _CODES.c.code).where(_CODES.c.id.in_(code_ids)))
    return {row.id: row.code for row in rows}


async def generic_codes(session: Session, coupon_type_ids: list[str]) -> dict[str, str]:
    """Return the shared codes of GENERIC types, by the type's ID."""
    rows = await session.execute(select(_TYPES.c.id, _TYPES.c.generic_code).where(_TYPES.c.id.in_(coupon_type_ids)))
    return {row.id: row.generic_code for row in rows if row.generic_code is not None}
