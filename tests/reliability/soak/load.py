"""The load: clients that each perform random operations until enough calls have been made."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from tests.reliability.soak.caller import Caller, Tokens
from tests.reliability.soak.furnishing import CLIENTS, TENANTS
from tests.reliability.soak.history import History
from tests.reliability.soak.offices import Office
from tests.reliability.soak.stores import Branch
from tests.reliability.soak.tills import Shelf, Till
from tests.reliability.soak.wire import pause

__all__ = ["Load"]

_WEIGHTS = {
    "sell": 100,
    "exchange": 14,
    "look": 10,
    "spend_coupon": 26,
    "issue": 3,
    "change_promotion": 4,
    "switch_promotion": 1,
    "new_promotion": 1,
    "recharge": 2,
    "new_campaign": 0.2,
    "edit_draft": 2,
    "read": 4,
    "import_rows": 1,
    "import_at_till": 2,
    "follow": 3,
    "upload": 4,
    "share": 1,
}


@dataclass(slots=True)
class Load:
    """``operations`` calls by ``clients`` clients at the services on ``ports``; everything follows from ``seed``.

    ``rate``: how many calls a second at most; None: as many as there can be.
    """

    ports: Sequence[int]
    operations: int
    clients: int
    seed: int
    rate: float | None = None
    history: History = field(default_factory=History)
    made: int = 0
    _began: float = 0.0
    _awaited: list[tuple[int, asyncio.Event]] = field(default_factory=list)

    async def run(self) -> History:
        """Make all calls; clients complete the operations they have begun."""
        tokens = Tokens(self.ports)
        self._began = time.monotonic()
        for tenant in TENANTS:
            for client in CLIENTS:
                await tokens.of(f"{tenant}-{client}")
        shelves = {tenant: Shelf(tenant, self.operations) for tenant in TENANTS}
        async with asyncio.TaskGroup() as clients:
            for number in range(self.clients):
                clients.create_task(self._client(number, tokens, shelves[TENANTS[number % len(TENANTS)]]))
        return self.history

    async def _client(self, number: int, tokens: Tokens, shelf: Shelf) -> None:
        rng = random.Random(f"{self.seed} {number}")
        caller = Caller(shelf.tenant, self.ports, tokens, self.history, rng, self._spend)
        who = (Till(caller, shelf, rng), Office(caller, rng), Branch(caller, f"S{number}", rng))
        verbs: dict[str, Callable[[], Awaitable[None]]] = {
            name: next(getattr(one, name) for one in who if hasattr(one, name)) for name in _WEIGHTS
        }
        first = list(_WEIGHTS)[number :: self.clients]  # so that even a small load includes every operation
        try:
            while self.made < self.operations:
                name = first.pop() if first else rng.choices(tuple(_WEIGHTS), tuple(_WEIGHTS.values()))[0]
                await verbs[name]()
        finally:
            caller.close()

    async def until_made(self, more: int) -> None:
        """Wait until this many more calls have been made."""
        reached = asyncio.Event()
        self._awaited.append((self.made + more, reached))
        await reached.wait()

    async def _spend(self) -> None:
        """Count a call, and wait until it is its turn."""
        self.made += 1
        early = 0.0 if self.rate is None else self._began + self.made / self.rate - time.monotonic()
        if early > 0:
            await pause(early)
        for wanted, reached in self._awaited:
            if self.made >= wanted:
                reached.set()
