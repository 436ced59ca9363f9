"""Coupons at the till: what is known of a code or of a reservation, and the edges of both.

A code of its own has its reservation in its row, the codes that many share have theirs in ``coupon_reservations``.
What may become of both, `store.coupons.transitions` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import func, insert, select

from promenade.store.coupons.edges import HOLD, REDEEM, TAKE
from promenade.store.coupons.shared_codes import shared_form
from promenade.store.coupons.statements import CouponRow, HeldRow, ReservationRow
from promenade.store.coupons.transitions import ACTIVATE, CANCEL, CANCEL_SHARED, REDEEM_SHARED
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Look, Session
from promenade.store.webhooks.outbox import OutboxRow

_RESERVATIONS = table("coupon_reservations")

Held = HeldRow

Run = Look
"""Runs a hot statement that writes: inside a unit of work, or as a durable transaction of its own."""


@dataclass(frozen=True, slots=True)
class CodeType:
    """The settings of a coupon type for its codes at the till."""

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
    """A presented code; ``row.coupon_id`` None: the shared code of a type, which has no row."""

    row: CouponRow
    kind: CodeType

    @property
    def valid_until(self) -> datetime | None:
        """The end of the code or of its type, whichever is earlier; None: neither ends."""
        return min((one for one in (self.row.valid_until, self.kind.valid_to) if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation that a request refers to; see `ReservationRow`."""

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
    """Return the code as of ``at``, or None; uses are counted for ``customer_id``, else for the code's own customer."""
    given = (tenant_id, code, at, customer_id, transaction_id, shared_form(code))
    rows = await look("coupon at the till", given)
    if not rows:
        return None
    row = CouponRow(*rows[0])  # an individual code takes precedence over a shared one
    return Coupon(row, _kind(row))


async def find_reservation(look: Look, tenant_id: str, reservation_id: str) -> Reservation | None:
    """Return the reservation with its code, or None if it was cancelled or replaced or never existed."""
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
    """Return who holds a shared code; exact while the type's row of coupon_usage is locked."""
    rows = await look("shared code held", (tenant_id, coupon_type_id, coupon_id, at, transaction_id, origin))
    return HeldRow(*rows[0])


async def count_held(session: Session, coupon_type_id: str, at: datetime) -> int:
    """Count the live reservations of a type's shared codes; exact as in `read_held`."""
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
    """Return the promotion that codes of the type trigger at ``at``; of several, the first by its code."""
    rows = await look("running promotion of a coupon type", (tenant_id, coupon_type_id, at))
    return str(rows[0][0]) if rows else None


# ---- the edges of codes -------------------------------------------------------------------------------------------


async def reserve_code(
    session: Session,
    coupon: Coupon,
    reservation_id: str,
    transaction_id: str,
    customer_id: str | None,
    until: datetime,
    at: datetime,
) -> bool:
    """ACTIVE, or RESERVED and expired -> RESERVED, with its log; False: the code has changed since it was read.

    ``coupon`` is the code as it was read.
    """
    row = coupon.row
    seen, values = row.reservation_ref, (row.coupon_id, coupon.kind.id, transaction_id, customer_id, reservation_id)
    return bool(await session.hot(HOLD, (at, session.tenant, *values, until, seen)))


async def take_code(
    run: Run, tenant_id: str, code: str, transaction_id: str, customer_id: str | None, reservation_id: str, at: datetime
) -> datetime | None:
    """ACTIVE -> RESERVED if all conditions hold, with its log; return the end, or None if nothing was done.

    `find_coupon` gives the reason for None; expired reservations are handled by `reserve_code`.
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

    Returns whether it was redeemed, and whether the code was available: if only the second, the type's limits are
    reached. Raises `RolledBack` if another transaction took the code in between.
    """
    row, kind = reservation.row, reservation.kind
    values = (row.coupon_id, kind.id, transaction_id, row.customer_id, reservation_id)
    limits = (kind.max_redemptions, kind.max_redemptions_per_customer)
    told = (event.id, event.kind, event.payload)
    (found,) = await run(REDEEM, (at, tenant_id, *values, *limits, origin, log_id, *told))
    return bool(found[0]), bool(found[1])


async def cancel_code(session: Session, coupon_id: str, reservation_id: str, at: datetime) -> bool:
    """RESERVED -> ACTIVE by its own live reservation; False: that reservation does not exist any more."""
    given = {"id": coupon_id, "reservation": reservation_id, "at": at}
    return await session.rowcount(CANCEL.one, given) == 1


async def activate_code(session: Session, coupon_id: str, at: datetime) -> bool:
    """CREATED -> ACTIVE; False: it is not CREATED any more, or has ended."""
    return await session.rowcount(ACTIVATE.one, {"id": coupon_id, "at": at}) == 1


# ---- reservations of shared codes ---------------------------------------------------------------------------------


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
    """Reserve a shared code for a transaction; the caller has locked the type's row of coupon_usage."""
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
    """HELD -> REDEEMED; False: it is not held, or has expired."""
    return await session.rowcount(REDEEM_SHARED.one, {"id": reservation_id, "at": at}) == 1


async def cancel_reservation(session: Session, reservation_id: str, at: datetime) -> bool:
    """HELD -> CANCELLED; False: it is not held, or has expired."""
    return await session.rowcount(CANCEL_SHARED.one, {"id": reservation_id, "at": at}) == 1
