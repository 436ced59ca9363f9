"""Make the dictionaries that prices are stored with, from each tenant's own latest sales."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec

from promenade.store.driver.unit import Session
from promenade.store.pricing.dictionaries import DictionaryRow, add_dictionary, find_newest
from promenade.store.pricing.packing import PackedRecord, recent_records
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context
from promenade.zstd import Dictionary, compressor, train

EVERY = timedelta(hours=1)
SAMPLES_MIN, SAMPLES_MAX = 100, 300  # sales that a dictionary is made from
SIZE_MAX = 112 * 1024  # bytes; at most a tenth of the samples
KEPT_FOR = timedelta(days=1)  # a dictionary is not replaced before
REPLACED_AFTER = timedelta(days=90)  # then it is replaced even if a new one is no better
GAIN_PERCENT = 10  # how much smaller records must become for a new dictionary
TESTED = 5  # every fifth sale tests a dictionary made from the others


@clock_job("records.dictionaries", every=EVERY)
async def dictionaries(context: Context, cursor: str | None) -> JobResult:
    """Make a dictionary for each tenant that has none, or whose records would become smaller with a new one."""

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        return await pace.while_more(lambda: _renew(context, tenant_id))

    return await tenant_by_tenant(context, cursor, of_tenant)


async def _renew(context: Context, tenant_id: str) -> tuple[int, bool]:
    at = context.clock()

    async def read(session: Session) -> tuple[DictionaryRow | None, list[PackedRecord]]:
        known = await find_newest(session)
        if known is not None and timedelta(0) <= at - known.created_at < KEPT_FOR:
            return known, []
        after = None if known is None else known.created_at
        return known, await recent_records(session, after=after, limit=SAMPLES_MAX)

    known, records = await context.database.read(read, tenant=tenant_id)
    if len(records) < SAMPLES_MIN:
        return 0, False
    is_old = known is not None and at - known.created_at >= REPLACED_AFTER
    held = None if known is None or is_old else known.dictionary
    made = await asyncio.to_thread(_better, records, held)
    if made is None:
        return 0, False
    await context.database.write(lambda session: add_dictionary(session, made, at), tenant=tenant_id)
    return 1, False


def _better(records: Sequence[PackedRecord], held: Dictionary | None) -> Dictionary | None:
    """Make a dictionary from most of the records; None: for the others it is hardly better than ``held``, or no use.

    Runs in a thread.
    """
    samples = [_anonymous(record.unpack()) for record in records]
    tests = samples[::TESTED]
    others = [sample for place, sample in enumerate(samples) if place % TESTED]
    try:
        made = train(others, min(SIZE_MAX, sum(map(len, others)) // 10))
    except ValueError:  # the baskets are tiny
        return None
    sizes = [sum(map(len, map(compressor(3, one), tests))) for one in (held, made)]
    return made if sizes[1] * 100 <= sizes[0] * (100 - GAIN_PERCENT) else None


def _anonymous(record: bytes) -> bytes:
    """Return a record without the customer and what tills add for themselves: a dictionary may outlive the records."""
    basket: dict[str, Any]
    basket, *rest = msgspec.msgpack.decode(record)
    if basket["customer"] is not None:
        basket["customer"] = dict.fromkeys(basket["customer"])
    basket["user_fields"] = ()
    return msgspec.msgpack.encode((basket, *rest))
