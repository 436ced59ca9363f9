"""What the package does, in tests of Node.js that import it as it is packed and call a served shop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.python_sdk.conftest import Served
from tests.clients.typescript_sdk.conftest import HERE, Project

TESTS = sorted(path.name for path in HERE.glob("*.test.mjs"))


@pytest.mark.parametrize("name", TESTS)
def test_each_javascript_test_file_passes(project: Project, served: Served, name: str, seed: int) -> None:
    done = project.run("--test", "--test-reporter=spec", name, served=served, PROMENADE_TEST_SEED=str(seed))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tests_exist() -> None:
    assert TESTS
    assert all((Path(HERE) / name).exists() for name in TESTS)
