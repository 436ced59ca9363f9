"""The log has one form, whoever writes the line: key=value pairs or JSON, with the request that it is about."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.cli.log_lines import _Lines
from promenade.log import request_fields, serve_request, stop_serving
from promenade.settings import Settings, SettingsError
from tests.conftest import StartService
from tests.kit.service import COMMAND

BOTH = """
import logging
from promenade.cli.log_lines import configure_log
from promenade.log import Logger, serve_request
configure_log("{form}")
serve_request("c-1")
logging.getLogger("library").warning("has %s", 'a "word"\\nlevel=faked')
Logger("own").warning("happened", to="x y", number=1)
try:
    raise ValueError("wrong")
except ValueError:
    logging.getLogger("library").exception("failed")
    Logger("own").exception("failed", tenant="acme")
"""


def lines(form: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BOTH.format(form=form)], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stderr.splitlines()


def test_json_is_one_object_per_line() -> None:
    found: list[dict[str, Any]] = [json.loads(line) for line in lines("json")]
    assert [(one["level"], one["event"]) for one in found] == [
        ("warning", 'has a "word"\nlevel=faked'),
        ("warning", "happened"),
        ("error", "failed"),
        ("error", "failed"),
    ]
    assert {one["correlation_id"] for one in found} == {"c-1"}
    assert [one["logger"] for one in found] == ["library", "own", "library", "own"]
    assert all(one["timestamp"].endswith("Z") for one in found)
    assert (found[1]["to"], found[1]["number"]) == ("x y", 1)
    assert all("ValueError: wrong" in one["exception"] for one in found[2:])


def test_pairs_are_one_line_per_event() -> None:
    found = lines("logfmt")
    assert len(found) == 4
    assert all(line.startswith("timestamp=") and "correlation_id=c-1" in line for line in found)
    assert 'event="has a \\"word\\"\\nlevel=faked"' in found[0]
    assert 'level=warning event=happened logger=own to="x y"' in found[1]


def test_outside_of_a_request_there_is_none() -> None:
    assert request_fields() == {}
    record = logging.LogRecord("library", logging.INFO, __file__, 1, "ready", (), None)
    assert "correlation_id" not in _Lines("json").format(record)
    with pytest.raises(SettingsError, match="--log-format must be one of logfmt, json"):
        Settings(log_format="xml")
    outside = serve_request("c-2")
    within = serve_request("c-3")
    assert request_fields() == {"correlation_id": "c-3"}
    stop_serving(within)
    assert request_fields() == {"correlation_id": "c-2"}
    stop_serving(outside)
    assert request_fields() == {}


def test_a_service_logs_each_request_if_asked(server: StartService, tmp_path: Path) -> None:
    service = server("--data-dir", str(tmp_path), "--log-format", "json", "--access-log")
    httpx2.get(f"{service.url}/api/v1/Articles(1)?secret=x", headers={"x-correlation-id": "c-3"}, timeout=60)
    assert service.stop() == 0
    found = [json.loads(line) for line in service.output().splitlines()]
    (request,) = [one for one in found if one.get("correlation_id") == "c-3" and one["event"] == "request"]
    assert request.pop("ms") > 0
    del request["timestamp"]
    assert request == {
        "level": "info", "event": "request", "logger": "promenade.web", "correlation_id": "c-3", "method": "GET",
        "route": "/api/v1/Articles", "status": 401, "address": "127.0.0.1",
    }  # fmt: skip
    assert "secret" not in service.output()
    assert any(one["event"] == "Application startup complete." for one in found)
    keys = ("timestamp", "level", "event", "logger")
    assert all(tuple(one)[:4] == keys for one in found if one is not request)
    assert {"uvicorn.error", "promenade.web", "promenade.worker.delivery"} <= {one["logger"] for one in found}


ODD = """
import threading, warnings
from promenade.cli.log_lines import configure_log
configure_log("json")
warnings.warn("old\\nand new")
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise ValueError("nobody catches it")
"""


def test_what_the_interpreter_writes_has_the_same_form() -> None:
    done = subprocess.run([sys.executable, "-c", ODD], capture_output=True, text=True, check=False, timeout=300)
    found = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(one["level"], one["logger"]) for one in found] == [
        ("warning", "py.warnings"), ("critical", "promenade"), ("critical", "promenade"),
    ]  # fmt: skip
    assert "old\nand new" in found[0]["event"]
    assert "ZeroDivisionError" in found[1]["exception"]
    assert "nobody catches it" in found[2]["exception"]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("serve", "--workers", "2"), 2, "--workers above 1 needs PostgreSQL"),
        (("serve", "--database-url", "postgresql://nobody@127.0.0.1:9/x"), 1, "The database cannot be used"),
        (("worker", "--database-url", "postgresql://nobody@127.0.0.1:9/x"), 1, "The database cannot be used"),
    ],
)
def test_why_a_server_does_not_start_is_a_line_of_the_log(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [COMMAND, *words, "--data-dir", str(tmp_path), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    failed = run("--log-format", "json")
    (line,) = [json.loads(line) for line in failed.stderr.splitlines()]
    assert (line["level"], line["event"], line["logger"]) == ("critical", "promenade.failed", "promenade")
    assert said in line["reason"]
    plain = run()
    assert plain.stderr.startswith(f"promenade: {said}")  # for people
    assert failed.returncode == plain.returncode == code


def test_nobody_forges_a_line_or_moves_the_cursor() -> None:
    for odd in ("\r", "\n", "\0", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", '"', " ", "="):
        record = logging.LogRecord("library", logging.INFO, __file__, 1, f"a{odd}event=forged", (), None)
        for form in ("logfmt", "json"):
            line = _Lines(form).format(record)
            assert len(line.splitlines()) == 1, odd
            assert line.isprintable() or form == "json", odd
            assert " event=forged" not in line.replace('a event=forged"', ""), odd
