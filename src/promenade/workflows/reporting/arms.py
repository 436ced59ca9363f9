"""What the arms of pilots and experiments came to."""

from __future__ import annotations

__all__: list[str] = []
