"""The audit trail of a unit: who changed which row, in which fields, from what to what, in words that people know.

A caller's own rows have an entry each; the rows that come with them, such as the stores of a promotion, are told by the
entry of the row that they are part of. References are told by the name of what they lead to, as it is at the time.
Properties that the public API does not show, such as secrets and coupon codes, are never told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from promenade import model
from promenade.model.declare import Service
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.authoring.trail import (
    Change,
    Subject,
    change_of,
    changes_text,
    trail_entry,
    value_text,
    write_trail,
)
from promenade.workflows.authoring.owners import promotions_of
from promenade.workflows.authoring.shapes import MANAGED, Shape, shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write

Row = tuple[str, str]
"""Entity set and ID."""


async def write_audit(unit: Unit) -> None:
    """Write the entries of a unit: one for each named row; for an updated budget one for each field."""
    named = [write for write in unit.written if write.is_named]
    parts = _parts(unit)
    names = await _read_names(unit, [*named, *(one for each in parts.values() for one in each)])
    entries = [entry for write in named for entry in _entries(unit, write, parts.get(id(write), ()), names)]
    await write_trail(unit.session, entries)


def _parts(unit: Unit) -> dict[int, list[Write]]:
    """Return what came with the named writes, by the identity of the nearest one above that is named."""
    if all(write.is_named for write in unit.written):
        return {}
    by_key = {(one.set_name, one.id): one for one in sorted(unit.written, key=lambda one: one.is_named)}
    found: dict[int, list[Write]] = {}
    for write in unit.written:
        above: Write | None = write
        while above is not None and not above.is_named:
            above = by_key.get(_owner_of(above))
        if above is not None and above is not write:
            found.setdefault(id(above), []).append(write)
    return found


def _owner_of(write: Write) -> Row:
    owner = write.shape.owner
    row = write.after or write.before or {}
    return ("", "") if owner is None else (owner.target, row[owner.column] or "")


# --- entries ----------------------------------------------------------------------------------------------------------


def _entries(unit: Unit, write: Write, parts: Sequence[Write], names: Mapping[Row, str]) -> Iterator[Columns]:
    subject = Subject(write.set_name, write.id, name_of(write.shape, write.after or write.before or {}, names))
    own = _own_changes(write, names) if _is_told(unit, write) else []
    with_them = [] if write.act is Act.CREATE else [one for part in parts for one in _part_changes(part, names)]
    with_them += [{"part": set_name, "act": Act.DELETE.value} for set_name, _ in write.emptied]
    told = [[*own, *with_them]]
    if write.set_name == "Budgets" and write.act is Act.UPDATE and write.note is None and len(own) > 1:
        told = [[own[0], *with_them], *([one] for one in own[1:])]
    for changes in told:
        yield trail_entry(
            unit.new_id(),
            unit.at,
            unit.user,
            write.verb_code,
            subject,
            note=_note(write, changes, own),
            owner=_owner(write, subject, names),
            changes=changes_text(changes),
        )


def _note(write: Write, changes: Sequence[Change], own: Sequence[Change]) -> str | None:
    """Return the note of an entry: a budget's field with both values, of others the names of changed fields."""
    if write.act is not Act.UPDATE or write.note is not None:
        return write.note
    if write.set_name == "Budgets" and own:
        one = changes[0]
        return f"{one['property']}: {one.get('from', 'null')} -> {one.get('to', 'null')}"
    return ", ".join(str(one["property"]) for one in own) or None


def _owner(write: Write, subject: Subject, names: Mapping[Row, str]) -> Subject:
    """Return what a row is part of; a row that is about a promotion, such as a pilot, counts as its part."""
    if write.top is None:
        return subject
    shape, row = write.top
    about = promotions_of(shape, row)
    if about:
        return Subject("Promotions", about[0], names.get(("Promotions", about[0]), about[0]))
    return Subject(shape.set_name, row["id"], name_of(shape, row, names))


def _own_changes(write: Write, names: Mapping[Row, str]) -> list[Change]:
    """Return the values of a row that change; of a new or deleted row those that differ from the default."""
    members = _members(write.set_name)
    before, after = write.before or {}, write.after
    if write.act is Act.UPDATE:
        columns: Iterable[str] = write.changed
    else:
        row, plain = after or before, write.shape.defaults
        columns = [name for name in members if row.get(name) is not None and row[name] != plain.get(name)]
    return [_change(members[name], before.get(name), after.get(name), names) for name in columns if name in members]


def _part_changes(part: Write, names: Mapping[Row, str]) -> list[Change]:
    row = part.after or part.before or {}
    about: Change = {
        "part": part.set_name,
        "act": part.act.value,
        "id": part.id,
        "name": name_of(part.shape, row, names),
    }
    emptied: list[Change] = [{"part": set_name, "act": Act.DELETE.value} for set_name, _ in part.emptied]
    if part.act is Act.UPDATE:
        return [about | one for one in _own_changes(part, names)] + emptied
    return [about]


def _change(member: _Member, before: Any, after: Any, names: Mapping[Row, str]) -> Change:
    if member.target is None:
        return change_of(member.wire, before, after)
    key = (member.target, before), (member.target, after)
    told = change_of(member.wire, *(names.get(one, one[1]) for one in key))
    ends = {"fromId": before, "toId": after}
    return told | {"target": member.target} | {name: one for name, one in ends.items() if one is not None}


# --- what is told, and by which name ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Member:
    """A column that the trail tells: its property, and the entity set that it refers to."""

    wire: str
    target: str | None


@cache
def _members(set_name: str) -> Mapping[str, _Member]:
    """Return what the trail may tell of a row, by column: what the public API shows, without managed columns."""
    shape = shape_of(set_name)
    found = {
        field.name: _Member(field.wire, field.refers_to)
        for field in shape.checked
        if field.name not in MANAGED and field.shown_in(Service.PUBLIC)
    }
    links = [link for link in shape.entity.links if link is not shape.owner]
    return found | {link.column: _Member(link.property_wire, link.target) for link in links}


async def _read_names(unit: Unit, writes: Collection[Write]) -> dict[Row, str]:
    """Return the names of all rows that the entries refer to, with one statement for each entity set."""
    wanted: dict[str, set[str]] = {}
    for write in writes:
        for set_name, key in _referred(write, is_told=_is_told(unit, write)):
            wanted.setdefault(set_name, set()).add(key)
    names = {
        (set_name, row["id"]): name_of(shape_of(set_name), row, {})
        for set_name, keys in wanted.items()
        for row in await read_rows(unit.session, set_name, "id", keys)
    }
    gone = [write for write in writes if write.act is Act.DELETE]
    return names | {(write.set_name, write.id): name_of(write.shape, write.before or {}, names) for write in gone}


def _is_told(unit: Unit, write: Write) -> bool:
    """Return whether an entry tells the row's values: not of a new row of an import, which has them itself."""
    return not (unit.importing and write.act is Act.CREATE)


def _referred(write: Write, *, is_told: bool) -> Iterator[Row]:
    """Yield the rows that an entry about a write names."""
    is_named_by_links = not _has_name(write.set_name)
    for column, member in _members(write.set_name).items():
        if member.target is None:
            continue
        old, new = ((row or {}).get(column) for row in (write.before, write.after))
        if (old != new and is_told) or is_named_by_links:
            yield from ((member.target, key) for key in (old, new) if key)
    if write.is_named and write.top is not None:
        yield from (("Promotions", key) for key in promotions_of(*write.top))


@cache
def _has_name(set_name: str) -> bool:
    return any(name in _members(set_name) for name in ("name", *_keys(set_name)))


def _keys(set_name: str) -> list[str]:
    """Return the columns of the natural key that are texts of the row's own."""
    fields = {field.name for field in shape_of(set_name).checked}
    return [name for name in model.entity(set_name).natural_key if name in fields]


def name_of(shape: Shape, row: Columns, names: Mapping[Row, str]) -> str:
    """Return a row's name: its own, else its code, else what it is about, else its ID; never a secret."""
    members = _members(shape.set_name)
    for column in ("name", *_keys(shape.set_name)):
        if row.get(column) and isinstance(row[column], str) and column in members:
            return str(row[column])
    return _described(shape, row, names) or str(row.get("id", ""))


def _described(shape: Shape, row: Columns, names: Mapping[Row, str]) -> str:
    """Return what a row without a name is about: its kind, and what it refers to: ``Article: 4711``."""
    members = _members(shape.set_name)
    kind = next((one for one in shape.checked if one.code_list and one.required and row.get(one.name)), None)
    links = [names.get((one.target, row[name])) for name, one in members.items() if one.target and row.get(name)]
    texts = [value_text(row.get(one.name)) for one in shape.checked if one.searchable and one.name in members]
    said = ", ".join(dict.fromkeys(one for one in (*links, *texts) if one))
    if kind is None or kind.code_list is None:
        return said
    code = str(row[kind.name])
    name = next((one.name for one in model.code_list(kind.code_list).values if one.code == code), code)
    return f"{name}: {said}" if said else name
