"""What a document holds, derived from the declarations: a new field of a promotion is in its document at once.

- A field is written by its property, a reference by its navigation (``campaign: SUMMER``), with the natural key of what
  it refers to. IDs, what the service sets, and what it computes are left out.
- What belongs to a promotion: its compositions, and every set that the public API writes and whose rows need a
  promotion: conditions, actions, its budgets, coupon types, priority group and pilot.
- A row that is nothing but a reference is the code itself: ``posGroups: [WIEN, GRAZ]``.
- ``definitions`` are the rows that a promotion refers to, except master data, which come by imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from promenade import model
from promenade.model.declare import RW, EntityType, Field, Link
from promenade.model.shape import label_of, wire_name
from promenade.workflows.authoring.machines import MACHINES
from promenade.workflows.authoring.shapes import MANAGED

__all__ = ["DEFINITIONS", "PROMOTIONS", "Node", "Part", "Reference", "definition_nodes", "node_of", "statuses"]

PROMOTIONS = "Promotions"
DEFINITIONS = "definitions"
STATUS = "status"


@dataclass(frozen=True, slots=True)
class Reference:
    """A member that names a row of ``target`` by its natural key; ``wire`` is its property in a row."""

    key: str
    label: str
    column: str
    wire: str
    target: str
    is_required: bool
    doc: str

    @property
    def natural_key(self) -> Field:
        """The field of the target by which documents name it."""
        return natural_key(model.entity(self.target))


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of another set that belong to this one through ``link``.

    ``many``: several. ``is_beside``: they are written on their own, not through their owner.
    """

    key: str
    label: str
    node: Node
    link: Link
    many: bool
    is_beside: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Node:
    """The members of a row of an entity set in a document, by their keys."""

    entity: EntityType
    values: Mapping[str, Field]
    references: Mapping[str, Reference]
    parts: Mapping[str, Part]

    @property
    def set_name(self) -> str:
        return self.entity.set_name

    @property
    def code(self) -> Reference | None:
        """The reference that is all that a row says; None: it says more."""
        if self.values or self.parts or len(self.references) != 1:
            return None
        return next(iter(self.references.values()))

    @property
    def is_ordered(self) -> bool:
        """Whether the rows of a list have an order that counts."""
        return "sequence" in self.values


def statuses(set_name: str) -> tuple[str, ...]:
    """Return the states that a document may wish for: those in which a row may begin, other than the usual one."""
    usual = model.entity(set_name).field(STATUS).default
    return tuple(sorted(MACHINES[set_name].initial - {usual}))


def natural_key(entity: EntityType) -> Field:
    """Return the field by which documents name rows of an entity. Raises KeyError if it has none."""
    (name,) = entity.natural_key or ("",)
    return entity.field(name)


@cache
def node_of(set_name: str) -> Node:
    """Return the members of a document of a promotion, or of a row of another set that is part of one."""
    entity = model.entity(set_name)
    return Node(
        entity,
        {one.wire: one for one in entity.fields if _is_told(one) and one.refers_to is None},
        {one.key: one for one in _references(entity)},
        {one.key: one for one in (*_compositions(entity), *_beside(entity))},
    )


@cache
def definition_nodes() -> Mapping[str, Node]:
    """Return the sets whose rows a document can define, by key, in the order in which they refer to each other."""
    found: dict[str, Node] = {}
    for target in _targets(node_of(PROMOTIONS)):
        entity = model.entity(target)
        if not entity.import_upserts:
            found[wire_of(target)] = node_of(target)
    return found


def wire_of(set_name: str) -> str:
    """``CouponTypes`` -> ``couponTypes``."""
    return set_name[0].lower() + set_name[1:]


def _targets(node: Node) -> list[str]:
    """Return the sets that a node and its parts refer to, at any distance, each after those that it refers to."""
    found: dict[str, None] = {}
    for one in (*node.references.values(), *_below(node)):
        if one.target not in found and one.target != node.set_name:
            found |= dict.fromkeys(_targets(node_of(one.target)))
            found[one.target] = None
    return list(found)


def _below(node: Node) -> Iterator[Reference]:
    for part in node.parts.values():
        yield from part.node.references.values()
        yield from _below(part.node)


def _is_told(field: Field) -> bool:
    return not (field.read_only or field.virtual or field.name in {"id", *MANAGED})


def _references(entity: EntityType) -> Iterator[Reference]:
    about = {one.link for one in _owned_through(entity)}
    for link in entity.links:
        if not (link.read_only or link.soft or link in about):
            yield Reference(
                link.wire, link.label, link.column, link.property_wire, link.target, link.required, link.doc
            )
    for field in entity.fields:
        if field.refers_to is not None and _is_told(field):
            name = field.name.removesuffix("_id")
            yield Reference(
                wire_name(name), label_of(name), field.name, field.wire, field.refers_to, field.required, field.doc
            )


def _compositions(entity: EntityType) -> Iterator[Part]:
    for one in entity.collections:
        if one.composition:
            node = node_of(one.target)
            yield Part(one.wire, one.label, node, node.entity.link(one.by), one.many, False, one.doc)


def _beside(entity: EntityType) -> Iterator[Part]:
    """Yield the sets whose rows belong to a row of ``entity`` although they are written on their own."""
    within = {one.target for one in entity.collections if one.composition}
    for other in model.entities():
        if other.set_name not in within:
            for own in _owned_through(other):
                if own.link.target == entity.set_name:
                    name = _beside_name(other.set_name, entity.set_name, many=own.many)
                    yield Part(
                        wire_of(name), _label(name), node_of(other.set_name), own.link, own.many, True, other.doc
                    )


@dataclass(frozen=True, slots=True)
class _Own:
    link: Link
    many: bool


def _owned_through(entity: EntityType) -> list[_Own]:
    """Return the link to the row that a row of ``entity`` belongs to, if any.

    A row belongs to its owner; else to a promotion, if it needs one; else to what its unique key begins with.
    """
    keys = [*([entity.natural_key] if entity.natural_key else []), *entity.unique]
    wanted = [one for one in entity.links if one.required and not (one.soft or one.read_only)]
    own = [one for one in wanted if one.owner] or [one for one in wanted if one.target == PROMOTIONS]
    own = own or [one for one in wanted for key in keys[:1] if key[0] == one.column]
    if not own or entity.public is not RW:
        return []
    return [_Own(own[0], (own[0].column,) not in keys)]


def _beside_name(set_name: str, owner: str, *, many: bool) -> str:
    """``BudgetPromotions`` of a promotion -> ``Budgets``; ``PromotionPilotConfigs`` -> ``PilotConfig``."""
    rest = set_name.removesuffix(owner).removeprefix(owner.removesuffix("s"))
    singular = rest.removesuffix("s")
    return f"{singular}s" if many else singular


def _label(name: str) -> str:
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    return label_of(words)
