"""The quoted row of an error: no secrets, at most 10 KB, and always valid JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from promenade import model
from promenade.errors import Detail
from promenade.workflows.imports.rows import PAYLOAD_BYTES_MAX, RowReporter
from tests.workflows.imports.rows.dock import Dock, text_of


async def test_an_error_does_not_quote_secrets(dock: Dock) -> None:
    kind = await dock.desk.given("CouponTypes")
    rows: list[Any] = [
        {"code": "HUSH-1", "couponType_ID": kind, "status": "REDEEMED", "Code": "HUSH-2", "couponcode": ["HUSH-3"]},
        {"code": 4711471147, "couponType_ID": kind},
        {"code": ["HUSH-4"], "couponType_ID": kind},
        {"code": "HUSH-5" + "x" * 80, "couponType_ID": kind},
        b'["HUSH-6"]',
    ]
    portion = await dock.bring("CouponCodes", rows)
    assert {one.number for one in portion.faults} == {1, 2, 3, 4, 5}
    assert "HUSH" not in repr(portion)
    assert "47114711" not in repr(portion)
    assert json.loads(portion.faults[0].payload or "") == {"couponType_ID": kind, "status": "REDEEMED"}
    rows = [{"code": "T", "genericCode": "HUSH-7"}, {"code": "T", "name": "n", "genericCode": 4711471147}]
    portion = await dock.bring("CouponTypes", rows)
    assert "HUSH" not in repr(portion)
    assert "47114711" not in repr(portion)
    assert json.loads(portion.faults[0].payload or "") == {"code": "T"}
    assert portion.faults[0].name == "T"


def told(set_name: str, row: Any) -> str | None:
    payload = RowReporter(model.entity(set_name)).payload(text_of(row))
    if payload is not None:
        json.loads(payload)
        assert len(payload.encode()) <= PAYLOAD_BYTES_MAX
        assert "\0" not in payload
    return payload


def test_an_error_quotes_the_row_as_received() -> None:
    row = b'{"code": "a", "unknown": 1.10, "big":123456789012345678901234567890, "deep": {"a" : [1e400]}}'
    payload = told("Budgets", row)
    assert payload is not None
    assert json.loads(payload, parse_float=Decimal) == json.loads(row, parse_float=Decimal)
    assert "1.10" in payload


def test_long_rows_are_cut_and_stay_json() -> None:
    long = {"code": "a", "description": "x" * 1_000_000, "name": "b", "deep": [{"a": "y" * 50}] * 500}
    payload = told("Budgets", long)
    assert payload is not None
    found = json.loads(payload)
    assert (found["code"], found["name"]) == ("a", "b")
    assert found["description"] == "(1000002 bytes)"
    assert told("Budgets", {f"member {number}": "z" * 100 for number in range(10_000)})


def test_a_value_that_is_not_an_object_is_quoted_if_short_and_not_secret() -> None:
    assert told("Budgets", b'"text"') == '"text"'
    assert told("Budgets", [1] * 10_000) is None
    assert told("CouponCodes", b'"text"') is None


def test_a_fault_fits_its_table() -> None:
    faults = RowReporter(model.entity("Budgets")).faults(
        7, b'{"code": "' + b"c" * 5000 + b'"}', [Detail("CODE", "m" * 5000, "t" * 5000), Detail("OTHER", "m")]
    )
    assert [len(one.message) for one in faults] == [2000, 1]
    assert [one.property and len(one.property) for one in faults] == [255, None]
    assert {len(one.name) for one in faults} == {255}
    assert [one.payload is None for one in faults] == [False, False]


def test_many_faults_of_a_long_row_do_not_multiply_it() -> None:
    row = b'{"code": "' + b"c" * 3000 + b'"}'
    faults = RowReporter(model.entity("Budgets")).faults(7, row, [Detail("CODE", "m")] * 500)
    assert len(faults) == 50
    assert [one.payload is not None for one in faults] == [True] * 3 + [False] * 47
