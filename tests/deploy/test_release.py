"""`make release`: packages with their checksums, the same bytes each time, and a list of all that they contain."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def pins(lock: str) -> dict[str, str]:
    """The packages of a lock file with their versions."""
    return dict(PIN.findall((ROOT / f"requirements/{lock}.lock").read_text()))


def released(target: Path) -> Path:
    done = subprocess.run(
        ["make", "release", f"DIST={target}"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=500
    )
    if re.search(r"requirements/(build|release)\.lock", done.stderr) and "Could not find a version" in done.stderr:
        pytest.skip("pip cannot fetch what the lock files name")
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release."""
    return released(tmp_path_factory.mktemp("release") / "dist")


def test_it_is_the_same_to_the_byte_each_time_and_its_checksums_are_right(release: Path, tmp_path: Path) -> None:
    again = released(tmp_path / "dist")
    sums = (release / "SHA256SUMS").read_text()
    assert sums == (again / "SHA256SUMS").read_text()
    listed = {name: checksum for checksum, name in (line.split("  ") for line in sums.splitlines())}
    assert set(listed) == {file.name for file in release.iterdir()} - {"SHA256SUMS"}
    for name, checksum in listed.items():
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == checksum
    assert {re.sub(r"-\d.*", "", name) for name in listed if name.endswith(".whl")} == {
        "odata_server", "promenade", "promenade_client",
    }  # fmt: skip


def test_every_component_is_listed_with_its_version_licence_and_checksums(release: Path) -> None:
    (file,) = release.glob("*.cdx.json")
    listed = json.loads(file.read_text())
    assert (listed["bomFormat"], listed["metadata"]["component"]["name"]) == ("CycloneDX", "promenade")
    components: list[dict[str, Any]] = listed["components"]
    found = {one["name"]: one["version"] for one in components}
    scripts = json.loads((ROOT / "ui/package.json").read_text())["dependencies"]
    assert found.items() >= pins("run").items()
    assert found.items() >= scripts.items()
    assert {"@openui5/sap.ui.core", "swagger-ui-dist"} <= found.keys()
    assert found.keys() == pins("run").keys() | scripts.keys() | {"@openui5/sap.ui.core", "swagger-ui-dist"}
    installed_here = [one for one in components if one["name"] not in {"async-timeout", "httpx2-jsfetch", "tzdata"}]
    assert not [one["name"] for one in installed_here if not one.get("licenses")]
    for one in components:
        if one["purl"].startswith("pkg:pypi/"):
            assert [reference for reference in one["externalReferences"] if reference.get("hashes")], one["name"]


def test_the_images_with_and_without_brokers_have_the_same_packages() -> None:
    assert pins("brokers").items() >= pins("run").items()
