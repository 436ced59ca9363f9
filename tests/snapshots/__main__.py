"""``python -m tests.snapshots`` rewrites every snapshot."""

from __future__ import annotations

from tests.kit.metadata_lines import metadata_lines
from tests.snapshots import FOLDER, SNAPSHOTS

if __name__ == "__main__":
    for name, document in SNAPSHOTS.items():
        (FOLDER / name).write_text("\n".join([*metadata_lines(document()), ""]))
