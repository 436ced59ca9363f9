"""A store as its staff use it: a process on its own file, with a till and an administrator."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service

PASSWORD = "correct horse battery"
BY_CLOCK = (sys.executable, "-m", "tests.kit.moved_clock")


@dataclass
class Browser:
    """The administrator's browser. ``address`` is its apparent client address: failures are counted per address."""

    http: httpx2.Client

    def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """POST to `/local-admin`, without a body if none is given."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(f"/local-admin/{path}", json=body, headers=sent)

    def log_in(self, password: str = PASSWORD) -> httpx2.Response:
        return self.post("login", {"password": password})

    def csrf_token(self) -> str:
        answer = self.http.head("/admin/", headers={"x-csrf-token": "Fetch"})
        assert answer.status_code == 200, answer.headers
        return answer.headers["x-csrf-token"]

    def make(self, path: str, **values: Any) -> dict[str, Any]:
        """POST to `/admin` as its pages do."""
        answer = self.http.post(f"/admin/{path}", json=values, headers={"x-csrf-token": self.csrf_token()})
        assert answer.status_code in {200, 201}, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def api_key(self) -> str:
        answer = self.post("getApiKey")
        assert answer.status_code == 200, answer.text
        key: str = answer.json()["apiKey"]
        return key


@dataclass
class Store:
    """A running store."""

    service: Service
    directory: Path
    clock: MovedClock
    clients: list[httpx2.Client] = field(default_factory=list)

    def close(self) -> None:
        """Stop the store and close its clients."""
        for client in self.clients:
            client.close()
        self.service.kill()

    def client(self, **how: Any) -> httpx2.Client:
        client = httpx2.Client(base_url=self.service.url, timeout=30, **how)
        self.clients.append(client)
        return client

    @property
    def database(self) -> Path:
        return self.directory / "promenade.db"

    def browser(self, address: str = "127.0.0.1", *, logged_in: bool = True) -> Browser:
        """Return a new browser on the machine with that loopback address."""
        transport = httpx2.HTTPTransport(local_address=address)
        browser = Browser(self.client(transport=transport))
        if logged_in:
            assert browser.log_in().json() == {"success": True}
        return browser

    def till(self, key: str | None = None) -> httpx2.Client:
        """Return a till with the store's key or another."""
        shown = self.browser().api_key() if key is None else key
        return self.client(headers={"x-api-key": shown})


def start_store(directory: Path, logs: Path, *options: str, **environment: str) -> Store:
    """Start a store in ``directory``, which may have been started before."""
    directory.mkdir(exist_ok=True)
    clock_file = directory / "clock"
    clock = MovedClock(clock_file)
    service = Service(
        logs / f"store-{time.monotonic_ns()}.log",
        *("--edition", "local-store", "--data-dir", str(directory), *options),
        command=BY_CLOCK,
        env={"CLOCK_FILE": str(clock_file), **environment},
    )
    return Store(service.start(), directory, clock)


@pytest.fixture(scope="module")
def store(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a shared store whose password is `PASSWORD`; tests must not change it."""
    store = start_store(tmp_path_factory.mktemp("store"), logs)
    set_up = store.browser(logged_in=False).post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD})
    assert (set_up.status_code, set_up.json()) == (200, {"success": True})
    yield store
    store.close()
