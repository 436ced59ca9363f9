"""What budgets, stakeholders and coupon types came to."""

from __future__ import annotations

__all__: list[str] = []
