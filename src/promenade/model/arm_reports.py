"""Pilots, experiments and uplift: what their arms came to, and how sure that is."""

from __future__ import annotations

__all__: list[str] = []
