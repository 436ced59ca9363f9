"""Unique keys and IDs; and which rows of the same request a row may rely on.

Normally the rows of a call are one whole: they may refer to each other, and trade keys. Rows of an import are checked
in order, as if each came alone: a row may rely on valid rows before it, and on nothing after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from promenade.errors import Conflict, Detail
from promenade.store.authoring.statements import find_keys, read_ids
from promenade.workflows.authoring.checks import unknown_reference
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write

_ID = ("id",)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A key that a write wants for its row, and the ID of the row that already has it, if any."""

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
    """Check that no other row has the same unique key or client-chosen ID; one statement per key."""
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
    """Return the claims of ``writes`` on one key; a key that contains a ``new`` owner cannot be taken."""
    wanted: list[tuple[tuple[Any, ...], Write]] = []
    for write in writes:
        if write.act is Act.DELETE or not write.differs(*columns):
            continue
        key = tuple([write.after[column] for column in columns])
        if None not in key:
            wanted.append((key, write))
    if not wanted:
        return []
    # Rows that this call deletes or changes release their old keys.
    moved = {write.id for write in writes if write.before is not None and write.differs(*columns)}
    owner = shape_of(set_name).owner_column
    at = columns.index(owner) if owner in columns else None
    sought = {key for key, _ in wanted if at is None or key[at] not in new}
    found = await find_keys(unit.session, set_name, columns, sought) if sought else []
    holders = {key: row_id for row_id, key in found if row_id not in moved}
    return [_Claim(write, columns, key, holders.get(key)) for key, write in wanted]


def already_exists(write: Write, columns: Sequence[str]) -> Conflict:
    """Return the fault of a key that another row has; the message omits the key, which may be a secret."""
    target = write.target(_naming(columns, write))
    names = " and ".join(write.shape.wires[column] for column in columns)
    return Conflict("ALREADY_EXISTS", f"Another row of {write.set_name} has this {names}.", target)


def _naming(columns: Sequence[str], write: Write) -> str:
    """Return the column to report: one that the request contains."""
    return next((column for column in reversed(columns) if column in write.given), columns[-1])


# ---- in turn ------------------------------------------------------------------------------------------------------


def _judge_in_turn(unit: Unit, writes: Sequence[Write], claims: Sequence[_Claim]) -> None:
    """Check the rows' keys and references in order; rows with other faults claim no key."""
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
    """The rows created and the keys claimed by the valid rows so far."""

    def __init__(self, writes: Sequence[Write], stored: set[tuple[Any, ...]]) -> None:
        self._new = {(write.set_name, write.id) for write in writes if write.act is Act.CREATE}
        self._sets = {set_name for set_name, _ in self._new}
        self._stored = stored
        self._made: set[tuple[str, str]] = set()
        self._held: dict[tuple[Any, ...], Write] = {}

    def judge(self, writes: Sequence[Write], claims: Sequence[_Claim], *, keeps: bool) -> list[Detail | Conflict]:
        """Return the faults of one row; if it has none and ``keeps`` its claims, later rows may rely on it."""
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
        """Yield the faults of references to rows that do not exist yet, or never will."""
        own = {(write.set_name, write.id) for write in writes}
        for write in writes:
            for set_name, column in write.shape.references:
                if set_name not in self._sets or column not in write.given:
                    continue
                named = (set_name, write.after[column])
                is_stored = named in self._made or named in own or (set_name, _ID, (named[1],)) in self._stored
                if named in self._new and not is_stored:
                    yield unknown_reference(write.target(column))
