"""promotionPerformance as it is exported: what each promotion came to within a period."""

from __future__ import annotations

__all__: list[str] = []
