"""Erase customers who asked for it: a pseudonym takes the place of their ID wherever it is stored.

A portion is a unit of work of some sales, or some rows of another table, whose cost depends on these alone. A run that
dies has lost nothing: changed rows are not found again. What others are still at work on has to settle first: a till
that may price the transaction again, side effects, reports, events that are being delivered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from promenade.store.access import erasures as requests
from promenade.store.access.erasures import Erasure
from promenade.store.clockwork import erasing as store
from promenade.store.clockwork.idling import has_come_back, read_term
from promenade.store.driver.unit import Session
from promenade.store.pricing.dictionaries import newest_dictionary
from promenade.store.pricing.packing import BASE_FOR
from promenade.store.pricing.renaming import rename_in_prices
from promenade.store.replica.uploads import COUPON, SALE
from promenade.store.sales import confirmations
from promenade.store.sales.kept import kept_since
from promenade.store.sales.log_parts import unpack
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context
from promenade.workflows.replica.queueing import renamed_coupon, renamed_sale
from promenade.workflows.settlement.effects import decode_effects, encode_effects
from promenade.workflows.settlement.returns import decode_record, encode_record
from promenade.zstd import Dictionary

EVERY = timedelta(minutes=1)
AGAIN_AFTER = timedelta(minutes=10)  # if all that is left has to settle first
SETTLES_FOR = BASE_FOR
"""How long a till may go on pricing a transaction with what its process has in memory."""
AT_ONCE = 20  # erasures of a run
SALES = 10  # of a portion: each has up to some ten prices, which are unpacked
ROWS = 40  # of a portion of other tables


@clock_job("customers.erase", every=EVERY)
async def erase(context: Context, cursor: str | None) -> JobResult:
    """Go on with the erasures that are due, the one that was due first before all others."""
    due = await context.database.read(lambda session: requests.read_due(session, context.clock(), AT_ONCE), system=True)
    pace = Pace()
    for erasure in due:
        if not await pace.while_more(portions(context, erasure)):
            return JobResult(pace.done, more=True)
    return JobResult(pace.done, more=len(due) == AT_ONCE)


def portions(context: Context, erasure: Erasure) -> Callable[[], Awaitable[tuple[int, bool]]]:
    """Return what goes on with an erasure by a portion: how many rows it changed, and whether there is more to do now.

    One of an idle customer who has come back ends there: what is renamed by then stays so.
    """

    async def portion() -> tuple[int, bool]:
        at = context.clock()
        dictionary = await newest_dictionary(context.database, erasure.tenant_id, at)

        async def work(session: Session) -> tuple[int, bool]:
            held = await requests.lock(session, erasure)
            if held is None or held.customer_id is None or held.pseudonym is None:
                return 0, False
            if held.idle_since is not None and await _is_over(session, held, at_a_glance=True):
                await requests.forget(session, held)
                return 0, False
            step = _Step(session, held.customer_id, held.pseudonym, at - SETTLES_FOR, dictionary, context.is_store)
            changed = await step.take()
            if changed:
                await requests.note_changed(session, held, changed)
            elif await store.remains(session, held.customer_id):
                if held.idle_since is not None and await _is_over(session, held):
                    await requests.forget(session, held)
                else:
                    await requests.postpone(session, held, at + AGAIN_AFTER)
            elif held.idle_since is not None:
                await requests.forget(session, held)
            else:
                await requests.complete(session, held, at)
            return changed, changed > 0

        return await context.database.write(work, tenant=erasure.tenant_id)

    return portion


async def _is_over(session: Session, idle: Erasure, *, at_a_glance: bool = False) -> bool:
    """Whether an idle customer is no longer to be forgotten: they have come back, or the tenant forgets nobody now."""
    if idle.customer_id is None or idle.idle_since is None or await read_term(session) is None:
        return True
    return await has_come_back(session, idle.customer_id, idle.idle_since, at_a_glance=at_a_glance)


@dataclass(frozen=True, slots=True)
class _Step:
    """One portion: the first kind of rows that has any left. ``before`` is when sales had to be settled."""

    session: Session
    old: str
    new: str
    before: datetime
    dictionary: Dictionary | None
    is_store: bool

    async def take(self) -> int:
        """Change some rows, and return how many named the customer; 0: there are none, or they have to settle."""
        for step in (self._sales, self._claims, self._bookings, self._codes, self._redemptions, self._reservations):
            changed = await step()
            if changed:
                return changed
        if await store.pick(self.session, store.LOGS, self.old, 1):
            return 0  # their sales will still be counted
        return await self._rest()

    # -- sales, with what is stored of each --

    async def _sales(self) -> int:
        conditions = store.settled(self.before), store.delivered(store.LOGS, "created_at", "modified_at")
        aged = store.LOGS.c.created_at < self.before
        logs = await store.pick(self.session, store.LOGS, self.old, SALES, aged, *conditions)
        if not logs:
            return 0
        transactions = sorted({(log.transaction_id, log.origin) for log in logs})
        for transaction_id, origin in transactions:  # in the order in which a cancellation locks them
            await self._record(origin, transaction_id)
        await self._jobs({(log.origin, log.transaction_id, log.transaction_counter) for log in logs})
        await self._uses([log.id for log in logs])
        await self._uploads(SALE, [log.id for log in logs], renamed_sale)
        pairs = [(origin, transaction_id) for transaction_id, origin in transactions]
        await rename_in_prices(self.session, pairs, self.old, self.new, self.dictionary)
        await self._events({moment for log in logs for moment in (log.created_at, log.modified_at)})
        return await store.rename(self.session, store.LOGS, logs, self.new)

    async def _record(self, origin: str, transaction_id: str) -> None:
        sale = await confirmations.lock_sale(self.session, origin, transaction_id)
        record = None if sale is None else decode_record(sale.carried)
        if record is not None and record.customer_id == self.old:
            carried = encode_record(replace(record, customer_id=self.new))
            await confirmations.note_carried(self.session, origin, transaction_id, carried)

    async def _jobs(self, keys: Collection[tuple[str, str, int]]) -> None:
        for job in await store.read_jobs(self.session, keys):
            effects = decode_effects(job.payload)
            renamed = replace(
                effects,
                customer_id=self._name(effects.customer_id),
                points_back=tuple(
                    replace(one, customer_id=self._named(one.customer_id)) for one in effects.points_back
                ),
            )
            coupons = [one | {"customerId": self._name(one["customerId"])} for one in job.post_purchase_coupons or ()]
            if renamed != effects or coupons != (job.post_purchase_coupons or []):
                await store.write_job(
                    self.session, job.id, encode_effects(renamed), coupons or job.post_purchase_coupons
                )

    async def _uses(self, log_ids: list[str]) -> None:
        """Move the uses of promotions that these sales are, as a cancellation would take them out."""
        uses: Counter[str] = Counter()
        for log in await store.read_applied(self.session, log_ids):
            if log.status != "CALCULATED":
                continue
            for one in unpack("CalculationLogPromotions", log.id, log.promotions or ()):
                if one.pilot_arm != "CONTROL" and one.exceeded_limit in (None, "TOTAL"):
                    uses[one.promotion_id] += 1
        if uses:
            await store.move_uses(self.session, store.PROMOTION_USES, uses, self.old, self.new)

    # -- points and coupons --

    async def _claims(self) -> int:
        aged = store.CLAIMS.c.claimed_at < self.before
        claims = await store.pick(self.session, store.CLAIMS, self.old, ROWS, aged)
        if claims:
            uses = Counter(claim.coupon_type_id for claim in claims)
            await store.move_uses(self.session, store.COUPON_USES, uses, self.old, self.new)
        return await store.rename(self.session, store.CLAIMS, claims, self.new)

    async def _bookings(self) -> int:
        aged = store.POINTS.c.created_at < self.before, store.delivered(store.POINTS, "created_at")
        bookings = await store.pick(self.session, store.POINTS, self.old, ROWS, *aged)
        if bookings:
            await store.move_points(self.session, sum(one.points for one in bookings), self.old, self.new)
            if await kept_since(self.session) is not None:  # the record of a sale whose log was dropped
                for transaction_id, origin in sorted({(one.transaction_id, one.origin) for one in bookings}):
                    await self._record(origin, transaction_id)
            # A return of somebody else has taken points back.
            await self._jobs({(one.origin, one.transaction_id, one.transaction_counter) for one in bookings})
            await self._events({one.created_at for one in bookings})
        return await store.rename(self.session, store.POINTS, bookings, self.new)

    async def _codes(self) -> int:
        codes = await store.pick(self.session, store.CODES, self.old, ROWS)
        await store.rename_in_trail(self.session, [code.id for code in codes], self.old, self.new)
        return await store.rename(self.session, store.CODES, codes, self.new, issue_metadata=None)

    async def _redemptions(self) -> int:
        logs = await store.pick(
            self.session, store.REDEMPTIONS, self.old, ROWS, store.delivered(store.REDEMPTIONS, "created_at")
        )
        await self._events({log.created_at for log in logs})
        await self._uploads(COUPON, [log.id for log in logs], renamed_coupon)
        return await store.rename(self.session, store.REDEMPTIONS, logs, self.new)

    async def _reservations(self) -> int:
        held = await store.pick(self.session, store.RESERVATIONS, self.old, ROWS)
        return await store.rename(self.session, store.RESERVATIONS, held, self.new)

    async def _rest(self) -> int:
        """Change what no sale, booking or claim accounts for."""
        advice = await store.pick(self.session, store.ADVICE, self.old, ROWS)
        changed = await store.rename(self.session, store.ADVICE, advice, self.new)
        changed = changed or await store.move_uses(self.session, store.PROMOTION_USES, None, self.old, self.new, ROWS)
        if not changed and not await store.pick(self.session, store.CLAIMS, self.old, 1):
            changed = await store.move_uses(self.session, store.COUPON_USES, None, self.old, self.new, ROWS)
        if not changed and not await store.pick(self.session, store.POINTS, self.old, 1):
            changed = await store.move_points(self.session, None, self.old, self.new)
        if not changed:
            await self._forecasts()
        return changed

    async def _forecasts(self) -> None:
        running = await store.running_forecasts(self.session)
        if running:
            uses = dict.fromkeys(running, 2**31 - 1)
            await store.move_uses(self.session, store.FORECAST_SALES, uses, self.old, self.new)
            await store.drop_forecast_customers(self.session, running, self.old)

    async def _uploads(self, kind: str, log_ids: list[str], renamed: Callable[[bytes, str, str], bytes]) -> None:
        """Let a store send the pseudonym, so that nothing tells the cloud to whom it belonged."""
        if not self.is_store:
            return
        for upload in await store.read_uploads(self.session, kind, log_ids) if log_ids else ():
            payload = renamed(bytes(upload.payload), self.old, self.new)
            if payload != bytes(upload.payload):
                await store.write_upload(self.session, upload.number, payload)

    async def _events(self, moments: set[datetime]) -> None:
        await store.rename_in_events(self.session, moments, self.old, self.new)

    def _name(self, customer_id: str | None) -> str | None:
        return self.new if customer_id == self.old else customer_id

    def _named(self, customer_id: str) -> str:
        return self.new if customer_id == self.old else customer_id
