"""Reports as CSV: they read back unchanged, and spreadsheets never evaluate a value as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from promenade.web.http.csv import cell, csv_line, csv_pieces

TEXTS = ("plain", 'say "ten"', "a,b", "two\r\nlines", "two\nlines", " spaces ", "", "é€𝄞", "a;b", '"', ",", "\u2028")


def read_back(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_a_line_is_read_back_as_it_was() -> None:
    assert csv_line(TEXTS).endswith("\r\n")
    assert read_back(csv_line(TEXTS)) == [list(TEXTS)]


def test_values_are_exact_and_times_are_in_utc() -> None:
    noon = datetime(2026, 3, 1, 12, 30, 0, 250000, timezone(timedelta(hours=2)))
    values = (None, True, False, -12, Decimal("-0.50"), Decimal("1E+3"), noon, date(2026, 3, 1), 10**15)
    line = ",true,false,-12,-0.50,1000,2026-03-01T10:30:00.250000Z,2026-03-01,1000000000000000\r\n"
    assert csv_line(values) == line
    assert cell(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00Z"
    with pytest.raises(TypeError):
        cell(object())


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_text_does_not_begin_a_formula(first: str) -> None:
    for text in (f"{first}1+1", f'{first}HYPERLINK("http://evil.example","x")', f"  {first}1+1"):
        ((found,),) = read_back(csv_line([text]))
        assert found.startswith("'"), text
        assert found.replace("'", "", 1) == text


def test_no_part_that_a_spreadsheet_splits_off_begins_a_formula() -> None:
    for text in ("x;=1+1", "x\t@SUM(A1)", "x\r\n=1+1", "x; =1+1", 'x;"=1+1"', 'x; "" =1+1'):
        ((found,),) = read_back(csv_line([text]))
        for part in found.replace("\t", ";").replace("\r\n", ";").split(";"):
            assert part.lstrip(' "')[:1] not in {"=", "+", "-", "@"}, text


def test_a_number_below_zero_and_a_hyphen_inside_stay_as_they_are() -> None:
    assert (
        csv_line([-1, Decimal("-1.50"), "10 - 20", "a=b", "x@example.com"]) == "-1,-1.50,10 - 20,a=b,x@example.com\r\n"
    )


async def test_rows_come_in_pieces_of_whole_lines() -> None:
    async def rows() -> AsyncIterator[Mapping[str, Any]]:
        for number in range(1000):
            yield {"b": number, "a": f"name {number}", "unused": 1}

    pieces = [piece async for piece in csv_pieces(("a", "b"), rows(), size=1000)]
    assert len(pieces) > 10
    assert all(piece.endswith("\r\n") and len(piece) < 1100 for piece in pieces)
    assert read_back("".join(pieces)) == [["a", "b"], *([f"name {n}", str(n)] for n in range(1000))]


async def test_an_export_without_rows_has_a_header() -> None:
    async def rows() -> AsyncIterator[Mapping[str, Any]]:
        nothing: list[Mapping[str, Any]] = []
        for row in nothing:
            yield row

    assert [piece async for piece in csv_pieces(("a", "b"), rows())] == ["a,b\r\n"]
