"""Bounds on one request: under a second of processor time and 64 MiB, whatever it contains (reliability X1)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import ServedShop, Shop, basket, fault, faults, item

MEBIBYTE = 1024 * 1024
PAIR = {"key": "k", "value": "v"}


def filled(unit: str, size: int = 10 * MEBIBYTE - 1024) -> bytes:
    """Return a good basket beside an unknown member that holds as many ``unit`` as fit into ``size`` bytes."""
    many = ",".join([unit] * (size // (len(unit) + 1)))
    return json.dumps(basket(unknown=0)).replace('"unknown": 0', f'"unknown": [{many}]').encode()


def lines(count: int, **changes: Any) -> bytes:
    return json.dumps(basket(items=[item(**changes)] * count), separators=(",", ":")).encode()


def seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def mebibytes(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@pytest.mark.alone
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (filled("[]"), "TOO_MANY_VALUES"),
        (filled("{}"), "TOO_MANY_VALUES"),
        (filled('{"a":1}'), "TOO_MANY_VALUES"),
        (filled("1.5"), "TOO_MANY_VALUES"),
        (filled("[" * 60 + "]" * 60), "TOO_MANY_VALUES"),
        (filled("[]", 350_000).replace(b'"quantity": 2', b'"quantity": 0'), "VALIDATION_FAILED"),
        (filled('{"a":1.5}', 1_000_000).replace(b'"quantity": 2', b'"quantity": 0'), "VALIDATION_FAILED"),
        (filled('{"a":1,"a":1}', 1_000_000), "DUPLICATE_KEY"),
        (b"[" * 10 * MEBIBYTE, "TOO_MANY_VALUES"),
        (lines(100_000), "TOO_MANY_VALUES"),
        (lines(5_000, additionalFields=[{"k": 1}] * 100), "TOO_MANY_VALUES"),
        (lines(5_000, additionalFields=[{"k": 1}] * 15), "VALIDATION_FAILED"),
        (lines(5_000, additionalFields=[PAIR] * 10).replace(b'"quantity":2', b'"quantity":0'), "VALIDATION_FAILED"),
        (lines(4_500, additionalFields=[PAIR] * 14)[:-3] + b',{"articleNumber":1}]}}', "VALIDATION_FAILED"),
    ],
    ids=lambda value: repr(value[-60:])[:90] if isinstance(value, bytes) else value,
)
def test_no_invalid_body_is_expensive(shop: ServedShop, body: bytes, code: str) -> None:
    shop.call("/pos/v2/simulate", basket())  # everything is loaded
    pid = shop.service.pid
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # reset the peak
    used, held = seconds(pid), mebibytes(pid, "VmRSS")
    assert fault(shop.call("/pos/v2/evaluate", body))[:2] == (400, code)
    assert seconds(pid) - used < 1
    assert mebibytes(pid, "VmHWM") - held < 64


def test_at_most_fifty_faults_are_reported(shop: Shop) -> None:
    answer = shop.call("/pos/v2/evaluate", basket(items=[{}] * 1_000))
    assert len(answer.json()["error"]["details"]) == 50


def test_as_many_lines_as_there_may_be_are_priced(shop: Shop) -> None:
    answer = shop.call("/pos/v2/simulate", lines(5_000, additionalFields=[PAIR] * 10))
    assert len(answer.json()["lineItems"]) == 5_000


@pytest.mark.parametrize(
    "items",
    [
        [item(unitPrice="9999999999999.99", quantity=2)],
        [item(unitPrice="9999999999999.99", quantity=-999_999_999_999)],
        [item(unitPrice=5_000_000_000_000, quantity=1)] * 2,
    ],
)
def test_a_basket_beyond_the_maximum_total_is_refused(shop: Shop, items: list[Any]) -> None:
    answer = shop.call("/pos/v2/evaluate", basket(items=items))
    assert fault(answer) == (400, "VALIDATION_FAILED", "items")
    assert faults(answer) == {("OUT_OF_RANGE", "items")}


def test_the_greatest_price_is_priced(shop: Shop) -> None:
    answer = shop.call("/pos/v2/evaluate", basket(items=[item(articleNumber="B", unitPrice="9999999999999.99",
                                                              quantity=1)]))  # fmt: skip
    assert b'"grandTotal":{"value":9999999999999.99,' in answer.content


def test_an_address_over_eight_kibibytes_is_refused(shop: Shop) -> None:
    assert shop.call("/pos/heartbeat?" + "x" * 8_000).status_code == 200
    assert fault(shop.call("/pos/heartbeat?" + "x" * 8_192)) == (400, "URL_TOO_LONG", None)


def test_an_error_has_no_empty_members(shop: Shop) -> None:
    assert set(shop.call("/pos/nowhere").json()["error"]) == {"code", "message"}
    assert set(shop.call("/pos/v2/evaluate", {}).json()["error"]) == {"code", "message", "target"}
    assert b"null" not in shop.call("/pos/v2/evaluate", basket(items=[{}])).content
