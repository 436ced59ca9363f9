"""Edit drafts: what one user changes in private, until it is activated as a whole (specification, Admin Service)."""

from __future__ import annotations

from promenade.workflows.drafts.drafts import Drafts
from promenade.workflows.drafts.purging import PURGED_MAX, purge_left

__all__ = ["PURGED_MAX", "Drafts", "purge_left"]
