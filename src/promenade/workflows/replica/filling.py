"""Keep a store's shares of budgets and limits filled, fetch what a sale lacks, renew shares and give them back.

The key and content of a request are stored before it is sent, and the same request is sent until it is answered: a
store that is killed in between neither loses a share nor gets it twice.

A database that was restored, or created anew on another machine, knows less about the store's shares than the cloud.
So each process compares every share with the cloud once, and afterwards on each answer, if the cloud has received all
sales: then the cloud's figure for the store is what the store can spend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from promenade.log import Logger
from promenade.store.budgets.charges import spendable
from promenade.store.driver.unit import Database, Session
from promenade.store.replica import held_shares as store
from promenade.store.replica import uploads as sync_uploads
from promenade.store.replica.held_shares import NUMBERS, Limit
from promenade.store.replica.link import count_uploads
from promenade.store.sync.shares import BUDGET, COUPON_TYPE, Share
from promenade.workflows.context import Context
from promenade.workflows.replica.allotting import Habit, reserve, should_fill, should_give_back
from promenade.workflows.replica.ending import set_aside
from promenade.workflows.replica.notes import Note, change_note, encode_note, note_of
from promenade.workflows.uplink import CloudClient, CloudRefused, CloudUnreachable, Reserve

SHARES_PER_ROUND = 200  # requests per round; the others follow in the next
ASK_AGAIN = timedelta(seconds=30)  # after the cloud did not have what a sale lacked
NOTHING_YET = timedelta(hours=1)  # before a store that got nothing to begin with asks for it again
SENT_MAX = 3  # requests for one sale: one that is pending, one to give back, and its own
RENEW_BEFORE = timedelta(days=7)  # before a share expires
_NOTHING, _ONE = Decimal(0), Decimal(1)
_FINAL = frozenset({400, 404, 409})
_COMPARED: WeakKeyDictionary[Database, set[tuple[str, str, str]]] = WeakKeyDictionary()
"""Which shares this process has compared with the cloud's: deployment, kind and ID."""
_TURNS: WeakKeyDictionary[Database, dict[tuple[str, str], asyncio.Lock]] = WeakKeyDictionary()
"""By kind and ID: tills that lack the same share wait for the one that asks for it."""

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
    def reserves(self) -> Mapping[tuple[str, str], Reserve]:
        """How the store sizes its reserves, as far as it has heard, by kind and ID."""
        return {} if self.context.uplink is None else self.context.uplink.reserves

    def hear(self, share: Share, halvings: int) -> None:
        """Take over what an answer says, which is newer than the last heartbeat."""
        if self.context.uplink is not None:
            told = self.context.uplink.reserves.get((share.kind, share.entity_id))
            known = Reserve(halvings, _NOTHING if told is None else told.piece)
            self.context.uplink.reserves[share.kind, share.entity_id] = known

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
    halvings: int = 0


class _UsesGranted(msgspec.Struct, frozen=True, rename="camel"):
    """The response for uses of a limit."""

    leased: int
    expires_at: datetime
    outstanding: int | None = None
    halvings: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    """The amount granted, its expiry, and the store's total ``outstanding`` by then; None: not sent by the cloud.

    ``is_comparable``: False for a repeat, which gets the first answer again, without what the cloud has received since,
    and for what a sale lacks, which is fetched while uploads go on.
    """

    given: Decimal
    expires_at: datetime
    outstanding: Decimal | None
    halvings: int
    is_comparable: bool = False


def compare_again(database: Database) -> None:
    """Let the next round compare every share with the cloud's."""
    _COMPARED.pop(database, None)


# ---- a round -------------------------------------------------------------------------------------------------------


async def replenish_shares(cloud: Cloud) -> None:
    """Run one round: requests under way, shares to give back, to fill up, or about to expire.

    Raises CloudUnreachable and CloudRefused, after which nothing is lost.
    """
    for kind, entity_id in await cloud.write(lambda session: _plan(session, cloud)):
        # A set-aside amount is given back by a separate request, after the one under way.
        while await _request_share(cloud, kind, entity_id):
            pass


async def _plan(session: Session, cloud: Cloud) -> list[tuple[str, str]]:
    """List the shares that need a request; what is held and not needed is set aside."""
    at = cloud.context.clock()
    limits = await store.read_limits(session, at)
    shares = {(one.kind, one.entity_id): one for one in await store.read_all(session) if one.kind in NUMBERS}
    found: list[tuple[str, str]] = []
    changed: list[Share] = []
    for key, seen in shares.items():
        share, limit = seen, limits.get(key)
        if limit is not None:
            share = _with_habit(seen, limit, cloud.reserves.get(key), at)
            keep = _kept(note_of(share), limit)
            if limit.rest > keep:
                share = await set_aside(session, share, limit, at, keep=keep)
        if share is not seen:
            changed.append(share)
        if share.last_key is not None or _amount_to_request(share, limit, at) != _Nothing:
            found.append(key)
        elif limit is None or not limit.is_needed:
            await store.drop(session, changed.pop() if share is not seen else share)
    await store.put(session, *changed)
    found += [key for key, limit in limits.items() if limit.is_needed and key not in shares]
    if not await sync_uploads.count(session):
        found += [key for key in shares if key not in found and _needs_comparison(cloud, *key, limits.get(key))]
    return found[:SHARES_PER_ROUND]


def _with_habit(share: Share, limit: Limit, told: Reserve | None, at: datetime) -> Share:
    """Return the share with what the store has used of it since the last round, and what the cloud has said since."""
    note = note_of(share)
    use = _NOTHING if note.seen is None else max(limit.used - note.seen, _NOTHING)
    habit, day = note.habit, at.date()
    if use or (habit.day is not None and habit.day < day):
        habit = habit.after(use, day)
    now = change_note(note, habit=habit, seen=limit.used)
    if told is not None:
        now = change_note(now, halvings=told.halvings, piece=told.piece)
    return share if now == note else replace(share, last_answer=encode_note(now))


def _target(note: Note, limit: Limit) -> Decimal:
    """Return what the store may hold in reserve, in whole minor units or uses."""
    habit = note.habit
    if limit.currency is None:
        return reserve(habit.forecast, _ONE, note.halvings).to_integral_value(ROUND_HALF_UP)
    return spendable(reserve(habit.forecast, habit.piece or note.piece, note.halvings), limit.currency)


def _kept(note: Note, limit: Limit) -> Decimal:
    """Return how much of the rest the store keeps: all of it, unless others lack it or it is of no use here."""
    if not limit.is_needed:
        return _NOTHING
    target = _target(note, limit)
    is_known = note.habit.day is not None
    return target if is_known and should_give_back(limit.rest, target, note.halvings) else limit.rest


def _needs_comparison(cloud: Cloud, kind: str, entity_id: str, limit: Limit | None) -> bool:
    needed = limit is not None and limit.is_needed
    return needed and (cloud.deployment_id, kind, entity_id) not in cloud.compared


class _Nothing:
    """Marker: no request is needed."""


def _amount_to_request(share: Share | None, limit: Limit | None, at: datetime) -> Decimal | type[_Nothing] | None:
    """Return how much to ask for; None: up to the reserve. A negative amount is given back, 0 renews."""
    if share is not None and share.outstanding:
        return -share.outstanding
    if limit is None or not limit.is_needed:
        return _Nothing
    if share is None:
        return None
    note = note_of(share)
    waited = timedelta.max if note.filled_at is None or note.filled_at > at else at - note.filled_at
    habit = note.habit
    is_new = habit.mean is None and not habit.forecast and limit.rest <= 0
    if (is_new and waited >= NOTHING_YET) or should_fill(limit.rest, _target(note, limit), waited):
        return None
    return _NOTHING if limit.rest > 0 and share.expires_at - at < RENEW_BEFORE else _Nothing


# ---- for a sale ----------------------------------------------------------------------------------------------------


async def fetch_share(cloud: Cloud, key: tuple[str, str], use: Decimal, end: float) -> bool:
    """Fetch what the store lacks to spend ``use`` in one sale, until ``end`` on the event loop's clock.

    Returns False if the cloud could not be asked; True: the store has enough now, or the cloud has no more.
    """
    turns = _TURNS.setdefault(cloud.context.database, {})
    async with turns.setdefault(key, asyncio.Lock()):
        for _ in range(SENT_MAX):
            share, _ = await cloud.write(lambda session: _begin_request(session, cloud, *key, use))
            if share is None:
                return True
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                return False
            try:
                await _exchange(cloud, share, seconds=left)
            except (CloudUnreachable, CloudRefused):
                return False
    return True


# ---- one request --------------------------------------------------------------------------------------------------


async def _request_share(cloud: Cloud, kind: str, entity_id: str) -> bool:
    """Send the share's request, if one is due; return whether the answer makes another one due."""
    share, is_new = await cloud.write(lambda session: _begin_request(session, cloud, kind, entity_id))
    return share is not None and await _exchange(cloud, share, is_comparable=is_new)


async def _exchange(cloud: Cloud, share: Share, *, is_comparable: bool = False, seconds: float | None = None) -> bool:
    """Send a request that is noted with the share; return whether something is to be given back now."""
    asked = note_of(share).asked
    try:
        answer = _parse_answer(share.kind, await _send(cloud, share, asked, seconds))
    except CloudRefused as refused:
        if not is_final(refused):
            raise
        answer = None
    if answer is not None:
        answer = replace(answer, is_comparable=is_comparable)
        cloud.hear(share, answer.halvings)
    return bool(await cloud.write(lambda session: _settle(session, cloud, share, asked, answer)))


async def _begin_request(
    session: Session, cloud: Cloud, kind: str, entity_id: str, use: Decimal | None = None
) -> tuple[Share | None, bool]:
    """Return the pending request or a new one with its key, and whether it is new; None: no request is needed.

    ``use``: what one sale spends, of which the store may lack some.
    """
    at = cloud.context.clock()
    share = await store.read_one(session, kind, entity_id)
    if share is not None and share.last_key is not None:
        return share, False
    limit = await store.read_limit(session, kind, entity_id, at)
    note = Note() if share is None else note_of(share)
    if use is not None:
        is_refused = note.refused_at is not None and not is_past(note.refused_at, ASK_AGAIN, at)
        if limit is None or not limit.is_needed or use <= limit.rest or is_refused:
            return None, False
        wanted: Decimal | type[_Nothing] | None = use - limit.rest
        note = change_note(note, habit=note.habit.lacking(use))
    else:
        wanted = _amount_to_request(share, limit, at)
        if wanted is _Nothing and share is not None and _needs_comparison(cloud, kind, entity_id, limit):
            wanted = _NOTHING
    if wanted is _Nothing:
        return None, False
    if share is None:
        share = Share(cloud.deployment_id, kind, entity_id, _NOTHING, None, None, at, None, None, at)
    forecast = note.habit.forecast if limit is not None and limit.is_needed else _NOTHING
    note = change_note(note, asked=wanted if isinstance(wanted, Decimal) else None)
    share = replace(
        share, last_key=cloud.context.new_id(), last_answer=encode_note(note), forecast=forecast, changed_at=at
    )
    await store.put(session, share)
    return share, True


async def _send(cloud: Cloud, share: Share, asked: Decimal | None, seconds: float | None) -> dict[str, Any]:
    body: dict[str, Any] = {"deploymentId": cloud.deployment_id, "forecast": f"{share.forecast:f}"}
    if cloud.context.uplink is not None and cloud.context.uplink.run_id is not None:
        body["runId"] = cloud.context.uplink.run_id
    if share.kind == BUDGET:
        path = "/sync/budget-grants"
        body |= {"budgetId": share.entity_id, "piece": f"{note_of(share).habit.piece:f}"}
        body |= {} if asked is None else {"amount": f"{asked:f}"}
    else:
        path = "/sync/coupon-leases"
        is_type = share.kind == COUPON_TYPE
        body |= {"couponTypeId": share.entity_id, "purpose": "REDEEM"} if is_type else {"promotionId": share.entity_id}
        body |= {} if asked is None else {"quantity": int(asked)}
    return await cloud.client.post(path, body, key=share.last_key, seconds=seconds)


def _parse_answer(kind: str, answer: dict[str, Any]) -> _Answer:
    try:
        if kind == BUDGET:
            granted = msgspec.convert(answer, _BudgetGranted, strict=False)
            return _Answer(granted.granted, granted.expires_at, granted.outstanding, granted.halvings)
        given = msgspec.convert(answer, _UsesGranted, strict=False)
        has = None if given.outstanding is None else Decimal(given.outstanding)
        return _Answer(Decimal(given.leased), given.expires_at, has, given.halvings)
    except (msgspec.ValidationError, ArithmeticError) as error:
        message = f"The cloud's answer about a share cannot be understood: {error}"
        raise CloudUnreachable("CLOUD_UNREADABLE", message) from error


async def _settle(session: Session, cloud: Cloud, sent: Share, asked: Decimal | None, answer: _Answer | None) -> bool:
    """Record the answer (None: refused); return whether something is to be given back now."""
    at = cloud.context.clock()
    share = await store.read_one(session, sent.kind, sent.entity_id)
    if share is None or share.last_key != sent.last_key:
        return False
    note = _noted(note_of(share), asked, answer, at)
    if answer is None:
        cloud.compared.add((cloud.deployment_id, share.kind, share.entity_id))
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
            if note.seen is None:
                note = change_note(note, seen=limit.used)
    await store.put(session, replace(share, last_key=None, last_answer=encode_note(note), changed_at=at))
    return share.outstanding > 0


def _noted(note: Note, asked: Decimal | None, answer: _Answer | None, at: datetime) -> Note:
    """Return the note after the answer to a request; a refused one is noted too, so that it is not repeated at once."""
    if asked is None or asked > 0:
        note = change_note(note, filled_at=at)
    if asked is None and answer is not None and not note.habit.forecast:
        note = change_note(note, habit=Habit(at.date(), first=answer.given, piece=note.habit.piece))
    if asked is not None and asked > 0:
        note = change_note(note, refused_at=at if answer is None or answer.given < asked else None)
    return change_note(note, asked=None, halvings=note.halvings if answer is None else answer.halvings)


async def _total(session: Session, cloud: Cloud, share: Share, limit: Limit, answer: _Answer) -> Decimal:
    """Return the store's new total: increased by the answer, or corrected to the cloud's figure.

    Uploads only happen in the same round as a comparable request. So if nothing is waiting, the cloud had received all
    sales before it answered, and its figure for the store is what the store may spend.
    """
    total = max(limit.total, limit.used) + answer.given
    waiting, refused = await count_uploads(session)
    if waiting or not answer.is_comparable:
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
