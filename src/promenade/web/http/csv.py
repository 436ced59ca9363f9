"""Rows as comma-separated values (RFC 4180), safe for spreadsheets: no text becomes a formula."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

PIECE_CHARACTERS = 64 * 1024
_END = "\r\n"

# Characters that start a formula at the beginning of a cell. A spreadsheet that separates lists by semicolons or tabs
# may split a text there despite its quotes: so the text after a separator must not start a formula either, and the
# text's own quotes may be mistaken for those around a cell.
_FORMULA = re.compile(r"(?:^(\s*)|([;\t\r\n])([ \"]*))(?=[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=\s*[\t\r\n])")
_QUOTED = re.compile(r"[\",;\r\n\t]|^\s|\s$")


def cell(value: Any) -> str:
    """Format a value as a cell: exact, times in UTC, None as empty; text that would start a formula gets an apostrophe.

    Raises TypeError for types that do not occur in reports.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        text = harmless(value)
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


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return _FORMULA.sub(r"\2'\1\3", text)


def csv_line(values: Sequence[Any], separator: str = ",", decimal: str = ".") -> str:
    """Return one line with its line end; ``decimal`` is the sign before the decimals of a number."""
    return separator.join(_in_place(cell(one), one, separator, decimal) for one in values) + _END


def _in_place(text: str, value: Any, separator: str, decimal: str) -> str:
    if decimal == "." or not isinstance(value, (int, float, Decimal)):
        return text
    text = text.replace(".", decimal)
    return f'"{text}"' if separator in text else text


async def csv_pieces(
    columns: Sequence[str], rows: AsyncIterator[Mapping[str, Any]], size: int = PIECE_CHARACTERS
) -> AsyncIterator[str]:
    """Yield the header line and the rows in chunks of whole lines, each of about ``size`` characters."""
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
