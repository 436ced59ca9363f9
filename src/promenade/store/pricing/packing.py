"""How records of iterations are compressed: from scratch, with the tenant's dictionary, or as a difference.

A till that prices a transaction again mostly sends the same lines and a little more. Such a record is stored as the
difference from an earlier one of the transaction, its base, if this process has the base in memory: nothing is read
for it. A base never has a base itself, so two rows are enough to read any record.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import and_, select

from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.dictionaries import read_dictionaries
from promenade.zstd import (
    Dictionary,
    compressor,
    decompress,
    decompress_after,
    decompressor_after,
    dictionary_id,
    following,
)

_ITERATIONS = table("iterations")
_LOGS = table("CalculationLogs")

BASE_FOR = timedelta(hours=1)  # how much older a base may be: they are purged at about the same time
BASES_MAX = 256  # in memory; some 30 KB each

_COMPRESSORS_MAX = 16

TransactionKey = tuple[str, str, str]
"""Tenant, origin, transaction."""


class Base(NamedTuple):
    """A stored record that others may be stored as a difference from; ``size`` is the length of its own frame."""

    counter: int
    record: bytes
    size: int
    stored_at: datetime


class Packed(NamedTuple):
    """The columns ``record`` and ``base_counter``, and when the base was stored."""

    frame: bytes
    base_counter: int | None = None
    base_stored_at: datetime | None = None


class Bases:
    """The bases of the transactions that this process has priced last."""

    def __init__(self) -> None:
        self._bases: dict[TransactionKey, Base] = {}

    def get(self, key: TransactionKey, at: datetime) -> Base | None:
        """Return the transaction's base, unless it is too old at ``at``."""
        found = self._bases.get(key)
        return found if found is not None and timedelta(0) <= at - found.stored_at < BASE_FOR else None

    def put(self, key: TransactionKey, base: Base) -> None:
        """Remember the base of a transaction, and forget the oldest one if there are too many."""
        self._bases.pop(key, None)
        self._bases[key] = base
        if len(self._bases) > BASES_MAX:
            del self._bases[next(iter(self._bases))]


_BASES: WeakKeyDictionary[Database, Bases] = WeakKeyDictionary()


def bases_of(database: Database) -> Bases:
    """Return the bases of a database's transactions."""
    return _BASES.setdefault(database, Bases())


# ---- to store -------------------------------------------------------------------------------------------------------


class _Compressors(threading.local):
    """Those of a thread, by dictionary: to make one takes as long as a record, and of two that share one, one waits."""

    def __init__(self) -> None:
        self._plain = compressor(1)
        self._with: dict[Dictionary, Callable[[bytes], bytes]] = {}

    def get(self, dictionary: Dictionary | None) -> Callable[[bytes], bytes]:
        """Return the thread's compressor for the dictionary; with one, a higher level costs hardly more."""
        if dictionary is None:
            return self._plain
        found = self._with.get(dictionary)
        if found is None:
            if len(self._with) >= _COMPRESSORS_MAX:
                self._with.clear()
            found = self._with[dictionary] = compressor(3, dictionary)
        return found


_COMPRESSORS = _Compressors()


def compressed(record: bytes, dictionary: Dictionary | None) -> bytes:
    """Compress a record so that it can be read without another one."""
    return _COMPRESSORS.get(dictionary)(record)


class Packing:
    """A record that is compressed by the thread that stores it; ``base`` may be taken away before.

    It becomes the difference from the base if that takes less than half of what the base takes.
    """

    __slots__ = ("_dictionary", "_record", "base", "packed")

    packed: Packed  # once it has run

    def __init__(self, record: bytes, dictionary: Dictionary | None, base: Base | None) -> None:
        self._record = record
        self._dictionary = dictionary
        self.base = base

    def run(self) -> Packed:
        """Compress the record, keep the result and return it."""
        base = self.base
        if base is not None:
            difference = following(1, base.record, self._record)
            if len(difference) * 2 < base.size:
                self.packed = Packed(difference, base.counter, base.stored_at)
                return self.packed
        self.packed = Packed(compressed(self._record, self._dictionary))
        return self.packed


# ---- to read --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PackedRecord:
    """An iteration's column ``record`` with what it takes to read it; it needs no session and may go to a thread."""

    frame: bytes
    dictionary: Dictionary | None
    base: PackedRecord | None = None

    def unpack(self) -> bytes:
        """Return the record as MessagePack; raises an error of Zstandard if it is damaged."""
        if self.base is not None:
            return decompress_after(self.base.unpack(), self.frame)
        return decompress(self.frame, self.dictionary)


def unpacked(records: Iterable[PackedRecord]) -> Iterator[bytes]:
    """Unpack records one after the other; the base of several in a row is unpacked once for all of them."""
    last: PackedRecord | None = None
    content = b""
    after: Callable[[bytes], bytes] | None = None
    for record in records:
        whole = record.base or record
        if whole is not last:
            last, content, after = whole, whole.unpack(), None
        if record.base is None:
            yield content
        else:
            after = after or decompressor_after(content)
            yield after(record.frame)


_Key = tuple[str, str, str, int]
"""Tenant, origin, transaction, counter."""


class StoredRecord(NamedTuple):
    """The columns of an iteration that it takes to read its record."""

    tenant_id: str
    origin: str
    transaction_id: str
    transaction_counter: int  # below zero: it is condemned
    base_counter: int | None
    record: bytes

    @classmethod
    def of(cls, row: Any) -> StoredRecord:
        """Take the columns from a row that has more."""
        return cls(row.tenant_id, row.origin, row.transaction_id, row.transaction_counter, row.base_counter, row.record)

    @property
    def key(self) -> _Key:
        """The key of the iteration."""
        return (*self[:3], abs(self.transaction_counter))

    @property
    def base(self) -> _Key | None:
        """The key of its base."""
        return None if self.base_counter is None else (*self[:3], self.base_counter)


async def packed_records(session: Session, stored: Sequence[StoredRecord]) -> list[PackedRecord | None]:
    """Return records with the dictionaries and bases that they were made with, in order.

    None: its base has been purged, and the record is about to be. A record and the base of others are the same object.
    Raises LookupError if a dictionary is not stored.
    """
    frames = {one.key: one.record for one in stored if one.base_counter is None}
    lacking = {base for one in stored if (base := one.base) is not None and base not in frames}
    frames |= await _bases(session, lacking)
    ids = {key: (key[0], dictionary_id(frame)) for key, frame in frames.items()}
    found = await read_dictionaries(session, set(ids.values()))
    whole = {key: PackedRecord(frame, found.get(ids[key])) for key, frame in frames.items()}

    def packed(one: StoredRecord) -> PackedRecord | None:
        if one.base is None:
            return whole[one.key]
        base = whole.get(one.base)
        return None if base is None else PackedRecord(one.record, None, base)

    return [packed(one) for one in stored]


async def _bases(session: Session, wanted: Collection[_Key]) -> dict[_Key, bytes]:
    """Return the records of these bases. None of them has a base itself."""
    key = (_ITERATIONS.c.tenant_id, _ITERATIONS.c.origin, _ITERATIONS.c.transaction_id)
    # A counter below zero: it is condemned.
    either = [(*one[:3], sign * one[3]) for one in sorted(wanted) for sign in (1, -1)]
    columns = (*key, _ITERATIONS.c.transaction_counter)
    rows = await read_among(session, columns, either, _BASE_ROWS.where)
    return {(*row[:3], abs(row.transaction_counter)): row.record for row in rows}


_BASE_ROWS = select(
    _ITERATIONS.c.tenant_id,
    _ITERATIONS.c.origin,
    _ITERATIONS.c.transaction_id,
    _ITERATIONS.c.transaction_counter,
    _ITERATIONS.c.record,
)


async def recent_records(session: Session, *, after: datetime | None, limit: int) -> list[PackedRecord]:
    """Return the records of the tenant's latest confirmed sales, the latest first; only sales after ``after``."""
    same = [_ITERATIONS.c[name] == _LOGS.c[name] for name in ("origin", "transaction_id", "transaction_counter")]
    columns = select(*(_ITERATIONS.c[name] for name in StoredRecord._fields))
    recent = columns.select_from(_LOGS.join(_ITERATIONS, and_(*same))).where(_LOGS.c.status == "CALCULATED")
    if after is not None:
        recent = recent.where(_LOGS.c.confirmed_at > after)
    rows = await session.execute(recent.order_by(_LOGS.c.confirmed_at.desc()).limit(limit))
    records = await packed_records(session, [StoredRecord.of(row) for row in rows])
    return [record for record in records if record is not None]
