"""Coupons spent by confirmed sales (`store.coupons.transitions`).

A claim marks the code for its transaction for good: it has no time after which it runs out, so that no sweeper and no
other till gets the code before the worker has finished the redemption (reliability C1, C3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import and_, func, insert, select, update

from odata_server.sql.connection import Kept
from promenade.store.coupons.transitions import CLAIM, CLAIM_RUN_OUT, COUNT, FINISH, HAS_RUN_OUT, SETTLE_SHARED
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.sales.usage import ALL_CUSTOMERS

_CODES = table("CouponCodes")
_TYPES = table("CouponTypes")
_USAGE = table("coupon_usage")
_CLAIMS = table("coupon_claims")
_LOGS = table("RedemptionLogs")
_NO_LIMIT = 2**31 - 1

_OF_SALE = and_(
    _CLAIMS.c.origin == parameter("given_origin", _CLAIMS.c.origin.type),
    _CLAIMS.c.transaction_id == parameter("given_transaction", _CLAIMS.c.transaction_id.type),
)
_HOLDING_RUN_OUT = Kept(
    select(_CODES.c.reserved_by_transaction_id, _CODES.c.customer_id)
    .where(_CODES.c.id == parameter("id", _CODES.c.id.type), HAS_RUN_OUT)
    .with_for_update()
)
_LAST_SLOT = Kept(
    select(func.max(_CLAIMS.c.slot)).where(
        _CLAIMS.c.coupon_code_id == parameter("given_key", _CLAIMS.c.coupon_code_id.type)
    )
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
    """The rules of a coupon type for spending its codes."""

    code_type: str
    valid_to: datetime | None
    max_redemptions: int | None
    max_redemptions_per_customer: int | None

    @property
    def is_generic(self) -> bool:
        return self.code_type == "GENERIC"


@dataclass(frozen=True, slots=True)
class Claim:
    """A code spent by a transaction; ``slot`` is 0, or the number of the claim of a shared code.

    ``promotion_id`` None: a till has redeemed it, but not confirmed a sale with it yet.
    """

    coupon_code_id: str
    slot: int
    coupon_type_id: str
    promotion_id: str | None
    customer_id: str | None


@dataclass(frozen=True, slots=True)
class ExpiredHold:
    """The transaction whose reservation of a code expired; ``customer_id`` is the owner of the code, if it has one."""

    transaction_id: str | None
    customer_id: str | None


@dataclass(frozen=True, slots=True)
class TillClaim:
    """A claim made by a till before its sale was confirmed; ``customer_id`` None: no customer."""

    slot: int
    customer_id: str | None


async def read_rules(session: Session, coupon_type_ids: Iterable[str]) -> dict[str, SpendingRules]:
    """Read the rules of the types that exist, by ID."""
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
    """Return whether a code's own validity has ended at ``at``; the end itself is exclusive."""
    rows = await session.execute(select(_CODES.c.id).where(_CODES.c.id == coupon_id, _CODES.c.valid_until <= at))
    return bool(rows)


async def claim_individual(session: Session, coupon_id: str, transaction_id: str, at: datetime) -> bool:
    """Spend an individual code; False: this transaction cannot spend it at ``at``.

    The code keeps the reference of the transaction's own reservation, so that a later request with it learns that it
    was redeemed. Another transaction's reservation that has expired but was not swept is left to `claim_expired_hold`.
    """
    return await session.rowcount(CLAIM.one, {"id": coupon_id, "transaction": transaction_id, "at": at}) == 1


async def claim_expired_hold(session: Session, coupon_id: str, transaction_id: str, at: datetime) -> ExpiredHold | None:
    """Spend an individual code whose reservation has expired at ``at``, and return its holder; None: there is none."""
    ended = await lock_expired_hold(session, coupon_id, at)
    given = {"id": coupon_id, "transaction": transaction_id, "at": at}
    return ended if ended is not None and await session.rowcount(CLAIM_RUN_OUT.one, given) == 1 else None


async def lock_expired_hold(session: Session, coupon_id: str, at: datetime) -> ExpiredHold | None:
    """Lock a code's expired, unswept reservation, so that it is ended and reported only once; None: there is none."""
    rows = await session.execute(_HOLDING_RUN_OUT, {"id": coupon_id, "at": at})
    return ExpiredHold(*tuple(rows[0])) if rows else None


async def count_generic(session: Session, coupon_id: str, transaction_id: str, at: datetime) -> bool:
    """Count one redemption on a generic code, which stays ACTIVE; False: it is not usable at ``at``."""
    return await session.rowcount(COUNT.one, {"id": coupon_id, "transaction": transaction_id, "at": at}) == 1


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
    """Count one redemption of a coupon type, per customer or (None) in total, and return the new count.

    None: ``limit`` is reached and nothing was counted. In both cases the counter's row is locked until the unit of work
    ends; ``by`` 0 only locks it.
    """
    # the first use is an insert, to which the condition of the update does not apply
    if limit is not None and limit < 1 and by:
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


async def uncount_use(session: Session, coupon_type_id: str, customer_id: str | None = None) -> None:
    """Decrement a count by one redemption, per customer or (None) in total; never below zero."""
    its = _USAGE.c.coupon_type_id == coupon_type_id, _USAGE.c.customer_id == (customer_id or ALL_CUSTOMERS)
    await session.rowcount(update(_USAGE).where(*its, _USAGE.c["count"] > 0).values(count=_USAGE.c["count"] - 1))


async def next_slot(session: Session, coupon_code_id: str) -> int:
    """Return the slot of the next claim of a shared code; the caller has locked the type's usage counter.

    The counter itself is not used: it decreases when stores give back uses that were counted in advance.
    """
    rows = await session.execute(_LAST_SLOT, {"given_key": coupon_code_id})
    return int(rows[0][0] or 0) + 1


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
    """Insert a claim; its primary key is the second protection against spending an individual code twice.

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
    """Assign the claim that its till has already made to the sale; None: there is no such claim."""
    given = {
        "given_key": coupon_code_id,
        "given_origin": origin,
        "given_transaction": transaction_id,
        "given_promotion": promotion,
        "given_counter": transaction_counter,
    }
    rows = await session.execute(_TAKE_OVER, given)
    return TillClaim(rows[0].slot, rows[0].customer_id) if rows else None


async def set_claim_customer(session: Session, coupon_code_id: str, slot: int, customer_id: str) -> None:
    """Set the customer of a claim: the till did not send one, the sale does."""
    statement = update(_CLAIMS).where(_CLAIMS.c.coupon_code_id == coupon_code_id, _CLAIMS.c.slot == slot)
    await session.rowcount(statement.values(customer_id=customer_id))


async def count_of_sale(session: Session, origin: str, transaction_id: str) -> int:
    """Count the coupons that a confirmed sale spends, including those that its till redeemed before."""
    return int((await session.execute(_SPENT, {"given_origin": origin, "given_transaction": transaction_id}))[0][0])


async def settle_reservation(session: Session, reservation_id: str, at: datetime) -> None:
    """End the reservation of a shared code, because its own sale spends the code."""
    await session.rowcount(SETTLE_SHARED.one, {"id": reservation_id, "at": at})


async def claims_of(session: Session, origin: str, transaction_id: str) -> list[Claim]:
    """Return the unfinished claims of a confirmed transaction, ordered by code."""
    rows = await session.execute(_UNFINISHED, {"given_origin": origin, "given_transaction": transaction_id})
    # Sorted here: SQLite without statistics would scan all claims of the tenant rather than sort these.
    return sorted((Claim(*tuple(row)) for row in rows), key=lambda one: (one.coupon_code_id, one.slot))


async def finish_redemption(session: Session, claim: Claim, transaction_id: str, at: datetime) -> None:
    """Set a claimed individual code to REDEEMED (a generic one stays ACTIVE) and finish the claim."""
    await session.rowcount(FINISH.one, {"id": claim.coupon_code_id, "transaction": transaction_id, "at": at})
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
    """Insert a RedemptionLogs row; ``action`` is ISSUED, REDEEMED ..."""
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
