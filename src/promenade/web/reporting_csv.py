"""Rows as comma-separated values (RFC 4180) that a spreadsheet takes for what they are: no text becomes a formula."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

__all__ = ["cell", "csv_line", "csv_pieces"]

PIECE_CHARACTERS = 64 * 1024
_END = "\r\n"

# What makes a spreadsheet compute, at the beginning of a cell. Where lists are separated by semicolons or tabs, a text
# that holds one may be cut there, whatever stands in quotes: what follows may not begin a formula either, and quotes
# of its own may be taken for those around a cell.
_FORMULA = re.compile(r"(?:^(\s*)|([;\t\r\n])([ \"]*))(?=[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=\s*[\t\r\n])")
_QUOTED = re.compile(r"[\",;\r\n\t]|^\s|\s$")


def cell(value: Any) -> str:
    """A value as a cell: exact, times in UTC, nothing for None; what would begin a formula gets an apostrophe before.

    Raises TypeError for what reports do not hold.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        text = _FORMULA.sub(r"\2'\1\3", value)
        return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no value of a report")


def csv_line(values: Sequence[Any]) -> str:
    """One line, with its end."""
    return ",".join(map(cell, values)) + _END


async def csv_pieces(
    columns: Sequence[str], rows: AsyncIterator[Mapping[str, Any]], size: int = PIECE_CHARACTERS
) -> AsyncIterator[str]:
    """The header line and the rows in pieces of whole lines, each of about ``size`` characters."""
    lines = [csv_line(columns)]
    length = len(lines[0])
    async for row in rows:
        line = csv_line([row[name] for name in columns])
        lines.append(line)
        length += len(line)
        if length >= size:
            yield "".join(lines)
            lines.clear()
            length = 0
    if lines:
        yield "".join(lines)
