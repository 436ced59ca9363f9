"""The systemd unit of a store, the PostgreSQL roles and the pooler's settings."""

from __future__ import annotations

import asyncio
import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from promenade.store.driver.postgresql.database import CONNECTIONS, HOT_CONNECTIONS
from tests.deploy.options import variables_of
from tests.deploy.psql import environment
from tests.kit.databases import Databases, past_the_wall
from tests.kit.migrate import grant, migrate
from tests.kit.service import COMMAND

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
UNIT = DEPLOY / "systemd/promenade-store.service"


def unit_of(text: str) -> dict[str, list[str]]:
    """Return the settings of a unit, each with all its values."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^([A-Za-z]+)=(.*)$", text, re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def test_systemd_takes_the_unit_as_it_is(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not here")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/promenade/bin/promenade", COMMAND))
    said = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, ""), said
    shut = [analyze, "security", "--offline=true", "--threshold=20", str(unit)]
    said = subprocess.run(shut, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout


def test_the_unit_runs_a_store_that_keeps_its_state() -> None:
    unit = unit_of(UNIT.read_text())
    assert unit["ExecStart"] == ["/opt/promenade/bin/promenade serve"]
    set_to = dict(one.split("=", 1) for one in unit["Environment"])
    assert set_to["PROMENADE_EDITION"] == "local-store"
    assert set_to["PROMENADE_DATA_DIR"] == unit["WorkingDirectory"][0] == f"%S/{unit['StateDirectory'][0]}"
    assert unit["Restart"] == ["always"]
    assert int(unit["TimeoutStopSec"][0]) > 20  # the maximum shutdown time of the service
    user = (DEPLOY / "systemd/promenade.sysusers.conf").read_text()
    assert re.search(rf"^u {unit['User'][0]} ", user, re.MULTILINE)


def test_variables_of_the_unit_and_of_its_file_are_options_of_serve() -> None:
    for file in (UNIT, DEPLOY / "systemd/store.env.example"):
        named = set(re.findall(r"^#?(?:Environment=)?(PROMENADE_[A-Z_]+)=", file.read_text(), re.MULTILINE))
        assert named
        assert named <= set(variables_of("serve")), file


def test_the_roles_are_made_and_the_one_that_serves_owns_nothing(
    databases: Databases, postgres_url: str, tmp_path: Path
) -> None:
    """The composition's script, on this test's database; the roles get new names because the server is shared."""
    url = databases.create_empty("postgresql")
    secrets = tmp_path / "secrets"
    subprocess.run(["sh", str(DEPLOY / "make-secrets.sh"), str(secrets)], check=True)
    text = (DEPLOY / "postgresql/make-roles.sh").read_text()
    owner, serving = f"owner_{os.getpid()}", f"serving_{os.getpid()}"
    script = tmp_path / "make-roles.sh"
    script.write_text(re.sub(r"\bpromenade\b(?=[; ])", serving, text.replace("promenade_owner", owner)))
    place = past_the_wall(url)
    env = environment(place) | {"SECRETS": str(secrets), "POSTGRES_DB": urlsplit(place).path[1:]}
    try:
        subprocess.run(["sh", str(script)], env=env, check=True, capture_output=True)
        as_owner = _as(place, owner, secrets / "owner_password")
        as_serving = _as(place, serving, secrets / "serving_password")
        migrate(as_owner)
        grant(as_owner, serving)
        owned = "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = current_user"
        assert told(as_serving, owned) == 0
        assert told(as_owner, owned)
        assert told(as_serving, "DELETE FROM tenants RETURNING name") is None
    finally:
        databases.drop(url)
        for role in (owner, serving):
            told(postgres_url, f"DROP ROLE IF EXISTS {role}")


def told(url: str, statement: str) -> object:
    """Return the single value of a query."""

    async def ask() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return asyncio.run(ask())


def _as(url: str, role: str, password: Path) -> str:
    return re.sub(r"//[^@]*@", f"//{role}:{password.read_text()}@", url)


def test_the_pooler_has_a_place_for_every_connection_and_keeps_sessions_apart() -> None:
    settings = configparser.ConfigParser(comment_prefixes=(";",), interpolation=None)
    settings.read(DEPLOY / "pgbouncer/pgbouncer.ini")
    pool = settings["pgbouncer"]
    assert pool["pool_mode"] == "session"
    assert pool["server_reset_query"] == "DISCARD ALL"
    assert int(pool["default_pool_size"]) >= 2 * (CONNECTIONS + HOT_CONNECTIONS)
    passed_over = set(pool["ignore_startup_parameters"].split(","))
    assert {"jit", "statement_timeout", "idle_in_transaction_session_timeout"} <= passed_over
