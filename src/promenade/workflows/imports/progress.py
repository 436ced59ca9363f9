"""Reports on an import: each failed row, each article of a batch, and the job's progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from promenade.store.authoring.statements import Columns
from promenade.store.driver.unit import Session
from promenade.store.imports.outcomes import Counts, note_counts
from promenade.store.imports.work import ImportClaim
from promenade.workflows.imports.importing import Portion, RowFault

FAULTS_IN_FULL = 100
"""Rows of a job of which all faults are kept; of those that fail after them each one's first."""

_PROPERTY_MAX, _CODE_MAX, _MESSAGE_MAX, _NUMBER_MAX = 255, 50, 2000, 50


def failed_rows(faults: Sequence[RowFault]) -> int:
    """Return how many rows have faults; a row may have several."""
    return len({fault.number for fault in faults})


def counted(held: ImportClaim, portion: Portion) -> Counts:
    """Return the job's counts including another portion."""
    failed = held.rows_failed + failed_rows(portion.faults)
    return Counts(held.rows_succeeded + len(portion.stored), failed)


async def note_portion(
    session: Session, held: ImportClaim, portion: Portion, counts: Counts, *, at: datetime, new_id: Callable[[], str]
) -> None:
    """Write the results of a portion's rows and the job's progress, in the unit that stored the portion."""
    signed = {"job_id": held.job_id, "created_at": at, "created_by": held.user, "modified_at": at,
              "modified_by": held.user}  # fmt: skip
    errors = [
        {"id": new_id(), **_error(fault), **signed} for fault in _faults_to_keep(portion.faults, held.rows_failed)
    ]
    items: list[Columns] = []
    if held.source == "POS_BATCH":
        items = [{"id": new_id(), **item, **signed} for item in _items(portion)]
    await note_counts(session, held.job_id, counts, at, errors=errors, items=items)


def _faults_to_keep(faults: Sequence[RowFault], failed_before: int) -> list[RowFault]:
    """Select the faults of a portion to keep: a request of a few megabytes must not fill gigabytes with them."""
    rows: dict[int, int] = {}
    told: list[RowFault] = []
    for fault in faults:
        is_first = fault.number not in rows
        if rows.setdefault(fault.number, failed_before + len(rows)) < FAULTS_IN_FULL or is_first:
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
    """Return one item per article, in the order of the rows, with its first fault if any.

    Items have no row number column: without an article number the message names the row number.
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
    """Return text that both databases can store, cut to a length: clients may send invalid characters."""
    return text[:length].encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
