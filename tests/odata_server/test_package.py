"""The package `odata-server`: its wheel and its source archive serve the README's model where nothing else is."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import odata_server

ROOT = Path(__file__).parent.parent.parent
LIBRARY = ROOT / "packages/odata-server"
PROJECT = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]
OFFLINE = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source archive and the wheel with the locked tools, from the checkout."""
    target = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(target)], check=True, cwd=LIBRARY)
    return target


def _modules() -> set[str]:
    source = LIBRARY / "src"
    return {path.relative_to(source).as_posix() for path in (source / "odata_server").rglob("*.py")}


def test_the_wheel_holds_every_module_its_types_and_its_licence_and_the_archive_its_pages(built: Path) -> None:
    (wheel,), (archive,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        (metadata,) = (packed.read(name).decode() for name in names if name.endswith("/METADATA"))
    assert {name for name in names if name.endswith(".py")} == _modules()
    assert "odata_server/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert f"\nVersion: {PROJECT['version']}\n" in metadata
    with tarfile.open(archive) as packed_sources:
        found = {name.partition("/")[2] for name in packed_sources.getnames()}
    pages = {"README.md", "LICENSE", "CHANGELOG.md", "docs/serve-your-own-model.md", "docs/what-odata-offers.md"}
    assert pages | {f"src/{name}" for name in _modules()} <= found
    assert not [name for name in found if "promenade" in name]


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_it_serves_the_model_of_the_readme_in_an_environment_without_promenade(
    built: Path, kind: str, tmp_path: Path
) -> None:
    python = _environment(tmp_path / "environment", built, kind)
    absent = subprocess.run([python, "-c", "import promenade"], check=False, capture_output=True, text=True)
    assert "No module named 'promenade'" in absent.stderr
    where = subprocess.run(
        [python, "-c", "import odata_server as o; print(o.__file__)"], check=False, capture_output=True, text=True
    )
    assert where.stdout.startswith(str(tmp_path)), where.stderr
    (program,) = re.findall(r"^```python\n(.*?)^```$", (LIBRARY / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(program.rpartition("\n\n")[2].splitlines()) == 10
    (tmp_path / "diary.py").write_text(program)
    with socket.create_server(("127.0.0.1", 0)) as listener:  # requests wait in it until the service accepts them
        port, fd = listener.getsockname()[1], listener.fileno()
        command = [python, "-m", "uvicorn", "diary:app", "--fd", str(fd), "--log-level", "warning"]
        serving = subprocess.Popen(command, cwd=tmp_path, pass_fds=[fd])
    try:
        assert _send(port, "/Notes", {"text": "Rain"})["text"] == "Rain"
        found = _send(port, "/Notes?$search=rain&$count=true&$select=text")
        assert (found["@count"], found["value"][0]["text"]) == (1, "Rain")
        assert _send(port, "/$metadata?$format=json")["Diary"]["Note"]["$Key"] == ["ID"]
    finally:
        serving.terminate()
        serving.wait()


def _environment(home: Path, built: Path, kind: str) -> str:
    """Create an environment with the package, what it says that it needs, uvicorn, and nothing else."""
    venv.create(home, with_pip=True)
    python = str(home / "bin/python")
    packages = next(home.glob("lib/python*/site-packages"))
    _borrow(packages, ["hatchling"])  # the source archive is built with it
    (package,) = built.glob(kind)
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", str(package)]
    subprocess.run(install, check=True, env=OFFLINE, timeout=300)
    told = [python, "-c", "from importlib.metadata import requires; print(*requires('odata-server'), sep='\\n')"]
    needed = subprocess.run(told, check=True, capture_output=True, text=True).stdout.splitlines()
    _borrow(packages, ["uvicorn", *needed])
    subprocess.run([python, "-m", "pip", "check"], check=True, env=OFFLINE, stdout=subprocess.DEVNULL)
    return python


def _borrow(packages: Path, wanted: Iterable[str]) -> None:
    """Link these packages, and those that they need, from this environment into ``packages``."""
    waiting, seen = [Requirement(line) for line in wanted], set()
    while waiting:
        one = waiting.pop()
        extras = [*one.extras, "", "sql"]
        if one.name in seen or (one.marker and not any(one.marker.evaluate({"extra": extra}) for extra in extras)):
            continue
        seen.add(one.name)
        installed = distribution(one.name)
        for top in {file.parts[0] for file in installed.files or () if ".." not in file.parts}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(installed.locate_file(top)))
        for line in installed.requires or ():
            needed = Requirement(line)
            if not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in (*one.extras, "")):
                needed.marker = None
                waiting.append(needed)


def _send(port: int, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_project_package_and_changelog_have_the_same_version() -> None:
    changelog = re.search(r"^## (\d\S*)", (LIBRARY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changelog is not None
    assert {PROJECT["version"], odata_server.__version__, changelog[1]} == {PROJECT["version"]}


def test_its_dependencies_and_its_licence_are_those_of_the_product() -> None:
    """So nothing is needed that is not locked and explained already."""
    product = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["sql"]} <= set(product)
    assert (LIBRARY / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
