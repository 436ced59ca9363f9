"""What a store may spend on its own, asked for and kept."""

from __future__ import annotations

from promenade.workflows.context import Context

__all__ = ["keep_shares"]


async def keep_shares(context: Context, tenant_id: str) -> None:
    """One round: ask, renew, end what has expired."""
