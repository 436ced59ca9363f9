"""How the aggregates behind reports are kept: the runs of the aggregator."""

from __future__ import annotations

__all__: list[str] = []
