"""Coupons spent by confirmed sales: every edge is one conditional statement whose row count is the answer.

A claim marks the code for its transaction for good: it has no time after which it runs out, so that no sweeper and no
other till gets the code before the worker has finished the redemption (reliability C1, C3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, and_, case, func, insert, or_, select, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert
from promenade.store.usage import ALL_CUSTOMERS

__all__ = [
    "Claim",
    "RunOut",
    "SpendingRules",
    "TillClaim",
    "claim_individual",
    "claim_run_out",
    "claims_of",
    "count_generic",
    "count_of_sale",
    "count_use",
    "finish_redemption",
    "has_ended",
    "hold_run_out",
    "insert_claim",
    "insert_redemption_log",
    "name_customer",
    "read_rules",
    "settle_reservation",
    "take_back_use",
    "take_over",
]

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_USAGE = table("coupon_usage")
_CLAIMS = table("coupon_claims")
_LOGS = table("RedemptionLogs")
_RESERVATIONS = table("coupon_reservations")
_NO_LIMIT = 2**31 - 1

_OF_SALE = and_(
    _CLAIMS.c.origin == parameter("given_origin", _CLAIMS.c.origin.type),
    _CLAIMS.c.transaction_id == parameter("given_transaction", _CLAIMS.c.transaction_id.type),
)
_SPENT = Kept(select(func.count()).select_from(_CLAIMS).where(_OF_SALE, _CLAIMS.c.transaction_counter.is_not(None)))
_UNFINISHED = Kept(
    select(
        _CLAIMS.c.coupon_code_id,
        _CLAIMS.c.slot,
        _CLAIMS.c.coupon_type_id,
        _CLAIMS.c.promotion_id,
        _CLAIMS.c.customer_id,
    ).where(_OF_SALE, _CLAIMS.c.redeemed_at.is_(None))
)


@dataclass(frozen=True, slots=True)
class SpendingRules:
    """What a coupon type says about spending its codes."""

    code_type: str
    valid_to: datetime | None
    max_redemptions: int | None
    max_redemptions_per_customer: int | None

    @property
    def is_generic(self) -> bool:
        return self.code_type == "GENERIC"


@dataclass(frozen=True, slots=True)
class Claim:
    """A code spent by a transaction; ``slot`` is 0, or the place among the claims of a shared code.

    ``promotion_id`` None: a till redeemed it, and has not confirmed a sale with it.
    """

    coupon_code_id: str
    slot: int
    coupon_type_id: str
    promotion_id: str | None
    customer_id: str | None


@dataclass(frozen=True, slots=True)
class RunOut:
    """Who held a code until its reservation ran out; ``customer_id`` is whose the code is, if anybody's."""

    transaction_id: str | None
    customer_id: str | None


@dataclass(frozen=True, slots=True)
class TillClaim:
    """A claim that a till has made before its sale was confirmed; ``customer_id`` None: nobody's."""

    slot: int
    customer_id: str | None


async def read_rules(session: Session, coupon_type_ids: Iterable[str]) -> dict[str, SpendingRules]:
    """The rules of the types that exist, by ID."""
    rows = await session.execute(
        select(
            _TYPES.c.id,
            _TYPES.c.code_type,
            _TYPES.c.valid_to,
            _TYPES.c.max_redemptions,
            _TYPES.c.max_redemptions_per_customer,
        ).where(_TYPES.c.id.in_(list(coupon_type_ids)))
    )
    return {
        row.id: SpendingRules(row.code_type, row.valid_to, row.max_redemptions, row.max_redemptions_per_customer)
        for row in rows
    }


async def has_ended(session: Session, coupon_id: str, at: datetime) -> bool:
    """Whether a code's own validity is over at ``at``; its very end is too late."""
    rows = await session.execute(select(_CODES.c.id).where(_CODES.c.id == coupon_id, _CODES.c.valid_until <= at))
    return bool(rows)


def _lives(at: datetime) -> ColumnElement[bool]:
    return or_(_CODES.c.valid_until.is_(None), _CODES.c.valid_until > at)


async def claim_individual(session: Session, coupon_id: str, transaction_id: str, at: datetime) -> bool:
    """Spend an individual code; False: it is not there to be spent by this transaction at ``at``.

    The transaction's own reservation stays named in the code, so that who comes back with it is told that it was
    redeemed. One of another transaction that has run out, and was not swept, is for `claim_run_out`.
    """
    own = and_(_CODES.c.status == "RESERVED", _CODES.c.reserved_by_transaction_id == transaction_id)
    return await _claim(session, coupon_id, or_(_CODES.c.status == "ACTIVE", own), transaction_id, at)


async def claim_run_out(session: Session, coupon_id: str, transaction_id: str, at: datetime) -> RunOut | None:
    """Spend an individual code whose reservation has run out at ``at``, and say whose it was; None: there is none."""
    ended = await hold_run_out(session, coupon_id, at)
    if ended is None or not await _claim(session, coupon_id, _has_run_out(at), transaction_id, at):
        return None
    return ended


async def hold_run_out(session: Session, coupon_id: str, at: datetime) -> RunOut | None:
    """Whose reservation of a code has run out unswept, held so that it ends, and is said to, once; None: nobody's."""
    holding = select(_CODES.c.reserved_by_transaction_id, _CODES.c.customer_id).where(_CODES.c.id == coupon_id)
    rows = await session.execute(holding.where(_has_run_out(at)).with_for_update())
    return RunOut(*tuple(rows[0])) if rows else None


def _has_run_out(at: datetime) -> ColumnElement[bool]:
    return and_(
        _CODES.c.status == "RESERVED",
        _CODES.c.redeemed_transaction_id.is_(None),
        or_(_CODES.c.reserved_until.is_(None), _CODES.c.reserved_until <= at),
    )


async def _claim(
    session: Session, coupon_id: str, is_free: ColumnElement[bool], transaction_id: str, at: datetime
) -> bool:
    statement = (
        update(_CODES)
        .where(_CODES.c.id == coupon_id, _CODES.c.redeemed_transaction_id.is_(None), is_free, _lives(at))
        .values(
            status="RESERVED",
            reservation_ref=case(
                (_CODES.c.reserved_by_transaction_id == transaction_id, _CODES.c.reservation_ref), else_=None
            ),
            reserved_until=None,
            reserved_by_transaction_id=transaction_id,
            redeemed_transaction_id=transaction_id,
            version=_CODES.c.version + 1,
            modified_at=at,
        )
    )
    return await session.rowcount(statement) == 1


async def count_generic(session: Session, coupon_id: str, transaction_id: str, at: datetime) -> bool:
    """Count one redemption on a generic code, which stays ACTIVE; False: it is not usable at ``at``."""
    statement = (
        update(_CODES)
        .where(_CODES.c.id == coupon_id, _CODES.c.status == "ACTIVE", _lives(at))
        .values(
            redemption_count=_CODES.c.redemption_count + 1,
            redeemed_at=at,
            redeemed_transaction_id=transaction_id,
        )
    )
    return await session.rowcount(statement) == 1


@cache
def _counting(dialect: str) -> Kept:
    counting = upsert(dialect, _USAGE).values(
        coupon_type_id=parameter("given_type", _USAGE.c.coupon_type_id.type),
        customer_id=parameter("given_customer", _USAGE.c.customer_id.type),
        count=parameter("given_by", _USAGE.c["count"].type),
    )
    return Kept(
        counting.on_conflict_do_update(
            index_elements=[_USAGE.c.tenant_id, _USAGE.c.coupon_type_id, _USAGE.c.customer_id],
            set_={"count": _USAGE.c["count"] + counting.excluded["count"]},
            where=_USAGE.c["count"] < parameter("given_limit", _USAGE.c["count"].type),
        ).returning(_USAGE.c["count"].label("uses"))
    )


async def count_use(
    session: Session, coupon_type_id: str, customer_id: str | None, limit: int | None, *, by: int = 1
) -> int | None:
    """Count one redemption of a coupon type, of a customer or (None) of all, and return how many there are now.

    None: ``limit`` is reached, nothing was counted. Either way the row that counts is held until the unit ends; ``by``
    0 does only that.
    """
    if limit is not None and limit < 1 and by:  # the first of all is inserted, whatever the condition of the update
        await count_use(session, coupon_type_id, customer_id, None, by=0)
        return None
    given = {
        "given_type": coupon_type_id,
        "given_customer": customer_id or ALL_CUSTOMERS,
        "given_by": by,
        "given_limit": _NO_LIMIT if limit is None else limit,
    }
    rows = await session.execute(_counting(session.dialect), given)
    return int(rows[0].uses) if rows else None


async def take_back_use(session: Session, coupon_type_id: str) -> None:
    """Count one redemption less of all; the caller has counted it in this unit."""
    statement = (
        update(_USAGE)
        .where(_USAGE.c.coupon_type_id == coupon_type_id, _USAGE.c.customer_id == ALL_CUSTOMERS)
        .values(count=_USAGE.c["count"] - 1)
    )
    await session.rowcount(statement)


async def insert_claim(
    session: Session,
    claim: Claim,
    *,
    origin: str,
    transaction_id: str,
    transaction_counter: int | None,
    at: datetime,
    redeemed_at: datetime | None = None,
) -> None:
    """Write down who spent what; its key is the second wall against spending an individual code twice.

    Without a counter a till has redeemed the code, and a confirm of the transaction may take the claim over.
    """
    row = {
        "coupon_code_id": claim.coupon_code_id,
        "slot": claim.slot,
        "coupon_type_id": claim.coupon_type_id,
        "promotion_id": claim.promotion_id,
        "customer_id": claim.customer_id,
        "origin": origin,
        "transaction_id": transaction_id,
        "transaction_counter": transaction_counter,
        "claimed_at": at,
        "redeemed_at": redeemed_at,
    }
    await session.rowcount(insert(_CLAIMS), row)


_TAKE_OVER = Kept(
    update(_CLAIMS)
    .where(
        _CLAIMS.c.coupon_code_id == parameter("given_key", _CLAIMS.c.coupon_code_id.type),
        _CLAIMS.c.origin == parameter("given_origin", _CLAIMS.c.origin.type),
        _CLAIMS.c.transaction_id == parameter("given_transaction", _CLAIMS.c.transaction_id.type),
        _CLAIMS.c.transaction_counter.is_(None),
    )
    .values(
        promotion_id=parameter("given_promotion", _CLAIMS.c.promotion_id.type),
        transaction_counter=parameter("given_counter", _CLAIMS.c.transaction_counter.type),
    )
    .returning(_CLAIMS.c.slot, _CLAIMS.c.customer_id)
)


async def take_over(
    session: Session, coupon_code_id: str, *, origin: str, transaction_id: str, transaction_counter: int, promotion: str
) -> TillClaim | None:
    """Make the sale's what its till has redeemed already; None: it has not."""
    given = {
        "given_key": coupon_code_id,
        "given_origin": origin,
        "given_transaction": transaction_id,
        "given_promotion": promotion,
        "given_counter": transaction_counter,
    }
    rows = await session.execute(_TAKE_OVER, given)
    return TillClaim(rows[0].slot, rows[0].customer_id) if rows else None


async def name_customer(session: Session, coupon_code_id: str, slot: int, customer_id: str) -> None:
    """Write down whose claim it is: the till did not say, the sale does."""
    statement = update(_CLAIMS).where(_CLAIMS.c.coupon_code_id == coupon_code_id, _CLAIMS.c.slot == slot)
    await session.rowcount(statement.values(customer_id=customer_id))


async def count_of_sale(session: Session, origin: str, transaction_id: str) -> int:
    """How many coupons a confirmed sale spends, those that its till had redeemed before among them."""
    return int((await session.execute(_SPENT, {"given_origin": origin, "given_transaction": transaction_id}))[0][0])


async def settle_reservation(session: Session, reservation_id: str, at: datetime) -> None:
    """End the reservation of a shared code: its own sale spends the code."""
    statement = (
        update(_RESERVATIONS)
        .where(_RESERVATIONS.c.id == reservation_id, _RESERVATIONS.c.state == "HELD")
        .values(state="REDEEMED", ended_at=at)
    )
    await session.rowcount(statement)


async def claims_of(session: Session, origin: str, transaction_id: str) -> list[Claim]:
    """The unfinished claims of a confirmed transaction, in the order of their codes."""
    rows = await session.execute(_UNFINISHED, {"given_origin": origin, "given_transaction": transaction_id})
    # SQLite without statistics would rather go through all claims of the tenant than sort these.
    return sorted((Claim(*tuple(row)) for row in rows), key=lambda one: (one.coupon_code_id, one.slot))


async def finish_redemption(session: Session, claim: Claim, transaction_id: str, at: datetime) -> None:
    """Make a claimed individual code REDEEMED (a generic one stays ACTIVE) and close the claim."""
    await session.rowcount(
        update(_CODES)
        .where(
            _CODES.c.id == claim.coupon_code_id,
            _CODES.c.status == "RESERVED",
            _CODES.c.redeemed_transaction_id == transaction_id,
        )
        .values(
            status="REDEEMED",
            redeemed_at=at,
            redemption_count=_CODES.c.redemption_count + 1,
            version=_CODES.c.version + 1,
            modified_at=at,
        )
    )
    await session.rowcount(
        update(_CLAIMS)
        .where(_CLAIMS.c.coupon_code_id == claim.coupon_code_id, _CLAIMS.c.slot == claim.slot)
        .values(redeemed_at=at)
    )


async def insert_redemption_log(
    session: Session,
    *,
    log_id: str,
    coupon_code_id: str | None,
    coupon_type_id: str,
    promotion_id: str | None,
    action: str,
    transaction_id: str | None,
    customer_id: str | None,
    at: datetime,
) -> None:
    """Write one RedemptionLogs row; ``action`` is ISSUED, REDEEMED ..."""
    row = {
        "id": log_id,
        "coupon_code_id": coupon_code_id,
        "coupon_type_id": coupon_type_id,
        "promotion_id": promotion_id,
        "action": action,
        "transaction_id": transaction_id,
        "customer_id": customer_id,
        "occurred_at": at,
        "created_at": at,
        "modified_at": at,
    }
    await session.rowcount(insert(_LOGS), row)
