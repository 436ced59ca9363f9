"""Services with a listener for certificates: one for many tests, or one of a test's own by `open_door`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.databases import Databases
from tests.kit.service import COMMAND, Service, promenade
from tests.web.imports.mtls.openssl import Identity
from tests.web.imports.mtls.peers import Door

TENANT = "acme"
OpenDoor = Callable[..., str]


class Issuer:
    """The authority of `promenade trust issue` in a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def door(self) -> Door:
        """The files that a service is given: copies, as an operator would install them."""
        made = json.loads(promenade("trust", "issue", "--dir", str(self.directory), "--ca-only", "--json"))
        installed = self.directory / "installed"
        installed.mkdir()
        files = {name.removeprefix("mtls-"): Path(shutil.copy(path, installed)) for name, path in made.items()}
        return Door(files["cert"], files["key"], files["ca"], files["crl"], authority=self.directory / "ca.pem")

    def issue(self, common_name: str, *options: str) -> Identity:
        made = json.loads(
            promenade("trust", "issue", "--dir", str(self.directory), "--cn", common_name, "--json", *options)
        )
        return Identity(Path(made["cert"]), Path(made["key"]))

    def revoke(self, common_name: str) -> None:
        promenade("trust", "issue", "--dir", str(self.directory), "--revoke", common_name)

    def install_list(self, door: Door) -> None:
        """Give the service the list as it is now."""
        shutil.copy(self.directory / "ca.crl", door.crl)


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    """An authority that nobody has asked for anything yet."""
    return Issuer(tmp_path / "authority")


@pytest.fixture
def open_door(databases: Databases, logs: Path, request: pytest.FixtureRequest) -> Iterator[OpenDoor]:
    """Starts a service with a door: `open_door(door, trusted=["erp"])`; it ends with the test."""
    services: list[Service] = []
    urls: list[str] = []

    def start(
        door: Door, trusted: list[str], *options: str, dialect: str = "sqlite", clock_file: Path | None = None
    ) -> str:
        url = databases.create("postgresql" if dialect == "postgresql" else "sqlite")
        urls.append(url)
        promenade("tenant", "create", TENANT, "--database-url", url)
        for name in trusted:
            promenade("trust", "add", name, TENANT, "--database-url", url)
        name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:60]
        by_clock = (sys.executable, "-m", "tests.kit.moved_clock")
        service = Service(
            logs / f"door-{name}-{door.port}.log",
            "--database-url", url, *door.options, *options,
            env=None if clock_file is None else {"CLOCK_FILE": str(clock_file)},
            command=(COMMAND,) if clock_file is None else by_clock,
        )  # fmt: skip
        services.append(service)
        door.service = service.start()
        return url

    yield start
    for service in services:
        service.kill()
    for url in urls:
        databases.drop(url)
