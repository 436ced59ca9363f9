"""Faults of a draft where a user interface looks for them: at the parameter `in` of the action that it called."""

from __future__ import annotations

from dataclasses import replace

from promenade.errors import Detail, PromenadeError

__all__ = ["place_at_binding"]

_BINDING = "in"


def place_at_binding(error: PromenadeError) -> None:
    """Put each target of ``error`` below the draft that the action is bound to: ``name`` becomes ``in/name``."""
    error.target = None if error.target is None else f"{_BINDING}/{error.target}"
    error.details = tuple(_at_binding(detail) for detail in error.details)


def _at_binding(detail: Detail) -> Detail:
    return detail if detail.target is None else replace(detail, target=f"{_BINDING}/{detail.target}")
