"""Delivery of events: plan the events of the outbox and send due deliveries, while the cache is reachable.

One loop does all database work in short units; attempts run concurrently and hand in their outcomes. A delivery that
was claimed but not recorded, because the worker was killed, returns when its lease expires.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import takewhile
from types import TracebackType
from typing import Self

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.worker.lanes import Lane
from promenade.worker.loop import keep_going, wait
from promenade.worker.pace import STEP_SECONDS, SendingRate
from promenade.workflows.authoring.allowed import Allowed
from promenade.workflows.context import Context
from promenade.workflows.pace import Rest
from promenade.workflows.webhooks.addresses import Resolve
from promenade.workflows.webhooks.claiming import (
    LEASE,
    Claim,
    Message,
    claim_messages,
    clear_orphaned,
    release,
    repair_dates,
    waiting,
)
from promenade.workflows.webhooks.outcomes import Draw, Outcome, attempt, record_outcomes
from promenade.workflows.webhooks.planning import plan_deliveries
from promenade.workflows.webhooks.sending import SECONDS_MAX, Sender, trusted_roots

POLL_SECONDS = 0.5  # how long a committed event may wait
GATHER_SECONDS = 0.05  # outcomes within this time are written together; tills have it to themselves
PING_SECONDS = 1.0  # how long an answer of the cache is trusted
SWEEP_SECONDS = 5.0  # between two checks for subscriptions that were disabled or deleted
REPAIR_SECONDS = 60.0  # between two checks for times set by a wrong clock
STOP_SECONDS = 5.0  # how long running attempts may take to finish; receivers mostly answer within it
REST_SECONDS_MAX = 1.0  # of a lane that keeps failing

SENDING_MAX = 32  # concurrent attempts that began just now; more do not make one core send faster
SLOW_SECONDS = 0.1
CONNECTIONS_MAX = 512  # concurrent attempts in total: many hanging receivers still leave places to others
FAILING_MAX = 128  # of them in failing lanes: working lanes keep the other places
HELD_MAX = 4096  # deliveries claimed at the same time
AHEAD_MAX = HELD_MAX // 2  # of them claimed ahead: leaves room for new lanes
LANES_MAX = 32  # claimed from in one unit of work
CLAIMS_MAX = 128  # in one unit of work: each takes some 5 ms, during which tills wait on SQLite
OUTCOMES_MAX = 64  # written in one unit of work
EVENTS_MAX = 100  # planned in one unit of work; fewer if each has many subscribers
DELIVERIES_MAX = 128
GROWTH = 3  # factor for units on PostgreSQL, where nobody waits for them

_STALE_SECONDS = LEASE.total_seconds() - SECONDS_MAX - 5  # deliveries claimed longer ago are released, not sent
_CLOCK_STEP = timedelta(seconds=1)

_log = Logger(__name__)


class Delivery:
    """Delivers until stopped; used as an async context manager. ``draw`` spreads the times of retries."""

    def __init__(
        self,
        context: Context,
        *,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
        draw: Draw = secrets.randbelow,
        poll_seconds: float = POLL_SECONDS,
        seconds_max: float = SECONDS_MAX,
        rest_seconds_max: float = REST_SECONDS_MAX,
    ) -> None:
        self._context = context
        self._draw = draw
        self._poll_seconds = poll_seconds
        self._rest = Rest(seconds_min=GATHER_SECONDS, seconds_max=poll_seconds)
        self._rest_seconds_max = rest_seconds_max
        allowed = Allowed(context.webhook_allow)
        self._sender = Sender(allowed, tls or trusted_roots(), resolve=resolve, seconds_max=seconds_max)
        self._lanes: dict[str, Lane] = {}
        self._ready: dict[str, Lane] = {}  # lanes that can start an attempt, in the order of their turns
        self._rate = SendingRate()
        self._look: asyncio.TimerHandle | None = None
        self._size = GROWTH if context.database.dialect == "postgresql" else 1
        self._tasks: dict[asyncio.Task[None], tuple[float, Message]] = {}  # with the start time, oldest first
        self._held: dict[tuple[str, str], Message] = {}
        self._outcomes: list[Outcome] = []
        self._to_release: list[Claim] = []
        self._news = asyncio.Event()
        self._is_open = False
        self._pinged = self._swept = self._repaired = float("-inf")
        self._latest: datetime | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        if self._look is not None:
            self._look.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._sender.close()

    @property
    def is_open(self) -> bool:
        """Whether deliveries are planned and sent: the cache answered when last asked."""
        return self._is_open

    async def run(self, stop: asyncio.Event) -> None:
        """Plan and send until ``stop`` is set; running attempts may finish, other claims are released."""
        await keep_going("delivery", stop, lambda: self._work(stop))
        await self._end()

    async def _work(self, stop: asyncio.Event) -> None:
        """Do a round and the rest after it."""
        self._news.clear()
        began, cpu_began = _now(), time.process_time()
        more = await self.round()
        if not more:
            await wait(self._seconds_to_next(), stop, self._news)
        # Tills get as much time as this process has worked; waiting for a remote database is not counted.
        worked = min(_now() - began, time.process_time() - cpu_began) if more else 0
        await wait(self._rest.after(worked), stop)

    async def drain(self) -> None:
        """Plan and send until nothing is due or under way; for tests, which control the clock."""
        while True:
            more = await self.round()
            if self._tasks:
                await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            elif self._ready:
                await asyncio.sleep(STEP_SECONDS)
            elif not more and not self._outcomes and not self._to_release:
                return

    async def round(self) -> bool:
        """Record outcomes, plan, claim and start attempts; return whether there is more to do immediately.

        Raises Unavailable if the database is unreachable: outcomes not yet recorded are kept.
        """
        await self._record()
        if not await self._is_cache_up():
            return False
        await self._maintain()
        found = await waiting(self._context)
        if found.events:
            await plan_deliveries(self._context, EVENTS_MAX * self._size, DELIVERIES_MAX * self._size)
        claimed = await self._claim(found.lanes)
        self._start()
        return found.events or claimed

    # --- what came of it ----------------------------------------------------------------------------------------------

    async def _record(self) -> None:
        size = OUTCOMES_MAX * self._size
        for _ in range(0, len(self._outcomes), size):  # outcomes that arrive meanwhile are written after the next claim
            outcomes = self._outcomes[:size]
            # If the clock jumps ahead, a lease can expire during an attempt, and this same worker claims the delivery
            # again.
            await self._write(
                [replace(one, message=self._held.get(one.message.claim.key, one.message)) for one in outcomes]
            )
            del self._outcomes[: len(outcomes)]
            for outcome in outcomes:
                self._held.pop(outcome.message.claim.key, None)
        claims = self._to_release[:HELD_MAX]
        await release(self._context, claims)
        del self._to_release[: len(claims)]

    async def _write(self, outcomes: Sequence[Outcome]) -> None:
        try:
            await record_outcomes(self._context, outcomes)
        except Unavailable:
            raise
        except Exception:
            if len(outcomes) == 1:  # its lease expires, and it is sent once more
                _log.exception("delivery.not_recorded", delivery=outcomes[0].message.claim.delivery_id)
                return
            for outcome in outcomes:  # one bad outcome must not block the others
                await self._write([outcome])

    # --- what there is to do ------------------------------------------------------------------------------------------

    async def _is_cache_up(self) -> bool:
        """Return whether the cache answers (specification, Events); if not, release what was claimed ahead."""
        if _now() - self._pinged >= PING_SECONDS:
            was_open, self._is_open = self._is_open, await self._context.cache.ping()
            self._pinged = _now()
            if was_open != self._is_open:
                _log.info("delivery.resumed" if self._is_open else "delivery.waits_for_the_cache")
        if not self._is_open:
            for lane in self._lanes.values():
                self._release(lane.drop_waiting())
        return self._is_open

    async def _maintain(self) -> None:
        at, now = self._context.clock(), _now()
        was_set_back = self._latest is not None and at < self._latest - _CLOCK_STEP
        self._latest = at
        if was_set_back or now - self._repaired >= REPAIR_SECONDS:
            if repaired := await repair_dates(self._context):
                _log.warning("delivery.dates_repaired", deliveries=repaired)
            else:
                self._repaired = now
        if now - self._swept >= SWEEP_SECONDS and not await clear_orphaned(self._context):
            self._swept = now

    async def _claim(self, due: Sequence[tuple[str, datetime]]) -> bool:
        """Claim from lanes that have room, longest waiting first; return whether anything was claimed."""
        names = {name for name, _ in due}
        for name in [name for name, lane in self._lanes.items() if lane.is_idle and name not in names]:
            del self._lanes[name]
        wanted = self._numbers_to_claim([self._lanes.get(name) or Lane(name) for name, _ in due])
        if not wanted:
            return False
        persistent = [name for name in wanted if name in self._lanes and self._lanes[name].failures]
        messages = await claim_messages(self._context, wanted, persistent)
        now = _now()
        for message in messages:
            claim = message.claim
            if claim.key not in self._held:
                lane = self._lanes.setdefault(claim.lane, Lane(claim.lane))
                lane.waiting.append((now, message))
                lane.finished = 0
                self._offer(lane)
            self._held[claim.key] = message
        return bool(messages)

    def _numbers_to_claim(self, lanes: Sequence[Lane]) -> dict[str, int]:
        """Return how many deliveries to claim from each lane."""
        now, held = _now(), len(self._held)
        room = min(CLAIMS_MAX * self._size, HELD_MAX - held)
        failing_room = FAILING_MAX - sum(lane.under_way for lane in self._lanes.values() if lane.failures)
        ready = [lane for lane in lanes if lane.rests_until <= now]
        wanted: dict[str, int] = {}
        for lane in ready:
            number = min(lane.demand(), room, failing_room if lane.failures else room)
            if number > 0 and len(wanted) < LANES_MAX:
                wanted[lane.name] = number
                room -= number
                failing_room -= number if lane.failures else 0
        room = min(room, AHEAD_MAX - held - sum(wanted.values()))
        share = max(1, room // max(1, len(wanted)))
        for lane in ready:
            number = min(lane.demand_ahead() - wanted.get(lane.name, 0), room, share)
            if number > 0 and (lane.name in wanted or len(wanted) < LANES_MAX):
                wanted[lane.name] = wanted.get(lane.name, 0) + number
                room -= number
        return wanted

    # --- attempts -----------------------------------------------------------------------------------------------------

    def _offer(self, lane: Lane) -> None:
        if lane.can_start:
            self._ready.setdefault(lane.name, lane)

    def _start(self) -> None:
        """Start as many attempts as may begin now, one from each lane in turn; check again soon if there are more."""
        allowed = min(self._rate.allowed(time.monotonic()), self._free_slots()) if self._ready and self._is_open else 0
        number = 0
        while self._ready and number < allowed:
            name = next(iter(self._ready))
            lane = self._ready.pop(name)
            number += self._start_one(lane)
            self._offer(lane)
        self._rate.note_started(number)
        if self._ready and self._is_open and self._look is None:
            due = time.monotonic() + STEP_SECONDS
            self._look = asyncio.get_running_loop().call_later(STEP_SECONDS, self._schedule_start, due)

    def _schedule_start(self, due: float) -> None:
        self._look = None
        self._rate.note_delay(time.monotonic() - due)
        self._start()

    def _start_one(self, lane: Lane) -> bool:
        while lane.can_start:
            claimed_at, message = lane.waiting.popleft()
            if _now() - claimed_at > _STALE_SECONDS:
                self._release([message.claim])
                continue
            lane.under_way += 1
            task = asyncio.create_task(self._attempt(lane, message), name="webhook")
            self._tasks[task] = (_now(), message)
            task.add_done_callback(self._on_end)
            return True
        return False

    def _on_end(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        if self._look is None:
            self._start()

    def _free_slots(self) -> int:
        """Return how many more attempts may be under way."""
        under_way = len(self._tasks)
        if under_way < SENDING_MAX:
            return SENDING_MAX - under_way
        slow_since = _now() - SLOW_SECONDS
        slow = sum(1 for _ in takewhile(lambda one: one[0] < slow_since, self._tasks.values()))
        return max(0, min(CONNECTIONS_MAX - under_way, SENDING_MAX - under_way + slow))

    async def _attempt(self, lane: Lane, message: Message) -> None:
        outcome: Outcome | None = None
        try:
            outcome = await attempt(self._context, self._sender, message, self._draw)
        except Exception:  # its lease expires, and it is retried
            _log.exception("delivery.attempt_failed", delivery=message.claim.delivery_id)
            self._held.pop(message.claim.key, None)
        finally:
            lane.under_way -= 1
            lane.finished += 1
        if outcome is not None:
            self._outcomes.append(outcome)
        if outcome is not None and outcome.status == "DELIVERED":
            lane.succeeded()
        else:
            self._release(lane.failed(_now(), self._rest_seconds_max))
        self._offer(lane)
        self._news.set()

    def _release(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            self._held.pop(claim.key, None)
        self._to_release += claims

    # --- time ---------------------------------------------------------------------------------------------------------

    def _seconds_to_next(self) -> float:
        """Return the seconds until there may be work that triggers no event."""
        now = _now()
        rests = [lane.rests_until - now for lane in self._lanes.values() if lane.rests_until > now]
        return max(0.0, min([self._poll_seconds, *rests]))

    async def _end(self) -> None:
        """Let attempts finish, release the other claims, record the outcomes."""
        self._is_open = False
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
        cut = [message for _, message in self._tasks.values()]
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for lane in self._lanes.values():
            self._release(lane.drop_waiting())
        self._release([message.claim for message in cut])
        try:
            await self._record()
        except Unavailable as error:
            _log.warning("delivery.not_recorded", reason=error.message)  # leases expire


def _now() -> float:
    return asyncio.get_running_loop().time()
