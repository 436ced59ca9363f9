"""The page about webhooks: its tour is run against a demo, with its receivers on other ports."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
import standardwebhooks
from standardwebhooks import Webhook

from promenade.workflows.webhooks.outcomes import sign
from tests.clients.conftest import MODULES
from tests.docs.test_samples import ROOT, assert_shows, demo, paste, samples, token_lines
from tests.kit.processes import free_port
from tests.kit.service import Service

__all__ = ["demo"]

PAGE = ROOT / "docs/how-to/webhooks.md"
PORT = "9000"  # on the page
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def _page() -> tuple[str, int]:
    """Return the page with a port that is free on this machine."""
    port = free_port()
    text = PAGE.read_text()
    assert f"127.0.0.1:{PORT}/promenade" in text
    return text.replace(PORT, str(port)), port


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the samples use curl")
def test_the_tour_works_as_documented(demo: Service, tmp_path: Path) -> None:
    text, _ = _page()
    # The receiver stops whatever happens to the tour.
    steps = samples(text.replace("python3 receiver.py", "timeout 400 python3 receiver.py"))
    (secret,) = re.findall(r"client id demo-administrator +secret (\S+)", demo.output())
    # Replaces `pip install`: the shell uses the tests' Python, without their installed packages.
    installed = f"export PYTHONPATH={shlex.quote(str(Path(standardwebhooks.__file__).parent.parent))}"
    given = f"{installed}\nADMINISTRATOR_SECRET={secret}"
    scripts = [token_lines(demo), given, *(step.script for step in steps)]
    outputs = paste(scripts, demo.url, tmp_path)[2:]
    for step, output in zip(steps, outputs, strict=True):
        if step.answer is not None:
            assert_shows(step.answer, json.loads(output), step.script)
    received = (tmp_path / "received.txt").read_text().splitlines()
    told = [json.loads(line)["data"].get("campaignCode") for line in received]
    assert told[:2] == ["WEBHOOK-TOUR", "WEBHOOK-TOUR-2"]
    assert len(set(received)) == len(received), "what was sent again was passed over"


def test_the_receiver_in_javascript_does_what_the_page_says(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (MODULES / "standardwebhooks").exists():
        pytest.skip(f"no Node.js, or no clients in {MODULES}: `make check` fetches them where npm can")
    text, port = _page()
    (program,) = re.findall(r"^```js\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "receiver.mjs").write_text(
        program.replace('"127.0.0.1");', '"127.0.0.1", () => console.log("ready"));')
    )
    (tmp_path / "secret.txt").write_text(f"{SECRET}\n")
    (tmp_path / "node_modules").symlink_to(MODULES)
    body = b'{"type":"CAMPAIGN_CREATED","data":{"campaignName":"Gr\xc3\xbc\xc3\x9fe"}}'
    started = subprocess.Popen([node, "receiver.mjs"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    end = threading.Timer(60, started.kill)
    end.start()
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == "ready\n"
        headers = _signed(body)
        statuses = [
            httpx2.post(f"http://127.0.0.1:{port}/promenade", content=content, headers=sent, timeout=60).status_code
            for content, sent in (
                (body, headers), (body, headers), (body + b" ", headers), (body, {}),
                (body, headers | {"webhook-id": "another"}),
            )
        ]  # fmt: skip
        assert statuses == [204, 204, 400, 400, 400]
        assert json.loads(started.stdout.readline()) == json.loads(body)
    finally:
        end.cancel()
        started.kill()
        rest, _ = started.communicate()
    assert rest == "", "what came twice is printed once"


def _signed(body: bytes) -> dict[str, str]:
    """Return headers as the service would sign them now."""
    headers = sign(SECRET, None, "2f0c3f0e-0000-4000-8000-000000000001", datetime.now(UTC), body)
    Webhook(SECRET).verify(body, headers)
    return headers
