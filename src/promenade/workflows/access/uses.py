"""When a key or a client was last used: recorded once a minute, and never in the way of who uses it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from datetime import datetime

from promenade.errors import Unavailable
from promenade.store.driver.unit import Database, Session

_STEP_SECONDS = 60.0  # between two records of one name
_PATIENCE_SECONDS = 0.1  # that a caller waits for a record


class Uses:
    """The last uses of what ``write`` records in a row, by its name; ``seconds`` never goes back."""

    def __init__(
        self,
        database: Database,
        write: Callable[[Session, str, datetime], Awaitable[None]],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._write = write
        self._seconds = seconds
        self._used_at: dict[str, float] = {}  # by name: when its last use was recorded
        self._noting: set[asyncio.Task[None]] = set()  # records that a busy database has not taken yet

    async def note(self, name: str, at: datetime) -> None:
        """Record that it was used now; a busy database does it later, or not at all."""
        now = self._seconds()
        if now - self._used_at.get(name, float("-inf")) < _STEP_SECONDS:
            return
        self._used_at[name] = now
        noting = asyncio.create_task(self._note(name, at), name="last use")
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)
        await asyncio.wait({noting}, timeout=_PATIENCE_SECONDS)

    async def _note(self, name: str, at: datetime) -> None:
        with contextlib.suppress(Unavailable):
            await self._database.write(lambda session: self._write(session, name, at), system=True, durable=False)
