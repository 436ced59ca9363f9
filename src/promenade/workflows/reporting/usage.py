"""How often promotions were applied, when, where and to what, and what they gave."""

from __future__ import annotations

__all__: list[str] = []
