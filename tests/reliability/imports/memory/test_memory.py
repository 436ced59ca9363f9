"""An import of any size needs little memory: the request is buffered on disk and stored in parts."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartService
from tests.reliability.imports.serving import Tenant, peak_growth, prepare, until_ended

ROWS = 10_000
BYTES = 64 * 2**20 - 2**10
GROWTH_MAX = 300 * 10**6
FOUR_GROWTH_MAX = 300 * 10**6
SOAK = (pytest.mark.soak, pytest.mark.timeout(1_800))
JAR = "\U0001f36f"  # four bytes of UTF-8


def an_article(number: int) -> dict[str, Any]:
    """Return about 6.7 KB of text, spread over all text columns."""
    return {
        "articleNumber": f"A{number}",
        "name": JAR * 250,
        "description": JAR * 990,
        "manufacturer": JAR * 250,
        "manufacturerId": "m" * 250,
        "category": JAR * 80,
    }


def a_condition(number: int, promotions: list[str]) -> dict[str, Any]:
    """Return a condition with enough articles to fill most of its share of the body; its promotion has a hundred."""
    items = [{"articleNumber": f"{number:05}-{item:03}".ljust(40, "x"), "ean": "4006381333931"} for item in range(65)]
    promotion = promotions[number % len(promotions)]
    return {"promotion_ID": promotion, "conditionType": "ARTICLE", "minQuantity": 1, "articleListItems": items}


def write_body(file: Path, rows: list[dict[str, Any]], *, keep_good: bool) -> None:
    """Write a request of nearly 64 MiB, padded with blanks between the rows."""
    texts = [json.dumps(row, ensure_ascii=False).encode() for row in rows]
    share = BYTES // len(rows) - 1
    assert sum(map(len, texts)) > BYTES / 2
    head = f'{{"header":{{"continueOnError":{json.dumps(keep_good)}}},"rows":['.encode()
    file.write_bytes(head + b",".join(text.ljust(share) for text in texts) + b"]}")


def imported(service: Any, tenant: Tenant, entity: str, file: Path) -> None:
    with tenant.asking(service) as http:
        answer = http.post(f"/api/v1/{entity}:bulk-import", content=file.read_bytes())
        assert answer.status_code == 202, answer.text
        job = until_ended(http, answer.json()["statusUrl"], 1_000)
    assert (job["status"], job["rowsSucceeded"], job["rowsFailed"]) == ("SUCCEEDED", job["totalRows"], 0), job


@pytest.mark.parametrize("keep_good", [True, False], ids=["each-for-itself", "all-or-nothing"])
async def test_ten_thousand_long_articles_are_imported_in_little_memory(
    database_url: str, server: StartService, tmp_path: Path, keep_good: bool
) -> None:
    (tenant,) = await prepare(database_url, "long")
    service = server("--database-url", database_url, "--data-dir", str(tmp_path))
    small, large = tmp_path / "small", tmp_path / "large"
    write_body(large, [an_article(number) for number in range(ROWS)], keep_good=keep_good)
    small.write_text('{"rows": [{"articleNumber": "first"}]}')
    imported(service, tenant, "Articles", small)  # so that everything loaded on first use is loaded
    assert large.stat().st_size > 66_000_000
    growth = peak_growth(service.pid, lambda: imported(service, tenant, "Articles", large))
    print(f"grew by {growth / 1e6:.0f} MB")
    assert growth < GROWTH_MAX


async def test_four_concurrent_uploads_need_little_memory(
    database_url: str, server: StartService, tmp_path: Path
) -> None:
    """The maximum per tenant at a time; each waits in a file until the ones before it are split into parts."""
    (tenant,) = await prepare(database_url, "long")
    service = server("--database-url", database_url, "--data-dir", str(tmp_path))
    large = tmp_path / "large"
    with tenant.asking(service) as http:
        assert http.get("/api/v1/Articles").status_code == 200  # and obtains its token
    write_body(large, [an_article(number) for number in range(ROWS)], keep_good=True)

    def all_at_once() -> None:
        with ThreadPoolExecutor(4) as threads:
            for one in [threads.submit(imported, service, tenant, "Articles", large) for _ in range(4)]:
                one.result()

    growth = peak_growth(service.pid, all_at_once)
    print(f"grew by {growth / 1e6:.0f} MB")
    assert growth < FOUR_GROWTH_MAX


@pytest.mark.parametrize("keep_good", [True, False], ids=["each-for-itself", "all-or-nothing"])
@pytest.mark.parametrize("rows", [pytest.param(ROWS, marks=SOAK)])
async def test_ten_thousand_deep_conditions_are_imported_in_little_memory(
    database_url: str, server: StartService, tmp_path: Path, keep_good: bool, rows: int
) -> None:
    (tenant,) = await prepare(database_url, "deep")
    service = server("--database-url", database_url, "--data-dir", str(tmp_path))
    with tenant.asking(service) as http:
        made = [http.post("/api/v1/Promotions", json={"name": f"P{number}"}).json()["ID"] for number in range(100)]
    large = tmp_path / "large"
    write_body(large, [a_condition(number, made) for number in range(rows)], keep_good=keep_good)
    growth = peak_growth(service.pid, lambda: imported(service, tenant, "Conditions", large))
    print(f"grew by {growth / 1e6:.0f} MB")
    assert growth < GROWTH_MAX
