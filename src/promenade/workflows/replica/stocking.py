"""The codes that a store holds: some of each type to issue offline, and codes presented here until they go back.

A code is removed from the store before the cloud is told: from then on the store cannot spend it. It only goes back
when the cloud has received all queued uploads, so that uses of the code arrive before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from promenade.store.access.erasures import notice
from promenade.store.driver.unit import Session
from promenade.store.replica import held_codes, held_shares
from promenade.store.replica import uploads as sync_uploads
from promenade.store.replica.held_codes import ISSUED_AT_TILLS, HeldCode, LeasedRow
from promenade.store.replica.held_shares import CODE_REQUEST
from promenade.store.sync.shares import COUPON_CODE, COUPON_POOL, Share
from promenade.workflows.replica.allotting import PAUSE
from promenade.workflows.replica.ending import withdraw
from promenade.workflows.replica.filling import RENEW_BEFORE, Cloud, is_final, is_past
from promenade.workflows.replica.notes import Note, encode_note, note_of
from promenade.workflows.uplink import CloudRefused, CloudUnreachable

NEVER = Decimal(0)
POOL = 20  # codes of each type kept for issuing
KEEP_PRESENTED = timedelta(minutes=30)  # how long a presented code is kept: as long as a basket may take
REQUEST_TIMEOUT = timedelta(minutes=1)  # after which an unanswered request is given up
RETURN_BATCH_MAX = 1000  # codes per request when giving back
RENEWAL_BATCH_MAX = 100
_ONE_DAY = timedelta(days=1)
STOCKED_FOR = timedelta(days=30)  # how long codes of a type are stocked after tills last asked to issue any


class _Leased(msgspec.Struct, frozen=True, rename="camel"):
    """A code in a response."""

    code: str
    coupon_id: str
    coupon_type_id: str
    status: str = "ACTIVE"
    customer_id: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    issued_at: datetime | None = None


class _Leases(msgspec.Struct, frozen=True, rename="camel"):
    """A response with leased codes."""

    leased: list[_Leased]
    expires_at: datetime


async def receive_codes(
    session: Session,
    cloud: Cloud,
    answer: Mapping[str, Any],
    at: datetime,
    *,
    settled: Share | None = None,
    for_pool: bool = False,
) -> set[str]:
    """Store the codes of a response and return them. Codes of unknown types are skipped.

    ``settled`` is the request, which is done unless codes were skipped. Raises CloudUnreachable for an invalid
    response.
    """
    found = _parse_leases(answer)
    known = await held_codes.known_types(session, {one.coupon_type_id for one in found.leased})
    taken = [one for one in found.leased if one.coupon_type_id in known]
    rows = [
        LeasedRow(
            one.coupon_id,
            one.code,
            one.coupon_type_id,
            one.status,
            one.customer_id,
            one.valid_from,
            min(one.valid_until or found.expires_at, found.expires_at),
            None if for_pool else one.issued_at or at,  # None: may be issued here
        )
        for one in taken
    ]
    await held_codes.insert_codes(session, rows, at)
    await notice(session, {one.customer_id for one in rows}, new_id=cloud.context.new_id, at=at)
    shares = [
        Share(cloud.deployment_id, COUPON_CODE, one.coupon_id, Decimal(1), None, None, found.expires_at, None, None, at)
        for one in taken
    ]
    await held_shares.put(session, *shares)
    cloud.compared.update(_comparison_key(cloud, one.coupon_id) for one in taken)
    if settled is not None and len(taken) == len(found.leased):
        await held_shares.drop(session, settled)
    return {one.code for one in taken}


def _parse_leases(answer: Mapping[str, Any]) -> _Leases:
    try:
        return msgspec.convert(answer, _Leases, strict=False)
    except msgspec.ValidationError as error:
        message = f"The cloud's answer about coupon codes cannot be understood: {error}"
        raise CloudUnreachable("CLOUD_UNREADABLE", message) from error


async def keep_codes(cloud: Cloud) -> None:
    """Run one round: give codes back, renew leases, fill pools. Raises CloudUnreachable and CloudRefused."""
    await _release_lost_requests(cloud)
    await cloud.write(lambda session: _withdraw_unneeded(session, cloud))
    await _return_codes(cloud)
    await _renew(cloud)
    for coupon_type_id in await cloud.read(lambda session: _types_to_restock(session, cloud)):
        await fill_pool(cloud, coupon_type_id)


# ---- codes that go back -------------------------------------------------------------------------------------------


def is_being_returned(share: Share) -> bool:
    """Whether codes are being given back; they must not be requested meanwhile."""
    return (share.kind == COUPON_CODE and share.last_key is not None) or (
        share.kind == CODE_REQUEST and share.reference is not None
    )


async def _release_lost_requests(cloud: Cloud) -> None:
    """Give back codes that unanswered requests may have leased, unless another request has leased them since."""
    for one in await cloud.write(lambda session: _mark_lost_requests(session, cloud)):
        codes = list(note_of(one).codes)
        if codes:
            await _release(cloud, codes, None)
        await cloud.write(lambda session: held_shares.drop(session, one))  # noqa: B023 - awaited at once


async def _mark_lost_requests(session: Session, cloud: Cloud) -> list[Share]:
    """Return the lost requests with their remaining codes; these are not requested again until they are given back."""
    at = cloud.context.clock()
    asked = [one for one in await held_shares.read_all(session) if one.kind == CODE_REQUEST]
    lost = [one for one in asked if one.reference is not None or is_past(one.changed_at, REQUEST_TIMEOUT, at)]
    open_ = {code for one in asked if one not in lost for code in note_of(one).codes}
    held = {one.code for one in (await held_codes.read_held(session, at)).values()} if lost else set()
    marked = [
        replace(
            one,
            reference=one.entity_id,
            last_answer=encode_note(Note(codes=tuple(set(note_of(one).codes) - held - open_))),
        )
        for one in lost
    ]
    await held_shares.put(session, *marked)
    return marked


async def _withdraw_unneeded(session: Session, cloud: Cloud) -> None:
    """Remove codes that are no longer needed, unless uploads to the cloud are pending."""
    if await sync_uploads.count(session):
        return
    at = cloud.context.clock()
    held = await held_codes.read_held(session, at)
    pools = await held_codes.pooled_types(session, at)
    shares = [one for one in await held_shares.read_all(session) if one.kind == COUPON_CODE and one.last_key is None]
    leaving = [one for one in shares if _should_withdraw(one, held.get(one.entity_id), pools, at)]
    await withdraw(session, leaving, cloud.context, at)


def _should_withdraw(share: Share, code: HeldCode | None, pools: set[str], at: datetime) -> bool:
    if code is None or code.is_spent:
        return True
    if not code.is_issued:
        return code.coupon_type_id not in pools
    return not code.is_reserved and is_past(share.changed_at, KEEP_PRESENTED, at)


async def _return_codes(cloud: Cloud) -> None:
    async def read_returned(session: Session) -> list[Share]:
        if await sync_uploads.count(session):
            return []
        return [one for one in await held_shares.read_all(session) if one.kind == COUPON_CODE and one.last_key]

    leaving: list[Share] = await cloud.read(read_returned)
    for start in range(0, len(leaving), RETURN_BATCH_MAX):
        part = leaving[start : start + RETURN_BATCH_MAX]
        codes = [code for one in part for code in note_of(one).codes]
        await _release(cloud, codes, max(one.expires_at for one in part))
        await cloud.write(lambda session: _drop_returned(session, part))  # noqa: B023 - awaited at once


async def _release(cloud: Cloud, codes: list[str], until: datetime | None) -> None:
    body: dict[str, Any] = {"release": codes}
    if until is not None:
        body["expiresAt"] = until.isoformat()
    await cloud.ask("/sync/coupon-leases", body)


async def _drop_returned(session: Session, given_back: list[Share]) -> None:
    for one in given_back:
        now = await held_shares.read_one(session, one.kind, one.entity_id)
        if now is not None and now.last_key == one.last_key:
            await held_shares.drop(session, now)


# ---- codes to issue -----------------------------------------------------------------------------------------------


async def _renew(cloud: Cloud) -> None:
    """Renew leases of unissued codes, and compare each usable code once with the cloud.

    A database restored from a backup may contain codes that were issued or spent after the backup was made.
    """

    async def read_expiring(session: Session) -> list[str]:
        at = cloud.context.clock()
        shares = {one.entity_id: one for one in await held_shares.read_all(session) if one.kind == COUPON_CODE}
        return [
            one.code
            for one in (await held_codes.read_held(session, at)).values()
            if (_is_free(one) and shares[one.id].expires_at - at < RENEW_BEFORE)
            or (_is_usable(one) and _comparison_key(cloud, one.id) not in cloud.compared)
        ]

    ending: list[str] = await cloud.read(read_expiring)
    for start in range(0, len(ending), RENEWAL_BATCH_MAX):
        asked = ending[start : start + RENEWAL_BATCH_MAX]
        answer = _parse_leases(await cloud.ask("/sync/coupon-leases", {"codes": asked}))
        await cloud.write(lambda session: _apply_renewals(session, cloud, asked, answer))  # noqa: B023 - awaited at once


def _is_free(code: HeldCode) -> bool:
    return not code.is_issued and not code.is_spent


def _is_usable(code: HeldCode) -> bool:
    return not code.is_spent and not code.is_reserved


def _comparison_key(cloud: Cloud, code_id: str) -> tuple[str, str, str]:
    return (cloud.deployment_id, COUPON_CODE, code_id)


async def _apply_renewals(session: Session, cloud: Cloud, asked: list[str], answer: _Leases) -> None:
    """Keep codes that are still the store's, extending unissued ones; give the other requested codes back."""
    at = cloud.context.clock()
    held = {one.code: one for one in (await held_codes.read_held(session, at)).values() if _is_usable(one)}
    leased = {one.code: one for one in answer.leased}
    for code in asked:
        here, renewed = held.get(code), leased.get(code)
        share = None if here is None else await held_shares.read_one(session, COUPON_CODE, here.id)
        if here is None or share is None or share.last_key is not None:
            continue
        cloud.compared.add(_comparison_key(cloud, share.entity_id))
        if renewed is None or (_is_free(here) and renewed.issued_at is not None):
            await withdraw(session, [share], cloud.context, at)
            continue
        await held_shares.put(session, replace(share, expires_at=answer.expires_at))
        until = min(renewed.valid_until or answer.expires_at, answer.expires_at)
        await held_codes.extend_validity(session, share.entity_id, until, at)


async def _types_to_restock(session: Session, cloud: Cloud) -> list[str]:
    """Return the types with less than half their codes left and no recent request, or with an unanswered one."""
    at = cloud.context.clock()
    left: dict[str, int] = {}
    for code in (await held_codes.read_held(session, at)).values():
        if not code.is_issued and not code.is_spent:
            left[code.coupon_type_id] = left.get(code.coupon_type_id, 0) + 1
    asked = {one.entity_id: one for one in await held_shares.read_all(session) if one.kind == COUPON_POOL}
    return [
        one
        for one in sorted(await held_codes.pooled_types(session, at))
        if left.get(one, 0) * 2 < POOL
        and (one not in asked or asked[one].last_key is not None or is_past(asked[one].changed_at, PAUSE, at))
    ]


async def fill_pool(
    cloud: Cloud,
    coupon_type_id: str,
    *,
    quantity: int = POOL,
    for_tills: bool = False,
    seconds: float | None = None,
) -> None:
    """Request codes of a type for issuing; a pending request is sent again instead.

    ``for_tills``: tills issue codes of the type, so it is stocked from now on; otherwise nothing is requested unless
    the type is low, which a till may have changed since the round began. ``seconds`` limits the exchange. Raises
    CloudUnreachable and CloudRefused, after which nothing is lost.
    """
    asked: Share | None = await cloud.write(
        lambda session: _begin_fill(session, cloud, coupon_type_id, quantity, for_tills)
    )
    if asked is None:
        return
    wanted = note_of(asked).asked or POOL
    body = {
        "deploymentId": cloud.deployment_id,
        "couponTypeId": coupon_type_id,
        "purpose": "ISSUE",
        "quantity": int(wanted),
    }
    try:
        answer = await cloud.client.post("/sync/coupon-leases", body, key=asked.last_key, seconds=seconds)
    except CloudRefused as refused:
        if not is_final(refused):
            raise
        answer = {}

    async def settle(session: Session) -> None:
        now = await held_shares.read_one(session, COUPON_POOL, coupon_type_id)
        if now is None or now.last_key != asked.last_key:
            return  # a till and a round sent the same request, and the other one has settled it
        at = cloud.context.clock()
        if answer:
            await receive_codes(session, cloud, answer, at, for_pool=True)
        await held_shares.put(session, replace(now, last_key=None, changed_at=at))

    await cloud.write(settle)


async def _begin_fill(
    session: Session, cloud: Cloud, coupon_type_id: str, quantity: int, for_tills: bool
) -> Share | None:
    if not for_tills and coupon_type_id not in await _types_to_restock(session, cloud):
        return None
    at = cloud.context.clock()
    share = await held_shares.read_one(session, COUPON_POOL, coupon_type_id)
    if share is None or share.deployment_id != cloud.deployment_id:
        share = Share(cloud.deployment_id, COUPON_POOL, coupon_type_id, NEVER, None, None, at, None, None, at)
    if for_tills:
        share = replace(share, reference=ISSUED_AT_TILLS, expires_at=at + STOCKED_FOR)
    if share.last_key is None:
        note = encode_note(Note(asked=Decimal(quantity)))
        share = replace(share, last_key=cloud.context.new_id(), last_answer=note, changed_at=at)
    await held_shares.put(session, share)
    return share


async def should_renew(session: Session, coupon_type_id: str, at: datetime) -> bool:
    """Whether tills still issue codes of a type and this was last noted more than a day ago."""
    share = await held_shares.read_one(session, COUPON_POOL, coupon_type_id)
    return share is not None and share.reference == ISSUED_AT_TILLS and share.expires_at - at < STOCKED_FOR - _ONE_DAY


async def renew_pool(session: Session, coupon_type_id: str, at: datetime) -> None:
    """Note that tills still issue codes of a type, and stock it for the full period again."""
    share = await held_shares.read_one(session, COUPON_POOL, coupon_type_id)
    if share is not None:
        await held_shares.put(session, replace(share, expires_at=at + STOCKED_FOR))
