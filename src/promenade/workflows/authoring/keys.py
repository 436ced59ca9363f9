"""Unique keys: no two rows may hold the same, nor the same ID; and what rows of one request may count on of each other.

Usually the rows of a call are one whole: they may refer to each other, and trade their keys. Rows of an import are
judged in turn, as if each came by itself: it may count on what good rows before it made, and on nothing after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from promenade.errors import Conflict, Detail
from promenade.store.authored import find_keys, read_ids
from promenade.workflows.authoring.checks import unknown_reference
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write

__all__ = ["already_exists", "check_keys"]

_ID = ("id",)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A key that a write wants for its row, and the ID of the row that has it, if one has."""

    write: Write
    columns: tuple[str, ...]
    key: tuple[Any, ...]
    holder: str | None

    @property
    def name(self) -> tuple[Any, ...]:
        return (self.write.set_name, self.columns, self.key)

    @property
    def is_taken(self) -> bool:
        return self.holder is not None and (self.columns == _ID or self.holder != self.write.id)

    @property
    def fault(self) -> Conflict:
        return already_exists(self.write, self.columns)


async def check_keys(unit: Unit, writes: Sequence[Write]) -> None:
    """No other row may hold a unique key, nor an ID that a client chose; one statement per key."""
    by_set: dict[str, list[Write]] = {}
    for write in writes:
        by_set.setdefault(write.set_name, []).append(write)
    claims: list[_Claim] = []
    new = {write.id for write in writes if write.act is Act.CREATE}
    for set_name, each in by_set.items():
        claims += await _claimed_ids(unit, set_name, [write for write in each if write.has_own_id])
        for columns in shape_of(set_name).keys:
            claims += await _claimed_keys(unit, set_name, columns, each, new)
    if unit.faults.in_turn:
        _judge_in_turn(unit, writes, claims)
        return
    held: dict[tuple[Any, ...], Write] = {}
    for claim in claims:
        if claim.is_taken or held.setdefault(claim.name, claim.write) is not claim.write:
            unit.faults.add(claim.fault)


async def _claimed_ids(unit: Unit, set_name: str, created: Sequence[Write]) -> list[_Claim]:
    taken = await read_ids(unit.session, set_name, {write.id for write in created}) if created else set()
    return [_Claim(write, _ID, (write.id,), write.id if write.id in taken else None) for write in created]


async def _claimed_keys(
    unit: Unit, set_name: str, columns: tuple[str, ...], writes: Sequence[Write], new: AbstractSet[str]
) -> list[_Claim]:
    """What ``writes`` claim of one key; nobody else can hold one that belongs to a ``new`` row."""
    wanted: list[tuple[tuple[Any, ...], Write]] = []
    for write in writes:
        if write.act is Act.DELETE or not write.differs(*columns):
            continue
        key = tuple([write.after[column] for column in columns])
        if None not in key:
            wanted.append((key, write))
    if not wanted:
        return []
    # What this call deletes or changes gives its old key free.
    moved = {write.id for write in writes if write.before is not None and write.differs(*columns)}
    owner = shape_of(set_name).owner_column
    at = columns.index(owner) if owner in columns else None
    sought = {key for key, _ in wanted if at is None or key[at] not in new}
    found = await find_keys(unit.session, set_name, columns, sought) if sought else []
    holders = {key: row_id for row_id, key in found if row_id not in moved}
    return [_Claim(write, columns, key, holders.get(key)) for key, write in wanted]


def already_exists(write: Write, columns: Sequence[str]) -> Conflict:
    """The fault of a key that another row holds; it never repeats the key, which may be a secret."""
    target = write.target(_naming(columns, write))
    names = " and ".join(write.shape.wires[column] for column in columns)
    return Conflict("ALREADY_EXISTS", f"Another row of {write.set_name} has this {names}.", target)


def _naming(columns: Sequence[str], write: Write) -> str:
    """The property to name: one that the request gives."""
    return next((column for column in reversed(columns) if column in write.given), columns[-1])


# ---- in turn ------------------------------------------------------------------------------------------------------


def _judge_in_turn(unit: Unit, writes: Sequence[Write], claims: Sequence[_Claim]) -> None:
    """Judge row by row what rows have to do with each other; what is faulty for other reasons holds no key."""
    rows: dict[str, list[Write]] = {}
    for write in writes:
        rows.setdefault(write.place, []).append(write)
    claimed: dict[str, list[_Claim]] = {}
    for claim in claims:
        claimed.setdefault(claim.write.place, []).append(claim)
    turns = _Turns(writes, {claim.name for claim in claims if claim.holder is not None})
    invalid, faulty = unit.faults.invalid, unit.faults.faulty
    for place, each in rows.items():
        if place:
            wanted = () if place in invalid else claimed.get(place, ())
            for fault in turns.judge(each, wanted, keeps=place not in faulty):
                unit.faults.add(fault)


class _Turns:
    """What the good rows so far have made and hold."""

    def __init__(self, writes: Sequence[Write], stored: set[tuple[Any, ...]]) -> None:
        self._new = {(write.set_name, write.id) for write in writes if write.act is Act.CREATE}
        self._sets = {set_name for set_name, _ in self._new}
        self._stored = stored
        self._made: set[tuple[str, str]] = set()
        self._held: dict[tuple[Any, ...], Write] = {}

    def judge(self, writes: Sequence[Write], claims: Sequence[_Claim], *, keeps: bool) -> list[Detail | Conflict]:
        """The faults of one row; without any, and if it ``keeps`` what it claims, the next may count on it."""
        faults: list[Detail | Conflict] = list(self._unknown(writes))
        own: dict[tuple[Any, ...], Write] = {}
        for claim in claims:
            holder = self._held.get(claim.name) or own.setdefault(claim.name, claim.write)
            if claim.is_taken or holder is not claim.write:
                faults.append(claim.fault)
        if keeps and not faults:
            self._made |= {(write.set_name, write.id) for write in writes if write.act is Act.CREATE}
            self._held |= own
        return faults

    def _unknown(self, writes: Sequence[Write]) -> Iterator[Detail]:
        """References to rows that are not there yet, or never will be."""
        own = {(write.set_name, write.id) for write in writes}
        for write in writes:
            for set_name, column in write.shape.references:
                if set_name not in self._sets or column not in write.given:
                    continue
                named = (set_name, write.after[column])
                is_stored = named in self._made or named in own or (set_name, _ID, (named[1],)) in self._stored
                if named in self._new and not is_stored:
                    yield unknown_reference(write.target(column))
