"""The files that lists are exported as: CSV and workbooks, made a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Any, Literal, Protocol

from promenade.web.http.csv import PIECE_CHARACTERS, csv_line

Format = Literal["csv", "xlsx"]

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

_ROWS_TOGETHER = 50  # are written before a till's request may run
_BYTE_ORDER_MARK = "\ufeff"  # without it spreadsheets take UTF-8 for something older


class File(Protocol):
    """A file that is made as its rows come; each method returns the next bytes."""

    def begin(self) -> bytes:
        """Begin the file."""
        ...

    def add(self, row: Sequence[Any]) -> bytes:
        """Add a row."""
        ...

    def end(self) -> bytes:
        """End the file."""
        ...


class CsvFile:
    """Comma-separated values; ``is_marked``: with the byte order mark by which spreadsheets know UTF-8."""

    def __init__(
        self, labels: Sequence[str], *, separator: str = ",", decimal: str = ".", is_marked: bool = True
    ) -> None:
        self._signs = separator, decimal
        self._labels = labels
        self._mark = _BYTE_ORDER_MARK if is_marked else ""

    def begin(self) -> bytes:
        """Begin the file."""
        return (self._mark + csv_line(self._labels, *self._signs)).encode()

    def add(self, row: Sequence[Any]) -> bytes:
        """Add a row."""
        return csv_line([_plain(one) for one in row], *self._signs).encode()

    def end(self) -> bytes:
        """End the file."""
        return b""


def _plain(value: Any) -> Any:
    """Return a time as every spreadsheet reads it."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value


def in_zone(at: datetime, zone: tzinfo) -> datetime:
    """Return a time as clocks of the zone show it; the last hours of the year 9999 as in UTC, where that has an end."""
    with suppress(OverflowError):
        at = at.astimezone(zone)
    return at.replace(tzinfo=None, microsecond=0)


def portions(file: File, rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield the bytes of rows, few rows at a time: neither memory nor the tills' requests wait for a whole page."""
    held = bytearray()
    for number, row in enumerate(rows, start=1):
        held += file.add(row)
        if number % _ROWS_TOGETHER == 0 or len(held) >= PIECE_CHARACTERS:
            yield bytes(held)
            held.clear()
    yield bytes(held)


def file_headers(name: str, form: Format, at: datetime) -> list[tuple[bytes, bytes]]:
    """Return the headers of a file of the list ``name``."""
    charset = "; charset=utf-8" if form == "csv" else ""
    return [
        (b"content-type", f"{MEDIA_TYPES[form]}{charset}".encode()),
        (b"content-disposition", f'attachment; filename="{name}-{at.date().isoformat()}.{form}"'.encode()),
        (b"cache-control", b"no-store"),
    ]
