"""The lines and promotions of logs, which are packed, are read like rows of a table: compared with a plain list."""

from __future__ import annotations

import random
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.driver.session import Database, Session
from promenade.store.odata.services import reader_for
from promenade.store.sales.calculation_logs import insert_log
from promenade.store.sales.log_parts import packed_line, packed_promotion, part_id, thousandths

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIZES = (3, 1, 0, 20, 12, 300, 2, 5)
COMMON, SOME, LAST = (str(uuid.UUID(int=number)) for number in (1, 2, 3))
Rows = list[dict[str, Any]]


class Till:
    """Logs of a tenant, and what is expected of their lines and promotions."""

    def __init__(self, database: Database, draw: random.Random) -> None:
        self.database = database
        self.lines: Rows = []
        self.promotions: Rows = []
        self._draw = draw

    async def sell(self, tenant: str, number: int, size: int) -> None:
        log_id = str(uuid.UUID(int=self._draw.getrandbits(128), version=4))
        at = NOW + timedelta(minutes=number)
        lines = [(f"{place}", f"A{self._draw.randrange(9)}", self._draw.randrange(-5, 900)) for place in range(size)]
        granted = [COMMON] * (size > 0) + [SOME] * (number % 3 == 0) + [LAST] * (size == SIZES[-1])
        log = {
            "id": log_id, "transaction_id": f"T{number}", "transaction_counter": 1, "status": "CALCULATED",
            "subtotal": Decimal(1), "discount": Decimal(0), "grand_total": Decimal(1), "currency": "EUR",
            "evaluated_at": at, "confirmed_at": at, "source": "btp", "origin": "cloud",
        }  # fmt: skip
        packed = [
            packed_line(one, article, None, 1000, 999, net * 10, 0, net * 10, None) for one, article, net in lines
        ]
        promotions = [packed_promotion(one, f"é {one}", 4, 1500, None, 0, None, "PILOT", None) for one in granted]
        await self.database.write(
            lambda session: insert_log(session, log, packed, promotions, at=at, block=number // 3), tenant=tenant
        )
        for place, (reference, article, net) in enumerate(lines):
            key = part_id("CalculationLogItems", log_id, place)
            row = {"ID": key, "log_ID": log_id, "lineReference": reference, "articleNumber": article}
            self.lines.append(row | {"lineNet": Decimal(net).scaleb(-2), "at": at})
        for place, one in enumerate(granted):
            key = part_id("CalculationLogPromotions", log_id, place)
            self.promotions.append({"ID": key, "log_ID": log_id, "promotion_ID": one, "at": at})

    async def read(self, path: str, options: str = "", page: int = 10_000, tenant: str = "acme") -> Rows:
        """Return the rows of all pages."""
        target = resolve(edm_for(Service.REPORTING), parse_path(path), {}).target
        assert target is not None
        found: Rows = []
        query = Query(target=target, options=parse_options(options), page_size=page, now=NOW)
        while True:

            async def work(session: Session, query: Query = query) -> Any:
                return await reader_for(Service.REPORTING).read(session, query)

            rows = await self.database.read(work, tenant=tenant)
            found += rows.items
            if rows.next_token is None:
                return found
            query = replace(query, options=replace(query.options, skiptoken=rows.next_token))


@pytest.fixture
async def till(database: Database, seed: int) -> Till:
    opened = Till(database, random.Random(seed))
    theirs = Till(database, random.Random(seed))  # with the same IDs
    for number, size in enumerate(SIZES):
        await opened.sell("acme", number, size)
        await theirs.sell("other", number, size)
    return opened


def keys(rows: Rows) -> list[str]:
    return [row["ID"] for row in rows]


async def test_lines_are_read_in_pages_in_the_order_of_their_ids(till: Till) -> None:
    expected = sorted(till.lines, key=lambda row: row["ID"])
    for options, wanted in (
        ("", expected),
        ("$orderby=ID desc", expected[::-1]),
        ("$orderby=ID&$skip=5", expected[5:]),
    ):
        found = await till.read("CalculationLogItems", options, page=7)
        assert keys(found) == keys(wanted), options
        assert [{name: row[name] for name in one if name != "at"} for row, one in zip(found, wanted, strict=True)] == [
            {name: one[name] for name in one if name != "at"} for one in wanted
        ]
    by_article = sorted(till.lines, key=lambda row: (row["articleNumber"], row["ID"]))
    assert keys(await till.read("CalculationLogItems", "$orderby=articleNumber", page=11)) == keys(by_article)


async def test_lines_are_found_by_id(till: Till) -> None:
    ordered = sorted(keys(till.lines))
    for one in ordered[::40]:
        (row,) = await till.read(f"CalculationLogItems({one})")
        assert row["ID"] == one
        assert keys(await till.read("CalculationLogItems", f"$filter=ID eq {one.upper()}")) == [one]
        assert (
            keys(await till.read("CalculationLogItems", f"$filter=ID gt {one}&$top=5"))
            == [other for other in ordered if other > one][:5]
        )
        assert len(await till.read("CalculationLogItems", f"$filter=not (ID eq {one})")) == len(ordered) - 1
    for some in (ordered[:3], ordered[::2][:120], ordered[:230]):
        assert keys(await till.read("CalculationLogItems", f"$filter=ID in ({','.join(some)})")) == some
    assert await till.read(f"CalculationLogItems({ordered[0][:-4]}ffff)") == []
    assert await till.read(f"CalculationLogPromotions({ordered[0]})") == []


async def test_promotions_are_found_in_every_block(till: Till) -> None:
    def of(*promotions: str) -> list[str]:
        return sorted(row["ID"] for row in till.promotions if row["promotion_ID"] in promotions)

    for filter_, expected in (
        (f"promotion_ID eq {COMMON}", of(COMMON)),
        (f"promotion_ID eq {LAST}", of(LAST)),
        (f"promotion_ID in ({SOME},{LAST})", of(SOME, LAST)),
        (f"promotion_ID ne {COMMON}", of(SOME, LAST)),
        (f"not (promotion_ID eq {COMMON})", of(SOME, LAST)),
        (f"promotion_ID eq {LAST} or promotionName eq 'é {SOME}'", of(SOME, LAST)),
        (f"promotion_ID eq {uuid.UUID(int=9)}", []),
    ):
        assert keys(await till.read("CalculationLogPromotions", f"$filter={filter_}", page=2)) == expected, filter_
    logs = {row["log_ID"] for row in till.promotions if row["promotion_ID"] == SOME}
    found = await till.read("CalculationLogs", f"$filter=promotions/any(p:p/promotion_ID eq {SOME})")
    assert set(keys(found)) == logs
    since = NOW + timedelta(minutes=3)
    late = [row for row in till.promotions if row["at"] >= since]
    sums_since = (
        f"filter(log/confirmedAt ge {since:%Y-%m-%dT%H:%M:%SZ})/aggregate($count as n,totalDiscount with sum as s)"
    )
    (sums,) = await till.read("CalculationLogPromotions", f"$apply={sums_since}")
    assert sums == {"n": len(late), "s": Decimal("1.5") * len(late)}


async def test_the_parts_of_logs_are_expanded(till: Till) -> None:
    options = "$expand=items($count=true;$top=2;$orderby=lineNet desc,ID;$select=ID),promotions&$orderby=confirmedAt"
    logs = await till.read("CalculationLogs", options, page=3)
    assert [log["items@count"] for log in logs] == list(SIZES)
    for log in logs:
        own = [row for row in till.lines if row["log_ID"] == log["ID"]]
        own.sort(key=lambda row: (-row["lineNet"], row["ID"]))
        assert keys(log["items"]) == keys(own)[:2]
        assert keys(log["promotions"]) == keys([row for row in till.promotions if row["log_ID"] == log["ID"]])


async def test_another_tenants_parts_are_not_read(till: Till) -> None:
    assert await till.read("CalculationLogItems", tenant="third") == []
    assert await till.read("CalculationLogPromotions", f"$filter=promotion_ID eq {COMMON}", tenant="third") == []


def test_an_amount_that_no_column_holds_is_refused() -> None:
    assert thousandths(-12, 2) == -120
    assert thousandths(5, 0) == 5000
    assert thousandths(120, 4) == 12
    for minor, exponent in ((10**17, 2), (7, 4)):
        with pytest.raises(ValueError, match=r"many|decimals"):
            thousandths(minor, exponent)
