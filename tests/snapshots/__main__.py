"""``python -m tests.snapshots`` writes every snapshot anew."""

from __future__ import annotations

from tests.snapshots import FOLDER, SNAPSHOTS

if __name__ == "__main__":
    for name, made in SNAPSHOTS.items():
        (FOLDER / name).write_bytes(made())
