"""What a store may spend without the cloud: codes are fetched when presented, everything else is kept in stock.

In the cloud these functions do nothing: callers that price there check `Context.uplink`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from promenade.log import Logger
from promenade.store.driver.unit import Session
from promenade.store.replica import held_codes, held_shares
from promenade.store.replica.held_shares import CODE_REQUEST
from promenade.store.sync.shares import Share
from promenade.workflows.context import Context
from promenade.workflows.replica.ending import end_shares
from promenade.workflows.replica.filling import Cloud, fetch_share, replenish_shares
from promenade.workflows.replica.notes import Note, encode_note, note_of
from promenade.workflows.replica.stocking import (
    NEVER,
    POOL,
    fill_pool,
    is_being_returned,
    keep_codes,
    receive_codes,
    renew_pool,
    should_renew,
)
from promenade.workflows.uplink import CloudRefused, CloudUnreachable

NEEDS_CLOUD = "NEEDS_CLOUD"
"""The reason for a code that the store does not hold, and could not get."""
CODES_EXHAUSTED = "CODES_EXHAUSTED"
"""The reason for a code to issue that neither the store nor the cloud has."""
ISSUED_AT_ONCE = 1000  # codes to issue that one request may ask for
SECONDS_MAX = 2.0  # how long a till waits for the cloud
CODES_MAX = 100  # per request
_NOTHING: Mapping[str, str] = {}
# The reasons that are shown to tills; a newer cloud may send others.
_REASONS = frozenset(
    {"UNKNOWN_CODE", "NOT_ACTIVE", "EXPIRED", "ALREADY_REDEEMED", "RESERVED_ELSEWHERE", "TOO_MANY_ATTEMPTS"}
)

_log = Logger(__name__)


async def keep_shares(context: Context, tenant_id: str) -> None:
    """Run one round for a linked store: end expired shares, request what is needed, give the rest back.

    Raises CloudUnreachable and CloudRefused, after which nothing is lost.
    """
    await end_shares(context)
    cloud = _cloud(context, tenant_id)
    if cloud is not None:
        await replenish_shares(cloud)
        await keep_codes(cloud)


def _cloud(context: Context, tenant_id: str) -> Cloud | None:
    uplink = context.uplink
    if uplink is None or uplink.client is None or uplink.deployment_id is None:
        return None
    return Cloud(context, tenant_id, uplink.client, uplink.deployment_id)


async def obtain_shares(
    context: Context, tenant_id: str, uses: Mapping[tuple[str, str], Decimal]
) -> frozenset[tuple[str, str]]:
    """Make sure that the store can spend ``uses`` in one sale, by kind and ID: what it lacks is requested, once.

    Returns those that it still lacks because the cloud is offline or has not answered within two seconds. Does nothing
    in the cloud, and in a store without a link.
    """
    cloud = _cloud(context, tenant_id)
    if cloud is None or not uses:
        return frozenset()
    at = context.clock()
    limits = await cloud.read(lambda session: held_shares.read_limits(session, at, uses))
    lacking = {key: uses[key] for key, limit in limits.items() if limit.rest < uses[key]}
    if not lacking:
        return frozenset()
    if context.uplink is None or not context.uplink.is_connected:
        return frozenset(lacking)
    end = asyncio.get_running_loop().time() + SECONDS_MAX
    return frozenset([key for key, use in sorted(lacking.items()) if not await fetch_share(cloud, key, use, end)])


async def hold_codes(context: Context, tenant_id: str, codes: Sequence[str]) -> Mapping[str, str]:
    """Fetch codes that the store does not hold; return the reason for each code that it could not get.

    NEEDS_CLOUD: only the cloud knows, and it is offline or has not answered within two seconds; other reasons are the
    cloud's. Does nothing in the cloud, or without codes.
    """
    if context.uplink is None or not codes:
        return _NOTHING
    cloud = _cloud(context, tenant_id) if context.uplink.is_connected else None
    wanted = list(dict.fromkeys(codes))
    reasons = dict.fromkeys(wanted, NEEDS_CLOUD)
    if cloud is None or len(wanted) > CODES_MAX:
        return reasons
    asked = await cloud.write(lambda session: _note(session, cloud, wanted))
    if asked is None:
        return reasons
    try:
        body = {"deploymentId": cloud.deployment_id, "codes": wanted}
        answer = await cloud.client.post("/sync/coupon-leases", body, key=asked.last_key, seconds=SECONDS_MAX)
        return await _settle(cloud, asked, answer, reasons)
    except CloudUnreachable:
        return reasons  # the cloud may have given them: the next round gives them back
    except CloudRefused as refused:
        _log.warning("codes.refused", code=refused.code)
        if refused.code == "TOO_MANY_ATTEMPTS":
            reasons = dict.fromkeys(wanted, refused.code)
        await cloud.write(lambda session: held_shares.drop(session, asked))
        return reasons


async def stock_pool(context: Context, tenant_id: str, coupon_type_id: str, wanted: int) -> str:
    """Make sure that a till can issue ``wanted`` codes of a type: missing ones are requested, once.

    Returns why there may still be too few: CODES_EXHAUSTED, the cloud has no more for this store; NEEDS_CLOUD, it is
    offline or has not answered within two seconds. From then on some codes of the type are kept in stock.
    """
    cloud = _cloud(context, tenant_id)
    if cloud is None:
        return NEEDS_CLOUD

    at = context.clock()

    async def count_codes(session: Session) -> tuple[int, bool]:
        free = await held_codes.count_free(session, coupon_type_id, at)
        return free, await should_renew(session, coupon_type_id, at)

    free, is_old = await cloud.read(count_codes)
    if is_old:
        await cloud.write(lambda session: renew_pool(session, coupon_type_id, at))
    missing = wanted - free
    if missing <= 0:
        return CODES_EXHAUSTED
    if context.uplink is None or not context.uplink.is_connected:
        return NEEDS_CLOUD
    try:
        quantity = min(max(missing, POOL), ISSUED_AT_ONCE)
        await fill_pool(cloud, coupon_type_id, quantity=quantity, for_tills=True, seconds=SECONDS_MAX)
    except CloudUnreachable:
        return NEEDS_CLOUD  # the next round sends the same request
    except CloudRefused as refused:
        _log.warning("codes.refused", code=refused.code)
        return NEEDS_CLOUD
    return CODES_EXHAUSTED


async def _note(session: Session, cloud: Cloud, codes: Sequence[str]) -> Share | None:
    """Record the request for the codes; None: one of them is currently being given back."""
    shares = await held_shares.read_all(session)
    leaving = {code for one in shares if is_being_returned(one) for code in note_of(one).codes}
    if not leaving.isdisjoint(codes):
        return None
    at = cloud.context.clock()
    request = cloud.context.new_id()
    asked = Share(
        cloud.deployment_id,
        CODE_REQUEST,
        request,
        NEVER,
        None,
        None,
        at,
        request,
        encode_note(Note(codes=tuple(codes))),
        at,
    )
    await held_shares.put(session, asked)
    return asked


async def _settle(cloud: Cloud, asked: Share, answer: dict[str, Any], reasons: dict[str, str]) -> Mapping[str, str]:
    at = cloud.context.clock()
    taken: set[str] = await cloud.write(lambda session: receive_codes(session, cloud, answer, at, settled=asked))
    for refused in answer.get("refused") or ():
        if isinstance(refused, dict) and refused.get("code") in reasons and refused.get("reason") in _REASONS:
            reasons[refused["code"]] = refused["reason"]
    return {code: reason for code, reason in reasons.items() if code not in taken}
