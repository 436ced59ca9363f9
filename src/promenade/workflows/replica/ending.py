"""End expired shares of a store, with or without a link.

The unused rest is set aside and given back when the cloud is reachable. The cloud waits long enough for the sales that
used the share to arrive.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from promenade.store.access.local_store import read_store_tenant
from promenade.store.driver.unit import Session
from promenade.store.replica import held_codes, held_shares
from promenade.store.replica.held_shares import NUMBERS, Limit
from promenade.store.sync.shares import COUPON_CODE, Share
from promenade.workflows.context import Context
from promenade.workflows.replica.notes import Note, encode_note

_NOTHING = Decimal(0)
FAR = timedelta(days=15)
"""Further ahead nothing ends that was given now: the clock has been set back (reliability A4)."""


async def end_shares(context: Context, *, all_of_them: bool = False) -> int:
    """End the store's expired shares and those of an earlier deployment, or all; return how many there were."""
    uplink = context.uplink
    deployment_id = None if uplink is None else uplink.deployment_id
    if all_of_them:
        deployment_id = ""  # whose they are, they are not this machine's

    async def read_ended(session: Session) -> list[Share]:
        at = context.clock()
        return [one for one in await held_shares.read_all(session) if _is_over(one, deployment_id, at)]

    tenant_id = await context.database.read(read_store_tenant, system=True)
    if tenant_id is None:
        return 0
    ended = await context.database.read(read_ended, tenant=tenant_id)
    if ended:
        await context.database.write(lambda session: _end(session, ended, deployment_id, context), tenant=tenant_id)
    return len(ended)


def _is_over(share: Share, deployment_id: str | None, at: datetime) -> bool:
    if _is_foreign(share, deployment_id):
        return True
    if share.kind not in (*NUMBERS, COUPON_CODE) or (share.kind == COUPON_CODE and share.last_key is not None):
        return False
    return share.expires_at <= at or share.expires_at > at + FAR


def _is_foreign(share: Share, deployment_id: str | None) -> bool:
    """Whether the cloud gave the share to an earlier registration of the store."""
    return deployment_id is not None and share.deployment_id != deployment_id


async def _end(session: Session, ended: list[Share], deployment_id: str | None, context: Context) -> None:
    at = context.clock()
    for seen in ended:
        share = await held_shares.read_one(session, seen.kind, seen.entity_id)
        if share is None or not _is_over(share, deployment_id, at):
            continue
        if share.kind in NUMBERS:
            limit = await held_shares.read_limit(session, share.kind, share.entity_id, at)
            if limit is not None:
                share = await set_aside(session, share, limit, at)
                await held_shares.put(session, share)
        elif share.kind == COUPON_CODE:
            await withdraw(session, [share], context, at)
        if _is_foreign(share, deployment_id):
            await held_shares.drop(session, share)


async def set_aside(session: Session, share: Share, limit: Limit, at: datetime, *, keep: Decimal = _NOTHING) -> Share:
    """Stop spending a share beyond ``keep``: the rest is to be given back. The caller writes the share."""
    if limit.rest > keep:
        await held_shares.set_total(session, limit, limit.used + keep, at)
    return replace(share, outstanding=share.outstanding + limit.rest - keep, changed_at=at)


async def withdraw(session: Session, shares: list[Share], context: Context, at: datetime) -> None:
    """Remove unspent codes from the store and note that they are to be given back; drop the other shares."""
    codes = {one.id: one.code for one in (await held_codes.read_held(session, at)).values()}
    gone = await held_codes.remove_unspent(session, [one.entity_id for one in shares])
    for share in shares:
        if share.entity_id in gone:
            note = encode_note(Note(codes=(codes[share.entity_id],)))
            key = context.new_id()
            await held_shares.put(session, replace(share, last_key=key, last_answer=note, changed_at=at))
        elif share.last_key is None:
            await held_shares.drop(session, share)
