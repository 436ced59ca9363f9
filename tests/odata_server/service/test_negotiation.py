"""Versions, media types and preferences: what a client may request, and the response to what is not supported."""

from __future__ import annotations

import gzip
import json
from xml.etree import ElementTree

import pytest

from odata_server.http import Request
from odata_server.negotiation import Preferences, preferences
from tests.odata_server.service.shelves import Client


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "json;metadata=minimal"),
        ("*/*", "json;metadata=minimal"),
        ("application/*", "json;metadata=minimal"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "json;metadata=minimal"),
        ("application/json;odata.metadata=none", "json;metadata=none"),
        ('application/json;metadata="full"', "json;metadata=full"),
        ("application/json;q=0.1,application/json;metadata=none;q=0.2", "json;metadata=none"),
        (
            "APPLICATION/JSON;ODATA.METADATA=MINIMAL;IEEE754COMPATIBLE=TRUE",
            "json;metadata=minimal;IEEE754Compatible=true",
        ),
        ("application/json;odata.streaming=true;charset=utf-8", "json;metadata=minimal"),
    ],
)
async def test_json_in_the_form_that_is_accepted(reader: Client, accept: str, form: str) -> None:
    assert (await reader("GET", "Countries", Accept=accept)).headers["Content-Type"] == f"application/{form}"


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("Countries", {"Accept": "application/xml"}),
        ("Countries", {"Accept": "application/json;q=0"}),
        ("Countries", {"Accept": "application/json;odata.metadata=huge"}),
        ("Countries", {"Accept": "application/json;charset=latin-1"}),
        ("Countries", {"Accept_Charset": "latin-1"}),
        ("Countries?$format=xml", {}),
        ("Countries?$format=application/atom%2Bxml", {}),
        ("$metadata", {"Accept": "text/plain"}),
        ("$metadata?$format=atom", {}),
    ],
)
async def test_other_forms_are_not_acceptable(reader: Client, url: str, headers: dict[str, str]) -> None:
    answer = await reader("GET", url, **headers)
    assert (answer.status, answer.code) == (406, "NOT_ACCEPTABLE")
    assert answer.headers["Content-Type"] == "application/json"


async def test_the_format_option_wins_over_the_header(reader: Client) -> None:
    answer = await reader("GET", "Countries?$format=json", Accept="application/xml")
    assert answer.headers["Content-Type"] == "application/json;metadata=minimal"
    url = "Countries?$format=application/json;odata.metadata=full"
    assert (await reader("GET", url)).headers["Content-Type"] == "application/json;metadata=full"


@pytest.mark.parametrize(
    ("headers", "default", "version"),
    [
        ({}, "4.01", "4.01"),
        ({}, "4.0", "4.0"),
        ({"OData_MaxVersion": "4.0"}, "4.01", "4.0"),
        ({"OData_MaxVersion": "4.01"}, "4.0", "4.01"),
        ({"OData_MaxVersion": "4.02"}, "4.0", "4.01"),
        ({"OData_MaxVersion": "5.0"}, "4.0", "4.01"),
        ({"OData_MaxVersion": "4.0", "OData_Version": "4.0"}, "4.01", "4.0"),
    ],
)
async def test_the_client_chooses_the_version_of_the_response(
    reader: Client, headers: dict[str, str], default: str, version: str
) -> None:
    reader.hooks.default_version = default
    answer = await reader("GET", "Countries", **headers)
    assert answer.headers["OData-Version"] == version
    assert ("@context" if version == "4.01" else "@odata.context") in answer.json
    refused = await reader("GET", "Nothing", **headers)
    assert refused.headers["OData-Version"] == version
    assert (refused.headers["Content-Language"], answer.headers.get("Content-Language")) == ("en", None)


@pytest.mark.parametrize(
    "headers",
    [{"OData_MaxVersion": "3.0"}, {"OData_MaxVersion": "x"}, {"OData_Version": "3.0"}, {"OData_Version": "5.0"}],
)
async def test_unsupported_versions_are_refused(reader: Client, headers: dict[str, str]) -> None:
    assert (await reader("GET", "Countries", **headers)).code == "UNSUPPORTED_VERSION"


async def test_the_service_document_lists_its_addressable_resources(reader: Client) -> None:
    body = await reader.get("")
    assert body["@context"] == "/shop/$metadata"
    assert {"name": "Books", "url": "Books"} in body["value"]
    assert {"name": "Profile", "kind": "Singleton", "url": "Profile"} in body["value"]
    assert {"name": "stockReport", "kind": "FunctionImport", "url": "stockReport"} in body["value"]
    assert "greet" not in [entry["name"] for entry in body["value"]]
    assert (await reader("HEAD", "")).status == 200


async def test_metadata_in_both_forms_and_versions(reader: Client) -> None:
    plain = await reader("GET", "$metadata")
    assert plain.headers["Content-Type"] == "application/xml"
    assert ElementTree.fromstring(plain.body).attrib["Version"] == "4.01"
    old = await reader("GET", "$metadata", OData_MaxVersion="4.0")
    assert ElementTree.fromstring(old.body).attrib["Version"] == "4.0"
    for url, accept in (("$metadata", "application/json"), ("$metadata?$format=json", "")):
        found = await reader("GET", url, Accept=accept)
        assert json.loads(found.body)["$Version"] == "4.01"
    both = await reader("GET", "$metadata", Accept="application/json;q=0.5,application/xml")
    assert both.headers["Content-Type"] == "application/xml"
    again = await reader("GET", "$metadata", If_None_Match=plain.headers["ETag"])
    assert (again.status, again.body) == (304, b"")
    assert old.headers["ETag"] != plain.headers["ETag"]


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5, br", True),
        ("*", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("*, gzip;q=0.0", False),
        ("identity, *;q=0", False),
    ],
)
async def test_metadata_is_compressed_for_clients_that_take_it(
    reader: Client, accepted: str, is_compressed: bool
) -> None:
    plain = await reader("GET", "$metadata")
    found = await reader("GET", "$metadata", Accept_Encoding=accepted)
    assert found.headers.get("Content-Encoding") == ("gzip" if is_compressed else None)
    assert (gzip.decompress(found.body) if is_compressed else found.body) == plain.body
    assert found.headers["ETag"] == plain.headers["ETag"]
    assert "Accept-Encoding" in found.headers["Vary"]
    again = await reader("GET", "$metadata", Accept_Encoding=accepted, If_None_Match=found.headers["ETag"])
    assert (again.status, again.body) == (304, b"")


async def test_metadata_in_a_batch_is_not_compressed(reader: Client) -> None:
    request = Request("GET", "$metadata", headers={"accept-encoding": "gzip"}, in_batch=True)
    answer = await reader.service.handle(request, "me")
    assert "Content-Encoding" not in answer.headers
    assert b"<edmx:Edmx" in answer.body


@pytest.mark.parametrize(
    ("prefer", "found"),
    [
        ("return=minimal", Preferences(returns="minimal")),
        ("odata.maxpagesize=5, return=representation", Preferences("representation", 5)),
        ('maxpagesize="7"; x=1', Preferences(page_size_max=7)),
        ("maxpagesize=0,return=all", Preferences()),
        ("maxpagesize=-1", Preferences()),
        ("maxpagesize=99999999999999999999", Preferences()),
        ("odata.continue-on-error", Preferences(continue_on_error=True)),
        ("continue-on-error=false", Preferences(continue_on_error=False)),
        ("handling=strict,respond-async,,;=", Preferences(strict=True)),
    ],
)
def test_the_prefer_header_is_parsed_into_the_supported_preferences(prefer: str, found: Preferences) -> None:
    assert preferences(Request("GET", "", headers={"prefer": prefer})) == found


async def test_isolation_is_not_offered(reader: Client) -> None:
    assert (await reader("GET", "Books", OData_Isolation="snapshot")).status == 412
