"""Snapshots of the metadata that clients depend on: a change is either intended or a mistake.

``.venv/bin/python -m tests.snapshots`` rewrites the files; commit them together with the change that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from odata_server.csdl.xml import render_xml
from promenade.model.declare import ADMIN, PUBLIC, REPORTING
from promenade.model.edm import edm_for
from promenade.web.services.pos_metadata import pos_edm

__all__ = ["FOLDER", "SNAPSHOTS"]

FOLDER = Path(__file__).parent

SNAPSHOTS: Mapping[str, Callable[[], bytes]] = {
    "public-metadata.txt": lambda: render_xml(edm_for(PUBLIC)),
    "admin-metadata.txt": lambda: render_xml(edm_for(ADMIN)),
    "reporting-metadata.txt": lambda: render_xml(edm_for(REPORTING), "4.0"),
    "pos-metadata.txt": lambda: render_xml(pos_edm(), "4.0"),
}
"""Each file, and the document whose lines it holds (`tests.kit.metadata_lines`)."""
