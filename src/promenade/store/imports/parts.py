"""Rows of imports as received: JSON texts, a thousand or two per part, compressed.

Rows are never parsed into objects here: they are cut out of the text and joined again as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import delete, insert, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.zstd import compressor, decompress

PART_ROWS = 2_000  # large, because each part costs one or two units of work, whatever its size
PART_BYTES = 2**20  # of JSON; a part holds at least one row, however long

_PARTS = table("import_parts")
_JOBS = table("ImportJobs")
_TEXTS = msgspec.json.Decoder(list[msgspec.Raw])
_LEVEL = 1  # rows resemble each other: a higher level hardly reduces the size


@dataclass(frozen=True, slots=True)
class NumberedRow:
    """A row of a request: its number, counted from 1, and its JSON text."""

    number: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a request: ``part`` counts from 0, ``first_row`` from 1.

    ``row_numbers`` are their numbers if rows of the request were left out, None if they are consecutive; ``rows`` is a
    JSON array, compressed (Zstandard).
    """

    part: int
    first_row: int
    row_count: int
    row_numbers: list[int] | None
    rows: bytes


def pack(rows: Iterable[bytes], numbers: Iterable[int] | None = None) -> Iterator[Part]:
    """Yield parts of at most `PART_ROWS` rows and `PART_BYTES`, built lazily.

    ``rows`` must be JSON texts, each a complete value. ``numbers`` are their row numbers, ascending; without them, rows
    are counted from 1. No rows: no parts.
    """
    counted = numbers is None
    compress = compressor(_LEVEL)
    texts: list[bytes] = []
    named: list[int] = []
    size = part = 0
    for number, text in enumerate(rows, start=1) if numbers is None else zip(numbers, rows, strict=True):
        if texts and (len(texts) == PART_ROWS or size + len(text) > PART_BYTES):
            yield _part(part, texts, named, counted, compress)
            part, size, texts, named = part + 1, 0, [], []
        texts.append(text)
        named.append(number)
        size += len(text) + 1
    if texts:
        yield _part(part, texts, named, counted, compress)


def _part(
    part: int, texts: Sequence[bytes], numbers: list[int], counted: bool, compress: Callable[[bytes], bytes]
) -> Part:
    packed = compress(b"[" + b",".join(texts) + b"]")
    return Part(part, numbers[0], len(texts), None if counted else numbers, packed)


def unpack(part: Part) -> list[NumberedRow]:
    """Return the rows of a part with their numbers, each as its JSON text."""
    texts = _TEXTS.decode(decompress(part.rows))
    numbers = part.row_numbers or range(part.first_row, part.first_row + part.row_count)
    return [NumberedRow(number, bytes(text)) for number, text in zip(numbers, texts, strict=True)]


async def stage(session: Session, job_id: str, parts: Sequence[Part], *, at: datetime) -> None:
    """Insert parts of a job; the job need not exist yet."""
    rows = [
        {
            "job_id": job_id,
            "part": part.part,
            "first_row": part.first_row,
            "row_count": part.row_count,
            "row_numbers": part.row_numbers,
            "rows": part.rows,
            "received_at": at,
        }
        for part in parts
    ]
    await session.execute_many(insert(_PARTS), rows)


async def read_part(session: Session, job_id: str, number: int) -> Part | None:
    """Return a part of a job, counted from 0; None: there are no more."""
    rows = await session.execute(
        select(_PARTS.c.part, _PARTS.c.first_row, _PARTS.c.row_count, _PARTS.c.row_numbers, _PARTS.c.rows).where(
            _PARTS.c.job_id == job_id, _PARTS.c.part == number
        )
    )
    return Part(*tuple(rows[0])) if rows else None


async def drop_parts(session: Session, job_id: str) -> None:
    """Delete all parts of a job."""
    await session.rowcount(delete(_PARTS).where(_PARTS.c.job_id == job_id))


async def drop_staged(session: Session, job_id: str) -> None:
    """Delete the parts of a job that was never created; parts of an existing job are kept."""
    there = select(_JOBS.c.id).where(_JOBS.c.id == job_id).exists()
    await session.rowcount(delete(_PARTS).where(_PARTS.c.job_id == job_id, ~there))
