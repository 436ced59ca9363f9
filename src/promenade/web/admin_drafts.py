"""The actions of edit drafts: draftPrepare, draftActivate, draftEdit (specification, Admin Service)."""

from __future__ import annotations

from promenade.web.odata import Operations

__all__ = ["OPERATIONS"]

OPERATIONS: Operations = {}
