"""What is told of an import: of each row that failed, of each article of a batch, and how far the job is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from promenade.store.authored import Columns
from promenade.store.import_outcomes import Counts, note_counts
from promenade.store.import_work import ImportClaim
from promenade.store.unit import Session
from promenade.workflows.imports.importing import Portion, RowFault

__all__ = ["TOLD_IN_FULL", "counted", "failed_rows", "note_portion", "storable"]

TOLD_IN_FULL = 100
"""Rows of a job of which all faults are kept; of those that fail after them each one's first."""

_PROPERTY_MAX, _CODE_MAX, _MESSAGE_MAX, _NUMBER_MAX = 255, 50, 2000, 50


def failed_rows(faults: Sequence[RowFault]) -> int:
    """How many rows have faults; a row may have several."""
    return len({fault.number for fault in faults})


def counted(held: ImportClaim, portion: Portion) -> Counts:
    """The job's counts with another portion."""
    failed = held.rows_failed + failed_rows(portion.faults)
    return Counts(held.rows_succeeded + len(portion.stored), failed)


async def note_portion(
    session: Session, held: ImportClaim, portion: Portion, counts: Counts, *, at: datetime, new_id: Callable[[], str]
) -> None:
    """Write, in the unit that stored a portion, what became of each of its rows and how far the job is."""
    signed = {"job_id": held.job_id, "created_at": at, "created_by": held.user, "modified_at": at,
              "modified_by": held.user}  # fmt: skip
    errors = [{"id": new_id(), **_error(fault), **signed} for fault in _told(portion.faults, held.rows_failed)]
    items: list[Columns] = []
    if held.source == "POS_BATCH":
        items = [{"id": new_id(), **item, **signed} for item in _items(portion)]
    await note_counts(session, held.job_id, counts, at, errors=errors, items=items)


def _told(faults: Sequence[RowFault], failed_before: int) -> list[RowFault]:
    """What is kept of the faults of a portion: a request of a few megabytes is not to fill gigabytes with them."""
    rows: dict[int, int] = {}
    told: list[RowFault] = []
    for fault in faults:
        is_first = fault.number not in rows
        if rows.setdefault(fault.number, failed_before + len(rows)) < TOLD_IN_FULL or is_first:
            told.append(fault)
    return told


def _error(fault: RowFault) -> Columns:
    return {
        "row_number": fault.number,
        "property": None if fault.property is None else storable(fault.property, _PROPERTY_MAX),
        "code": fault.code[:_CODE_MAX],
        "message": storable(fault.message, _MESSAGE_MAX),
        "payload": None if fault.payload is None else storable(fault.payload),
    }


def _items(portion: Portion) -> list[Columns]:
    """One for each article, in the order of the rows; of one with several faults the first is told.

    Items know no row number: what has no article number is told by the number of its row.
    """
    told: dict[int, Columns] = {}
    for one in portion.stored:
        told[one.number] = _item(one.name, "created" if one.is_new else "updated", None)
    for fault in portion.faults:
        message = fault.message if fault.name else f"Row {fault.number}: {fault.message}"
        told.setdefault(fault.number, _item(fault.name, "failed", storable(message, _MESSAGE_MAX)))
    return [told[number] for number in sorted(told)]


def _item(name: str, status: str, error: str | None) -> Columns:
    return {"article_number": storable(name, _NUMBER_MAX) or None, "status": status, "error": error}


def storable(text: str, length: int | None = None) -> str:
    """Text that both databases take, cut to a length: what clients send may hold what is no character."""
    return text[:length].encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
