"""A mixed load leaves every invariant intact (docs/reliability.md); `make soak` runs a large one."""

from __future__ import annotations

from pathlib import Path

from tests.kit.databases import Databases
from tests.kit.valkey import ValkeyServer
from tests.reliability.soak.running import Plan, Result, soak
from tests.reliability.soak.system import Layout

OPERATIONS = {"two services, two workers": 1_000, "one on a file": 600}


def nothing_failed(result: Result) -> None:
    print(result.text)
    assert not result.faults, result.text
    assert not result.measured.errors, result.text
    made = {call.kind for call in result.history.calls}
    assert {"reserve", "issue", "patch", "recharge", "draft", "import", "batch", "create", "list"} <= made
    sales = [call.outcome for call in result.history.calls if call.kind in {"evaluate", "confirm"}]
    assert sales.count("ok") > 0.9 * len(sales)


async def test_several_processes_survive_a_mixed_load(
    databases: Databases, valkey_server: ValkeyServer, tmp_path: Path, seed: int
) -> None:
    url = databases.create("postgresql")
    operations = OPERATIONS["two services, two workers"]
    nothing_failed(await soak(Plan(url, valkey_server.url, tmp_path, operations, seed)))
    databases.drop(url)


async def test_one_process_on_a_file_survives_a_mixed_load(databases: Databases, tmp_path: Path, seed: int) -> None:
    url = databases.create("sqlite")
    layout = Layout(services=1, workers=0)
    nothing_failed(await soak(Plan(url, None, tmp_path, OPERATIONS["one on a file"], seed, layout=layout)))
