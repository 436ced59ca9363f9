"""What the page on the offered parts of OData promises, asked of a service."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import httpx2
import pytest

from tests.kit.annotation_targets import inlined
from tests.odata_server.bookshop import EDM

PAGE = Path(__file__).parent.parent.parent.parent / "docs/how-to/what-odata-offers.md"
ROWS = re.findall(r"^\| [^|]+ \| `(/[^`]+)` \| (\d{3}) \|$", PAGE.read_text(), re.MULTILINE)
WRITES = re.findall(r"^\| [^|]+ \| `([A-Z]+) (/[^`]+)` \| `([^`]+)` \| (\d{3}) \|$", PAGE.read_text(), re.MULTILINE)
SETS = sorted(EDM.entity_sets)
CONTAINER = "{http://docs.oasis-open.org/odata/ns/edm}EntityContainer"


def test_the_page_has_requests_for_what_is_not_offered() -> None:
    assert len(ROWS) >= 24
    assert len(WRITES) == 4


@pytest.mark.parametrize(("url", "status"), ROWS)
async def test_what_is_not_offered_is_answered_as_the_page_says(
    reader: httpx2.AsyncClient, url: str, status: str
) -> None:
    answer = await reader.get(url)
    assert answer.status_code == int(status), answer.text


@pytest.mark.parametrize(("method", "url", "body", "status"), WRITES)
async def test_writes_that_are_not_offered_are_answered_as_the_page_says(
    shop: httpx2.AsyncClient, method: str, url: str, body: str, status: str
) -> None:
    media_type = "application/json" if body.startswith("{") else body
    answer = await shop.request(method, url, content=body, headers={"Content-Type": media_type})
    assert answer.status_code == int(status), answer.text
    assert answer.json()["error"]["code"]


@pytest.mark.parametrize("name", SETS)
async def test_every_set_offers_what_its_conformance_level_requires(reader: httpx2.AsyncClient, name: str) -> None:
    (key, *_) = EDM.entity_types[EDM.entity_sets[name].entity_type].key
    for options in (
        "",
        "/$count",
        "?$count=true&$top=1&$skip=1",
        f"?$select={key}&$orderby={key} desc",
        "?$expand=*",
        '?$search=emma OR NOT "jane"',
        f"?$filter={key} ne null and not false",
        f"?$compute={key} as again&$select=again",
        "?$apply=aggregate($count as n)",
        "/$filter(true)/$count?$search=a",
    ):
        answer = await reader.get(f"/{name}{options}")
        assert answer.status_code == 200, (options, answer.text)


async def test_the_metadata_names_custom_aggregates_that_work(reader: httpx2.AsyncClient) -> None:
    container = (await reader.get("/$metadata?$format=json")).json()["Bookshop"]["EntityContainer"]
    books = container["Books"]
    term = "@Aggregation.CustomAggregate#"
    custom = {name.removeprefix(term): type_ for name, type_ in books.items() if name.startswith(term)}
    assert custom == {
        "stock": "Edm.Int64",
        "rating": "Edm.Double",
        "published": "Edm.DateTimeOffset",
        "language": "Edm.String",
    }
    applied = books["@Aggregation.ApplySupported"]
    assert [one["Property"] for one in applied["AggregatableProperties"]] == ["stock", "rating", "published"]
    assert {"format", "language"} <= set(applied["GroupableProperties"])
    assert not set(applied["GroupableProperties"]) & {"stock", "tags", "purchasePrice"}
    for groups in applied["GroupableProperties"]:
        answer = await reader.get(f"/Books?$apply=groupby(({groups}),aggregate({','.join({*custom} - {groups})}))")
        assert answer.status_code == 200, answer.text
        assert answer.json()["@context"].count("stock") == 1
    assert "@Aggregation.ApplySupported" not in container["Genres"]


async def test_the_metadata_says_the_level(reader: httpx2.AsyncClient) -> None:
    root = inlined(ET.fromstring((await reader.get("/$metadata")).content))
    (container,) = root.iter(CONTAINER)
    (level,) = (one.get("EnumMember") for one in container if one.get("Term") == "Capabilities.ConformanceLevel")
    assert level == "Capabilities.ConformanceLevelType/Advanced"
