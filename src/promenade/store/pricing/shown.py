"""What reports count of an evaluation: the advice that it returned, with its total, in some dozen bytes.

They are stored beside the record, in the column ``advice``, so that counting a sale need not unpack its evaluations.
The bytes are MessagePack of (currency, exponent, grand total, advice), and the advice is 17 bytes for each: a letter
for its kind, and the promotion's ID. Most evaluations of a transaction return the same advice; one that is stored as
the difference from a base then leaves it out. Names are not in it: a report that shows them has them of the promotions.

Where the column does not tell, the record does: in rows of older programs, which have nothing in it; of kinds of advice
that only newer ones know; and if there is no base any more, as after an erasure, which writes records anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

import msgspec

from promenade.engine.outcome import Outcome

GAP, NEAR_MISS, NUDGE, SAVING, FREE_ITEM = "GAP", "NEAR_MISS", "NUDGE", "SAVING", "FREE_ITEM"

Advised = tuple[str, str]
"""Kind of advice, promotion."""

_LETTERS = {GAP: b"G", NEAR_MISS: b"M", NUDGE: b"N", SAVING: b"S", FREE_ITEM: b"F"}
_KINDS = {letter[0]: kind for kind, letter in _LETTERS.items()}
_LENGTH = 17
_ENTRIES_MAX = 10_000  # in memory, some hundred bytes each
_SETS_MAX = 1_000


class _Of(msgspec.Struct, frozen=True):
    """Anything that names a promotion."""

    promotion_id: str
    promotion_name: str


class _Recommendation(_Of, frozen=True):
    kind: str


class _Applied(_Of, frozen=True):
    discount_minor: int


class _Line(msgspec.Struct, frozen=True):
    free_promotion_id: str | None = None


class _Outcome(msgspec.Struct, frozen=True):
    """The part of a stored `engine.outcome.Outcome` that reports count; most of it is skipped."""

    currency: str
    exponent: int
    grand_total_minor: int
    lines: tuple[_Line, ...]
    applied: tuple[_Applied, ...]
    granted: tuple[_Of, ...]
    recommendations: tuple[_Recommendation, ...]
    gaps: tuple[_Of, ...]
    nudges: tuple[_Of, ...]


def _advice_of(outcome: Outcome | _Outcome) -> dict[Advised, str]:
    """Return the advice shown, each once, with the promotion's name, which may be empty for a line's free item."""
    found = {(FREE_ITEM, one.free_promotion_id): "" for one in outcome.lines if one.free_promotion_id is not None}
    found |= {(SAVING, one.promotion_id): one.promotion_name for one in outcome.applied if one.discount_minor > 0}
    found |= {(FREE_ITEM, one.promotion_id): one.promotion_name for one in outcome.granted}
    found |= {
        (NEAR_MISS, one.promotion_id): one.promotion_name
        for one in outcome.recommendations
        if one.kind == "NEAR_MISS" and one.promotion_id
    }
    found |= {(GAP, one.promotion_id): one.promotion_name for one in outcome.gaps}
    return found | {(NUDGE, one.promotion_id): one.promotion_name for one in outcome.nudges}


class Shown(NamedTuple):
    """What reports count of an evaluation. ``names`` are those of promotions; if it was read of a digest, none."""

    currency: str
    exponent: int
    grand_total_minor: int
    advice: Collection[Advised]
    names: Mapping[str, str] = MappingProxyType({})


# ---- to store -------------------------------------------------------------------------------------------------------


_ENCODER = msgspec.msgpack.Encoder()


class Digest(NamedTuple):
    """What is stored beside a price; ``entries`` are the advice."""

    currency: str
    exponent: int
    grand_total_minor: int
    entries: bytes

    def stored(self, base: Digest | None = None) -> bytes:
        """Return the column ``advice``; ``base`` is what was stored beside the base of the record, if it has one."""
        return _ENCODER.encode(self[:3] if base is not None and self.entries == base.entries else self)


def digest_of(outcome: Outcome) -> Digest | None:
    """Return what to store beside a price; None: not all promotions have UUIDs, and the record has to tell."""
    try:
        entries = b"".join(sorted(map(_entry, _advice_of(outcome))))
    except ValueError:
        return None
    return Digest(outcome.currency, outcome.exponent, outcome.grand_total_minor, entries)


@lru_cache(_ENTRIES_MAX)
def _entry(advised: Advised) -> bytes:
    kind, promotion_id = advised
    number = UUID(promotion_id)
    if str(number) != promotion_id:
        raise ValueError(promotion_id)
    return _LETTERS[kind] + number.bytes


# ---- to read --------------------------------------------------------------------------------------------------------


class Told(msgspec.Struct, frozen=True, array_like=True):
    """The column ``advice``, decoded. ``entries`` None: they are those of the base."""

    currency: str
    exponent: int
    grand_total_minor: int
    entries: bytes | None = None

    def shown(self, of_base: bytes | None) -> Shown | None:
        """Return what it says; ``of_base`` are the entries of the base, if there is one. None: ask the record."""
        entries = of_base if self.entries is None else self.entries
        advice = None if entries is None else _advice(entries)
        return None if advice is None else Shown(self.currency, self.exponent, self.grand_total_minor, advice)


decode_told = msgspec.msgpack.Decoder(Told).decode
_RECORD = msgspec.msgpack.Decoder(tuple[msgspec.Raw, msgspec.Raw, msgspec.Raw, str, _Outcome])


def shown_in_record(content: bytes) -> Shown:
    """Return what reports count of an evaluation whose record, unpacked, is ``content``."""
    outcome = _RECORD.decode(content)[4]
    advice = _advice_of(outcome)
    names = {promotion_id: name for (_, promotion_id), name in advice.items() if name}
    return Shown(outcome.currency, outcome.exponent, outcome.grand_total_minor, advice.keys(), names)


@lru_cache(_SETS_MAX)
def _advice(entries: bytes) -> Collection[Advised] | None:
    found = [_advised(entries[at : at + _LENGTH]) for at in range(0, len(entries), _LENGTH)]
    known = [one for one in found if one is not None]
    return frozenset(known) if len(known) == len(found) else None


@lru_cache(_ENTRIES_MAX)
def _advised(entry: bytes) -> Advised | None:
    """Return a piece of advice; None: of a kind that this program does not know."""
    kind = _KINDS.get(entry[0])
    return None if kind is None or len(entry) != _LENGTH else (kind, str(UUID(bytes=entry[1:])))
