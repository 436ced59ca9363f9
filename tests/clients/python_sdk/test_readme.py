"""The README's samples run as they stand and print what they say; the wheel holds what the package needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import promenade_client
from tests.clients.python_sdk.conftest import Served, environment

SDK = Path(promenade_client.__file__).parent.parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_samples_print_what_the_readme_says(served: Served, tmp_path: Path) -> None:
    blocks = BLOCK.findall((SDK / "README.md").read_text())
    programs = [text for language, text in blocks if language == "python"]
    printed = [text for language, text in blocks if not language]
    assert len(programs) == len(printed) == 4
    (tmp_path / "samples.py").write_text("".join(programs))
    named = {
        "PROMENADE_URL": served.service.url,
        "PROMENADE_CLIENT_ID": served.credentials.client_id,
        "PROMENADE_CLIENT_SECRET": served.credentials.client_secret,
    }
    done = subprocess.run(
        [sys.executable, "samples.py"],
        cwd=tmp_path,
        env=environment() | named,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(printed)


def test_the_wheel_holds_the_package_with_its_types_and_its_licence(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", str(tmp_path)]
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}
    subprocess.run([*build, str(SDK)], check=True, env={**os.environ, **quiet}, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    modules = {f"promenade_client/{path.name}" for path in (SDK / "src/promenade_client").glob("*.py")}
    assert modules | {"promenade_client/py.typed"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert re.findall(r"^Requires-Dist: (\w+)", metadata, re.MULTILINE) == ["httpx2"]


def test_project_package_and_changelog_have_the_same_version() -> None:
    project = tomllib.loads((SDK / "pyproject.toml").read_text())["project"]
    changelog = re.search(r"^## (\d\S*)", (SDK / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changelog is not None
    assert {project["version"], promenade_client.__version__, changelog[1]} == {project["version"]}


def test_its_dependency_is_that_of_the_service() -> None:
    """So nothing is needed that is not locked and explained already."""
    (own,) = tomllib.loads((SDK / "pyproject.toml").read_text())["project"]["dependencies"]
    assert own in tomllib.loads((SDK.parent.parent / "pyproject.toml").read_text())["project"]["dependencies"]


def test_it_imports_nothing_of_the_service() -> None:
    sources = "".join(path.read_text() for path in (SDK / "src").rglob("*.py"))
    assert not re.search(r"^\s*(?:from|import) (?:promenade|odata_server)(?:\.|\s)", sources, re.MULTILINE)
