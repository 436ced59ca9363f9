"""What came of the advice that was given."""

from __future__ import annotations

__all__: list[str] = []
