"""Requests to erase a customer, and what remains of them: a digest that recognises the ID if it comes again.

The digest needs the tenant's key, which is drawn with the tenant's first erasure. While an erasure is PENDING its row
holds the ID and the pseudonym that replaces it; once it is COMPLETED neither, so that nothing leads from the ID to the
rows that it named.

A store also has digests of its cloud, by the cloud's key (`store.replica.told_erasures`). They come COMPLETED, as the
ID is not told: what names it begins the erasure, as it does after any other.

A customer of whom nothing is heard for long is forgotten in the same way, but nobody has asked for it: such a row is
not listed, not told to stores, and goes when it has ended, so that the ID is a new customer's if it comes again.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_ERASURES = table("customer_erasures")
_KEYS = table("customer_erasure_keys")

PENDING, COMPLETED = "PENDING", "COMPLETED"
PSEUDONYM = "erased-{}"
_PSEUDONYM = re.compile(PSEUDONYM.format("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), re.ASCII)
LIST_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure. ``customer_id`` and ``pseudonym`` are None once it is COMPLETED; ``changed_rows`` so far."""

    tenant_id: str
    digest: str
    id: str
    customer_id: str | None
    pseudonym: str | None
    status: str
    requested_at: datetime
    due_at: datetime
    completed_at: datetime | None
    changed_rows: int
    cloud_walk: int | None = None
    """In a store: its cloud has told of it, see the column."""
    idle_since: datetime | None = None
    """Nothing was heard of the customer since; None: it was asked for."""


_COLUMNS = tuple(_ERASURES.c[name] for name in Erasure.__dataclass_fields__)


def is_pseudonym(customer_id: str) -> bool:
    """Return whether an ID is one that takes the place of an erased customer's."""
    return _PSEUDONYM.fullmatch(customer_id) is not None


async def request(
    session: Session, customer_id: str, *, secret: bytes, new_id: Callable[[], str], at: datetime
) -> Erasure:
    """Ask for the erasure of a customer; one that is PENDING goes on as it is, one that is COMPLETED begins anew.

    ``secret`` becomes the tenant's key if it has none yet.
    """
    await keep_key(session, secret, at)
    keys = await _keys(session)
    digests = [_digest(key, customer_id) for key in keys]
    found = await _locked(session, digests)
    if not found:
        first = _pending(digests[0], customer_id, new_id, at)
        await session.rowcount(upsert(session.dialect, _ERASURES).on_conflict_do_nothing(), first)
        found = await _locked(session, digests)
    idle = next((one for one in found if one.idle_since is not None), None)
    if idle is not None:
        await _set(session, idle.digest, idle_since=None, requested_at=at)
        found = await _locked(session, digests)
    if all(one.status == COMPLETED for one in found):
        await _begin_anew(session, found[0].digest, customer_id, new_id, at)
        found = await _locked(session, [found[0].digest])
    return next(one for one in found if one.status == PENDING)


async def begin_idle(
    session: Session, customer_id: str, since: datetime, *, new_id: Callable[[], str], at: datetime
) -> Erasure | None:
    """Begin to forget a customer of whom nothing was heard since then; None: an erasure was asked for.

    When it ends nothing remains of it. Two random IDs become the tenant's key if it has none yet.
    """
    await keep_key(session, bytes.fromhex((new_id() + new_id()).replace("-", "")), at)
    digests = [_digest(key, customer_id) for key in await _keys(session)]
    found = await _locked(session, digests)
    for one in found:
        if one.idle_since is not None:
            await _follow(session, one, is_asked=False)
    if all(one.idle_since is not None and one.status == COMPLETED for one in found):
        row = _pending(digests[0], customer_id, new_id, at) | {"idle_since": since}
        await session.rowcount(upsert(session.dialect, _ERASURES).on_conflict_do_nothing(), row)
    found = await _locked(session, digests)
    return next((one for one in found if one.idle_since is not None and one.status == PENDING), None)


async def keep_key(session: Session, secret: bytes, at: datetime) -> None:
    """Store ``secret`` as the tenant's key if it has none yet."""
    row = {"secret": secret, "created_at": at}
    await session.rowcount(upsert(session.dialect, _KEYS).on_conflict_do_nothing(), row)


async def notice(
    session: Session, customer_ids: Collection[str | None], *, new_id: Callable[[], str], at: datetime
) -> int:
    """Begin the erasures of those customers anew who were erased and have come again; return how many.

    To be called by every unit of work that writes customers' IDs, unless it is followed by one that calls it. A tenant
    that has erased nobody pays one look at a key.
    """
    named = {one for one in customer_ids if one}
    keys = await _keys(session) if named else []
    if not keys:
        return 0
    digests = {_digest(key, one): one for key in keys for one in named}
    # Locked: an erasure that is about to be completed does not know what this unit of work has written.
    found = await _locked(session, sorted(digests))
    under_way = {digests[one.digest] for one in found if one.status == PENDING}
    asked = {digests[one.digest] for one in found if one.idle_since is None}
    for one in found:
        if one.idle_since is not None:
            await _follow(session, one, is_asked=digests[one.digest] in asked)
    erased = {
        digests[one.digest]: one.digest
        for one in found
        if one.idle_since is None and digests[one.digest] not in under_way
    }
    for customer_id, digest in erased.items():
        await _begin_anew(session, digest, customer_id, new_id, at)
    return len(erased)


async def _follow(session: Session, idle: Erasure, *, is_asked: bool) -> None:
    """Let an idle customer's row become an erasure that was asked for by another digest, in a store by its cloud's.

    One that has ended was ended by a program that knew nothing of idle customers.
    """
    if idle.status == COMPLETED:
        await forget(session, idle)
    elif is_asked:
        await _set(session, idle.digest, idle_since=None)


async def find(session: Session, customer_id: str) -> list[Erasure]:
    """Return the erasures of a customer, locked until the unit of work ends.

    There is one at most, but in a store where it was asked for and which has heard of it from the cloud as well. To
    forget an idle customer is none.
    """
    found = await _locked(session, [_digest(key, customer_id) for key in await _keys(session)])
    return [one for one in found if one.idle_since is None]


async def forget(session: Session, erasure: Erasure) -> None:
    """Delete what remains of an erasure, so that the ID is like any other again."""
    await session.rowcount(delete(_ERASURES).where(_ERASURES.c.digest == erasure.digest))


async def read_erasures(
    session: Session, limit: int = LIST_MAX, before: tuple[datetime, str] | None = None
) -> list[Erasure]:
    """Return the tenant's erasures, the latest first, at most ``limit``.

    ``before``: those that follow on the one that was requested then, with that digest.
    """
    at, digest = _ERASURES.c.requested_at, _ERASURES.c.digest
    listed = select(*_COLUMNS).where(_is_one()).order_by(at.desc(), digest.desc())
    if before is not None:
        listed = listed.where(at <= before[0], or_(at < before[0], digest < before[1]))
    return [Erasure(*tuple(row)) for row in await session.execute(listed.limit(limit))]


def _is_one() -> ColumnElement[bool]:
    """Return the condition that somebody has asked for something to be erased.

    A store knows nobody of most of its cloud's digests.
    """
    return and_(
        _ERASURES.c.idle_since.is_(None), or_(_ERASURES.c.status == PENDING, _ERASURES.c.completed_at.is_not(None))
    )


async def read_due(session: Session, at: datetime, limit: int) -> list[Erasure]:
    """Return up to ``limit`` erasures of all tenants that can be gone on with; needs a system session."""
    due = select(*_COLUMNS).where(_ERASURES.c.status == PENDING, _ERASURES.c.due_at <= at)
    rows = await session.execute(due.order_by(_ERASURES.c.due_at, _ERASURES.c.digest).limit(limit))
    return [Erasure(*tuple(row)) for row in rows]


async def lock(session: Session, erasure: Erasure) -> Erasure | None:
    """Return a PENDING erasure as it is now, locked until the unit of work ends; None: it is not PENDING any more."""
    found = await _locked(session, [erasure.digest])
    return found[0] if found and found[0].status == PENDING else None


async def note_changed(session: Session, erasure: Erasure, rows: int) -> None:
    """Add to the number of changed rows."""
    await _set(session, erasure.digest, changed_rows=_ERASURES.c.changed_rows + rows)


async def postpone(session: Session, erasure: Erasure, until: datetime) -> None:
    """Go on with it later."""
    await _set(session, erasure.digest, due_at=until)


async def complete(session: Session, erasure: Erasure, at: datetime) -> None:
    """Mark it as done, and drop the ID and the pseudonym."""
    await _set(session, erasure.digest, status=COMPLETED, completed_at=at, customer_id=None, pseudonym=None)


async def _keys(session: Session) -> list[bytes]:
    """Return the tenant's key, and in a store the one of its cloud; none as long as nobody was erased."""
    rows = await session.execute(select(_KEYS.c.secret, _KEYS.c.cloud_secret))
    return list(dict.fromkeys(bytes(one) for row in rows for one in row if one is not None))


def _digest(key: bytes, customer_id: str) -> str:
    return hmac.new(key, customer_id.encode(), hashlib.sha256).hexdigest()


def _pending(digest: str, customer_id: str, new_id: Callable[[], str], at: datetime) -> dict[str, Any]:
    """Return the row of an erasure that begins."""
    return {
        "digest": digest,
        "id": new_id(),
        "customer_id": customer_id,
        "pseudonym": PSEUDONYM.format(new_id()),
        "status": PENDING,
        "requested_at": at,
        "due_at": at,
        "changed_rows": 0,
    }


async def _locked(session: Session, digests: Collection[str]) -> list[Erasure]:
    chosen = select(*_COLUMNS).where(_ERASURES.c.digest.in_(list(digests)))
    rows = await session.execute(chosen.order_by(_ERASURES.c.digest).with_for_update())
    return [Erasure(*tuple(row)) for row in rows]


async def _begin_anew(session: Session, digest: str, customer_id: str, new_id: Callable[[], str], at: datetime) -> None:
    """A new pseudonym: nobody knows the old one any more."""
    await _set(
        session,
        digest,
        status=PENDING,
        customer_id=customer_id,
        pseudonym=PSEUDONYM.format(new_id()),
        requested_at=at,
        due_at=at,
        completed_at=None,
    )


async def _set(session: Session, digest: str, **values: Any) -> None:
    await session.rowcount(update(_ERASURES).where(_ERASURES.c.digest == digest).values(**values))
