"""Coupon codes leased to a store, so that it can redeem or issue them without the cloud (reliability C1).

While a store leases a code, the code is RESERVED in the cloud under the lease's ID, without a transaction. The store
returns it when it no longer needs it; otherwise the cloud takes it back `GOOD_FOR` after the lease has expired, when
every use of the code in the store should long have been uploaded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from promenade.errors import Conflict, NotFound, TooMany
from promenade.store.coupons import claims as coupon_claims
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.rules import code_refusal
from promenade.store.coupons.transitions import RELEASE
from promenade.store.driver.unit import Session
from promenade.store.sync import share_codes
from promenade.store.sync import shares as store
from promenade.store.sync.share_codes import CodeRow, PooledCode
from promenade.store.sync.shares import COUPON_CODE, COUPON_POOL, Share
from promenade.workflows.context import Context
from promenade.workflows.coupons.failed_look_ups import WINDOW_SECONDS, FailedLookups
from promenade.workflows.sync.deployments import require_deployment
from promenade.workflows.sync.shares import GOOD_FOR

FAILURES_OF_CLIENT_MAX = 1000
"""Unknown codes a minute, of all stores that call with one client's tokens."""
_ONE = Decimal(1)
_TOLD = timedelta(milliseconds=1)  # times are transmitted in whole milliseconds


@dataclass(frozen=True, slots=True)
class LeasedCode:
    """A code that the store leases, as it was before. ``issued_at`` None: it is not issued yet."""

    id: str
    code: str
    coupon_type_id: str
    status: str
    customer_id: str | None
    valid_from: datetime | None
    valid_until: datetime | None
    issued_at: datetime | None


@dataclass(frozen=True, slots=True)
class Leased:
    """The codes that a request leased to the store, and (code, reason) of those refused."""

    leased: tuple[LeasedCode, ...]
    refused: tuple[tuple[str, str], ...]
    expires_at: datetime


# ---- codes that are presented -------------------------------------------------------------------------------------


async def lease_codes(
    context: Context, tenant_id: str, deployment_id: str, codes: Sequence[str], client_id: str = ""
) -> Leased:
    """Lease codes that were presented at the store's tills; leases that the store already has are renewed.

    Reasons are those of the coupon endpoints, such as UNKNOWN_CODE, RESERVED_ELSEWHERE. Raises NotFound
    (DEPLOYMENT_NOT_FOUND) and TooMany (TOO_MANY_ATTEMPTS): guessing codes is limited for a store as it is for a till,
    and for the caller (``client_id``) over all its stores and parallel requests.
    """
    guesses = f"coupon-failures:{tenant_id}:stores-of:{client_id}"
    if await context.cache.count(guesses, WINDOW_SECONDS, len(codes)) > FAILURES_OF_CLIENT_MAX:
        await context.cache.count(guesses, WINDOW_SECONDS, -len(codes))
        text = f"More than {FAILURES_OF_CLIENT_MAX} codes were unknown within a minute; wait before the next."
        raise TooMany("TOO_MANY_ATTEMPTS", text, WINDOW_SECONDS)
    unknown = 0
    try:
        answer = await _lease_codes(context, tenant_id, deployment_id, codes)
        unknown = sum(reason == "UNKNOWN_CODE" for _, reason in answer.refused)
    finally:
        await context.cache.count(guesses, WINDOW_SECONDS, unknown - len(codes))
    return answer


async def _lease_codes(context: Context, tenant_id: str, deployment_id: str, codes: Sequence[str]) -> Leased:
    failed = FailedLookups(context.cache, tenant_id, f"store:{deployment_id}")
    await failed.require_room()
    reference = context.new_id()

    async def work(session: Session) -> Leased:
        await require_deployment(session, deployment_id)
        ids = await share_codes.ids_of_codes(session, codes) if codes else {}
        keys = [(COUPON_CODE, code_id) for code_id in ids.values()]
        shares = {one.entity_id: one for one in await store.hold_shares(session, deployment_id, keys)}
        rows = {row.code: row for row in await share_codes.hold_codes(session, ids.values())}
        at = context.clock()
        refused = {code: "UNKNOWN_CODE" for code in codes if code not in rows}
        wanted: list[CodeRow] = []
        for code, row in rows.items():
            reason = _refusal(row, shares.get(row.id), at)
            if reason is None:
                wanted.append(row)
            else:
                refused[code] = reason
        got = await _lease(context, session, deployment_id, wanted, shares, reference, at)
        refused |= {row.code: "RESERVED_ELSEWHERE" for row in wanted if row.id not in got}
        leased = [_leased(row, got[row.id]) for row in wanted if row.id in got]
        return Leased(tuple(leased), tuple(sorted(refused.items())), at + GOOD_FOR)

    answer = await context.database.write(work, tenant=tenant_id)
    unknown = sum(reason == "UNKNOWN_CODE" for _, reason in answer.refused)
    if unknown:
        await failed.add(unknown)
    return answer


def _refusal(row: CodeRow, share: Share | None, at: datetime) -> str | None:
    """Return why a store does not get the code; None: it gets it."""
    ended = row.type_valid_to is not None and row.type_valid_to <= at
    if row.type_status != "ACTIVE" or ended:
        return "EXPIRED" if ended else "NOT_ACTIVE"
    if share is not None and _is_of(row, share):
        return None
    if row.status == "CREATED":  # to be activated at the store
        return "EXPIRED" if row.valid_until is not None and row.valid_until <= at else None
    return code_refusal(row, at, None, row.customer_id)


def _is_of(row: CodeRow, share: Share) -> bool:
    """Return whether this share still leases the code; if not, it has expired and others may have the code."""
    return row.status == "RESERVED" and row.redeemed_transaction_id is None and row.reservation_ref == share.reference


async def _lease(
    context: Context,
    session: Session,
    deployment_id: str,
    rows: Sequence[CodeRow],
    shares: Mapping[str, Share],
    reference: str,
    at: datetime,
) -> dict[str, str]:
    """Lease codes that this unit of work has locked; return the previous status of each leased code by ID."""
    kept = {row.id: shares[row.id] for row in rows if row.id in shares and _is_of(row, shares[row.id])}
    own = {one.reference for one in kept.values() if one.reference is not None}
    # Shared (GENERIC) codes are available to all stores and need no lease.
    shared = {row.id: row.status for row in rows if row.code_type == "GENERIC"}
    alone = [row for row in rows if row.id not in shared]
    got = await share_codes.lease(session, [row.id for row in alone], reference, at + 2 * GOOD_FOR, at, own=own)
    before = {row.id: _status_before(row, kept.get(row.id)) for row in alone if row.id in got}
    await _write_shares(session, deployment_id, before, reference, at)
    for row in alone:  # rare: reservations that expired but were not cleaned up yet
        if row.id in got and row.id not in kept and row.status == "RESERVED":
            await coupon_claims.insert_redemption_log(
                session,
                log_id=context.new_id(),
                coupon_code_id=row.id,
                coupon_type_id=row.coupon_type_id,
                promotion_id=None,
                action=RELEASE.log,
                transaction_id=row.reserved_by_transaction_id,
                customer_id=row.customer_id,
                at=at,
            )
    return before | shared


async def _write_shares(
    session: Session, deployment_id: str, before: Mapping[str, str], reference: str, at: datetime
) -> None:
    await store.drop_shares_of_others(session, deployment_id, before)
    await store.put_shares(
        session,
        [
            Share(deployment_id, COUPON_CODE, code_id, _ONE, None, reference, at + GOOD_FOR, None, status.encode(), at)
            for code_id, status in before.items()
        ],
    )


def _status_before(row: CodeRow, share: Share | None) -> str:
    if share is not None and share.last_answer is not None:
        return share.last_answer.decode()
    return "CREATED" if row.status == "CREATED" else "ACTIVE"


def _leased(row: CodeRow, status: str) -> LeasedCode:
    return LeasedCode(
        row.id, row.code, row.coupon_type_id, status, row.customer_id, row.valid_from, row.valid_until, row.issued_at
    )


# ---- codes to be issued -------------------------------------------------------------------------------------------


async def wants_stock(context: Context, tenant_id: str, coupon_type_id: str, purpose: str | None) -> bool:
    """Return whether a store that names a coupon type wants codes to issue (True) or uses of its limit (False)."""
    if purpose is not None:
        return purpose == "ISSUE"
    kind = await context.database.read(lambda session: coupon_pool.read_type(session, coupon_type_id), tenant=tenant_id)
    return kind is not None and not kind.is_generic


async def lease_pool(
    context: Context, tenant_id: str, deployment_id: str, coupon_type_id: str, quantity: int, key: str | None
) -> Leased:
    """Lease unissued codes of a type, so that the store can issue them; fewer or none if the pool is exhausted.

    Raises NotFound (DEPLOYMENT_NOT_FOUND, COUPON_TYPE_NOT_FOUND) and Conflict (NOT_INDIVIDUAL, NOT_RUNNING).
    """
    reference = context.new_id()

    async def work(session: Session) -> Leased:
        await require_deployment(session, deployment_id)
        at = context.clock()
        kind = await coupon_pool.read_type(session, coupon_type_id)
        if kind is None:
            raise NotFound(
                "COUPON_TYPE_NOT_FOUND", "`couponTypeId` names a coupon type that does not exist.", "couponTypeId"
            )
        if kind.is_generic:
            message = "A GENERIC coupon type has one shared code: there are no codes to issue."
            raise Conflict("NOT_INDIVIDUAL", message, "couponTypeId")
        asked = await store.hold_share(session, deployment_id, COUPON_POOL, coupon_type_id, currency=None, at=at)
        if key is not None and asked.last_key == key and asked.reference is not None:
            again = await share_codes.codes_of_lease(session, coupon_type_id, asked.reference)
            return _pooled(again, coupon_type_id, asked.expires_at)
        if kind.status != "ACTIVE" or (kind.valid_to is not None and kind.valid_to <= at):
            raise Conflict("NOT_RUNNING", "The coupon type is not active: its codes cannot be issued.", "couponTypeId")
        found = {one.id: one for one in await share_codes.pooled(session, coupon_type_id, quantity, at)}
        got = await share_codes.lease(session, found, reference, at + 2 * GOOD_FOR, at, own=())
        await _write_shares(session, deployment_id, dict.fromkeys(got, "ACTIVE"), reference, at)
        await store.write_share(
            session, asked, reference=reference, expires_at=at + GOOD_FOR, last_key=key, changed_at=at
        )
        return _pooled([found[one] for one in sorted(got)], coupon_type_id, at + GOOD_FOR)

    return await context.database.write(work, tenant=tenant_id)


def _pooled(found: Sequence[PooledCode], coupon_type_id: str, expires_at: datetime) -> Leased:
    leased = [
        LeasedCode(one.id, one.code, coupon_type_id, "ACTIVE", None, one.valid_from, one.valid_until, None)
        for one in found
    ]
    return Leased(tuple(leased), (), expires_at)


# ---- codes that come back -----------------------------------------------------------------------------------------


async def return_leases(
    context: Context, tenant_id: str, deployment_id: str, codes: Collection[str], until: datetime | None = None
) -> Leased:
    """End leases of the store and release their codes; codes that it does not lease are skipped.

    ``until``: only leases that expire by then, so that a delayed request does not end a lease that was renewed since.
    Raises NotFound (DEPLOYMENT_NOT_FOUND).
    """

    async def work(session: Session) -> Leased:
        await require_deployment(session, deployment_id)
        at = context.clock()
        ids = await share_codes.ids_of_codes(session, codes) if codes else {}
        held = await store.hold_shares(session, deployment_id, [(COUPON_CODE, one) for one in ids.values()])
        ended = [(one, _ONE) for one in held if until is None or one.expires_at - _TOLD < until]
        await store.return_shares(session, ended, at)
        return Leased((), (), at)

    return await context.database.write(work, tenant=tenant_id)
