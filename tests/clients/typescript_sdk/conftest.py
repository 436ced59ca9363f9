"""The package in clients/typescript as npm packs it, in a project of its own, and a shop served by a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from promenade_client import ClientCredentials
from tests.clients.conftest import MODULES, ROOT
from tests.clients.python_sdk.conftest import Served
from tests.kit.databases import Databases
from tests.kit.service import Service
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, furnish, run
from tests.web.coupons.conftest import furnish_coupons

SDK = ROOT / "clients/typescript"
HERE = Path(__file__).parent
SECONDS_MAX = 300
"""Ends what hangs."""


@dataclass(frozen=True)
class Project:
    """A folder in which `import "promenade-client"` finds the package as it would be published."""

    node: str
    folder: Path
    archive: Path

    def run(
        self, *arguments: str, served: Served | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Node.js in the folder, with the address and the credentials of a shop in its environment."""
        return subprocess.run(
            [self.node, *arguments],
            cwd=self.folder,
            env=os.environ | (environment_of(served) if served else {}) | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_MAX,
        )


def environment_of(served: Served) -> dict[str, str]:
    """Return the variables from which programs of the documentation know the shop."""
    return {
        "PROMENADE_URL": served.service.url,
        "PROMENADE_CLIENT_ID": served.credentials.client_id,
        "PROMENADE_CLIENT_SECRET": served.credentials.client_secret,
    }


def packed(target: Path) -> Path:
    """Build and pack a copy of the package with npm; return the archive."""
    if not (MODULES / "typescript").exists() or shutil.which("npm") is None:
        pytest.skip(f"no npm, or no TypeScript in {MODULES}: `make check` fetches it where npm can")
    source = target / "source"
    shutil.copytree(SDK, source, ignore=shutil.ignore_patterns("dist", "node_modules"))
    (source / "node_modules").symlink_to(MODULES.resolve())
    pack = ["npm", "pack", "--pack-destination", str(target)]
    done = subprocess.run(pack, cwd=source, capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = target.glob("*.tgz")
    return archive


def installed(archive: Path, folder: Path) -> None:
    """Unpack the archive where Node.js looks for it: it needs nothing else."""
    modules = folder / "node_modules"
    modules.mkdir(parents=True)
    with tarfile.open(archive) as files:
        files.extractall(modules, filter="data")
    (modules / "package").rename(modules / "promenade-client")


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Pack the package and install it, once for all tests."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node.js")
    target = tmp_path_factory.mktemp("typescript-sdk")
    archive = packed(target)
    folder = target / "project"
    installed(archive, folder)
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, folder)
    return Project(node, folder, archive)


@pytest.fixture(scope="package")
def served(databases: Databases, logs: Path) -> Iterator[Served]:
    """Open the shop, with coupons, in a process of its own."""
    database_url = databases.create("sqlite")
    (pair,) = make_clients(database_url, TENANT, {"till": ("svc.POSReader",)}, is_new=True).values()
    run(furnish_coupons(database_url, TENANT))
    run(furnish(database_url))
    service = Service(logs / f"typescript-sdk-{os.getpid()}.log", "--database-url", database_url).start()
    yield Served(service, database_url, ClientCredentials(*pair))
    service.kill()
    databases.drop(database_url)
