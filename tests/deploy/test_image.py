"""The image: its build steps, tested in a separate environment, and the entry point that reads secrets from files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.deploy.options import variables_of
from tests.kit.receiver import Receiver
from tests.kit.service import COMMAND, Service

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
ENTRYPOINT = DEPLOY / "entrypoint.sh"


def stages() -> list[str]:
    """Return the text of each stage; continued lines are joined."""
    return re.split(r"^FROM ", CONTAINERFILE.replace("\\\n", " "), flags=re.MULTILINE)[1:]


def test_only_the_first_stage_has_build_tools() -> None:
    building, running = stages()
    assert "pip install" in building
    assert "--require-hashes" in building
    assert not re.search(r"\bpip\b|apt-get|COPY src", running)
    assert re.search(r"^USER promenade$", running, re.MULTILINE)
    assert running.index("USER promenade") < running.index("ENTRYPOINT")
    assert re.search(r"^ARG PYTHON=3\.\d+-slim-\w+$", CONTAINERFILE, re.MULTILINE)


def test_copied_files_exist_and_are_not_ignored() -> None:
    shown = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for line in re.findall(r"^COPY (?!--from)(.*)$", CONTAINERFILE, re.MULTILINE):
        *sources, _ = [word for word in line.split() if not word.startswith("--")]
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source in shown, source


def test_the_variables_of_the_image_are_options_of_serve() -> None:
    named = set(re.findall(r"\bPROMENADE_[A-Z_]+(?==)", CONTAINERFILE))
    assert named
    assert named <= set(variables_of("serve"))


def test_what_builds_is_no_part_of_what_runs() -> None:
    for lock in ("run", "agents", "archive", "brokers", "tracing"):
        assert not locked("build") & locked(lock)
    building, running = stages()
    assert "--target /opt/builder" in building
    assert "/opt/builder" not in running


def locked(lock: str) -> set[str]:
    text = (ROOT / f"requirements/{lock}.lock").read_text()
    return set(re.findall(r"^([a-z0-9.-]+)==", text, re.MULTILINE))


def test_a_secret_can_be_read_from_a_file_instead_of_a_variable(tmp_path: Path) -> None:
    program = tmp_path / "promenade"
    program.write_text('#!/bin/sh\necho "$PROMENADE_DATABASE_URL|${PROMENADE_DATABASE_URL_FILE-unset}|$*"\n')
    program.chmod(0o755)
    secret = tmp_path / "secret"
    secret.write_text("postgresql://a:b'c $d@e/f\n")
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PROMENADE_DATABASE_URL_FILE": str(secret)}
    said = subprocess.run(
        ["sh", str(ENTRYPOINT), "serve", "--port", "1"], env=env, check=False, capture_output=True, text=True
    )
    assert said.stdout == "postgresql://a:b'c $d@e/f|unset|serve --port 1\n", said.stderr
    env["PROMENADE_DATABASE_URL_FILE"] = str(tmp_path / "missing")
    said = subprocess.run(["sh", str(ENTRYPOINT), "serve"], env=env, check=False, capture_output=True, text=True)
    assert said.returncode == 2
    assert "PROMENADE_DATABASE_URL_FILE names" in said.stderr


def test_the_healthcheck_tells_a_service_from_none() -> None:
    (check,) = re.findall(r'CMD \["python", "-c", "(.*)"\]', CONTAINERFILE)
    with Receiver() as answering:
        here = check.replace("127.0.0.1:8080", f"127.0.0.1:{answering.port}")
        assert subprocess.run([sys.executable, "-c", here], check=False).returncode == 0
        assert [one.path for one in answering.requests()] == ["/health/live"]
    assert subprocess.run([sys.executable, "-c", here], check=False, stderr=subprocess.DEVNULL).returncode == 1


def test_the_wheel_contains_all_data_files(tmp_path: Path) -> None:
    """Built as in the image and installed with only the dependencies, it can serve: all data files are in it."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*build, "--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("promenade-*.whl")
    home = tmp_path / "environment"
    venv.create(home, with_pip=False)
    packages = next(home.glob("lib/python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(packages)
    _borrow(packages)
    command = (str(home / "bin/python"), "-m", "promenade")
    where = subprocess.run(
        [command[0], "-c", "import promenade; print(promenade.__file__)"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert where.stdout.startswith(str(home)), where.stdout + where.stderr
    service = Service(tmp_path / "log", "--data-dir", str(tmp_path / "data"), command=command).start()
    try:
        for path in ("/health", "/pos/openapi.json", "/api/v1/docs", "/api/v1/master-data/soap?wsdl"):
            assert service.get(path)[0] in (200, 401), path
    finally:
        service.stop()


def _borrow(packages: Path) -> None:
    """Link this environment's dependencies into ``packages``, except what makes this checkout importable."""
    own = next(Path(COMMAND).parent.parent.glob("lib/python*/site-packages"))
    for one in own.iterdir():
        target = packages / one.name
        if "promenade" not in one.name and one.suffix != ".pth" and not target.exists():
            target.symlink_to(one)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_steps_of_the_first_stage_install_a_working_service(tmp_path: Path) -> None:
    """Every dependency is installed by its hash, from the registry or a mirror."""
    home = tmp_path / "promenade"
    venv.create(home, with_pip=True)
    for command in re.findall(r"/opt/promenade/bin/python -m (pip [^&\n]*)", stages()[0]):
        said = subprocess.run(
            [str(home / "bin/python"), "-m", *command.split()], check=False, cwd=ROOT, capture_output=True, text=True
        )
        if "Could not find a version" in said.stderr or "Connection" in said.stderr:
            pytest.skip("no registry can be reached from here")
        assert said.returncode == 0, said.stderr
    assert not list(home.glob("lib/python*/site-packages/pip"))
    service = Service(tmp_path / "log", "--data-dir", str(tmp_path / "d"), command=(str(home / "bin/promenade"),))
    assert service.start().stop() == 0
