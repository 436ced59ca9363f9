"""The model prepared for writing: members by property name, owners and references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from promenade import model
from promenade.model.declare import Collection, EntityType, Field, Link

MANAGED = frozenset({"created_at", "created_by", "modified_at", "modified_by", "tenant_id", "version"})


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an entity; ``fields`` are the stored ones, ``links`` are keyed by property (``campaign_ID``)."""

    entity: EntityType
    fields: Mapping[str, Field]
    links: Mapping[str, Link]
    compositions: Mapping[str, Collection]
    ignored: frozenset[str]  # properties accepted in a body but not stored: virtual ones, minorVersion
    wires: Mapping[str, str]  # column -> property name
    set_name: str
    owner: Link | None
    owner_column: str | None
    checked: tuple[Field, ...]  # the fields to check: without ID and time stamps
    required_links: tuple[Link, ...]
    references: tuple[tuple[str, str], ...]  # entity set and column of every reference except the owner
    defaults: Mapping[str, Any]  # of a new row, by column
    keys: tuple[tuple[str, ...], ...]  # columns of the natural key, then of every other unique key


@dataclass(frozen=True, slots=True)
class Referrer:
    """A reference that prevents deletion: ``column`` of ``set_name`` refers to rows of another set."""

    set_name: str
    column: str


@cache
def shape_of(set_name: str) -> Shape:
    """Return the shape of an entity set. Raises KeyError."""
    entity = model.entity(set_name)
    stored = [field for field in entity.fields if not field.virtual]
    links = [(link.target, link.column) for link in entity.links if link is not entity.owner]
    fresh = {field.name: field.default for field in stored if field.name not in MANAGED}
    return Shape(
        entity=entity,
        fields={field.wire: field for field in stored},
        links={link.property_wire: link for link in entity.links},
        compositions={one.wire: one for one in entity.collections if one.composition},
        ignored=frozenset({"minorVersion"} | {field.wire for field in entity.fields if field.virtual}),
        wires={field.name: field.wire for field in stored} | {link.column: link.property_wire for link in entity.links},
        set_name=entity.set_name,
        owner=entity.owner,
        owner_column=entity.owner.column if entity.owner else None,
        checked=tuple([field for field in stored if field.name not in MANAGED and field.name != "id"]),
        required_links=tuple([link for link in entity.links if link.required]),
        references=(*links, *[(field.refers_to, field.name) for field in stored if field.refers_to is not None]),
        defaults=MappingProxyType(fresh | {link.column: None for link in entity.links}),
        keys=(*((entity.natural_key,) if entity.natural_key else ()), *entity.unique),
    )


@cache
def referrers(set_name: str) -> tuple[Referrer, ...]:
    """Return the declared references that prevent the deletion of rows of ``set_name``."""
    found: list[Referrer] = []
    for entity in model.entities():
        if not entity.stored:
            continue
        links = [one for one in entity.links if one.target == set_name and not one.owner and not one.soft]
        found += [Referrer(entity.set_name, link.column) for link in links]
        found += [Referrer(entity.set_name, field.name) for field in entity.fields if field.refers_to == set_name]
    return tuple(found)


@cache
def codes(code_list: str) -> frozenset[str]:
    """Return the codes of a code list."""
    return frozenset(model.code_list(code_list).codes)
