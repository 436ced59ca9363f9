"""How far a store is: the text that goes back and forth with ``GET /sync/promotions``, opaque to the store.

A cursor is made of versions of the tenant's catalogue (`changes`) and, inside a download of several pages, of the
place reached. One that cannot be read, or is another tenant's, is none.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime

import msgspec

from promenade.store.driver.types import maybe_moment, to_microseconds
from promenade.store.pricing.changes import Version

CURSOR_LENGTH_MAX = 200
# Version of the text format and of the order of `ROOTS` that positions refer to; a store whose cursor has another
# version starts over.
_FORM = 1
_Counters = tuple[int, int, int | None]
_Written = tuple[int, bytes, _Counters, bool, _Counters | None, int, str]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in the order in which rows are sent: the index of the root in `ROOTS`, and the row's ID."""

    root: int = 0
    id: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in the download of the changes that bring a store up to date.

    ``since`` is the version that the store has, or will have when the download that has come to ``place`` is
    complete.
    ``full``: the download sends all rows. Otherwise it sends the changes after ``since`` up to ``until``; None: it has
    not started.
    """

    since: Version
    full: bool = False
    until: Version | None = None
    place: Place = Place()

    @property
    def is_within(self) -> bool:
        """Return whether the cursor stands between two pages of one download."""
        return self.full or self.until is not None


def write_cursor(cursor: Cursor, tenant_id: str) -> str:
    """Return a cursor as text; equal cursors give the same text."""
    written: _Written = (
        _FORM,
        _mark(tenant_id),
        _counters(cursor.since),
        cursor.full,
        None if cursor.until is None else _counters(cursor.until),
        cursor.place.root,
        cursor.place.id,
    )
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(written)).rstrip(b"=").decode()


def read_cursor(text: str | None, tenant_id: str) -> Cursor | None:
    """Parse a text that `write_cursor` returned for the same tenant; return None for any other text."""
    if not text or len(text) > CURSOR_LENGTH_MAX or not text.isascii():
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        form, mark, since, full, until, root, row_id = msgspec.msgpack.decode(raw, type=_Written)
        if form != _FORM or mark != _mark(tenant_id) or root < 0 or "\0" in row_id:
            return None
        last = None if until is None else _version(until)
        return Cursor(_version(since), full, last, Place(root, row_id))
    except (ValueError, OverflowError, msgspec.MsgspecError):
        return None


def _mark(tenant_id: str) -> bytes:
    """Return a mark that distinguishes tenants.

    It is not a security measure: every read is limited to the caller's tenant.
    """
    return hashlib.sha256(tenant_id.encode()).digest()[:6]


def _counters(version: Version) -> _Counters:
    at: datetime | None = version.changed_at
    return version.promotions, version.articles, None if at is None else to_microseconds(at)


def _version(counters: _Counters) -> Version:
    promotions, articles, at = counters
    if not (0 <= promotions < 2**63 and 0 <= articles < 2**63):
        raise ValueError("counters beyond what the database counts")
    return Version(promotions, articles, maybe_moment(at))
