"""Who may upload now, when ten thousand stores come back at once (decision 36).

A process works on few uploads at the same time; some more wait in a room, without having sent their body. Those that
have waited longest are next, counted from the first request that was not served, so that a store with one sale does not
wait behind the week of another, and whoever was sent away keeps its place. Whoever does not fit is told when to come
back; the times are spread over the time that the work before it will take. All of it is bounded, whatever comes.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count

from promenade.errors import TooMany

AT_ONCE = 16  # uploads that a process receives or works on; each may have ten megabytes
OF_TENANT = 4  # of these, so that a tenant whose stores send slowly only delays itself
ROOM = 64  # that wait with a connection
WAIT_SECONDS = 20.0  # in the room, before a store is sent away
KNOWN_MAX = 100_000  # stores whose place is remembered
KNOWN_SECONDS = 600.0  # for so long: who does not come back is served by another process, or has gone
COME_BACK_SECONDS_MAX = 60
_USUAL_SECONDS = 0.2  # of one upload, before any has ended
_NEW_PART = 0.1  # weight of the latest upload in the usual time

Store = tuple[str, str]
"""The tenant, and the deployment or client."""
_Entry = tuple[float, int, Store, asyncio.Future[None]]


class Intake:
    """Admits uploads, fairly and within bounds. Times are in seconds of the event loop's clock.

    ``draw`` returns a number from 0 up to below 1.
    """

    def __init__(
        self, draw: Callable[[], float], *, at_once: int = AT_ONCE, of_tenant: int = OF_TENANT, room: int = ROOM
    ) -> None:
        self._draw = draw
        self._at_once, self._of_tenant, self._room = at_once, of_tenant, room
        self._working: dict[str, int] = {}  # by tenant
        self._waiting: list[_Entry] = []  # a heap; the longest wait is first
        self._numbers = count()
        self._places: OrderedDict[Store, tuple[float, float]] = OrderedDict()  # first request not served, and last one
        self._usual = _USUAL_SECONDS

    @property
    def working(self) -> int:
        """How many uploads are under way."""
        return sum(self._working.values())

    @property
    def waiting(self) -> int:
        """How many wait in the room."""
        return sum(not turn.done() for *_, turn in self._waiting)

    @asynccontextmanager
    async def admitted(self, store: Store) -> AsyncIterator[None]:
        """Wait for the store's turn. Raises TooMany (UPLOADS_BUSY) if it has to come back later."""
        await self._turn(store)
        began = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            took = asyncio.get_running_loop().time() - began
            self._usual += _NEW_PART * (took - self._usual)
            self._leave(store[0])

    async def _turn(self, store: Store) -> None:
        now = asyncio.get_running_loop().time()
        since = self._place(store, now)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (since, next(self._numbers), store, turn)
        heapq.heappush(self._waiting, entry)
        self._admit()
        if self.waiting > self._room:
            self._send_away(self._last_of_most())
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await turn
        except TimeoutError:
            if not _has_come(turn):  # else it came at the last moment
                raise self._busy() from None
        except BaseException:
            if _has_come(turn):
                self._leave(store[0])  # the client has gone just as its turn came
            raise
        finally:
            turn.cancel()
            self._waiting = [one for one in self._waiting if one is not entry]
            heapq.heapify(self._waiting)

    def _place(self, store: Store, now: float) -> float:
        """Return since when the store waits to be served, and forget those that have not come back."""
        since, _ = self._places.get(store, (now, now))
        self._places[store] = since, now
        self._places.move_to_end(store)
        oldest = next(iter(self._places.values()))
        while len(self._places) > KNOWN_MAX or now - oldest[1] > KNOWN_SECONDS:
            self._places.popitem(last=False)
            oldest = next(iter(self._places.values()))
        return since

    def _admit(self) -> None:
        """Let in those that have waited longest, as far as there is room for them and their tenants."""
        passed = []
        while self._waiting and self.working < self._at_once:
            entry = heapq.heappop(self._waiting)
            _, _, store, turn = entry
            if turn.done():
                continue
            if self._working.get(store[0], 0) >= self._of_tenant:
                passed.append(entry)
                continue
            self._working[store[0]] = self._working.get(store[0], 0) + 1
            self._places.pop(store, None)
            turn.set_result(None)
        for entry in passed:
            heapq.heappush(self._waiting, entry)

    def _leave(self, tenant_id: str) -> None:
        left = self._working[tenant_id] - 1
        if left:
            self._working[tenant_id] = left
        else:
            del self._working[tenant_id]
        self._admit()

    def _last_of_most(self) -> _Entry:
        """Return the last one of the tenant with most in the room, so that none fills it for the others."""
        waiting = [one for one in self._waiting if not one[3].done()]
        tenants = Counter(store[0] for _, _, store, _ in waiting)
        return max(waiting, key=lambda one: (tenants[one[2][0]], *one[:2]))

    def _send_away(self, entry: _Entry) -> None:
        entry[3].set_exception(self._busy())

    def _busy(self) -> TooMany:
        """Spread those that come back over twice the time that all known stores' next uploads will take."""
        work = len(self._places) * self._usual / self._at_once
        seconds = min(COME_BACK_SECONDS_MAX, 1 + int(2 * work * self._draw()))
        return TooMany("UPLOADS_BUSY", "Many stores are sending their sales: try again a little later.", seconds)


def _has_come(turn: asyncio.Future[None]) -> bool:
    return turn.done() and not turn.cancelled() and turn.exception() is None
