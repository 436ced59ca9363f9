"""What advice was given, and what came of it."""

from __future__ import annotations

__all__: list[str] = []
