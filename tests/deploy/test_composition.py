"""compose.yaml is consistent with the program, the image and itself."""

from __future__ import annotations

import re
import stat
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.deploy.options import commands, variables_of

DEPLOY = Path(__file__).parent.parent.parent / "deploy"


@pytest.fixture(scope="module")
def composition() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("deploy") / "secrets"
    subprocess.run(["sh", str(DEPLOY / "make-secrets.sh"), str(directory)], check=True)
    return directory


def test_each_variable_is_one_that_its_command_reads(composition: dict[str, Any]) -> None:
    for name, words in (("service", ("serve",)), ("worker", ("worker",)), ("upgrade", ("db", "upgrade"))):
        said = composition["services"][name]
        if name != "upgrade":
            assert said["command"] == list(words)
        given = {one.removesuffix("_FILE") for one in said["environment"]}
        assert given <= set(variables_of(*words)), name


def test_the_upgrade_runs_existing_commands(composition: dict[str, Any]) -> None:
    script = composition["services"]["upgrade"]["entrypoint"][-1]
    run = [tuple(one.split()) for one in re.findall(r"promenade-entrypoint ([a-z ]+)", script)]
    paths = {path for path, _ in commands()}
    assert [one[:2] for one in run] == [("db", "upgrade"), ("db", "grant")]
    assert {one[:2] for one in run} <= paths
    assert "CREATE ROLE promenade LOGIN" in (DEPLOY / "postgresql/make-roles.sh").read_text()
    assert run[1][2] == "promenade"


def test_the_secrets_and_dependencies_of_each_service_exist(composition: dict[str, Any], secrets: Path) -> None:
    services, declared = composition["services"], composition["secrets"]
    for name, said in services.items():
        assert set(said.get("secrets", ())) <= set(declared), name
        for other, how in said.get("depends_on", {}).items():
            assert other in services
            assert how["condition"] != "service_healthy" or "healthcheck" in services[other]
        files = [value for key, value in said.get("environment", {}).items() if key.endswith("_FILE")]
        assert {Path(file).name for file in files} <= set(said.get("secrets", ())), name
    assert {Path(one["file"]).name for one in declared.values()} == {file.name for file in secrets.iterdir()}


def test_nothing_but_the_owner_of_the_tables_gets_its_password(composition: dict[str, Any], secrets: Path) -> None:
    owner, serving = (urlsplit((secrets / name).read_text()) for name in ("owner_url", "serving_url"))
    assert (owner.username, serving.username) == ("promenade_owner", "promenade")
    assert owner.hostname == serving.hostname == "database"
    assert owner.password == (secrets / "owner_password").read_text() != serving.password
    holders = {name for name, said in composition["services"].items() if "owner_url" in said.get("secrets", ())}
    assert holders == {"upgrade"}


def test_our_containers_run_without_privileges(composition: dict[str, Any]) -> None:
    for name in ("upgrade", "service", "worker"):
        said = composition["services"][name]
        assert said["read_only"]
        assert said["cap_drop"] == ["ALL"]
        assert said["security_opt"] == ["no-new-privileges:true"]
        assert int(said["stop_grace_period"].removesuffix("s")) > 20  # the maximum shutdown time of the service


def test_images_are_pinned_and_ports_shut_to_the_outside(composition: dict[str, Any]) -> None:
    for said in composition["services"].values():
        assert said["image"] == "promenade" or re.search(r":\d", said["image"])
    opened = [port for said in composition["services"].values() for port in said.get("ports", ())]
    assert opened == ["${LISTEN:-127.0.0.1:8080}:8080"]


def test_secrets_stay_as_they_are_when_they_are_made_again(secrets: Path) -> None:
    before = {file.name: file.read_text() for file in secrets.iterdir()}
    assert all(len(text) >= 48 for text in before.values())
    (secrets / "owner_url").unlink()
    subprocess.run(["sh", str(DEPLOY / "make-secrets.sh"), str(secrets)], check=True)
    assert {file.name: file.read_text() for file in secrets.iterdir()} == before
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
