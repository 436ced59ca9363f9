"""The browsable pages of both interfaces: they load nothing from other hosts and show what is served."""

from __future__ import annotations

import gzip
import re

import httpx2
import pytest

from promenade.web.http.reader_pages import takes_gzip
from tests.web.conftest import Shop

ROOTS = ("/pos", "/api/v1")


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

    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", "1.13.0")


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
