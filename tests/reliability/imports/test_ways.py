"""The same articles result from every way of importing: in bulk, from a till, as a till's batch, by SOAP, by REST."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from tests.conftest import StartService
from tests.reliability.imports.serving import bulk_body, prepare, rows_of, until_ended
from tests.web.imports.master_data.messages import REQUEST, envelope, item, message, product

COMMAND = (sys.executable, "-m", "tests.web.imports.master_data.served")  # a header replaces the certificate
XML_NAMES = {"name": "Description", "ean": "GTIN", "manufacturer": "ManufacturerName"}
OF_THE_WAY = {"id", "tenant_id", "created_at", "created_by", "modified_at", "modified_by", "row_version", "version"}
SOAK = (pytest.mark.soak, pytest.mark.timeout(1_800))

Rows = list[dict[str, str]]
Way = Callable[[httpx2.Client, Rows, str], None]

words = st.text(st.characters(categories=["L", "N", "P"], codec="utf-8"), min_size=1, max_size=12)
texts = st.lists(words, min_size=1, max_size=3).map(" ".join)
articles = st.fixed_dictionaries(
    {"articleNumber": st.sampled_from("ABCD")},
    optional={"name": texts, "ean": st.text("0123456789", min_size=8, max_size=14), "manufacturer": texts},
)


def in_bulk(http: httpx2.Client, rows: Rows, name: str, *, keep_good: bool) -> None:
    answer = http.post("/api/v1/Articles:bulk-import", content=bulk_body(rows, keep_good=keep_good))
    assert answer.status_code == 202, answer.text
    succeeded(until_ended(http, answer.json()["statusUrl"]), rows)


def from_a_till(http: httpx2.Client, rows: Rows, name: str) -> None:
    answer = http.post("/pos/articles/import", content=json.dumps({"articles": rows}))
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["failed"], told["imported"] + told["updated"]) == (0, len(rows)), told


def as_a_batch(http: httpx2.Client, rows: Rows, name: str) -> None:
    answer = http.post("/pos/articles/import-batch", content=json.dumps({"name": name, "articles": rows}))
    assert answer.status_code == 202, answer.text
    succeeded(until_ended(http, f"/api/v1/jobs/{answer.json()['jobId']}"), rows)


def by_soap(http: httpx2.Client, rows: Rows, name: str) -> None:
    items = "".join(item(row["articleNumber"], **named(row)) for row in rows)
    answer = http.post(
        "/api/v1/master-data/soap", content=envelope(items, message_id=name).encode(), headers=certified("text/xml")
    )
    assert answer.status_code == 202, answer.text
    found = http.get(f"/api/v1/ImportJobs?$filter=idempotencyKey eq '{quote(name)}'").json()["value"]
    succeeded(until_ended(http, f"/api/v1/jobs/{found[0]['ID']}"), rows)


def by_rest(http: httpx2.Client, rows: Rows, name: str) -> None:
    body = message([product(row["articleNumber"], **named(row)) for row in rows], name)
    answer = http.post(f"/api/v1/master-data/{REQUEST}", content=body, headers=certified("application/json"))
    assert answer.status_code == 202, answer.text
    succeeded(until_ended(http, answer.json()["statusUrl"]), rows)


WAYS: Mapping[str, Way] = {
    "kept": lambda http, rows, name: in_bulk(http, rows, name, keep_good=True),
    "whole": lambda http, rows, name: in_bulk(http, rows, name, keep_good=False),
    "till": from_a_till,
    "batch": as_a_batch,
    "soap": by_soap,
    "rest": by_rest,
}


def certified(media_type: str) -> dict[str, str]:
    return {"Content-Type": media_type}


def named(row: Mapping[str, str]) -> dict[str, str]:
    return {XML_NAMES[name]: value for name, value in row.items() if name in XML_NAMES}


def succeeded(job: dict[str, Any], rows: Rows) -> None:
    assert (job["status"], job["rowsSucceeded"], job["rowsFailed"]) == ("SUCCEEDED", len(rows), 0), job


@pytest.mark.parametrize("examples", [6, pytest.param(200, marks=SOAK)])
async def test_every_way_of_importing_gives_the_same_articles(
    database_url: str, server: StartService, tmp_path: Path, examples: int
) -> None:
    tenants = await prepare(database_url, *WAYS)
    service = server("--database-url", database_url, "--data-dir", str(tmp_path), command=COMMAND)
    numbers = itertools.count()

    @settings(max_examples=examples, database=None)
    @given(st.lists(articles, min_size=1, max_size=8))
    def come(rows: Rows) -> None:
        name = f"e{next(numbers)}"
        mine = [row | {"articleNumber": f"{name}-{row['articleNumber']}"} for row in rows]
        for tenant in tenants:
            with tenant.asking(service) as http:
                http.headers["x-common-name"] = f"erp@{tenant.name}"
                WAYS[tenant.name](http, mine, name)

    come()
    database = await open_database(database_url)
    columns = [column for column in table("Articles").c.keys() if column not in OF_THE_WAY]  # noqa: SIM118
    results = {
        tenant.name: sorted(
            [str(getattr(row, column)) for column in columns]
            for row in await rows_of(database, tenant.name, "Articles")
        )
        for tenant in tenants
    }
    await database.close()
    assert results["kept"]
    for name, found in results.items():
        assert found == results["kept"], name
