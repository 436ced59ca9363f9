"""Loading times of the back office's pages: in a headless Chromium, on a demo served by a separate process.

Each page is opened in a new browser context with an empty cache, then once more in the same one.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.measure import milliseconds, percentile, show
from benchmarks.scale import Scale
from promenade.app import opened_context
from promenade.cli.console import prepare_database
from promenade.demo import seed
from promenade.settings import Settings
from tests.clients.browser import chromium, environment
from tests.kit.service import Service
from tests.ui.desk import Desk, Shop

__all__ = ["run"]

# The URL fragment, and what is visible once the page has loaded.
PAGES = {
    "overview, all figures": (
        "",
        "() => [...document.querySelectorAll('.promFigureValue')].filter((one) => one.textContent).length === 5",
    ),
    "promotions, first rows": (
        "/promotions",
        "() => document.querySelectorAll('tbody tr [href*=promotion]').length > 5",
    ),
    "articles, first rows": ("/list/Articles", "() => document.querySelectorAll('tbody tr').length > 5"),
    "simulator": ("/simulator", "() => document.querySelector('input:not([disabled])') !== null"),
    "report of performance": ("/reports/performance", "() => document.querySelectorAll('canvas').length > 2"),
}


def run(scale: Scale) -> None:
    """Print when each page had loaded."""
    program = chromium()
    if program is None:
        print("back office: no Chromium here; nothing is measured")
        return
    times, warm_up, sales = scale.of(15, 3, 1), scale.of(1, 1, 0), scale.of(1_000, 1_000, 50)
    with tempfile.TemporaryDirectory(prefix="promenade-bench-") as directory:
        home = Path(directory)
        settings = Settings(data_dir=home)
        prepare_database(settings)
        clients = asyncio.run(_seed(settings, sales))
        service = Service(home / "service.log", "--data-dir", str(home))
        service.start()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=program, args=["--no-sandbox"], env={**environment(program)}
                )
                _measure(Shop(service.url, clients, home), browser, times, warm_up)
                browser.close()
        finally:
            service.stop()


async def _seed(settings: Settings, sales: int) -> Mapping[str, tuple[str, str]]:
    async with opened_context(settings) as context:
        made = await seed(context, 1, sales=sales)
    return {client.role: (client.client_id, client.secret) for client in made.clients}


def _measure(shop: Shop, browser: Browser, times: int, warm_up: int) -> None:
    token = shop.token("administrator")
    lines = []
    for title, (address, is_there) in PAGES.items():
        for _ in range(warm_up):  # the service compresses its files at the first request
            _opened(shop, browser, token, address, is_there)
        taken = [_opened(shop, browser, token, address, is_there) for _ in range(times)]
        first, again = (sorted(one) for one in zip(*taken, strict=True))
        lines.append((title, *(milliseconds(percentile(of, percent)) for of in (first, again) for percent in (50, 95))))
    columns = ("page", "nothing kept, p50 ms", "p95", "kept, p50 ms", "p95")
    show("Back office: from the address to the page", columns, lines, f"{times} times each, one after the other")


def _opened(shop: Shop, browser: Browser, token: str, address: str, is_there: str) -> tuple[int, int]:
    """Return the nanoseconds until the page had loaded in a browser with an empty cache, and once more."""
    desk = Desk(shop, browser)
    page = desk.blank()
    session = json.dumps({"accessToken": token, "expiresAt": (time.time() + 3_600) * 1_000})
    page.add_init_script(f"sessionStorage.setItem('promenade.session', {json.dumps(session)})")
    taken = []
    for _ in range(2):
        page.goto("about:blank")
        begun = time.perf_counter_ns()
        page.goto(f"{shop.url}/#{address}", wait_until="commit")
        page.wait_for_function(is_there, polling=20)
        taken.append(time.perf_counter_ns() - begun)
    desk.close()
    return taken[0], taken[1]
