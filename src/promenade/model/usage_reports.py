"""How often promotions were applied, when and where, and what they gave."""

from __future__ import annotations

__all__: list[str] = []
