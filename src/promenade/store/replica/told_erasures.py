"""Erasures that a store's cloud has told it of: digests of customers' IDs, and which stored IDs they are.

A digest is kept as an erasure that is COMPLETED and has erased nothing (`store.access.erasures`). Each full list of the
cloud is a *walk*; erasures that the latest one does not name were forgotten there.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update

from promenade.store.access.erasures import COMPLETED, keep_key
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_ERASURES = table("customer_erasures")
_KEYS = table("customer_erasure_keys")


@dataclass(frozen=True, slots=True)
class Heard:
    """How far a store has heard of its cloud's erasures; see the columns of ``customer_erasure_keys``."""

    secret: bytes | None = None
    cursor: str | None = None
    walk: int = 0
    told: int = 0
    searched: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """What one page of the cloud tells; ``secret`` is the key of its digests, None if there are none."""

    secret: bytes | None
    full: bool
    digests: Sequence[str]
    cursor: str
    has_more: bool
    total: int


async def read_heard(session: Session, *, lock: bool = False) -> Heard:
    """Return how far the store is."""
    names = ("cloud_secret", "cloud_cursor", "cloud_walk", "cloud_told", "cloud_searched")
    reading = select(*(_KEYS.c[name] for name in names))
    rows = await session.execute(reading.with_for_update() if lock else reading)
    if not rows:
        return Heard()
    secret, cursor, *counts = tuple(rows[0])
    walk, told, searched = (one or 0 for one in counts)
    return Heard(None if secret is None else bytes(secret), cursor, walk, told, searched)


async def is_news(session: Session, page: Told) -> bool:
    """Return whether a page has to be stored, which most have not."""
    told = select(func.count()).select_from(_ERASURES).where(_ERASURES.c.cloud_walk.is_not(None))
    return bool(page.digests) or page.has_more or int((await session.execute(told))[0][0]) != page.total


async def write_told(session: Session, page: Told, *, new_id: Callable[[], str], at: datetime) -> bool:
    """Store a page; return False if the store does not know as many erasures as there are, and has to hear all again.

    The same page again changes nothing. The cloud's key becomes the store's own if it has none yet.
    """
    if page.secret is not None:
        await keep_key(session, page.secret, at)
    heard = await read_heard(session, lock=True)
    walk = heard.walk + 1 if page.full else heard.walk
    known = {row.digest for row in await session.execute(_named(page.digests))} if page.digests else set()
    if known:
        naming = update(_ERASURES).where(_ERASURES.c.digest.in_(sorted(known)))
        await session.rowcount(naming.values(cloud_walk=walk, idle_since=None))
    new = [digest for digest in dict.fromkeys(page.digests) if digest not in known]
    if new:
        rows = [
            {
                "digest": digest,
                "id": new_id(),
                "status": COMPLETED,
                "requested_at": at,
                "due_at": at,
                "changed_rows": 0,
                "cloud_walk": walk,
            }
            for digest in new
        ]
        await session.execute_many(upsert(session.dialect, _ERASURES).on_conflict_do_nothing(), rows)
    cursor: str | None = page.cursor or None
    is_whole = True
    if not page.has_more:
        forgotten = _ERASURES.c.cloud_walk < walk, _ERASURES.c.status == COMPLETED  # others are under way
        await session.rowcount(delete(_ERASURES).where(*forgotten))
        is_whole = await _count(session, walk) == page.total
        cursor = cursor if is_whole else None
    state: dict[str, Any] = {"cloud_cursor": cursor, "cloud_walk": walk, "cloud_told": heard.told + len(new)}
    if page.secret is not None:
        state["cloud_secret"] = page.secret
    await session.rowcount(update(_KEYS).values(state))
    return is_whole


def _named(digests: Sequence[str]) -> Any:
    return select(_ERASURES.c.digest).where(_ERASURES.c.digest.in_(list(digests)))


async def _count(session: Session, walk: int) -> int:
    rows = await session.execute(select(func.count()).select_from(_ERASURES).where(_ERASURES.c.cloud_walk == walk))
    return int(rows[0][0])


# ---- which of the stored IDs they are --------------------------------------------------------------------------------


async def find_told(session: Session, secret: bytes, customer_ids: Sequence[str]) -> list[str]:
    """Return those of the IDs that the cloud has told of."""
    digests = {hmac.digest(secret, one.encode(), hashlib.sha256).hex(): one for one in customer_ids}
    return [digests[row.digest] for row in await session.execute(_named(sorted(digests)))]


async def note_searched(session: Session, told: int) -> None:
    """Note that all stored IDs were compared with the first ``told`` erasures."""
    await session.rowcount(update(_KEYS).values(cloud_searched=told))
