"""Which rows of an import have a key that an earlier row has: by mistake, mostly, so both rows and the key are named.

For most entities the later row is ALREADY_EXISTS; for the others it has changed what the earlier one stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from promenade.model.declare import PUBLIC, EntityType
from promenade.workflows.imports.importing import NumberedRow, Portion, RowFault

TOLD_MAX = 5
"""So many rows that change what an earlier one has stored are told one by one."""

_ID = "ID"
_SHOWN_MAX = 100  # characters of a key


class RepeatedKeys:
    """The keys of an import's rows, which come in their order; rows that come again change nothing."""

    def __init__(self, entity: EntityType) -> None:
        fields = {one.name: one for one in entity.fields}
        natural = [fields[name] for name in entity.natural_key]
        self._secret = {one.wire for one in natural if not one.shown_in(PUBLIC)}
        self._natural = natural[0].wire if len(natural) == 1 else None
        self._changes = self._natural if entity.import_upserts else None
        self._wires = (_ID,) if self._natural is None else (_ID, self._natural)
        members = [(f"key{at}", Any, msgspec.field(name=wire, default=None)) for at, wire in enumerate(self._wires)]
        self._decode = msgspec.json.Decoder(msgspec.defstruct("RowKeys", members, gc=False)).decode
        self._first: dict[tuple[str, str], int] = {}
        self._earlier: dict[tuple[int, str], tuple[int, str]] = {}

    def add(self, rows: Iterable[NumberedRow]) -> None:
        """Take note of the keys of rows, the unreadable ones excepted."""
        for row in rows:
            try:
                keys = msgspec.structs.astuple(self._decode(row.text))
            except (msgspec.MsgspecError, UnicodeError, ValueError, RecursionError):
                continue
            for wire, key in zip(self._wires, keys, strict=True):
                if isinstance(key, str) and key:
                    first = self._first.setdefault((wire, key), row.number)
                    if first != row.number:
                        self._earlier[row.number, wire] = first, key

    def named(self, portion: Portion) -> Portion:
        """Return a portion whose faults name the earlier row that has the same key."""
        return replace(portion, faults=tuple([self._named(one) for one in portion.faults]))

    def _named(self, fault: RowFault) -> RowFault:
        found = self._earlier.get((fault.number, fault.property or ""))
        if fault.code != "ALREADY_EXISTS" or found is None:
            return fault
        return replace(fault, message=f"Rows {found[0]} and {fault.number} have the same {self._shown(fault, found)}.")

    def _shown(self, fault: RowFault, found: tuple[int, str]) -> str:
        wire = fault.property or ""
        return wire if wire in self._secret else f"{wire}: {found[1][:_SHOWN_MAX]}"

    def sentence(self) -> str:
        """Return what the rows that change an earlier one are told with; empty: there is none."""
        changes = sorted((number, *found) for (number, wire), found in self._earlier.items() if wire == self._changes)
        if not changes:
            return ""
        told: Sequence[str] = [f"{key[:_SHOWN_MAX]} (rows {first} and {number})" for number, first, key in changes]
        more = f" and {len(told) - TOLD_MAX} more" if len(told) > TOLD_MAX else ""
        return f" The same {self._changes} twice, so that the later row counts: {', '.join(told[:TOLD_MAX])}{more}."
