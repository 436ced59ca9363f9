"""What an importer of rows is: given a portion of rows as they were received, it stores them and tells of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from promenade.store.import_parts import NumberedRow
from promenade.store.unit import Session

__all__ = ["NumberedRow", "Portion", "RowFault", "RowImporter", "Stored"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A row that was stored: its number, the ID it has now, and whether it is new."""

    number: int
    id: str
    is_new: bool
    name: str = ""  # its natural key, such as the articleNumber


@dataclass(frozen=True, slots=True)
class RowFault:
    """Something that is wrong with a row, as ImportJobErrors tells it; a row may have several.

    ``property`` is its path within the row (``conditions/0/threshold``); ``payload`` the row without secrets, as JSON.
    """

    number: int
    property: str | None
    code: str
    message: str
    payload: str | None
    name: str = ""  # its natural key, where it could be read


@dataclass(frozen=True, slots=True)
class Portion:
    """What became of some rows: each is in one of the two, in the order of their numbers."""

    stored: tuple[Stored, ...] = ()
    faults: tuple[RowFault, ...] = ()


class RowImporter(Protocol):
    """Stores rows of one entity set, each validated exactly as a single create of it is.

    ``rows_max``: so many rows it should be given at a time, at most.
    """

    rows_max: int = 250

    def prepare(self, rows: Sequence[NumberedRow]) -> None:
        """Do what needs no database with rows that are to be stored next, before a unit of work begins for them."""
        return

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        """Store a portion of rows within the unit of work of ``session``; it may be repeated from the start.

        ``keep_good``: what is good is stored, and nothing of what is not. Otherwise one faulty row is enough for
        nothing to count: the faults of the first faulty row are told, and the caller rolls the unit back.
        Row faults never raise; what raises is trouble of the database.
        """
        ...
