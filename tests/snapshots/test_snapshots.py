"""Metadata that clients depend on does not change unnoticed."""

from __future__ import annotations

import pytest

from tests.kit.metadata_lines import changes, metadata_lines
from tests.snapshots import FOLDER, SNAPSHOTS


@pytest.mark.parametrize("name", sorted(SNAPSHOTS))
def test_metadata_matches_its_snapshot(name: str) -> None:
    """If the change is intended, run ``.venv/bin/python -m tests.snapshots``."""
    agreed = (FOLDER / name).read_text().splitlines()
    made = metadata_lines(SNAPSHOTS[name]())
    found = changes(agreed, made) if agreed != made else []
    assert not found, "renew with: .venv/bin/python -m tests.snapshots\n" + "\n".join(found[:100])
