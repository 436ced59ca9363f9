"""The page on serving your own model: its program is run, and its requests are sent to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.docs.test_samples import assert_shows, paste, samples

PAGE = Path(__file__).parent.parent.parent / "docs/how-to/serve-your-own-model.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[str]:
    """Start the page's program; return its URL."""
    (program,) = PROGRAM.findall(PAGE.read_text())
    names: dict[str, Any] = {"__name__": "shelf"}
    at = f"sqlite:///{tmp_path}/shelf.db"
    exec(compile(program.replace("sqlite:///shelf.db", at), str(PAGE), "exec"), names)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(names["app"], log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listener.close()
    names["engine"].dispose()


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the samples use curl")
def test_the_example_program_answers_as_documented(shelf: str, tmp_path: Path) -> None:
    steps = samples(PAGE.read_text())
    assert len(steps) == 4
    outputs = paste([step.script for step in steps], shelf, tmp_path)
    for step, output in zip(steps, outputs, strict=True):
        assert step.answer is not None
        assert_shows(step.answer, json.loads(output), step.script)
