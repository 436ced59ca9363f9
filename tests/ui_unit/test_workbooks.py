"""An import reads a workbook (XLSX) to the letter and the last digit, and refuses what is none by a code."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promenade.web.http.workbooks import Workbook

Read = Callable[[bytes], dict[str, Any]]

CODES = {
    "FILE_BROKEN", "FILE_PROTECTED", "FILE_OLD_FORMAT", "FILE_NOT_A_WORKBOOK", "FILE_DECLARES_ENTITIES",
    "FILE_UNPACKED_TOO_LARGE",
}  # fmt: skip
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


@pytest.fixture(scope="module")
def read(node: str) -> Iterator[Read]:
    """Return what reads a workbook, in one process for all tests of this module."""
    script = str(Path(__file__).with_name("read_workbooks.mjs"))
    with subprocess.Popen([node, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        into, out = process.stdin, process.stdout

        def reading(file: bytes) -> dict[str, Any]:
            into.write(base64.b64encode(file) + b"\n")
            into.flush()
            found: dict[str, Any] = json.loads(out.readline())
            return found

        yield reading
        into.close()


# ---- what the back office itself has written -------------------------------------------------------------------------


def _exported(labels: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    book = Workbook("Articles", labels)
    return b"".join([book.begin(), *(book.add(row) for row in rows), book.end()])


def _expected(value: Any) -> str:
    """Return what a CSV file would hold."""
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return _plain(value)
    return value.strftime("%Y-%m-%d %H:%M:%S") if isinstance(value, datetime) else str(value)


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text


TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t", exclude_characters="\ufffe\uffff")
)
AMOUNTS = st.decimals(min_value=Decimal(-(10**9)), max_value=Decimal(10**9), places=4)
DAYS = st.dates(min_value=date(1901, 1, 1))
MOMENTS = st.datetimes(min_value=datetime(1901, 1, 1)).map(lambda one: one.replace(microsecond=0))  # noqa: DTZ001
CELLS = st.none() | TEXTS | AMOUNTS | DAYS | MOMENTS | st.integers(0, 10**15 - 1)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8))
def test_what_is_exported_is_read_back_exactly(read: Read, rows: list[tuple[Any, ...]]) -> None:
    numbered = [(number, *row) for number, row in enumerate(rows, 1)]
    found = read(_exported(["row", "a", "b", "c"], numbered))
    assert found["rows"] == [["row", "a", "b", "c"], *(_cut([*map(_expected, row)]) for row in numbered)]
    assert found["sheet"] == "Articles"


def _cut(cells: list[str]) -> list[str]:
    """Return cells without the empty ones at the end."""
    while cells and not cells[-1]:
        cells.pop()
    return cells


# ---- what others have written ----------------------------------------------------------------------------------------


def _packed(parts: dict[str, str | bytes], *, flags: int = 0) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    data = file.getvalue()
    return data.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00" + bytes([flags, 0]))


def _parts(
    cells: str, *, styles: str = "", texts: str = "", sheets: str = "", properties: str = "", beside: str = ""
) -> dict[str, str | bytes]:
    """Return the parts of a workbook whose second sheet has one row of headings and the row of ``cells``."""
    listed = sheets or '<sheet name="Empty" sheetId="1" r:id="r1"/><sheet name="Full" sheetId="2" r:id="r2"/>'
    office = f"{_OFFICE}/"
    return {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="a" Type="{office}officeDocument" '
        'Target="/xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{properties}'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">'
        f'<Relationship Id="r1" Type="{office}worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{office}worksheet" Target="worksheets/../worksheets/sheet2.xml"/>'
        f'<Relationship Id="s" Type="{office}styles" Target="styles.xml"/>'
        f'<Relationship Id="t" Type="{office}sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{texts}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData/></worksheet>',
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{_MAIN}"><sheetData><row><c t="str"><v>A</v></c>'
        f'<c t="str"><v>B</v></c></row><row>{cells}</row>{beside}</sheetData></worksheet>',
    }


def _row(read: Read, cells: str, **others: str) -> list[str]:
    """Return the second row of a workbook."""
    row: list[str] = read(_packed(_parts(cells, **others)))["rows"][1]
    return row


@given(st.decimals(min_value=Decimal(-(10**9)), max_value=Decimal(10**9), places=6) | st.decimals(0, 1, places=15))
def test_a_number_has_the_digits_that_were_entered(read: Read, entered: Decimal) -> None:
    """Spreadsheets save a number as a binary one with 17 digits: 2.49 is 2.4900000000000002 in their files."""
    assert _row(read, f"<c><v>{float(entered):.17g}</v></c>") == [_plain(entered)]


@pytest.mark.parametrize(
    ("saved", "expected"),
    [
        ("0.1", "0.1"),
        ("2.4900000000000002", "2.49"),
        ("0.30000000000000004", "0.3"),
        ("4001234567890", "4001234567890"),
        ("4.00123456789E+12", "4001234567890"),
        ("123456789012345678", "123456789012345678"),
        ("1E-3", "0.001"),
        ("-0.0", "0"),
        (" 7 ", "7"),
    ],
)
def test_a_number_is_written_in_full_digits(read: Read, saved: str, expected: str) -> None:
    assert _row(read, f"<c><v>{saved}</v></c>") == [expected]


STYLED = [
    (14, None, "45352", "2024-03-01"),
    (14, None, "45352.5", "2024-03-01 12:00:00"),
    (22, None, "45352.521527777775", "2024-03-01 12:31:00"),
    (20, None, "0.5", "12:00:00"),
    (10, None, "0.19", "19%"),
    (164, "dd/mm/yyyy", "45352", "2024-03-01"),
    (164, "[$-407]d. mmmm yyyy;@", "45352", "2024-03-01"),
    (164, "hh:mm", "0.99999", "23:59:59"),
    (164, "00000", "123", "00123"),
    (164, '#,##0.00\\ "days"', "1234.5", "1234.5"),
    (164, "[Red]0.00", "1.5", "1.5"),
    (164, "General", "1.5", "1.5"),
    (14, None, "-1", "-1"),
    (14, None, "59", "1900-02-28"),
]


@pytest.mark.parametrize(("number", "code", "saved", "expected"), STYLED)
def test_days_times_and_codes_are_read_as_they_are_shown(
    read: Read, number: int, code: str | None, saved: str, expected: str
) -> None:
    told = "" if code is None else code.replace('"', "&quot;")
    codes = f'<numFmts><numFmt numFmtId="{number}" formatCode="{told}"/></numFmts>' if code else ""
    styles = f'{codes}<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf/><xf numFmtId="{number}"/></cellXfs>'
    assert _row(read, f'<c s="1"><v>{saved}</v></c>', styles=styles) == [expected]


def test_days_may_be_counted_from_1904(read: Read) -> None:
    styles = '<cellXfs><xf numFmtId="14"/></cellXfs>'
    assert _row(read, "<c><v>43890</v></c>", styles=styles, properties='<workbookPr date1904="1"/>') == ["2024-03-01"]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('<c t="s"><v>0</v></c>', "0012 é"),
        ('<c t="s"><v>1</v></c>', "richer & <text>"),
        ('<c t="inlineStr"><is><r><t>a</t></r><r><t> b</t></r><rPh><t>spoken</t></rPh></is></c>', "a b"),
        ('<c t="str"><f>A1&amp;"x"</f><v>computed</v></c>', "computed"),
        ('<c t="str"><v><![CDATA[<b>]]>&#228;&#xDF;</v></c>', "<b>äß"),
        ('<c t="b"><v>1</v></c>', "TRUE"),
        ('<c t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c t="str"><v>a_x000D__x005F_x0041_</v></c>', "a\r_x0041_"),
        ('<x:c xmlns:x="y" t="str"><x:v>prefixed</x:v></x:c>', "prefixed"),
        ("<!-- a note --><c t='str'><v>quoted</v></c>", "quoted"),
    ],
)
def test_a_text_is_read_to_the_letter(read: Read, cell: str, expected: str) -> None:
    richer = "<r><t>richer</t></r><r><rPr/><t> &amp; &lt;text&gt;</t></r><rPh><t>spoken</t></rPh>"
    texts = f"<si><t>0012 é</t></si><si>{richer}</si>"
    assert _row(read, cell, texts=texts) == [expected]


def test_cells_stand_where_their_addresses_say_and_empty_rows_are_left_out(read: Read) -> None:
    beside = '<row r="9"/><row r="10"><c r="A10" t="str"><v> </v></c></row>'
    beside += '<row r="12"><c r="ZZ12"><v>5</v></c><c r="B12"><v>6</v></c></row>'
    found = read(_packed(_parts('<c r="B2"><v>1</v></c>', beside=beside)))
    assert found == {"sheet": "Full", "rows": [["A", "B"], ["", "1"], ["", "6"]]}


def test_a_hidden_sheet_is_not_read(read: Read) -> None:
    sheets = '<sheet name="Old" sheetId="2" state="hidden" r:id="r2"/><sheet name="Empty" sheetId="1" r:id="r1"/>'
    assert read(_packed(_parts("<c><v>1</v></c>", sheets=sheets))) == {"sheet": "", "rows": []}


def test_no_more_rows_are_read_than_an_import_may_have(read: Read) -> None:
    found = read(_packed(_parts("", beside="<row><c><v>1</v></c></row>" * 20_000)))
    assert len(found["rows"]) == 10_002


# ---- what is refused -------------------------------------------------------------------------------------------------

_SHEET = "xl/worksheets/sheet2.xml"
_GOOD = _parts("<c><v>1</v></c>")
_COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1016)


def _with(name: str, content: str | bytes) -> bytes:
    return _packed({**_GOOD, name: content})


def _bomb(mebibytes: int) -> bytes:
    return b"<a>" + b" " * (mebibytes * 1024 * 1024) + b"</a>"


def _lying() -> bytes:
    """Return a workbook with a part of a mebibyte that is said to have a thousand bytes."""
    size = len(_bomb(1)).to_bytes(4, "little")
    return _with(_SHEET, _bomb(1)).replace(size, (1000).to_bytes(4, "little"))


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: _COMPOUND + "EncryptedPackage".encode("utf-16-le"), "FILE_PROTECTED"),
        (lambda: _packed(_GOOD, flags=1), "FILE_PROTECTED"),
        (lambda: _COMPOUND + "Workbook".encode("utf-16-le"), "FILE_OLD_FORMAT"),
        (lambda: b"a,b\n1,2\n", "FILE_NOT_A_WORKBOOK"),
        (lambda: _packed({"content.xml": "<office/>"}), "FILE_NOT_A_WORKBOOK"),
        (lambda: _with("xl/workbook.xml", "<document/>"), "FILE_NOT_A_WORKBOOK"),
        (lambda: _packed(_GOOD)[:-60], "FILE_BROKEN"),
        (lambda: b"PK\x03\x04", "FILE_BROKEN"),
        (lambda: _with(_SHEET, "<worksheet><sheetData><row>"), "FILE_BROKEN"),
        (lambda: _with(_SHEET, "<worksheet><sheetData></row></worksheet>"), "FILE_BROKEN"),
        (lambda: _with(_SHEET, b"<worksheet>\xff</worksheet>"), "FILE_BROKEN"),
        (lambda: _packed(_parts("<c><v>one</v></c>")), "FILE_BROKEN"),
        (lambda: _packed(_parts('<c t="s"><v>7</v></c>')), "FILE_BROKEN"),
        (lambda: _packed(_parts('<c r="ZZZZ1"><v>7</v></c>')), "FILE_BROKEN"),
        (lambda: _packed(_parts('<c t="str"><v>&other;</v></c>')), "FILE_BROKEN"),
        (
            lambda: _with(_SHEET, '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'),
            "FILE_DECLARES_ENTITIES",
        ),
        (lambda: _with("xl/sharedStrings.xml", _bomb(129)), "FILE_UNPACKED_TOO_LARGE"),
        (_lying, "FILE_BROKEN"),
        (lambda: _packed({name: one for name, one in _GOOD.items() if "_rels/workbook" not in name}), "FILE_BROKEN"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_code(read: Read, make: Callable[[], bytes], code: str) -> None:
    assert read(make()) == {"code": code}


@given(st.data())
def test_a_damaged_workbook_is_refused_and_never_misread(read: Read, data: st.DataObject) -> None:
    file = bytearray(_packed(_GOOD))
    good = read(bytes(file))
    at = data.draw(st.integers(4, len(file) - 1))
    file[at] ^= data.draw(st.integers(1, 255))
    found = read(bytes(file))
    assert found == good or found.get("code") in CODES
