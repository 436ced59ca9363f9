"""What a store notes with each of its shares, in the column ``last_answer`` of its `store_shares`, as JSON."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from promenade.store.sync.shares import Share
from promenade.workflows.replica.allotting import Habit


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """The local state of a share.

    ``asked`` is what the pending request wants (None: the reserve), ``codes`` the codes that it is about;
    ``filled_at``: when the reserve was last asked for, ``refused_at``: when a sale last lacked what the cloud did not
    have either. ``habit`` is the store's use by past days, up to the amount ``seen``; ``halvings`` and, where
    the habit has none, ``piece`` are what the cloud said last.
    """

    filled_at: datetime | None = None
    asked: Decimal | None = None
    codes: tuple[str, ...] = ()
    refused_at: datetime | None = None
    habit: Habit = Habit()
    seen: Decimal | None = None
    halvings: int = 0
    piece: Decimal = Decimal(0)


def note_of(share: Share) -> Note:
    """Decode the note of a share."""
    return Note() if share.last_answer is None else _DECODER.decode(share.last_answer)


def encode_note(note: Note) -> bytes:
    """Encode a note for storage."""
    return _ENCODER.encode(note)


def change_note(note: Note, **changes: Any) -> Note:
    """Return the note with some fields changed."""
    changed: Note = msgspec.structs.replace(note, **changes)
    return changed


_DECODER = msgspec.json.Decoder(Note)
_ENCODER = msgspec.json.Encoder()
