"""What is told of a row that could not be stored: the row itself, without secrets, and not more of it than needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from promenade.errors import Detail
from promenade.model.declare import PUBLIC, EntityType
from promenade.workflows.imports.importing import RowFault

__all__ = ["FAULTS_MAX", "PAYLOAD_BYTES_MAX", "Telling"]

FAULTS_MAX = 50
"""Of one row so many faults are told, as of one request."""

PAYLOAD_BYTES_MAX = 10 * 1024
"""Of a row so much is kept with its fault."""

_PROPERTY_MAX = 255
_MESSAGE_MAX = 2000
_NAME_MAX = 255
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)


class Telling:
    """Tells of rows of one entity set. ``key`` is the wire name of its natural key, if it has a single one."""

    def __init__(self, entity: EntityType) -> None:
        fields = {one.wire: one for one in entity.fields}
        self._secrets = {wire for wire, one in fields.items() if not one.shown_in(PUBLIC) and not one.virtual}
        # A secret may stand under a name that is misspelt; what is not known is not shown beside secrets.
        self._shown = fields.keys() - self._secrets | {one.property_wire for one in entity.links}
        self.key = entity.field(entity.natural_key[0]).wire if entity.natural_key else None

    def name(self, text: bytes, row: Mapping[str, Any] | None = None) -> str:
        """The row's natural key, as far as it can be read and is no secret."""
        if self.key is None or self.key in self._secrets:
            return ""
        if row:
            return str(row.get(self.key) or "")[:_NAME_MAX]
        try:
            return _TEXT.decode(_MEMBERS.decode(text)[self.key])[:_NAME_MAX]
        except (msgspec.MsgspecError, UnicodeError, KeyError, RecursionError):
            return ""

    def faults(self, number: int, text: bytes, details: Sequence[Detail]) -> list[RowFault]:
        """The faults of one row, at most `FAULTS_MAX`.

        Each has the row with it, as long as all copies of it fit into `PAYLOAD_BYTES_MAX`; the first has it always.
        """
        payload, name = self.payload(text), self.name(text)
        copies = max(1, PAYLOAD_BYTES_MAX // max(1, len((payload or "").encode())))
        return [
            RowFault(
                number,
                None if one.target is None else one.target[:_PROPERTY_MAX],
                one.code,
                self._message(one)[:_MESSAGE_MAX],
                payload if place < copies else None,
                name,
            )
            for place, one in enumerate(details[:FAULTS_MAX])
        ]

    def _message(self, fault: Detail) -> str:
        """A value of another type is quoted by its fault, unless it is a secret."""
        if fault.target in self._secrets and fault.code == "TYPE_MISMATCH":
            return f"{fault.target}: It is of another type."
        return fault.message

    def payload(self, text: bytes) -> str | None:
        """A row as JSON of at most `PAYLOAD_BYTES_MAX` bytes: without secrets, with long members cut out."""
        try:
            members = _MEMBERS.decode(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None if self._secrets or len(text) > PAYLOAD_BYTES_MAX else _plain(text)
        if self._secrets:
            members = {name: value for name, value in members.items() if name in self._shown}
        kept: dict[str, Any] = {}
        left = PAYLOAD_BYTES_MAX - 2
        for name, value in members.items():
            size = len(bytes(value))
            told: Any = value if size <= left // 2 else f"({size} bytes)"
            left -= len(msgspec.json.encode({name: told}))
            if left < 0:
                break
            kept[name] = told
        return _plain(msgspec.json.encode(kept))


def _plain(text: bytes) -> str:
    """As text that both databases store."""
    return text.decode("utf-8", "replace").replace("\0", "\ufffd")
