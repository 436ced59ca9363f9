"""What the recorded peer said: read, compared with what is said today, and with members of a version to come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["Exchange", "Recording", "grown", "lost", "read_recording"]

OLDER = Path(__file__).with_name("older.json")

MAPS = frozenset({"upserts", "deletes", "definitions", "articles", "articles_by_ean", "budgets", "usage"})
"""Members whose own members are keys, not fields."""
SETS = frozenset({"upserts", "deletes"})
NEW_FIELD, NEW_SET = "fieldToCome", "SetsToCome"
NAMES = ("ID", "transactionId", "code", "reference", "id")
"""Members by which rows of a list are told apart."""
KINDS = ((bool, "boolean"), (int | float | Decimal, "number"), (str, "string"), (dict, "object"), (list, "array"))


class Exchange(msgspec.Struct, frozen=True):
    """A request and its answer; ``path`` with its query, ``key`` the header Idempotency-Key."""

    method: str
    path: str
    status: int
    answer: dict[str, Any]
    body: dict[str, Any] | None = None
    key: str | None = None

    @property
    def address(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]


@dataclass(frozen=True, slots=True)
class Recording:
    """The exchanges of a store with its cloud, both of ``version``, which ended ``at``."""

    version: str
    at: datetime
    exchanges: tuple[Exchange, ...]


class _File(msgspec.Struct, rename="camel"):
    version: str
    recorded_at: datetime
    exchanges: tuple[Exchange, ...]


def read_recording(path: Path = OLDER) -> Recording:
    """Read a file of `record`."""
    found = msgspec.json.decode(path.read_bytes(), type=_File)
    return Recording(found.version, found.recorded_at, found.exchanges)


def lost(before: Any, now: Any, at: str = "") -> Iterator[str]:
    """List the fields of ``before`` that are not in ``now``, or have another JSON type there; null has every type."""
    if before is None:
        return
    if _kind(before) != _kind(now):
        yield f"{at}: {_kind(before)} has become {_kind(now)}"
    elif isinstance(before, dict):
        is_map = at.rpartition(".")[2] in MAPS - SETS
        for name, value in before.items():
            if name in now:
                yield from lost(value, now[name], f"{at}.{name}")
            elif not is_map:
                yield f"{at}.{name} is missing"
    elif isinstance(before, list):
        named = {_name(row): row for row in now}
        for place, row in enumerate(before):
            name = _name(row)
            if name is None and place < len(now):
                yield from lost(row, now[place], f"{at}[{place}]")
            elif name in named:
                yield from lost(row, named[name], f"{at}[{name}]")
            else:
                yield f"{at}[{place if name is None else name}] is missing"


def _name(row: Any) -> str | None:
    return next((row[name] for name in NAMES if name in row), None) if isinstance(row, dict) else None


def _kind(value: Any) -> str:
    return next((name for kind, name in KINDS if isinstance(value, kind)), "null")


def grown(document: Any, at: str = "") -> Any:
    """Return ``document`` with an unknown field in each object, and an unknown set among the sets of a page."""
    if isinstance(document, list):
        return [grown(one, at) for one in document]
    if not isinstance(document, dict):
        return document
    more = {name: grown(value, name) for name, value in document.items()}
    if at in SETS:
        return {**more, NEW_SET: [{"ID": "1", NEW_FIELD: None}] if at == "upserts" else ["1"]}
    return more if at in MAPS else {NEW_FIELD: {"of": ["a", 2, None, {"version": "to come"}]}, **more}
