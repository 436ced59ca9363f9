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

from sqlalchemy import Select, and_, select

from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.dictionaries import read_dictionaries
from promenade.store.pricing.shown import Digest
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
    digest: Digest | None = None


class Packed(NamedTuple):
    """The columns ``record``, ``advice`` and ``base_counter``, and when the base was stored."""

    frame: bytes
    advice: bytes | None
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

    __slots__ = ("_dictionary", "_digest", "_record", "base", "packed")

    packed: Packed  # once it has run

    def __init__(self, record: bytes, digest: Digest | None, dictionary: Dictionary | None, base: Base | None) -> None:
        self._record = record
        self._digest = digest
        self._dictionary = dictionary
        self.base = base

    def run(self) -> Packed:
        """Compress the record, keep the result and return it."""
        base, digest = self.base, self._digest
        if base is not None:
            difference = following(1, base.record, self._record)
            if len(difference) * 2 < base.size:
                advice = None if digest is None else digest.stored(base.digest)
                self.packed = Packed(difference, advice, base.counter, base.stored_at)
                return self.packed
        advice = None if digest is None else digest.stored()
        self.packed = Packed(compressed(self._record, self._dictionary), advice)
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


IterationKey = tuple[str, str, str, int]
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
    def key(self) -> IterationKey:
        """The key of the iteration."""
        return (*self[:3], abs(self.transaction_counter))

    @property
    def base(self) -> IterationKey | None:
        """The key of its base."""
        return None if self.base_counter is None else (*self[:3], self.base_counter)


async def packed_records(session: Session, stored: Sequence[StoredRecord]) -> list[PackedRecord | None]:
    """Return records with the dictionaries and bases that they were made with, in order.

    None: its base has been purged, and the record is about to be. A record and the base of others are the same object.
    Raises LookupError if a dictionary is not stored.
    """
    frames = {one.key: one.record for one in stored if one.base_counter is None}
    lacking = {base for one in stored if (base := one.base) is not None and base not in frames}
    frames |= {one.key: one.record for one in await stored_records(session, lacking)}
    ids = {key: (key[0], dictionary_id(frame)) for key, frame in frames.items()}
    found = await read_dictionaries(session, set(ids.values()))
    whole = {key: PackedRecord(frame, found.get(ids[key])) for key, frame in frames.items()}

    def packed(one: StoredRecord) -> PackedRecord | None:
        if one.base is None:
            return whole[one.key]
        base = whole.get(one.base)
        return None if base is None else PackedRecord(one.record, None, base)

    return [packed(one) for one in stored]


async def stored_records(session: Session, wanted: Collection[IterationKey]) -> list[StoredRecord]:
    """Return the records of these iterations, in no order; those that have been purged are left out."""
    rows = await read_iterations(session, wanted, _RECORD_ROWS)
    return [StoredRecord.of(row) for row in rows]


async def read_iterations(session: Session, wanted: Collection[IterationKey], columns: Select[Any]) -> list[Any]:
    """Return ``columns`` of these iterations, condemned or not."""
    key = tuple(_ITERATIONS.c[name] for name in ("tenant_id", "origin", "transaction_id", "transaction_counter"))
    # A counter below zero: it is condemned.
    either = [(*one[:3], sign * one[3]) for one in sorted(wanted) for sign in (1, -1)]
    return await read_among(session, key, either, columns.where)


_RECORD_ROWS = select(*(_ITERATIONS.c[name] for name in StoredRecord._fields))


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
