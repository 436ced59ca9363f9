"""What the pages about Excel, Power BI, pandas and DuckDB ask the service for, it answers: request by request.

The tools themselves are not run here. Power Query's headers are those that others have recorded of it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from lxml import etree

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.web.conftest import run

HOW_TO = Path(__file__).parent.parent.parent / "docs/how-to"
HOST = "https://promenade.example"  # on the pages
MADE = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ["Five off", "=1+1", "Käse"]
POWER_QUERY = {
    "User-Agent": "Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)",
    "MaxDataServiceVersion": "3.0",
    "OData-MaxVersion": "4.0",
    "Accept": (
        "application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,"
        "application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7"
    ),
}
M = re.compile(r"^```powerquery\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r'#"(\$\w+)" = "([^"]*)"')


@pytest.fixture(scope="module")
def reader(databases: Databases) -> Iterator[httpx2.Client]:
    """A client of a service with three running promotions, by HTTP Basic."""
    database_url = databases.create("sqlite")

    async def furnish() -> None:
        database = await open_database(database_url)
        try:
            await create_tenant(database, "acme", settings={"basicForReaders": "true"}, at=MADE, user="tests")
            scopes = ("PublicApi.Read", "svc.ReportReader")
            await create_client(database, client_id="bi", secret=SECRET, tenant_id="acme", scopes=scopes, at=MADE)

            async def work(session: Session) -> None:
                rows = [
                    {"ID": f"aa000000-0000-4000-8000-00000000000{n}", "name": name, "status": "ACTIVE"}
                    for n, name in enumerate(NAMES)
                ]
                await insert_rows(session, "Promotions", rows, at=MADE, by="tests")

            await database.write(work, tenant="acme")
        finally:
            await database.close()

    run(furnish())
    with InProcess(database_url) as service, service.client() as http:
        http.auth = httpx2.BasicAuth("bi", SECRET)
        yield http


def _queries(page: str) -> list[str]:
    return M.findall((HOW_TO / f"{page}.md").read_text())


@pytest.mark.parametrize("page", ["excel", "power-bi"])
def test_the_feed_of_the_page_is_answered_as_power_query_reads_it(
    reader: httpx2.Client, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odata_server.hooks.Hooks.page_size", 2)
    query = _queries(page)[0]
    (root,) = re.findall(rf'OData\.Feed\("{HOST}(\S+)"', query)
    (name,) = re.findall(r'Name = "(\w+)"', query)
    (columns,) = re.findall(r"Table\.SelectColumns\(\s*\w+, \{(.*?)\}", query, re.DOTALL)
    select = ",".join(re.findall(r'"(\w+)"', columns))
    offered = reader.get(root, headers=POWER_QUERY)
    assert offered.headers["odata-version"] == "4.0"
    assert offered.json()["@odata.context"].startswith(
        "http"
    )  # an absolute address, which Microsoft's library requires
    assert name in {one["url"] for one in offered.json()["value"]}
    metadata = reader.get(f"{root}/$metadata", headers=POWER_QUERY | {"Accept": "application/xml"})
    document = etree.fromstring(metadata.content)
    (entity_type,) = document.iterfind(f".//{{*}}EntityType[@Name='{name}']")
    assert set(select.split(",")) <= {one.get("Name") for one in entity_type.iterfind("{*}Property")}
    condition = "&$filter=status eq 'ACTIVE'" if "SelectRows" in query else ""
    following, found = f"{root}/{name}?$select={select}{condition}&$top=1000", list[dict[str, Any]]()
    while following:
        answer = reader.get(following, headers=POWER_QUERY)
        assert answer.status_code == 200, answer.text
        found += answer.json()["value"]
        following = answer.json().get("@odata.nextLink", "")
    if page == "excel":
        assert {row["name"] for row in found} == set(NAMES)


@pytest.mark.parametrize("page", ["excel", "power-bi"])
def test_the_file_of_the_page_is_what_its_query_reads(reader: httpx2.Client, page: str) -> None:
    query = _queries(page)[1]
    (root,) = re.findall(rf'Web\.Contents\("{HOST}(\S+)"', query)
    (name,) = re.findall(r'RelativePath = "(\w+)"', query)
    options = dict(OPTION.findall(query))
    assert "$format" in options
    address = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in options.items())
    answer = reader.get(f"{root}/{name}?{address}", headers={"User-Agent": POWER_QUERY["User-Agent"]})
    assert answer.status_code == 200, answer.text
    head, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    typed = re.findall(r'\{"(\w+)", type \w+\}', query)
    assert typed
    assert set(typed) <= set(head)
    if page == "excel":
        assert head == [*options["$select"].split(","), "campaign/name"]
        assert {row[1] for row in rows} == {"Five off", "'=1+1", "Käse"}
    else:
        assert head == ["promotionName", "currency", "discount"]


@pytest.mark.parametrize("page", ["pandas", "duckdb"])
def test_the_requests_of_programs_are_answered_with_files(reader: httpx2.Client, page: str) -> None:
    text = (HOW_TO / f"{page}.md").read_text()
    found = re.findall(r"(?:\{service\}|\$SHOP_URL)(/\S+?)\"", text)
    assert found
    for address in found:
        answer = reader.get(address.replace("\\$", "$"), headers={"Accept": "*/*"})
        assert answer.status_code == 200, answer.text
        is_workbook = address.endswith("xlsx")
        assert is_workbook or answer.content.startswith("\ufeffarticleNumber,".encode())
        assert not is_workbook or zipfile.ZipFile(io.BytesIO(answer.content)).testzip() is None


def test_a_refused_reader_is_told_why(reader: httpx2.Client) -> None:
    refused = reader.post("/api/v1/Articles", json={}, headers=POWER_QUERY)
    assert json.loads(refused.content)["error"]["code"] == "BASIC_NOT_ALLOWED"
