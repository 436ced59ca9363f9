"""The package in a browser: a queue in IndexedDB outlives a browser that is killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.clients.browser import chromium, open_page
from tests.clients.front import Front
from tests.clients.python_sdk.conftest import Served
from tests.clients.typescript_sdk.conftest import Project

SECONDS_MAX = 120


def test_sales_wait_in_the_browser_until_the_line_is_back(
    project: Project, served: Served, logs: Path, tmp_path: Path
) -> None:
    if chromium() is None:
        pytest.skip("no Chromium: PROMENADE_TEST_CHROMIUM or PATH names none, and `make check` could not fetch one")

    def shown(act: str) -> Any:
        """Open the page in a browser, return what it did, and kill the browser."""
        given = {"act": act, "client": served.credentials.client_id, "secret": served.credentials.client_secret}
        address = f"{front.url}/pages/queue.html?{urlencode(given)}"
        with open_page(address, tmp_path / "profile", logs / "typescript-sdk-browser.log"):
            found = front.results.get(timeout=SECONDS_MAX)
        assert "error" not in found, found["error"]
        return found["value"]

    with Front(served.service.url, project.folder / "node_modules/promenade-client/dist") as front:
        sold = shown("sell")
        assert sold["answers"] == [None] * 4
        assert sold["waiting"] == ["BROWSER-1", "BROWSER-2", "BROWSER-1", "nobody's"]
        assert sold["price"] == "9.00"
        delivered = shown("deliver")
    assert (delivered["kept"], delivered["attempts"]) == (sold["waiting"], [2, 1, 0, 1])
    assert delivered["second"] is None
    assert delivered["delivered"] == 3
    assert delivered["refused"] == ["nobody's", "ITERATION_NOT_FOUND"]
    assert delivered["again"] == ["nobody's"]
    assert delivered["left"] == []
    assert delivered["sold"] == [[True, True], [True, False]]
