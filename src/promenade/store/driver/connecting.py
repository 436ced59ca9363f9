"""How connections to PostgreSQL are opened, whoever uses them: by one URL, whose parameters are those of libpq.

SQLAlchemy would hand the parameters of a URL to the driver one by one, which does not know those about encryption.
"""

from __future__ import annotations

from typing import Any

import asyncpg
from sqlalchemy.engine import make_url


async def connect(url: str, *, timeout: float, **how: Any) -> asyncpg.Connection:  # noqa: ASYNC109 - of the driver
    """Open a connection within ``timeout`` seconds; ``how`` is what asyncpg takes besides."""
    known = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return await asyncpg.connect(known, timeout=timeout, **how)
