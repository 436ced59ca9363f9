"""Faults of a draft where a user interface looks for them: at the parameter `in` of the action that it called."""

from __future__ import annotations

from dataclasses import replace

from promenade.errors import PromenadeError

__all__ = ["place_at_binding"]

_BINDING = "in"


def place_at_binding(error: PromenadeError) -> None:
    """Put each target of ``error`` below the draft that the action is bound to: ``name`` becomes ``in/name``.

    What is said of a row of another entity set, such as ``/Conditions(<ID>)/value``, is not of the draft.
    """
    error.target = _at_binding(error.target)
    error.details = tuple(replace(detail, target=_at_binding(detail.target)) for detail in error.details)


def _at_binding(target: str | None) -> str | None:
    return target if target is None or target.startswith("/") else f"{_BINDING}/{target}"
