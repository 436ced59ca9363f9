"""The stored shape of outcomes: fields that newer rules added are left out where there is nothing in them.

So a replay of an outcome from before has its bytes.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from promenade.engine.outcome import BestDeal, Gap, MissedPromotion, Nudge, Outcome

_ADDED = frozenset(("missing", "never_discounted", "scope", "without"))


def _struct(cls: type, rows: dict[str, Any]) -> type[msgspec.Struct]:
    """A struct with the fields of a dataclass; those under ``rows`` hold other structs."""
    fields: list[Any] = []
    for one in dataclasses.fields(cls):
        kind: Any = rows.get(one.name, Any)
        fields.append((one.name, kind, one.default) if one.name in _ADDED else (one.name, kind))
    return msgspec.defstruct(f"Stored{cls.__name__}", fields, omit_defaults=True)


def _rows(cls: type) -> Any:
    row: Any = _struct(cls, {})
    return tuple[row, ...]


_DEAL: Any = _struct(BestDeal, {})
_STORED = _struct(
    Outcome,
    {"missed": _rows(MissedPromotion), "gaps": _rows(Gap), "nudges": _rows(Nudge), "best_deal": _DEAL | None},
)


def shaped(outcome: Outcome) -> msgspec.Struct:
    """The outcome as it is to be encoded."""
    return msgspec.convert(outcome, _STORED, from_attributes=True)
