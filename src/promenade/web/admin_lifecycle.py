"""Status, copies, campaigns and coupons: actions that change something that is there."""

from __future__ import annotations

from promenade.web.odata import Operations

__all__ = ["OPERATIONS"]

OPERATIONS: Operations = {}
