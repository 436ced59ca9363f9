"""What a workbook has in its cells is what was given, as far as a spreadsheet can hold it."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from lxml import etree

from promenade.web.http import workbooks
from promenade.web.http.workbooks import Workbook

_X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def _sheets(*rows: list[Any]) -> list[list[list[str]]]:
    """Return the texts of the cells of all rows of all sheets, as a spreadsheet reads them."""
    book = Workbook("List", ["heading"])
    data = b"".join([book.begin(), *(book.add(row) for row in rows), book.end()])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = sorted(name for name in archive.namelist() if "worksheets" in name)
        sheets = [etree.fromstring(archive.read(name)) for name in names]
    return [[[_read(cell) for cell in row] for row in sheet.iter(f"{_X}row")] for sheet in sheets]


def _read(cell: etree._Element) -> str:
    """Return a text with its escapes resolved (ECMA-376, part 1, 22.9.2.19)."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found.group(1), 16)), "".join(cell.itertext()))


@pytest.mark.parametrize("text", ["_x003D_1+1", "_x0041_", "__x0041__", "_x41_", "a_x005F_x0041_", "plain_x"])
def test_a_text_that_looks_like_an_escape_is_read_as_it_was_given(text: str) -> None:
    assert _sheets([text])[0][1] == [text]


@pytest.mark.parametrize("sign", ["a", "\N{GRINNING FACE}"])
def test_a_text_is_cut_where_a_cell_ends(sign: str) -> None:
    ((_, (found,)),) = _sheets([sign * 40_000])
    units = len(sign.encode("utf-16-le")) // 2
    assert found == sign * (32_767 // units)


def test_what_exceeds_a_sheet_goes_on_on_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "ROWS_MAX", 3)
    found = _sheets(*([str(number)] for number in range(5)))
    assert found == [[["heading"], ["0"], ["1"]], [["heading"], ["2"], ["3"]], [["heading"], ["4"]]]
