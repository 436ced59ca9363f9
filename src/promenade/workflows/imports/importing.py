"""The interface of row importers: store a portion of received rows and return a result for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from promenade.store.driver.unit import Session
from promenade.store.imports.parts import NumberedRow

__all__ = ["NumberedRow", "Portion", "RowFault", "RowImporter", "Stored"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored row: its number, its ID, and whether it is new."""

    number: int
    id: str
    is_new: bool
    name: str = ""  # its natural key, such as the articleNumber


@dataclass(frozen=True, slots=True)
class RowFault:
    """An error in a row, as shown in ImportJobErrors; a row may have several.

    ``property`` is its path within the row (``conditions/0/threshold``); ``payload`` the row without secrets, as JSON.
    """

    number: int
    property: str | None
    code: str
    message: str
    payload: str | None
    name: str = ""  # its natural key, if readable


@dataclass(frozen=True, slots=True)
class Portion:
    """The results of some rows: each row is either in ``stored`` or in ``faults``, in the order of their numbers."""

    stored: tuple[Stored, ...] = ()
    faults: tuple[RowFault, ...] = ()


class RowImporter(Protocol):
    """Stores rows of one entity set, each validated exactly like a single create.

    ``rows_max``: the maximum number of rows per call.
    """

    rows_max: int = 250

    def prepare(self, rows: Sequence[NumberedRow]) -> None:
        """Do the work that needs no database for the rows to be stored next, before their unit of work begins."""
        return

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        """Store a portion of rows within the unit of work of ``session``; it may be repeated from the start.

        ``keep_good``: valid rows are stored, faulty ones not at all. Otherwise one faulty row fails the portion: the
        faults of the first faulty row are returned, and the caller rolls the unit back. Row faults never raise; only
        database errors do.
        """
        ...
