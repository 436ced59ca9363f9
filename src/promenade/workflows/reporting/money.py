"""What budgets were charged, by day."""

from __future__ import annotations

__all__: list[str] = []
