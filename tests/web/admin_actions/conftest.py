"""Administration as `tests.web.admin` serves it, and a worker inside it; tests make rows of their own."""

from __future__ import annotations

from tests.web.admin.conftest import admin

__all__ = ["admin"]
