"""The admin service of `tests.web.services.admin` with a worker inside it; tests create their own rows."""

from __future__ import annotations

from tests.web.services.admin.conftest import admin

__all__ = ["admin"]
