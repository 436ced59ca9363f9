"""What clients have built upon, as it was last agreed to: a change of it is meant, or it is a mistake.

``.venv/bin/python -m tests.snapshots`` writes the files anew; what it changes belongs into the same commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from odata_server.csdl.xml import render_xml
from promenade.model.declare import ADMIN, PUBLIC, REPORTING
from promenade.model.edm import edm_for
from promenade.web.pos_metadata import pos_edm

__all__ = ["FOLDER", "SNAPSHOTS"]

FOLDER = Path(__file__).parent

SNAPSHOTS: Mapping[str, Callable[[], bytes]] = {
    "public-metadata.xml": lambda: render_xml(edm_for(PUBLIC)),
    "admin-metadata.xml": lambda: render_xml(edm_for(ADMIN)),
    "reporting-metadata.xml": lambda: render_xml(edm_for(REPORTING), "4.0"),
    "pos-metadata.xml": lambda: render_xml(pos_edm(), "4.0"),
}
"""Each file, and what it holds."""
