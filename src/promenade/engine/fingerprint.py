"""The content hash of a promotion's definition: equal in every process, different when any field differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, date, datetime, time
from hashlib import sha256
from operator import attrgetter
from typing import Any

from promenade.engine.definition import ExclusionRow, PromotionDefinition

_Getter = Callable[[Any], tuple[Any, ...]]

_GETTERS: dict[type, _Getter] = {}
_LATER: dict[type, tuple[str, ...]] = {
    PromotionDefinition: ("counts_barred", "counts_excluded"),
    ExclusionRow: ("field_name", "value"),
}
"""Fields that were added later, None by default: a definition that does not use them has the hash that it had."""


def definition_hash(definition: PromotionDefinition) -> str:
    """sha256 (64 hex digits) of a canonical form: fields in their declared order, sets sorted, instants in UTC."""
    return sha256(repr(_canonical(definition)).encode()).hexdigest()


def content_hash(definition: PromotionDefinition, return_policy: str) -> str:
    """sha256 (64 hex digits) of what an approval is about: what the promotion gives, to whom, where and when.

    Left out is what changes without a change of it: status, version, code, the order of its priority group, the
    strategy of its exclusion group, whether its campaign is cancelled.
    """
    priority, exclusion = definition.priority_group, definition.exclusion_group
    content = replace(
        definition,
        code=None,
        version=0,
        status="",
        campaign_cancelled=False,
        priority_group=None if priority is None else replace(priority, group_priority=0),
        exclusion_group=None if exclusion is None else replace(exclusion, resolution_strategy=""),
    )
    return sha256(repr((_canonical(content), return_policy)).encode()).hexdigest()


def _canonical(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is tuple:
        return tuple([_canonical(one) for one in value])
    if kind is frozenset:
        return "set", sorted(value)
    if kind is datetime:
        return "at", value.astimezone(UTC).isoformat()
    if kind is date or kind is time:
        return kind.__name__, value.isoformat()
    getter, later = _GETTERS.get(kind), _LATER.get(kind, ())
    if getter is None:
        getter = _GETTERS[kind] = attrgetter(*[field.name for field in fields(kind) if field.name not in later])
    told = [_canonical(one) for one in getter(value)]
    told += [(name, set_) for name in later if (set_ := getattr(value, name)) is not None]
    return kind.__name__, told
