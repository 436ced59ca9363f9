"""Literals in URLs, and values in bodies."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from odata_server.edm import Primitive
from odata_server.errors import ODataError
from odata_server.expressions import EnumLiteral, JsonLiteral, Literal
from odata_server.parse import parse_literal, parse_value

GUID = "01234567-89ab-cdef-0123-456789abcdef"

LITERALS: dict[str, tuple[Any, Primitive | str | None]] = {
    "null": (None, None),
    "true": (True, Primitive.BOOLEAN),
    "FALSE": (False, Primitive.BOOLEAN),
    "0": (0, Primitive.INT32),
    "+7": (7, Primitive.INT32),
    "-2147483648": (-(2**31), Primitive.INT32),
    "2147483648": (2**31, Primitive.INT64),
    "-9223372036854775808": (-(2**63), Primitive.INT64),
    "9223372036854775808": (Decimal(2**63), Primitive.DECIMAL),
    "007": (7, Primitive.INT32),
    "2.50": (Decimal("2.50"), Primitive.DECIMAL),
    "-0.1": (Decimal("-0.1"), Primitive.DECIMAL),
    "1e5": (1e5, Primitive.DOUBLE),
    "-1.5E-3": (-1.5e-3, Primitive.DOUBLE),
    "INF": (float("inf"), Primitive.DOUBLE),
    "-INF": (float("-inf"), Primitive.DOUBLE),
    "''": ("", Primitive.STRING),
    "'O''Neil'": ("O'Neil", Primitive.STRING),
    "''''": ("'", Primitive.STRING),
    "'Käse 🧀; (a,b)/&'": ("Käse 🧀; (a,b)/&", Primitive.STRING),
    "'line\nbreak'": ("line\nbreak", Primitive.STRING),
    GUID.upper(): (GUID, Primitive.GUID),
    f"'{GUID.upper()}'": (GUID.upper(), Primitive.STRING),
    "2026-02-28": (date(2026, 2, 28), Primitive.DATE),
    "23:59": (time(23, 59), Primitive.TIME_OF_DAY),
    "23:59:59.5": (time(23, 59, 59, 500_000), Primitive.TIME_OF_DAY),
    "23:59:59.123456789012": (time(23, 59, 59, 123_456), Primitive.TIME_OF_DAY),
    "2026-01-01T00:00Z": (datetime(2026, 1, 1, tzinfo=UTC), Primitive.DATE_TIME_OFFSET),
    "2026-01-01T00:00:00.25+02:00": (datetime(2025, 12, 31, 22, 0, 0, 250_000, UTC), Primitive.DATE_TIME_OFFSET),
    "2016-12-31T23:59:60Z": (datetime(2017, 1, 1, tzinfo=UTC), Primitive.DATE_TIME_OFFSET),
    "duration'P1DT2H3M4.5S'": (timedelta(days=1, hours=2, minutes=3, seconds=4.5), Primitive.DURATION),
    "DURATION'-PT1S'": (timedelta(seconds=-1), Primitive.DURATION),
    "binary'Zm8'": (b"fo", Primitive.BINARY),
    "binary'-_8='": (b"\xfb\xff", Primitive.BINARY),
    "geography'SRID=0;Point(1 2)'": ("SRID=0;Point(1 2)", "Edm.GeographyPoint"),
    "geometry'SRID=0;GeometryCollection(Point(1 2),GeometryCollection(Point(3 4)))'": (
        "SRID=0;GeometryCollection(Point(1 2),GeometryCollection(Point(3 4)))",
        "Edm.GeometryCollection",
    ),
}


@pytest.mark.parametrize(("given", "meant"), LITERALS.items())
def test_a_literal_is_parsed_into_a_value_and_a_type(given: str, meant: tuple[Any, Primitive | str | None]) -> None:
    found = parse_literal(given)
    assert found == Literal(*meant)
    assert isinstance(found, Literal)
    assert type(found.value) is type(meant[0])


def test_a_literal_of_an_enumeration_is_its_members() -> None:
    assert parse_literal("N.Color'Red,-1'") == EnumLiteral("N.Color", ("Red", "-1"))


def test_a_literal_can_be_json() -> None:
    assert parse_literal('["a",{"b":1}]') == JsonLiteral(["a", {"b": 1}])


@pytest.mark.parametrize(
    "given",
    [
        "",
        "a",
        "a/b",
        "@p",
        "(1)",
        "1 2",
        "duration'P1Y'",
        "duration'P'",
        "duration'PT'",
        "binary'Z'",
        "binary'Zh=='",
        "geography'Point(1 2)'",
        "geography'SRID=0;Point(1)'",
        "geography'SRID=0;GeometryCollection(Point(1 2)'",
        "duration'P999999999DT999999999H'",
        "-duration'P1D'",
        "1:2",
        "NULL",
    ],
)
def test_an_invalid_literal_is_refused(given: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_literal(given)
    assert refusal.value.status == 400


VALUES: list[tuple[Primitive, str, Any]] = [
    (Primitive.BOOLEAN, "true", True),
    (Primitive.BOOLEAN, "TRUE", None),
    (Primitive.BYTE, "255", 255),
    (Primitive.BYTE, "256", None),
    (Primitive.SBYTE, "-129", None),
    (Primitive.INT32, "2147483648", None),
    (Primitive.INT64, "9223372036854775807", 2**63 - 1),
    (Primitive.INT32, "1.0", None),
    (Primitive.DECIMAL, "1e2", Decimal("1e2")),
    (Primitive.DECIMAL, "INF", None),
    (Primitive.DOUBLE, "-INF", float("-inf")),
    (Primitive.GUID, GUID.upper(), GUID),
    (Primitive.GUID, GUID[:-1], None),
    (Primitive.DATE, "2026-02-29", None),
    (Primitive.TIME_OF_DAY, "12:00:00", time(12)),
    (Primitive.DATE_TIME_OFFSET, "2026-01-01", None),
    (Primitive.DURATION, "PT1H", timedelta(hours=1)),
    (Primitive.BINARY, "Zg==", b"f"),
    (Primitive.STRING, "'as is'", "'as is'"),
]


@pytest.mark.parametrize(("kind", "given", "meant"), VALUES)
def test_a_value_is_read_by_its_type(kind: Primitive, given: str, meant: Any) -> None:
    assert parse_value(given, kind) == meant
