"""Edit drafts: one user's private changes, until they are activated as a whole (specification, Admin Service)."""

from __future__ import annotations

from promenade.workflows.drafts.editing import PURGED_MAX, Drafts, purge_left

__all__ = ["PURGED_MAX", "Drafts", "purge_left"]
