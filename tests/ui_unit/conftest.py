"""Node.js for tests of the back office's modules; without it they are skipped with a message."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

NODE_MIN = 20


@pytest.fixture(scope="session")
def node() -> str:
    """Return the path of Node.js."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("no Node.js")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    major = re.match(r"v(\d+)", version)
    if major is None or int(major[1]) < NODE_MIN:
        pytest.skip(f"Node.js is {version.strip()}, and these tests need {NODE_MIN} or newer")
    return found
