"""The conformance chapter of the protocol (OData 4.01 Part 1, 12), clause by clause over HTTP.

Features with their own tests elsewhere (filters, pages, batches, bodies) are covered here only as far as a clause names
them.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import httpx2
import pytest

from tests.kit.annotation_targets import inlined
from tests.odata_server.bookshop import book

B = f"/Books({book(1)})"
READS: list[tuple[str, int]] = [
    # minimal
    ("/", 200),
    ("", 200),
    ("/$metadata?$format=json", 200),
    ("/$metadata?$format=xml", 200),
    ("/Books?TOP=1", 200),
    ("/Books?%24Top=1", 200),
    ("/Books?top=1&$top=1", 400),
    ("/Books?$nothing=1", 400),
    ("/Books?nothing=1", 200),
    ("/Books?$format=atom", 406),
    ("/Books/cheapest", 200),
    ("/Books/Bookshop.cheapest()", 200),
    (f"{B}/priceIn(currency='EUR',rate=2)", 200),
    ("/greet?name='x'", 200),
    ("/Profile", 200),
    # intermediate
    ("/Books?$select=*", 200),
    ("/Books?$select=nothing", 400),
    ("/Books/$count?$filter=price gt 10&$search=Jane", 200),
    (f"{B}/title/$value", 200),
    (f"/Books?$filter=ID eq '{book(1)}'", 200),
    ("/Books?$filter=format has 'Hardcover'", 200),
    ("/Books?$filter=format has Bookshop.Format'Hardcover'", 200),
    ("/Books?$filter=format has 'Nothing'", 400),
    ("/Books?$filter=author eq null", 200),
    ("/Books?$filter=price in (9.99,11)", 200),
    ("/Books?$filter=title eq @t&@t='Emma'", 200),
    ("/Books?$filter=published lt now()", 200),
    ("/Books?$orderby=author/name desc,length(title)", 200),
    ("/Books?$search=(Emma OR Jane) AND NOT x", 200),
    # advanced
    ("/Books?$filter=author/books/any(b:b/chapters/any(c:c/pages gt b/stock))", 200),
    ("/Books?$filter=chapters/$count($filter=number gt 1) gt 1&$orderby=chapters/$count desc", 200),
    (f"{B}?$expand=author($select=name;$expand=country),chapters($filter=number gt 1;$count=true;$top=1;$skip=0)", 200),
    (f"{B}?$expand=*", 200),
    (f"{B}?$expand=*/$ref,chapters/$count", 200),
    ("/Genres?$expand=children($levels=max)", 200),
    ("/Books/$filter(price gt 10)/$count", 200),
    (f"/$entity?$id=Books({book(1)})", 200),
    ("/Books?$compute=price mul 2 as twice&$filter=twice gt 20&$select=title,twice", 200),
    ("/Books?$compute=price mul 2 as title", 400),
    # not offered
    ("/$all", 501),
    ("/$crossjoin(Books,Authors)", 501),
    ("/Books/$each", 501),
    ("/Books?$deltatoken=x", 501),
    ("/Books?$filter=title eq $root/Profile/motto", 501),
]


@pytest.mark.parametrize(("url", "status"), READS)
async def test_each_read_has_its_status_and_error_format(reader: httpx2.AsyncClient, url: str, status: int) -> None:
    answer = await reader.get(url)
    assert answer.status_code == status, answer.text
    assert answer.headers["OData-Version"] == "4.01"
    if status >= 400:
        assert answer.headers["content-type"] == "application/json"
        assert {"code", "message"} <= set(answer.json()["error"])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"prefer": "respond-async"}, 200),
        ({"prefer": "track-changes"}, 200),
        ({"isolation": "snapshot"}, 412),
        ({"odata-isolation": "snapshot"}, 412),
        ({"odata-maxversion": "3.0"}, 400),
        ({"odata-maxversion": "5.0"}, 200),
        ({"accept": "text/html"}, 406),
        ({"accept": "text/html, */*;q=0.1"}, 200),
        ({"accept": "application/json;odata.metadata=full;odata.streaming=true"}, 200),
        ({"accept-charset": "iso-8859-1"}, 406),
    ],
)
async def test_request_headers_get_the_specified_status(
    reader: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    answer = await reader.get("/Books?$top=1", headers=headers)
    assert answer.status_code == status, answer.text
    assert "Preference-Applied" not in answer.headers  # only applied preferences are reported


async def test_complex_values_stored_in_columns_are_returned_as_objects(reader: httpx2.AsyncClient) -> None:
    address = {"street": "Gasse 1", "city": "Ulm"}
    assert (await reader.get("/Shops(1)")).json()["address"] == address
    assert (await reader.get("/Shops?$select=address&$top=1")).json()["value"] == [{"ID": 1, "address": address}]
    assert (await reader.get("/Shops(1)/address")).json().items() >= address.items()
    assert (await reader.get("/Shops(1)/address/city/$value")).text == "Ulm"


async def test_unsupported_features_are_declared(reader: httpx2.AsyncClient) -> None:
    root = inlined(ET.fromstring((await reader.get("/$metadata")).content))
    found: dict[str, Any] = {}
    for one in root.iter("{http://docs.oasis-open.org/odata/ns/edm}EntityContainer"):
        for annotation in one.findall("{http://docs.oasis-open.org/odata/ns/edm}Annotation"):
            found[annotation.attrib["Term"].rpartition(".")[2]] = annotation
    assert found["AsynchronousRequestsSupported"].attrib["Bool"] == "false"
    assert found["CrossJoinSupported"].attrib["Bool"] == "false"
    assert found["KeyAsSegmentSupported"].attrib["Bool"] == "false"
    assert b"ChangeTracking" in ET.tostring(found["DefaultCapabilities"])
    batch = {
        one.attrib["Property"]: one.attrib.get("Bool")
        for one in found["BatchSupport"].iter()
        if "Property" in one.attrib
    }
    assert batch["ContinueOnErrorSupported"] == batch["ReferencesInRequestBodiesSupported"] == "true"
    assert batch["EtagReferencesSupported"] == batch["RequestDependencyConditionsSupported"] == "true"
