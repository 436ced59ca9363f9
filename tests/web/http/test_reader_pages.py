"""The browsable pages of both interfaces: they load nothing from other hosts and show what is served."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from promenade.web.http.reader_pages import takes_gzip
from tests.web.conftest import Shop

ROOTS = {"/pos": "1.14.0", "/api/v1": "1.13.0"}
"""The versions of the interfaces that have such pages, by their addresses."""


@pytest.mark.parametrize("root", ROOTS)
def test_a_page_shows_the_description_beside_it(shop: Shop, root: str) -> None:
    page = shop.http.get(f"{root}/docs")

    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert loaded
    for name in loaded:
        answer = shop.http.get(str(httpx2.URL(f"{shop.url}{root}/docs").join(name)))
        assert answer.status_code == 200, name
    assert "://" not in page.text, "nothing comes from another host"


@pytest.mark.parametrize("root", ROOTS)
def test_the_description_needs_no_token(shop: Shop, root: str) -> None:
    document = shop.http.get(f"{root}/openapi.json").json()

    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", ROOTS[root])


@pytest.mark.parametrize("root", ["/api/v1", "/reporting"])
def test_the_other_description_has_every_address(shop: Shop, root: str) -> None:
    """A client that was generated from it before there were two finds its operations there."""
    short, whole = (shop.http.get(f"{root}/{name}").json() for name in ("openapi.json", "openapi-all.json"))
    names = [operation["operationId"] for operation in _operations(short)]
    assert not [name for name in names if name.endswith((".qualified", ".alias"))]
    every = {operation["operationId"] for operation in _operations(whole)}
    assert set(names) < every
    assert "/$metadata" in short["paths"]


def test_the_public_api_has_its_alias_in_the_other_description(shop: Shop) -> None:
    paths = shop.http.get("/api/v1/openapi-all.json?tag=Articles").json()["paths"]
    alias, own = (paths[f"/Articles{name}"]["post"] for name in (":bulk-import", "/bulkImport"))
    assert (alias["operationId"], own["operationId"]) == (
        "Articles.collection.bulkImport.alias",
        "Articles.collection.bulkImport",
    )
    assert {"/Articles/PublicAPI.bulkImport", "/Articles({ID})/$value"} - paths.keys() == {"/Articles({ID})/$value"}
    assert alias["requestBody"] == own["requestBody"]


@pytest.mark.parametrize("root", ["/api/v1", "/reporting"])
def test_every_operation_has_a_tag_and_can_be_taken_with_it_alone(shop: Shop, root: str) -> None:
    document = shop.http.get(f"{root}/openapi.json").json()
    tags = [tag["name"] for tag in document["tags"]]
    assert {operation["tags"][0] for operation in _operations(document)} == set(tags)
    assert all(tag["description"] for tag in document["tags"])
    counts = 0
    for tag in tags:
        answer = shop.http.get(f"{root}/openapi.json", params={"tag": tag})
        assert len(answer.content) < 300_000, tag
        counts += len(list(_operations(answer.json())))
    assert counts == len(list(_operations(document)))


def test_several_tags_are_separated_by_commas_or_named_one_by_one(shop: Shop) -> None:
    url = "/api/v1/openapi.json"
    both = shop.http.get(f"{url}?tag=Promotions,Campaigns").json()
    assert both == shop.http.get(f"{url}?tag=Campaigns&tag=Promotions").json()
    assert [tag["name"] for tag in both["tags"]] == ["Promotions", "Campaigns"]
    assert "/Articles" not in both["paths"]


@pytest.mark.parametrize("tag", ["promotions", "Promotion", "", "x" * 5000])
def test_an_unknown_tag_is_refused_with_the_nearest_one(shop: Shop, tag: str) -> None:
    answer = shop.http.get("/api/v1/openapi.json", params={"tag": tag})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["target"]) == ("UNKNOWN_TAG", "tag")
    if tag.lower().startswith("promotion"):
        assert error["message"] == f"`{tag}` is not a tag of this document; the nearest one is `Promotions`."
    assert len(error["message"]) < 300


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        yield from (operation for method, operation in item.items() if method != "parameters")


def test_compressed_files_are_served_uncompressed_to_clients_without_gzip(shop: Shop) -> None:
    path = "/api/v1/docs/swagger-ui-bundle.js"
    plain = shop.http.get(path, headers={"accept-encoding": "identity"})
    refused = shop.http.get(path, headers={"accept-encoding": "gzip;q=0"})

    assert "content-encoding" not in plain.headers
    assert plain.content == refused.content == shop.http.get(path, headers={"accept-encoding": "gzip"}).content
    assert gzip.compress(plain.content, mtime=0) != plain.content
    assert plain.headers["vary"] == "accept-encoding"


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True), ("br, GZIP;q=0.5", True), ("*", True), ("gzip;q=1.0, *;q=0", True), ("*;q=0, gzip", True),
        ("", False), ("identity", False), ("br", False), ("x-gzip2", False), ("gzip ; q=0", False),
        ("*;q=0.000", False), ("*, gzip;q=0", False), ("*;q=1,\tgzip;q=0.", False), ("gzip;q=0.001", True),
    ],
)  # fmt: skip
def test_an_entry_for_gzip_takes_precedence_over_a_wildcard(accepted: str, takes: bool) -> None:
    assert takes_gzip(accepted.encode()) is takes


@pytest.mark.parametrize("path", ["/api/v1/docs/page.html", "/api/v1/docs/../app.py", "/pos/docs/x", "/docs"])
def test_other_files_are_not_served(shop: Shop, path: str) -> None:
    assert shop.http.get(path).status_code in {401, 404}
