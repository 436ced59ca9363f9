"""The check of a promotion."""

from __future__ import annotations

from promenade.web.odata import Operations

__all__ = ["OPERATIONS"]

OPERATIONS: Operations = {}
