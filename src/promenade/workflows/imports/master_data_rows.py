"""Rows of master data: those whose item has no known action code are refused, articles are made of the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct, json

from promenade.store.driver.unit import Session
from promenade.workflows.imports.importing import NumberedRow, Portion, RowFault, RowImporter
from promenade.workflows.imports.master_data import ACTION_CODE, ACTION_CODES, UPSERT

_SHOWN_MAX = 50  # characters of an unknown code


class _Item(Struct, rename={"action_code": ACTION_CODE, "number": "articleNumber"}):
    """What is read of a row. ``action_code`` is what the item has instead of a known one; None: it is an upsert."""

    action_code: str | None = None
    number: str = ""


_DECODER = json.Decoder(_Item)


class MasterDataImporter(RowImporter):
    """Refuses items without a known action code, and passes all others to the importer of articles."""

    def __init__(self, articles: RowImporter) -> None:
        self._articles = articles
        self.rows_max = articles.rows_max

    def prepare(self, rows: Sequence[NumberedRow]) -> None:
        """See `RowImporter`."""
        self._articles.prepare(_split(rows)[0])

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        """See `RowImporter`; messages of master data always keep good rows."""
        articles, refused = _split(rows)
        portion = await self._articles.store(session, articles, at=at, keep_good=keep_good) if articles else Portion()
        faults = sorted([*portion.faults, *refused], key=lambda fault: fault.number)
        return Portion(portion.stored, tuple(faults))


def _split(rows: Sequence[NumberedRow]) -> tuple[list[NumberedRow], list[RowFault]]:
    articles, refused = list[NumberedRow](), list[RowFault]()
    for row in rows:
        item = _DECODER.decode(row.text)
        if item.action_code is None:
            articles.append(row)
        else:
            refused.append(_fault(row, item.action_code, item.number))
    return articles, refused


def _fault(row: NumberedRow, code: str, number: str) -> RowFault:
    known = f"Its action code must be one of {', '.join(ACTION_CODES)}; {UPSERT} stores the article"
    message = f"{known}. It has none." if not code else f"{known}. It has {code[:_SHOWN_MAX]}."
    payload = row.text.decode("utf-8", "replace")
    return RowFault(row.number, ACTION_CODE, "UNKNOWN_ACTION_CODE", message, payload, number)
