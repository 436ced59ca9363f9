"""What a host of the library uses: one module with all names, and an example that runs."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import odata_server
from odata_server import Request

ROOT = Path(__file__).parent.parent.parent
HOST = ROOT / "src/promenade"
README = ROOT / "packages/odata-server/README.md"
OF_ITS_OWN = re.compile(r"odata_server\.(sql|sql_source|engines|openapi|parse)\b")
"""What has modules of its own: SQL, OpenAPI, and the limits of the grammar that a reference page lists."""


def _used() -> Iterator[tuple[str, str]]:
    for path in HOST.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("odata_server"):
                yield from ((str(node.module), one.name) for one in node.names)


def test_the_library_exports_what_its_host_uses() -> None:
    used = {(module, name) for module, name in _used() if not OF_ITS_OWN.match(module)}
    assert len(used) > 50
    missing = {f"{module}.{name}" for module, name in used if name not in odata_server.__all__}
    assert missing == set()
    for module, name in used:
        assert getattr(odata_server, name) is getattr(import_module(module), name)


def test_the_library_alone_loads_no_sqlalchemy_and_a_model_no_service() -> None:
    code = """import sys
from odata_server import Edm
assert "odata_server.service" not in sys.modules
from odata_server import *
assert Service is sys.modules["odata_server.service"].Service
assert "sqlalchemy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_one_module_has_all_names_and_no_others() -> None:
    assert all(hasattr(odata_server, name) for name in odata_server.__all__)
    for name in ("EngineDatabase", "EntityMap", "SqlModel", "SqlReader", "SqlSource", "SqlUnit"):
        assert getattr(odata_server, name).__name__ == name
        assert name not in odata_server.__all__
    assert not hasattr(odata_server, "SqlDatabase")


def test_without_sqlalchemy_the_names_that_need_it_say_so() -> None:
    code = """import sys
sys.modules["sqlalchemy"] = None
from odata_server import *
try:
    from odata_server import SqlModel
except ImportError as error:
    assert "sqlalchemy" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


async def test_the_example_of_the_readme_serves_its_model(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "diary"}
    exec(compile(program.replace("sqlite:///", f"sqlite:///{tmp_path}/"), str(README), "exec"), names)
    headers = {"content-type": "application/json"}
    made = await names["app"].handle(Request("POST", "Notes", "", headers, b'{"text": "Rain"}'), None)
    assert made.status == 201, made.body
    found = await names["app"].handle(Request("GET", "Notes", "$search=rain&$select=text&$count=true"), None)
    body = json.loads(found.body)
    assert (body["@count"], [one["text"] for one in body["value"]]) == (1, ["Rain"])
    names["engine"].dispose()
