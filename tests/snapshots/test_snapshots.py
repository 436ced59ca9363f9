"""Nothing that clients have built upon changes by the way."""

from __future__ import annotations

import difflib

import pytest

from tests.snapshots import FOLDER, SNAPSHOTS


@pytest.mark.parametrize("name", sorted(SNAPSHOTS))
def test_what_clients_rely_on_is_as_agreed(name: str) -> None:
    """If the change is meant: ``.venv/bin/python -m tests.snapshots``."""
    agreed = (FOLDER / name).read_text().splitlines()
    made = SNAPSHOTS[name]().decode().splitlines()
    changes = list(difflib.unified_diff(agreed, made, "agreed", "made", lineterm="", n=1)) if agreed != made else []
    assert not changes, "renew with: .venv/bin/python -m tests.snapshots\n" + "\n".join(changes[:100])
