"""Coupons at the till: what is known of a code or of a reservation, and the edges of both.

A code of its own has its reservation in its row, the codes that many share have theirs in ``coupon_reservations``.
Every edge is one conditional update whose row count is the answer; what has run out is in its condition, so that
nothing depends on a sweeper (reliability C1 to C3).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import Column, ColumnElement, and_, func, insert, or_, select, update

from odata_server.sql.connection import Kept
from promenade.store.coupon_edges import HOLD, REDEEM, TAKE
from promenade.store.coupon_statements import CouponRow, HeldRow, ReservationRow
from promenade.store.outbox import OutboxRow
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Look, Session

__all__ = [
    "CodeType",
    "Coupon",
    "Held",
    "Reservation",
    "activate_code",
    "cancel_code",
    "cancel_reservation",
    "count_held",
    "find_coupon",
    "find_reservation",
    "insert_reservation",
    "read_held",
    "redeem_code",
    "redeem_reservation",
    "reserve_code",
    "running_promotion",
    "take_code",
]

_CODES = table("CouponCodes")
_RESERVATIONS = table("coupon_reservations")

Held = HeldRow

Run = Look
"""Runs a hot statement that writes: inside a unit of work, or as a durable transaction of its own."""


@dataclass(frozen=True, slots=True)
class CodeType:
    """What a coupon type says about its codes at the till."""

    id: str
    status: str
    is_generic: bool
    valid_from: datetime | None
    valid_to: datetime | None
    max_redemptions: int | None
    max_redemptions_per_customer: int | None
    reservation_minutes: int | None


@dataclass(frozen=True, slots=True)
class Coupon:
    """A code that was presented; ``row.coupon_id`` None: the shared code of a type, which has no row."""

    row: CouponRow
    kind: CodeType

    @property
    def valid_until(self) -> datetime | None:
        """When the code or its type ends, whichever is earlier."""
        return min((one for one in (self.row.valid_until, self.kind.valid_to) if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation that was named; see `ReservationRow`."""

    row: ReservationRow
    kind: CodeType


def _kind(row: CouponRow | ReservationRow) -> CodeType:
    return CodeType(
        row.coupon_type_id,
        row.type_status,
        row.code_type == "GENERIC",
        row.type_valid_from,
        row.type_valid_to,
        row.max_redemptions,
        row.max_redemptions_per_customer,
        row.reservation_minutes,
    )


# ---- what is known ------------------------------------------------------------------------------------------------


async def find_coupon(
    look: Look, tenant_id: str, code: str, *, at: datetime, transaction_id: str = "", customer_id: str | None = None
) -> Coupon | None:
    """The code as it stands at ``at``, or None; uses of ``customer_id``, else of the code's own customer."""
    rows = await look("coupon at the till", (tenant_id, code, at, customer_id, transaction_id))
    if not rows:
        return None
    row = CouponRow(*rows[0])  # a code in a row goes before one that a type shares
    return Coupon(row, _kind(row))


async def find_reservation(look: Look, tenant_id: str, reservation_id: str) -> Reservation | None:
    """The reservation with its code, or None: it was cancelled, or another has taken its place, or never was."""
    rows = await look("coupon reservation", (tenant_id, reservation_id))
    if not rows:
        return None
    row = ReservationRow(*rows[0])
    return Reservation(row, _kind(row))


async def read_held(
    look: Look,
    tenant_id: str,
    *,
    coupon_type_id: str,
    coupon_id: str | None,
    transaction_id: str,
    origin: str,
    at: datetime,
) -> Held:
    """Who holds a shared code; exact while the type's row of coupon_usage is held."""
    rows = await look("shared code held", (tenant_id, coupon_type_id, coupon_id, at, transaction_id, origin))
    return HeldRow(*rows[0])


async def count_held(session: Session, coupon_type_id: str, at: datetime) -> int:
    """How many live reservations of a type's shared codes there are; exact as `read_held`."""
    statement = (
        select(func.count())
        .select_from(_RESERVATIONS)
        .where(
            _RESERVATIONS.c.coupon_type_id == coupon_type_id,
            _RESERVATIONS.c.state == "HELD",
            _RESERVATIONS.c.reserved_until > at,
        )
    )
    return int((await session.execute(statement))[0][0])


async def running_promotion(look: Look, tenant_id: str, coupon_type_id: str, at: datetime) -> str | None:
    """The promotion that codes of the type trigger at ``at``: the first by its code, should there be several."""
    rows = await look("running promotion of a coupon type", (tenant_id, coupon_type_id, at))
    return str(rows[0][0]) if rows else None


# ---- the edges of codes -------------------------------------------------------------------------------------------


def _given(column: Column[object], name: str | None = None) -> ColumnElement[object]:
    return parameter(f"given_{name or column.name}", column.type)


def _moment() -> ColumnElement[datetime]:
    return parameter("given_at", _CODES.c.modified_at.type)


_WRITTEN = {"version": _CODES.c.version + 1, "modified_at": _moment()}
_IS_HELD = and_(
    _CODES.c.id == _given(_CODES.c.id),
    _CODES.c.reservation_ref == _given(_CODES.c.reservation_ref),
    _CODES.c.status == "RESERVED",
    _CODES.c.redeemed_transaction_id.is_(None),
    _CODES.c.reserved_until > _moment(),
)
_CANCEL = Kept(
    update(_CODES)
    .where(_IS_HELD)
    .values(status="ACTIVE", reservation_ref=None, reserved_until=None, reserved_by_transaction_id=None, **_WRITTEN)
)
_ACTIVATE = Kept(
    update(_CODES)
    .where(
        _CODES.c.id == _given(_CODES.c.id),
        _CODES.c.status == "CREATED",
        or_(_CODES.c.valid_until.is_(None), _CODES.c.valid_until > _moment()),
    )
    .values(status="ACTIVE", **_WRITTEN)
)


async def reserve_code(
    session: Session,
    coupon: Coupon,
    reservation_id: str,
    transaction_id: str,
    customer_id: str | None,
    until: datetime,
    at: datetime,
) -> bool:
    """ACTIVE, or reserved and run out -> RESERVED, and its log; False: it is not as ``coupon`` says any more."""
    row = coupon.row
    seen, values = row.reservation_ref, (row.coupon_id, coupon.kind.id, transaction_id, customer_id, reservation_id)
    return bool(await session.hot(HOLD, (at, session.tenant, *values, until, seen)))


async def take_code(
    run: Run, tenant_id: str, code: str, transaction_id: str, customer_id: str | None, reservation_id: str, at: datetime
) -> datetime | None:
    """ACTIVE -> RESERVED where nothing stands against it, and its log; until when, None: nothing was done.

    What it is that stands against it, `find_coupon` tells; one that has run out is `reserve_code`'s.
    """
    rows = await run(TAKE, (at, tenant_id, code, transaction_id, customer_id, reservation_id))
    return cast("datetime", rows[0][0]) if rows else None


async def redeem_code(
    run: Run,
    tenant_id: str,
    reservation: Reservation,
    reservation_id: str,
    transaction_id: str,
    *,
    origin: str,
    log_id: str,
    event: OutboxRow,
    at: datetime,
) -> tuple[bool, bool]:
    """RESERVED -> REDEEMED by its own live reservation and transaction, counted, with its claim, log and event.

    Whether it was redeemed, and whether the code was there for it: if only that, the limits of the type had no room.
    Raises `Undone` when somebody else was quicker in between.
    """
    row, kind = reservation.row, reservation.kind
    values = (row.coupon_id, kind.id, transaction_id, row.customer_id, reservation_id)
    limits = (kind.max_redemptions, kind.max_redemptions_per_customer)
    told = (event.id, event.kind, event.payload)
    (found,) = await run(REDEEM, (at, tenant_id, *values, *limits, origin, log_id, *told))
    return bool(found[0]), bool(found[1])


async def cancel_code(session: Session, coupon_id: str, reservation_id: str, at: datetime) -> bool:
    """RESERVED -> ACTIVE by its own live reservation; False: it is not there any more."""
    given = {"given_id": coupon_id, "given_reservation_ref": reservation_id, "given_at": at}
    return await session.rowcount(_CANCEL, given) == 1


async def activate_code(session: Session, coupon_id: str, at: datetime) -> bool:
    """CREATED -> ACTIVE; False: it is not CREATED any more, or has ended."""
    return await session.rowcount(_ACTIVATE, {"given_id": coupon_id, "given_at": at}) == 1


# ---- reservations of shared codes ---------------------------------------------------------------------------------


def _ending(state: str, *, only_live: bool) -> Kept:
    conditions = [
        _RESERVATIONS.c.id == _given(_RESERVATIONS.c.id),
        _RESERVATIONS.c.state == "HELD",
        *([_RESERVATIONS.c.reserved_until > _moment()] if only_live else ()),
    ]
    return Kept(update(_RESERVATIONS).where(*conditions).values(state=state, ended_at=_moment()))


_REDEEM_SHARED = _ending("REDEEMED", only_live=True)
_CANCEL_SHARED = _ending("CANCELLED", only_live=True)


async def insert_reservation(
    session: Session,
    *,
    reservation_id: str,
    coupon_type_id: str,
    coupon_id: str | None,
    transaction_id: str,
    customer_id: str | None,
    until: datetime,
    at: datetime,
) -> None:
    """Hold a shared code for a transaction; the caller holds the type's row of coupon_usage."""
    row = {
        "id": reservation_id,
        "coupon_type_id": coupon_type_id,
        "coupon_code_id": coupon_id,
        "transaction_id": transaction_id,
        "customer_id": customer_id,
        "state": "HELD",
        "reserved_at": at,
        "reserved_until": until,
    }
    await session.rowcount(insert(_RESERVATIONS), row)


async def redeem_reservation(session: Session, reservation_id: str, at: datetime) -> bool:
    """HELD -> REDEEMED; False: it is not held, or has run out."""
    return await session.rowcount(_REDEEM_SHARED, {"given_id": reservation_id, "given_at": at}) == 1


async def cancel_reservation(session: Session, reservation_id: str, at: datetime) -> bool:
    """HELD -> CANCELLED; False: it is not held, or has run out."""
    return await session.rowcount(_CANCEL_SHARED, {"given_id": reservation_id, "given_at": at}) == 1
