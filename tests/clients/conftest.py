"""The served admin service with two users of one tenant, and the location of the third-party clients.

`make check` installs those, by the lock file beside this module, into build/clients; PROMENADE_TEST_CLIENTS names
another folder that holds `node_modules`. Without them, or without a browser, the tests are skipped with a message.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.browser import chromium, open_page
from tests.clients.front import Front
from tests.kit.databases import DIALECTS, Databases
from tests.web.drafts.desk import Desk, serve

ROOT = Path(__file__).parent.parent.parent
MODULES = Path(os.environ.get("PROMENADE_TEST_CLIENTS") or ROOT / "build" / "clients") / "node_modules"
OPENUI5 = MODULES / "@openui5" / "sap.ui.core" / "src"


@pytest.fixture(scope="package", params=DIALECTS)
def desk(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Desk]:
    """Serve the admin service once per database for all tests of this package."""
    with serve(databases, request.param, logs / f"clients-{request.param}.log") as served:
        yield served


@pytest.fixture(scope="package")
def node() -> str:
    """Return Node.js, with the clients that run in it."""
    found = shutil.which("node")
    if found is None or not MODULES.exists():
        pytest.skip(f"no Node.js, or no clients in {MODULES}: `make check` fetches them where npm can")
    return found


@pytest.fixture(scope="package")
def page(desk: Desk, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """Open a page in a browser that waits for commands to run with OpenUI5."""
    if not OPENUI5.exists():
        pytest.skip(f"no OpenUI5 in {MODULES}: `make check` fetches it where npm can")
    if chromium() is None:
        pytest.skip("no Chromium: PROMENADE_TEST_CHROMIUM or PATH names none, and `make check` could not fetch one")
    with Front(desk.service_url, OPENUI5) as front:
        profile = tmp_path_factory.mktemp("browser")
        with open_page(f"{front.url}/pages/openui5.html", profile, logs / f"browser-{desk.dialect}.log"):
            yield front
