"""The differences between two documents of one promotion: which rows correspond, and the differences in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from promenade import model
from promenade.model.declare import Field
from promenade.workflows.documents.normal import Row, written_value
from promenade.workflows.documents.shape import STATUS, Node, Part

Pair = tuple[Row | None, Row | None]
"""A row before and after; None: there is none."""

_ALIGNED_MAX = 250_000  # pairs of rows: finding out how to align them takes more than linear time
_SHOWN_MAX = 100  # characters of a text
_ROWS_SHOWN_MAX = 5  # of a list, in a summary


def pairs_of(part: Part, before: Row, after: Row) -> list[Pair]:
    """Return the rows of a part that correspond, in the order of ``after``, then those that are gone."""
    old, new = (_rows(part, row) for row in (before, after))
    if not part.many:
        return [(old[0] if old else None, new[0] if new else None)] if old or new else []
    keys = [_key(row) for row in old], [_key(row) for row in new]
    is_aligned = part.node.is_ordered and len(old) * len(new) <= _ALIGNED_MAX
    places = _aligned(*keys) if is_aligned else _matched(*keys, is_code=part.node.code is not None)
    gone = set(range(len(old))).difference(places)
    pairs = [(None if place is None else old[place], row) for place, row in zip(places, new, strict=True)]
    return [*pairs, *((old[place], None) for place in sorted(gone))]


def _aligned(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int | None]:
    """Return the place before of every row after, so that no two of them cross."""
    places: list[int | None] = []
    for kind, i, j, k, m in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        same = m - k if kind == "equal" else min(j - i, m - k)
        places += [*range(i, i + same), *[None] * (m - k - same)]
    return places


def _matched(old: Sequence[Hashable], new: Sequence[Hashable], *, is_code: bool) -> list[int | None]:
    """Return the place before of every row after: of one that says the same, else of any that is left.

    ``is_code``: rows that differ are different rows.
    """
    known: dict[Hashable, list[int]] = {}
    for place in reversed(range(len(old))):
        known.setdefault(old[place], []).append(place)
    places = [known[key].pop() if known.get(key) else None for key in new]
    left = iter([] if is_code else sorted(place for each in known.values() for place in each))
    return [next(left, None) if place is None else place for place in places]


def _rows(part: Part, row: Row) -> Sequence[Row]:
    value = row.get(part.key)
    return value if isinstance(value, list) else [] if value is None else [value]


def _key(value: Any) -> Hashable:
    """Return a value by which rows that say the same are found."""
    if isinstance(value, dict):
        return frozenset([(key, _key(one)) for key, one in value.items()])
    return tuple([_key(one) for one in value]) if isinstance(value, list) else value


def differences(node: Node, before: Row, after: Row, *, but: Sequence[str] = ()) -> Iterator[str]:
    """Yield the differences of two rows, a line for each member; ``but``: members that are left out."""
    for key, field in node.values.items():
        old, new = (row.get(key, field.default) for row in (before, after))
        if old != new and key not in but and not field.write_only:
            yield f"{field.label}: {said(field, old)} -> {said(field, new)}"
    for key, one in node.references.items():
        if before.get(key) != after.get(key):
            yield f"{one.label}: {before.get(key, 'none')} -> {after.get(key, 'none')}"
    for key, part in node.parts.items():
        if before.get(key) != after.get(key):
            yield from _part_differences(part, before, after)


def _part_differences(part: Part, before: Row, after: Row) -> Iterator[str]:
    places = {id(row): place for rows in (before, after) for place, row in enumerate(_rows(part, rows), 1)}
    pairs = pairs_of(part, before, after)
    kept = [places[id(old)] for old, new in pairs if old is not None and new is not None]
    if part.node.is_ordered and kept != sorted(kept):
        yield f"{part.label}: in another order"
    for old, new in pairs:
        row = new if new is not None else old
        if row is None or old == new:
            continue
        named = part.label if part.node.code or not part.many else f"{part.label} {places[id(row)]}"
        if old is None or new is None:
            yield f"{named}: {'new' if old is None else 'removed'}: {summary(part.node, row)}"
        else:
            yield from (f"{named}: {line}" for line in differences(part.node, old, new))


def summary(node: Node, row: Row) -> str:
    """Return what a row says, in one line."""
    return ", ".join(described(node, row)) or "with the usual values"


def described(node: Node, row: Row, *, but: Sequence[str] = ()) -> Iterator[str]:
    """Yield what a new row says, member by member; ``but``: members that are left out."""
    if node.code is not None:
        yield str(row[node.code.key])
        return
    for key, field in node.values.items():
        if key in row and key not in but and not field.write_only:
            yield f"{field.label} {said(field, row[key])}"
    yield from (f"{one.label} {row[key]}" for key, one in node.references.items() if key in row)
    for key, part in node.parts.items():
        if key in row:
            below = _rows(part, row)
            more = f" and {len(below) - _ROWS_SHOWN_MAX} more" if len(below) > _ROWS_SHOWN_MAX else ""
            yield f"{part.label}: {'; '.join(summary(part.node, one) for one in below[:_ROWS_SHOWN_MAX])}{more}"


def said(field: Field, value: Any) -> str:
    """Return a value in words."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S} UTC".replace(":00 UTC", " UTC")
    if field.code_list and field.code_list != "Currencies":
        return next((one.name for one in model.code_list(field.code_list).values if one.code == value), str(value))
    if isinstance(value, str) and not field.code_list:
        shown = " ".join(value.split())
        return f'"{shown if len(shown) <= _SHOWN_MAX else shown[: _SHOWN_MAX - 1] + "…"}"'
    return str(written_value(value, field.scale))


def state(status: str) -> str:
    """Return a state of promotions in words."""
    return said(model.entity("Promotions").field(STATUS), status)
