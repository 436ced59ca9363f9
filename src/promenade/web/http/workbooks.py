"""Rows as a workbook (Office Open XML), made as they come: no row is kept once it was given away."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape, quoteattr

ROWS_MAX = 1_048_576
"""Rows of one sheet; what is more goes on on the next one."""

_TEXT_MAX = 32_767  # of a cell: characters of UTF-16, as spreadsheets count
_DIGITS_MAX = 15  # of a number; longer ones would lose some, so they are texts
_EPOCH = date(1899, 12, 30)
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # readers take `_x0041_` for an A
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
# Formats of cells: plain, day, day and time as the reader's region writes them, bold.
_STYLES = f"""{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font></fonts>\
<fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders>\
<cellStyleXfs count="1"><xf/></cellStyleXfs>\
<cellXfs count="4"><xf/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/>\
<xf fontId="1" applyFont="1"/></cellXfs>\
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"""
_DAY, _MOMENT, _BOLD = 1, 2, 3


class _Sink:
    """A file that can only be written, and gives away what it has got."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing is kept open."""

    def taken(self) -> bytes:
        """Return what was written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data


class Workbook:
    """A workbook of one table; `begin`, `add` and `end` return the next bytes of the file.

    Times are those of the reader's zone already, without one.
    """

    def __init__(self, title: str, labels: Sequence[str]) -> None:
        self._title = re.sub(r"[\[\]:*?/\\']", " ", title)[:25] or "List"
        self._labels = labels
        self._sink = _Sink()
        self._archive = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)
        self._sheets = 0
        self._rows = 0

    def begin(self) -> bytes:
        """Begin the file."""
        self._open_sheet()
        return self._sink.taken()

    def add(self, row: Sequence[Any]) -> bytes:
        """Add a row."""
        if self._rows == ROWS_MAX:
            self._close_sheet()
            self._open_sheet()
        self._write([_row(row)])
        self._rows += 1
        return self._sink.taken()

    def end(self) -> bytes:
        """End the file."""
        self._close_sheet()
        for name, text in self._parts():
            self._archive.writestr(name, text)
        self._archive.close()
        return self._sink.taken()

    def _open_sheet(self) -> None:
        self._sheets += 1
        self._sheet = self._archive.open(f"xl/worksheets/sheet{self._sheets}.xml", "w", force_zip64=True)
        frozen = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/>'
        self._write([f'{_HEAD}<worksheet xmlns="{_MAIN}">{frozen}</sheetView></sheetViews><sheetData>'])
        self._write(["<row>", *(_text(one, _BOLD) for one in self._labels), "</row>"])
        self._rows = 1

    def _close_sheet(self) -> None:
        self._write(["</sheetData></worksheet>"])
        self._sheet.close()

    def _write(self, lines: Sequence[str]) -> None:
        self._sheet.write("".join(lines).encode())

    def _parts(self) -> Iterator[tuple[str, str]]:
        """Yield the small files of the workbook beside its sheets."""
        numbers = range(1, self._sheets + 1)
        names = [self._title if number == 1 else f"{self._title} {number}" for number in numbers]
        sheets = "".join(
            f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>'
            for number, name in zip(numbers, names, strict=True)
        )
        links = "".join(
            f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
            for number in numbers
        )
        links += f'<Relationship Id="styles" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        overrides = "".join(
            f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_TYPES}.worksheet+xml"/>'
            for number in numbers
        )
        yield "xl/styles.xml", _STYLES
        workbook = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'
        yield "xl/workbook.xml", _HEAD + workbook
        yield "xl/_rels/workbook.xml.rels", _relations(links)
        to_workbook = f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        yield "_rels/.rels", _relations(to_workbook)
        types = (
            f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>{overrides}</Types>'
        )
        yield "[Content_Types].xml", types


def _relations(links: str) -> str:
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


def _row(values: Sequence[Any]) -> str:
    return f"<row>{''.join(map(_cell, values))}</row>"


def _cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, datetime):
        days = (value.date() - _EPOCH).days + (value.hour * 3600 + value.minute * 60 + value.second) / 86_400
        return f'<c s="{_MOMENT}"><v>{days:.6f}</v></c>'
    if isinstance(value, date):
        return f'<c s="{_DAY}"><v>{(value - _EPOCH).days}</v></c>'
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, (int, Decimal)):
        text = format(value, "f") if isinstance(value, Decimal) else str(value)
        if len(text.strip("-").replace(".", "")) <= _DIGITS_MAX:
            return f"<c><v>{text}</v></c>"
    return _text(str(value))


def _text(text: str, style: int = 0) -> str:
    """Return a cell that is a text whatever it begins with: such a cell is never computed."""
    clean = escape(_ESCAPE.sub("_x005F_", _fitting(_ILLEGAL.sub("", text))))
    return f'<c t="inlineStr" s="{style}"><is><t xml:space="preserve">{clean}</t></is></c>'


def _fitting(text: str) -> str:
    """Return as much of a text as a cell can hold."""
    if len(text) <= _TEXT_MAX // 2:
        return text
    return text.encode("utf-16-le")[: 2 * _TEXT_MAX].decode("utf-16-le", "ignore")
