"""Services with a mutual-TLS listener: one shared by many tests, or one per test from `open_door`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.access.certificate_authority import CertificateAuthority
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.access.trust import trust
from tests.kit.databases import Databases
from tests.kit.service import COMMAND, Service
from tests.web.access.mtls.openssl import Identity
from tests.web.access.mtls.peers import Door
from tests.web.conftest import run

TENANT = "acme"
OpenDoor = Callable[..., str]


class Issuer:
    """The authority that `promenade trust issue` creates in a directory, without the command around it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def door(self) -> Door:
        """Return the files for a service: copies, as an operator would install them."""
        made = self._authority().open(())
        installed = self.directory / "installed"
        installed.mkdir()
        cert, key, ca, crl = (
            Path(shutil.copy(made[f"mtls-{name}"], installed)) for name in ("cert", "key", "ca", "crl")
        )
        return Door(cert, key, ca, crl, authority=self.directory / "ca.pem")

    def issue(self, common_name: str, days: int = 365) -> Identity:
        """Issue a certificate with that name and a fresh revocation list."""
        authority = self._authority(days)
        authority.open(())
        return Identity(*authority.issue(common_name))

    def revoke(self, common_name: str) -> None:
        """Revoke the certificates with that name."""
        self._authority().revoke(common_name)

    def install_list(self, door: Door) -> None:
        """Install the current revocation list in the service."""
        shutil.copy(self.directory / "ca.crl", door.crl)

    def _authority(self, days: int = 365) -> CertificateAuthority:
        return CertificateAuthority(self.directory, days=days, at=datetime.now(UTC))


async def make_trusting_tenant(url: str, names: Sequence[str], tenant: str = TENANT) -> None:
    """Create a tenant that trusts certificates with these names."""
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
    """Return an authority that has issued nothing yet."""
    return Issuer(tmp_path / "authority")


@pytest.fixture
def open_door(databases: Databases, logs: Path, request: pytest.FixtureRequest) -> Iterator[OpenDoor]:
    """Start a service with a mutual-TLS listener: `open_door(door, trusted=["erp"])`; it stops when the test ends."""
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
