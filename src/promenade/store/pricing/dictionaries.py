"""Dictionaries of stored prices: what a tenant's records have in common, so that each of them repeats less.

A dictionary contains parts of a tenant's own records and belongs to this tenant alone. Each record names the one it was
made with (0: none), so a process need not know the newest one: an older one is as good, only less dense.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import delete, select

from promenade.store.driver.hot import hot_statement
from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Database, Session
from promenade.store.driver.upsert import upsert
from promenade.zstd import Dictionary

_DICTIONARIES = table("record_dictionaries")

FRESH_FOR = timedelta(minutes=5)  # how long a process stores without asking for a newer dictionary
USED_AFTER = timedelta(minutes=10)  # younger ones are not used: a replica that takes over may not have them
READ_WITH_MAX = 256  # dictionaries in memory to read with, some 150 KB each
STORE_WITH_MAX = 256  # tenants whose newest one is in memory


class DictionaryRow(NamedTuple):
    """When the newest dictionary was made, and the dictionary."""

    created_at: datetime
    dictionary: Dictionary


# ---- to store -------------------------------------------------------------------------------------------------------


class _Newest(NamedTuple):
    dictionary: Dictionary | None
    asked_at: datetime


_NEWEST: WeakKeyDictionary[Database, dict[str, _Newest]] = WeakKeyDictionary()
"""What this process stores with, by tenant: of those that have asked last, some hundred KB each."""


async def newest_dictionary(database: Database, tenant_id: str, at: datetime) -> Dictionary | None:
    """Return the newest dictionary to store with at ``at``, or the one that was so less than `FRESH_FOR` before.

    Dictionaries are used once they are older than `USED_AFTER`.
    """
    of_tenants = _NEWEST.setdefault(database, {})
    known = of_tenants.get(tenant_id)
    if known is not None and timedelta(0) <= at - known.asked_at < FRESH_FOR:
        return known.dictionary
    held = None if known is None else known.dictionary
    rows = await database.look("newest dictionary", (tenant_id, 0 if held is None else held.id, at - USED_AFTER))
    if not rows:
        held = None
    elif rows[0][0] is not None:
        held = Dictionary(rows[0][0])
    of_tenants.pop(tenant_id, None)
    of_tenants[tenant_id] = _Newest(held, at)
    if len(of_tenants) > STORE_WITH_MAX:
        del of_tenants[next(iter(of_tenants))]  # it is read again if that tenant goes on
    return held


_NEWEST_ROW = """
    SELECT CASE WHEN id = {held} THEN NULL ELSE content END FROM record_dictionaries
    WHERE tenant_id = {tenant} AND created_at <= {until} ORDER BY created_at DESC, id DESC LIMIT 1
"""


@hot_statement(
    "newest dictionary",
    postgresql=_NEWEST_ROW.format(tenant="$1::varchar", held="$2::bigint", until="$3::timestamptz"),
)
def _newest(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    text = _NEWEST_ROW.format(tenant="?1", held="?2", until="?3")
    return connection.execute(text, (*params[:2], to_microseconds(params[2]))).fetchall()


# ---- to read --------------------------------------------------------------------------------------------------------

_Key = tuple[str, int]
"""Tenant, and ID of a dictionary."""

_READ: dict[_Key, Dictionary] = {}
"""Dictionaries that records were read with lately. What a key stands for never changes; frames have checksums."""


async def read_dictionaries(session: Session, keys: Iterable[_Key]) -> dict[_Key, Dictionary]:
    """Return the dictionaries by tenant and ID; ID 0 stands for none. Raises LookupError if one is not stored."""
    found: dict[_Key, Dictionary] = {}
    missing: list[_Key] = []
    for key in sorted(key for key in set(keys) if key[1]):
        known = _READ.get(key)
        if known is None:
            missing.append(key)
        else:
            found[key] = known
    if missing:
        columns = (_DICTIONARIES.c.tenant_id, _DICTIONARIES.c.id)
        rows = await session.execute(select(*columns, _DICTIONARIES.c.content).where(one_of(columns, missing)))
        found.update({(row.tenant_id, row.id): Dictionary(row.content) for row in rows})
        lost = [key for key in missing if key not in found]
        if lost:
            raise LookupError(f"dictionary {lost[0][1]} of stored prices is missing")
        _remember({key: found[key] for key in missing})
    return found


def _remember(found: dict[_Key, Dictionary]) -> None:
    _READ.update(found)
    while len(_READ) > READ_WITH_MAX:
        _READ.pop(next(iter(_READ)), None)  # sessions may be in several threads


# ---- to make --------------------------------------------------------------------------------------------------------


async def find_newest(session: Session) -> DictionaryRow | None:
    """Return the newest dictionary of the session's tenant."""
    order = (_DICTIONARIES.c.created_at.desc(), _DICTIONARIES.c.id.desc())
    rows = await session.execute(select(_DICTIONARIES).order_by(*order).limit(1))
    return DictionaryRow(rows[0].created_at, Dictionary(rows[0].content)) if rows else None


async def add_dictionary(session: Session, dictionary: Dictionary, at: datetime) -> None:
    """Store a dictionary of the session's tenant; if one has its ID already, that one stays."""
    row = {"id": dictionary.id, "content": dictionary.content, "created_at": at}
    await session.rowcount(upsert(session.dialect, _DICTIONARIES).on_conflict_do_nothing(), row)


async def remove_dictionaries(session: Session, *, replaced_before: datetime) -> int:
    """Delete dictionaries that have a newer one made before ``replaced_before``; return how many.

    Needs a system session.
    """
    newer = _DICTIONARIES.alias("newer")
    replaced = (
        select(newer.c.id)
        .where(
            newer.c.tenant_id == _DICTIONARIES.c.tenant_id,
            newer.c.created_at > _DICTIONARIES.c.created_at,
            newer.c.created_at < replaced_before,
        )
        .exists()
    )
    return await session.rowcount(delete(_DICTIONARIES).where(replaced))
