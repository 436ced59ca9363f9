"""Targets of a draft's errors as user interfaces expect them: below the parameter `in` of the action called."""

from __future__ import annotations

from dataclasses import replace

from promenade.errors import PromenadeError

_BINDING = "in"


def place_at_binding(error: PromenadeError) -> None:
    """Prefix each target of ``error`` with the draft that the action is bound to: ``name`` becomes ``in/name``.

    Targets in other entity sets, such as ``/Conditions(<ID>)/value``, are left as they are.
    """
    error.target = _at_binding(error.target)
    error.details = tuple(replace(detail, target=_at_binding(detail.target)) for detail in error.details)


def _at_binding(target: str | None) -> str | None:
    return target if target is None or target.startswith("/") else f"{_BINDING}/{target}"
