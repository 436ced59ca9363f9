"""The page about master data: its tour is run against a separate service with its own certificates."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509

from tests.docs.test_samples import ROOT, assert_shows, paste, samples
from tests.kit.processes import free_port

PAGE = ROOT / "docs/how-to/master-data.md"
PORTS = ("8443", "8080")  # on the page


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the samples use curl")
def test_the_tour_works_as_documented(tmp_path: Path) -> None:
    text = PAGE.read_text()
    for port in PORTS:
        assert f":{port}" in text
        text = text.replace(port, str(free_port()))
    steps = samples(text)
    # The command of the test environment replaces an installed one.
    command = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
    try:
        scripts = [command, *(step.script for step in steps)]
        # Eight separate commands, each of which starts Python.
        outputs = paste(scripts, "http://127.0.0.1:8080", tmp_path)[1:]
        for step, output in zip(steps, outputs, strict=True):
            if step.answer is not None:
                assert_shows(step.answer, json.loads(output), step.script)
        assert outputs[-1].split()[-1] == "401", "revoked"
        names = x509.load_pem_x509_certificate((tmp_path / "certificates/server.pem").read_bytes())
        hosts = names.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert IPv4Address("127.0.0.1") in hosts.get_values_for_type(x509.IPAddress), (
            "the WSDL's address, for SOAP tools"
        )
    finally:
        # Stop the service whatever happened to the tour.
        subprocess.run(["pkill", f"-{signal.SIGKILL}", "-f", f"mtls-port {_port(text)}"], check=False)


def _port(text: str) -> str:
    return text.partition("--mtls-port ")[2].partition(" ")[0]
