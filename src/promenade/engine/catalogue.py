"""Promotions compiled once, and the index that brings a basket only those that can matter to it."""

from __future__ import annotations

from promenade.engine.promotion import CompiledPromotion, FailedCondition, Unmet

__all__ = ["CompiledPromotion", "FailedCondition", "Unmet"]
