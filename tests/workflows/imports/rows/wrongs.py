"""Rows with exactly one error, for any entity set, generated from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from promenade import model
from promenade.model.declare import PUBLIC, EntityType, Field, Kind
from promenade.workflows.authoring.machines import MACHINES
from tests.workflows.authoring.desk import sample_row

__all__ = ["NOBODY", "Wrong", "given_fields", "wrong_rows"]

NOBODY = "00000000-0000-4000-8000-000000000000"
_MALFORMED: dict[Kind, Any] = {
    Kind.TEXT: 17, Kind.UUID: "not-a-uuid", Kind.INTEGER: "many", Kind.LONG: "many", Kind.DECIMAL: "1,5",
    Kind.BOOLEAN: "yes", Kind.TIMESTAMP: "yesterday", Kind.DATE: "2026-02-30", Kind.TIME: "25:00:00",
    Kind.TEXTS: "one",
}  # fmt: skip


@dataclass(frozen=True)
class Wrong:
    """A row, and the property that every answer must name (None: none)."""

    about: str
    row: Any
    target: str | None


def given_fields(entity: EntityType) -> list[Field]:
    """Return the fields that a row may contain."""
    return [
        one
        for one in entity.fields
        if not (one.read_only or one.virtual or one.name in {"id", "tenant_id"})
        and (PUBLIC not in one.hidden_from or one.importable)
    ]


def wrong_rows(set_name: str, good: dict[str, Any], made: str) -> Iterator[Wrong]:
    """Return rows that each break one rule; ``good`` breaks none, and ``made`` is the ID of an existing row."""
    entity = model.entity(set_name)
    for one in given_fields(entity):
        for about, value in _wrong_values(one):
            yield Wrong(f"{one.wire} {about}", good | {one.wire: value}, one.wire)
        if one.required:
            yield Wrong(f"{one.wire} missing", {k: v for k, v in good.items() if k != one.wire}, one.wire)
        if one.refers_to:
            yield Wrong(f"{one.wire} dangling", good | {one.wire: NOBODY}, one.wire)
    yield from _wrong_links(entity, good)
    yield from _wrong_parts(entity, good)
    yield Wrong("ID taken", good | {"ID": made}, "ID")
    yield Wrong("ID malformed", good | {"ID": "no"}, "ID")
    yield Wrong("unknown", good | {"noSuchThing": 1}, "noSuchThing")
    yield Wrong("another tenant", good | {"tenantId": "tenant-b"}, "tenantId")
    yield Wrong("no object", b"[1]", None)
    yield Wrong("too deep", b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}", None)
    yield Wrong("of another type", good | {"@odata.type": "#PublicAPI.Campaigns"}, "@odata.type")
    yield Wrong("two at once", {**good, "noSuchThing": 1, "norThis": 2}, "norThis")
    for start, end in entity.windows:
        first, last = entity.field(start).wire, entity.field(end).wire
        bad = {first: "2026-05-01T00:00:00Z", last: "2026-05-01T00:00:00Z"}
        yield Wrong("window", good | bad, last)
    if set_name in MACHINES:
        states = set(model.code_list(entity.field("status").code_list or "").codes) - MACHINES[set_name].initial
        for state in sorted(states):
            yield Wrong(f"begins {state}", good | {"status": state}, "status")


def _wrong_values(field: Field) -> Iterator[tuple[str, Any]]:
    yield "malformed", _MALFORMED[field.kind]
    yield "an object", {"a": 1}
    if not field.nullable:
        yield "null", None
    if field.kind is Kind.TEXT:
        yield "with NUL", "a\0b"
        if field.length is not None:
            yield "too long", "x" * (field.length + 1)
        if field.required and not field.choices:
            yield "blank", " "
    if field.code_list or field.choices:
        yield "unknown code", "NO_SUCH_CODE"[: field.length]
    if field.kind is Kind.DECIMAL:
        yield "too precise", "0." + "0" * (field.scale or 0) + "1"
        yield "too large", "9" * 30
    if field.kind is Kind.INTEGER:
        yield "beyond 32 bits", 2**31
        yield "beyond all bits", 10**200
        yield "a fraction", 1.5
    if field.minimum is not None:
        yield "too small", str(field.minimum - 1) if field.kind is Kind.DECIMAL else int(field.minimum - 1)
    if field.maximum is not None:
        yield "too big", str(field.maximum + 1) if field.kind is Kind.DECIMAL else int(field.maximum + 1)


def _wrong_links(entity: EntityType, good: dict[str, Any]) -> Iterator[Wrong]:
    for link in entity.links:
        if link.read_only:
            continue
        wire, name = link.property_wire, link.wire
        rest = {key: value for key, value in good.items() if key != wire}
        yield Wrong(f"{name} dangling", good | {wire: NOBODY}, wire)
        yield Wrong(f"{name} malformed", good | {wire: "x"}, wire)
        yield Wrong(f"{name} bound to nobody", rest | {f"{name}@odata.bind": f"{link.target}({NOBODY})"}, wire)
        yield Wrong(f"{name} bound to another set", rest | {f"{name}@odata.bind": f"AuditLogs({NOBODY})"}, name)
        yield Wrong(f"{name} bound to no address", rest | {f"{name}@odata.bind": 7}, name)
        yield Wrong(f"{name} given whole", rest | {name: {"ID": NOBODY, "name": "new"}}, name)
        if link.required:
            yield Wrong(f"{name} missing", rest, wire)


def _wrong_parts(entity: EntityType, good: dict[str, Any]) -> Iterator[Wrong]:
    for part in (one for one in entity.collections if one.composition):
        wire = part.wire
        below = f"{wire}/0/" if part.many else f"{wire}/"
        child = model.entity(part.target)
        plain = sample_row(child)
        yield Wrong(f"{wire} of another form", good | {wire: 7}, wire if part.many else below)
        strange: Any = plain | {"noSuchThing": 1}
        yield Wrong(f"{wire} strange", good | {wire: [strange] if part.many else strange}, f"{below}noSuchThing")
        for link in (one for one in child.links if not one.owner):
            dangling: Any = plain | {link.property_wire: NOBODY}
            row = good | {wire: [dangling] if part.many else dangling}
            yield Wrong(f"{wire} dangling", row, f"{below}{link.property_wire}")
        if part.many:
            twice = {"ID": "11111111-0000-4000-8000-000000000000"}
            yield Wrong(f"{wire} twice", good | {wire: [plain | twice, plain | twice]}, f"{wire}/1/ID")
    for back in (one for one in entity.collections if not one.composition):
        yield Wrong(f"{back.wire} is a way back", good | {back.wire: [{"ID": NOBODY}]}, back.wire)
