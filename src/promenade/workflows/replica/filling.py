"""Keep a store's shares of budgets and limits filled, renew them and give them back.

The key and content of a request are stored before it is sent, and the same request is sent until it is answered: a
store that is killed in between neither loses a share nor gets it twice.

A database that was restored, or created anew on another machine, knows less about the store's shares than the cloud.
So each process compares every share with the cloud once, and afterwards on each answer, if the cloud has received all
sales: then the cloud's figure for the store is what the store can spend.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from promenade.log import Logger
from promenade.store.driver.unit import Database, Session
from promenade.store.replica import held_shares as store
from promenade.store.replica import uploads as sync_uploads
from promenade.store.replica.held_shares import NUMBERS, Limit, Note, encode_note, note_of
from promenade.store.replica.link import count_uploads
from promenade.store.sync.shares import BUDGET, COUPON_TYPE, Share
from promenade.workflows.context import Context
from promenade.workflows.replica.ending import set_aside
from promenade.workflows.uplink import CloudClient, CloudRefused, CloudUnreachable

SHARES_PER_ROUND = 200  # requests per round; the others follow in the next
PAUSE = timedelta(minutes=5)  # before the cloud is asked again for something it had none of
RENEW_BEFORE = timedelta(days=7)  # before a share expires
_NOTHING = Decimal(0)
_FINAL = frozenset({400, 404, 409})
_COMPARED: WeakKeyDictionary[Database, set[tuple[str, str, str]]] = WeakKeyDictionary()
"""Which shares this process has compared with the cloud's: deployment, kind and ID."""

_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class Cloud:
    """The cloud of a store, and the store's identity there."""

    context: Context
    tenant_id: str
    client: CloudClient
    deployment_id: str

    async def ask(self, path: str, body: Mapping[str, Any], key: str | None = None) -> dict[str, Any]:
        """POST a request in the store's name. Raises CloudUnreachable and CloudRefused."""
        return await self.client.post(path, {"deploymentId": self.deployment_id, **body}, key=key)

    @property
    def compared(self) -> set[tuple[str, str, str]]:
        """The shares that this process has compared."""
        return _COMPARED.setdefault(self.context.database, set())

    def read(self, work: Callable[[Session], Coroutine[Any, Any, Any]]) -> Coroutine[Any, Any, Any]:
        """Run a read-only unit of work for the store's tenant."""
        return self.context.database.read(work, tenant=self.tenant_id)

    def write(self, work: Callable[[Session], Coroutine[Any, Any, Any]]) -> Coroutine[Any, Any, Any]:
        """Run a writing unit of work for the store's tenant."""
        return self.context.database.write(work, tenant=self.tenant_id)


def is_final(refused: CloudRefused) -> bool:
    """Whether the cloud refuses this request permanently; otherwise it is retried later."""
    return refused.status in _FINAL and refused.code != "DEPLOYMENT_NOT_FOUND"


def is_past(moment: datetime, by: timedelta, at: datetime) -> bool:
    """Whether ``moment`` is at least ``by`` ago, or in the future, written by a clock that has been set back since."""
    return moment > at or at - moment >= by


class _BudgetGranted(msgspec.Struct, frozen=True, rename="camel"):
    """The response for a budget."""

    granted: Decimal
    expires_at: datetime
    outstanding: Decimal | None = None


class _UsesGranted(msgspec.Struct, frozen=True, rename="camel"):
    """The response for uses of a limit."""

    leased: int
    expires_at: datetime
    outstanding: int | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    """The amount granted, its expiry, and the store's total ``outstanding`` by then; None: not sent by the cloud.

    ``is_first``: False for a repeat, which gets the first answer again, without what the cloud has received since.
    """

    given: Decimal
    expires_at: datetime
    outstanding: Decimal | None
    is_first: bool = True


async def replenish_shares(cloud: Cloud) -> None:
    """Run one round: requests under way, shares to give back, half used up or about to expire.

    Raises CloudUnreachable and CloudRefused, after which nothing is lost.
    """
    for kind, entity_id in await cloud.write(lambda session: _plan(session, cloud)):
        # A set-aside amount is given back by a separate request, after the one under way.
        while await _request_share(cloud, kind, entity_id):
            pass


async def _plan(session: Session, cloud: Cloud) -> list[tuple[str, str]]:
    """List the shares that need a request; the whole rest of shares no longer needed is set aside."""
    at = cloud.context.clock()
    limits = await store.read_limits(session, at)
    shares = {(one.kind, one.entity_id): one for one in await store.read_all(session) if one.kind in NUMBERS}
    found: list[tuple[str, str]] = []
    for key, seen in shares.items():
        share, limit = seen, limits.get(key)
        if limit is not None and not limit.is_needed and limit.rest:
            share = await set_aside(session, seen, limit, at)
            await store.put(session, share)
        if share.last_key is not None or _amount_to_request(share, limit, at) != _Nothing:
            found.append(key)
        elif limit is None or not limit.is_needed:
            await store.drop(session, share)
    found += [key for key, limit in limits.items() if limit.is_needed and key not in shares]
    if not await sync_uploads.count(session):
        found += [key for key in shares if key not in found and _needs_comparison(cloud, *key, limits.get(key))]
    return found[:SHARES_PER_ROUND]


def _needs_comparison(cloud: Cloud, kind: str, entity_id: str, limit: Limit | None) -> bool:
    needed = limit is not None and limit.is_needed
    return needed and (cloud.deployment_id, kind, entity_id) not in cloud.compared


class _Nothing:
    """Marker: no request is needed."""


def _amount_to_request(share: Share | None, limit: Limit | None, at: datetime) -> Decimal | type[_Nothing] | None:
    """Return how much to ask for; None: the default amount. A negative amount is given back, 0 renews."""
    if share is not None and share.outstanding:
        return -share.outstanding
    if limit is None or not limit.is_needed:
        return _Nothing
    if share is None:
        return None
    note, is_empty = note_of(share), limit.rest <= 0
    if limit.rest * 2 < note.fill or (is_empty and (note.filled_at is None or is_past(note.filled_at, PAUSE, at))):
        return None
    return _NOTHING if not is_empty and share.expires_at - at < RENEW_BEFORE else _Nothing


# ---- one request --------------------------------------------------------------------------------------------------


async def _request_share(cloud: Cloud, kind: str, entity_id: str) -> bool:
    """Send the share's request, if one is due; return whether the answer makes another one due."""
    share, is_new = await cloud.write(lambda session: _begin_request(session, cloud, kind, entity_id))
    if share is None:
        return False
    asked = note_of(share).asked
    try:
        answer = _parse_answer(kind, await _send(cloud, share, asked))
    except CloudRefused as refused:
        if not is_final(refused):
            raise
        answer = None
    if answer is not None:
        answer = replace(answer, is_first=is_new)
    rest = await cloud.write(lambda session: _settle(session, cloud, share, asked, answer))
    return bool(rest)


async def _begin_request(session: Session, cloud: Cloud, kind: str, entity_id: str) -> tuple[Share | None, bool]:
    """Return the pending request or a new one with its key, and whether it is new; None: no request is needed."""
    at = cloud.context.clock()
    share = await store.read_one(session, kind, entity_id)
    if share is not None and share.last_key is not None:
        return share, False
    limit = await store.read_limit(session, kind, entity_id, at)
    wanted = _amount_to_request(share, limit, at)
    if wanted is _Nothing and share is not None and _needs_comparison(cloud, kind, entity_id, limit):
        wanted = _NOTHING
    if wanted is _Nothing:
        return None, False
    asked = wanted if isinstance(wanted, Decimal) else None
    if share is None:
        share = Share(cloud.deployment_id, kind, entity_id, _NOTHING, None, None, at, None, None, at)
    note = msgspec.structs.replace(note_of(share), asked=asked)
    share = replace(share, last_key=cloud.context.new_id(), last_answer=encode_note(note), changed_at=at)
    await store.put(session, share)
    return share, True


async def _send(cloud: Cloud, share: Share, asked: Decimal | None) -> dict[str, Any]:
    if share.kind == BUDGET:
        amount = {} if asked is None else {"amount": f"{asked:f}"}
        return await cloud.ask("/sync/budget-grants", {"budgetId": share.entity_id, **amount}, share.last_key)
    quantity = {} if asked is None else {"quantity": int(asked)}
    what = (
        {"couponTypeId": share.entity_id, "purpose": "REDEEM"}
        if share.kind == COUPON_TYPE
        else {"promotionId": share.entity_id}
    )
    return await cloud.ask("/sync/coupon-leases", {**what, **quantity}, share.last_key)


def _parse_answer(kind: str, answer: dict[str, Any]) -> _Answer:
    try:
        if kind == BUDGET:
            granted = msgspec.convert(answer, _BudgetGranted, strict=False)
            return _Answer(granted.granted, granted.expires_at, granted.outstanding)
        given = msgspec.convert(answer, _UsesGranted, strict=False)
        has = None if given.outstanding is None else Decimal(given.outstanding)
        return _Answer(Decimal(given.leased), given.expires_at, has)
    except (msgspec.ValidationError, ArithmeticError) as error:
        message = f"The cloud's answer about a share cannot be understood: {error}"
        raise CloudUnreachable("CLOUD_UNREADABLE", message) from error


async def _settle(session: Session, cloud: Cloud, sent: Share, asked: Decimal | None, answer: _Answer | None) -> bool:
    """Record the answer (None: refused); return whether something is to be given back now."""
    at = cloud.context.clock()
    share = await store.read_one(session, sent.kind, sent.entity_id)
    if share is None or share.last_key != sent.last_key:
        return False
    note = note_of(share)
    if answer is None:
        cloud.compared.add((cloud.deployment_id, share.kind, share.entity_id))
    if asked is None:
        note = msgspec.structs.replace(note, filled_at=at)  # also when refused, so that it is not repeated at once
    if asked is not None and asked < 0:
        # Refused or not, this amount is settled: the cloud holds no more of it than it has accepted.
        share = replace(share, outstanding=max(share.outstanding + asked, _NOTHING))
    elif answer is not None:
        limit = await store.read_limit(session, share.kind, share.entity_id, at)
        if limit is None:
            share = replace(share, outstanding=share.outstanding + answer.given, expires_at=answer.expires_at)
        else:
            total = await _total(session, cloud, share, limit, answer)
            if total != limit.total:
                await store.set_total(session, limit, total, at)
            share = replace(share, expires_at=answer.expires_at)
            if asked is None:
                note = Note(fill=total - limit.used, filled_at=at)
    note = msgspec.structs.replace(note, asked=None)
    await store.put(session, replace(share, last_key=None, last_answer=encode_note(note), changed_at=at))
    return share.outstanding > 0


async def _total(session: Session, cloud: Cloud, share: Share, limit: Limit, answer: _Answer) -> Decimal:
    """Return the store's new total: increased by the answer, or corrected to the cloud's figure.

    Uploads only happen in the same round as this request. So if nothing is waiting, the cloud had received all sales
    before it answered, and its figure for the store is what the store may spend.
    """
    total = max(limit.total, limit.used) + answer.given
    waiting, refused = await count_uploads(session)
    if waiting or not answer.is_first:
        return total
    cloud.compared.add((cloud.deployment_id, share.kind, share.entity_id))
    if answer.outstanding is None:
        return total
    has = limit.used + max(answer.outstanding - share.outstanding, _NOTHING)
    if has == total or (refused and has > total):  # refused sales may be sent again, and then need their share
        return total
    _log.warning(
        "sync.share_differs", kind=share.kind, id=share.entity_id, here=total - limit.used, cloud=has - limit.used
    )
    return has
