"""Services with a listener for certificates: one for many tests, or one of a test's own by `open_door`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from promenade.store.session import open_database
from promenade.workflows.certificate_authority import CertificateAuthority
from promenade.workflows.tenants import create_tenant
from promenade.workflows.trust import trust
from tests.kit.databases import Databases
from tests.kit.service import COMMAND, Service
from tests.web.conftest import run
from tests.web.imports.mtls.openssl import Identity
from tests.web.imports.mtls.peers import Door

TENANT = "acme"
OpenDoor = Callable[..., str]


class Issuer:
    """The authority of `promenade trust issue` in a directory, without the command around it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def door(self) -> Door:
        """The files that a service is given: copies, as an operator would install them."""
        made = self._authority().open(())
        installed = self.directory / "installed"
        installed.mkdir()
        cert, key, ca, crl = (
            Path(shutil.copy(made[f"mtls-{name}"], installed)) for name in ("cert", "key", "ca", "crl")
        )
        return Door(cert, key, ca, crl, authority=self.directory / "ca.pem")

    def issue(self, common_name: str, days: int = 365) -> Identity:
        """A certificate of that name, and a fresh list."""
        authority = self._authority(days)
        authority.open(())
        return Identity(*authority.issue(common_name))

    def revoke(self, common_name: str) -> None:
        """Put what that name has on the list."""
        self._authority().revoke(common_name)

    def install_list(self, door: Door) -> None:
        """Give the service the list as it is now."""
        shutil.copy(self.directory / "ca.crl", door.crl)

    def _authority(self, days: int = 365) -> CertificateAuthority:
        return CertificateAuthority(self.directory, days=days, at=datetime.now(UTC))


async def make_trusting_tenant(url: str, names: Sequence[str], tenant: str = TENANT) -> None:
    """A tenant that certificates of these names speak for."""
    database = await open_database(url)
    at = datetime.now(UTC)
    try:
        await create_tenant(database, tenant, settings={}, at=at, user="tests")
        for name in names:
            await trust(database, name, tenant, overlap_days=7, at=at, user="tests")
    finally:
        await database.close()


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
        run(make_trusting_tenant(url, trusted))
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
