"""Coupons of sales that a confirm's return lines have completed: every line has come back (section 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from promenade.store.driver.unit import Session
from promenade.store.sales import confirmations, jobs
from promenade.workflows.context import Context
from promenade.workflows.coupons.coming_back import end_earned, return_spent, types_that_end
from promenade.workflows.settlement.effects import decode_effects, encode_effects
from promenade.workflows.settlement.returns import GiveBack, all_returned, decode_given, decode_record


async def return_coupons(context: Context, session: Session, brought: Sequence[GiveBack], at: datetime) -> None:
    """Let the coupons of each sale that is now returned as a whole come back, as their types say.

    The caller has locked the sales and noted what was returned of them.
    """
    for back in brought:
        if back.origin is None:
            continue
        held = await confirmations.lock_sale(session, back.origin, back.transaction_id)
        if held is None or held.returned is None:
            continue
        if decode_given(held.returned).quantities != all_returned(decode_record(held.carried)):
            continue
        await _withhold(session, back.origin, back.transaction_id, held.transaction_counter, at)
        await return_spent(context, session, back.origin, back.transaction_id, at)
        await end_earned(context, session, back.origin, back.transaction_id, at, is_cancelled=False)


async def _withhold(session: Session, origin: str, transaction_id: str, transaction_counter: int, at: datetime) -> None:
    """Leave out what the job has yet to issue and would be cancelled; the job stays locked meanwhile."""
    job = await jobs.lock(session, origin, transaction_id, transaction_counter)
    if job is None or job.is_complete:
        return
    effects = decode_effects(job.payload)
    ending = await types_that_end(session, {one.coupon_type_id for one in effects.coupons})
    if ending:
        kept = tuple(one for one in effects.coupons if one.coupon_type_id not in ending)
        await jobs.replace_payload(session, job.id, encode_effects(replace(effects, coupons=kept)), at)
