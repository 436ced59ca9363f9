"""Idempotency keys of tills' orders of coupons: what an order with the key was answered, for 24 hours."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, or_, select

from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

KEY_LIFETIME = timedelta(hours=24)
"""For how long a key stands for its order."""

_KEYS = table("issue_keys")


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The digest of the order that a key stands for, and its encoded answer."""

    digest: bytes
    answer: bytes


def _is_over(at: datetime) -> ColumnElement[bool]:
    """Return the condition that the key has expired; a time far in the future comes from a clock that was set back."""
    return or_(_KEYS.c.seen_at <= at - KEY_LIFETIME, _KEYS.c.seen_at > at + KEY_LIFETIME)


async def find_answers(session: Session, keys: Collection[str], *, at: datetime) -> dict[str, KeptAnswer]:
    """Return what is kept of those keys that were used within 24 hours. Final while the issue window is locked."""
    columns = (_KEYS.c.idempotency_key, _KEYS.c.digest, _KEYS.c.answer)
    rows = await session.execute(select(*columns).where(_KEYS.c.idempotency_key.in_(sorted(keys)), ~_is_over(at)))
    return {row.idempotency_key: KeptAnswer(row.digest, row.answer) for row in rows}


async def keep_answer(session: Session, key: str, kept: KeptAnswer, *, at: datetime) -> None:
    """Store the answer to an order, replacing one whose time is over."""
    adding = upsert(session.dialect, _KEYS)
    values = {"digest": kept.digest, "answer": kept.answer, "seen_at": at}
    statement = adding.on_conflict_do_update(
        index_elements=[_KEYS.c.tenant_id, _KEYS.c.idempotency_key],
        set_={name: adding.excluded[name] for name in values},
    )
    await session.rowcount(statement, {"idempotency_key": key, **values})


async def purge_issue_keys(session: Session, *, at: datetime, limit: int) -> int:
    """Delete expired keys and return how many. Needs a system session."""
    key = (_KEYS.c.tenant_id, _KEYS.c.idempotency_key)
    rows = await session.execute(select(*key).where(_is_over(at)).order_by(_KEYS.c.seen_at).limit(limit))
    if rows:
        # A key that was used for a new order in the meantime has not expired.
        await session.rowcount(delete(_KEYS).where(one_of(key, rows), _is_over(at)))
    return len(rows)
