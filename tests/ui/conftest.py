"""The back office in a real browser: a demo shop served from a copy, signed-in users, and no errors on the console.

The tests are skipped, with a message, if there is no browser.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, expect, sync_playwright

from promenade.app import opened_context
from promenade.cli.console import prepare_database
from promenade.demo import seed
from promenade.settings import Settings
from tests.clients.browser import chromium, environment
from tests.kit.databases import DIALECTS, Databases
from tests.kit.rows import copy_rows
from tests.kit.service import Service
from tests.ui.desk import WAIT_MS, Desk, Shop

HERE = Path(__file__).parent
ARTICLES, SALES = 5_000, 400
LAUNCH_MS = 60_000
TEST_SECONDS_MAX = 600
"""Ends what hangs. The first test of a process also seeds the demo, serves it and opens the browser: that takes minutes
where others want the processors too, and if it fails, so do all tests that follow."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Extend each test's time limit by what shared setup may take."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS_MAX), append=False)


# What a person would see at a glance when something does not come: where they are, what is wrong, what is asked.
AT_A_GLANCE = """() => [
  location.href,
  "focus: " + (document.activeElement?.outerHTML || "").slice(0, 300),
  ...[...document.querySelectorAll("[aria-invalid=true], [role=dialog], [role=alertdialog], .sapMMessageToast")]
    .filter((one) => one.checkVisibility())
    .map((one) => one.value === undefined ? one.innerText.slice(0, 500) : "wrong: " + one.id + " " + one.value),
].join("\\n")"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what its pages show."""
    report = yield
    sat = [one for one in getattr(item, "funcargs", {}).values() if isinstance(one, Desk)]
    if call.when == "call" and report.failed:
        for page in [page for desk in sat for page in desk.pages()]:
            with suppress(Error):  # a page that has crashed says nothing
                report.sections.append(("page", page.evaluate(AT_A_GLANCE)))
        report.sections += [("complaints of pages", "\n".join(desk.complaints)) for desk in sat if desk.complaints]
    return report


Known = dict[str, dict[str, tuple[str, str]]]
"""Clients and people: IDs and secrets, or user names and passwords, by role."""


async def _seed(settings: Settings) -> Known:
    async with opened_context(settings) as context:
        made = await seed(context, 1, articles=ARTICLES, sales=SALES)
    clients = {client.role: (client.client_id, client.secret) for client in made.clients}
    return {"clients": clients, "people": {one.user_name: (one.user_name, one.password) for one in made.people}}


def _seeded(settings: Settings) -> Known:
    with ThreadPoolExecutor(1) as pool:  # a fixture may be created while an event loop runs
        return pool.submit(asyncio.run, _seed(settings)).result()


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the demo's database and its secrets, created once for all test processes."""
    base = tmp_path_factory.getbasetemp()  # an xdist process has its own directory below the run's
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "back-office"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "known.json"
        if not done.exists():
            settings = Settings(data_dir=folder / "data")
            settings.data_dir.mkdir()
            prepare_database(settings)
            done.write_text(json.dumps(_seeded(settings)))
    return folder


@contextmanager
def _served(log: Path, data: Path, known: Known, *options: str) -> Iterator[Shop]:
    # Failed deliveries are not retried automatically while a test looks at them.
    webhooks = ("--webhook-allow", "127.0.0.1", "--webhook-retry-schedule", "3600,3600")
    service = Service(log, "--data-dir", str(data), *webhooks, *options)
    service.start()
    try:
        yield Shop(service.url, known["clients"], data, known["people"])
    finally:
        service.stop()


@pytest.fixture(scope="session")
def shop(seeded: Path, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Serve the demo for this test process. Tests create what they change, because other tests share the shop."""
    data = tmp_path_factory.mktemp("shop") / "data"
    shutil.copytree(seeded / "data", data)
    known = json.loads((seeded / "known.json").read_text())
    with _served(logs / f"back-office-{os.getpid()}.log", data, known) as served:
        yield served


@pytest.fixture(scope="session")
def postgresql_shop(
    seeded: Path, databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """Serve the same demo on PostgreSQL by copying its rows: seeding again would take as long, in every process."""
    data = tmp_path_factory.mktemp("shop")
    url = databases.create("postgresql")
    copy_rows(f"sqlite:///{seeded / 'data' / 'promenade.db'}", url)
    known = json.loads((seeded / "known.json").read_text())
    log = logs / f"back-office-postgresql-{os.getpid()}.log"
    with _served(log, data, known, "--database-url", url) as served:
        yield served


class _Opened:
    """A browser whose driver runs an event loop in the test's thread, which is hidden from other tests.

    The driver's loop counts as running from start to end, and a thread can run only one loop: async tests would fail in
    a process that has opened a browser.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._loop = asyncio.get_running_loop()
        self.leave()

    def enter(self) -> Browser:
        asyncio.events._set_running_loop(self._loop)
        return self.browser

    def leave(self) -> None:
        asyncio.events._set_running_loop(None)


@pytest.fixture(scope="session")
def opened() -> Iterator[_Opened]:
    """Open a headless browser."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium: PROMENADE_TEST_CHROMIUM or PATH names none, and `make check` could not fetch one")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        launched = playwright.chromium.launch(
            executable_path=program, args=arguments, env={**environment(program)}, timeout=LAUNCH_MS
        )
        made = _Opened(launched)
        yield made
        made.enter().close()


@pytest.fixture
def browser(opened: _Opened) -> Iterator[Browser]:
    """Return the browser for the duration of a test."""
    expect.set_options(timeout=WAIT_MS)
    yield opened.enter()
    opened.leave()


@pytest.fixture
def postgresql_desk(postgresql_shop: Shop, browser: Browser) -> Iterator[Desk]:
    """Return a desk at the shop on PostgreSQL."""
    yield from _sat_at(postgresql_shop, browser)


@pytest.fixture(params=DIALECTS)
def either_desk(request: pytest.FixtureRequest) -> Desk:
    """Return a desk at each of the two shops in turn."""
    found: Desk = request.getfixturevalue("desk" if request.param == "sqlite" else "postgresql_desk")
    return found


@pytest.fixture
def desk(shop: Shop, browser: Browser) -> Iterator[Desk]:
    """Return a desk at the shop; at the end, no page may have logged an error to its console."""
    yield from _sat_at(shop, browser)


def _sat_at(shop: Shop, browser: Browser) -> Iterator[Desk]:
    opened = Desk(shop, browser)
    try:
        yield opened
        opened.require_quiet()
    finally:
        opened.close()
