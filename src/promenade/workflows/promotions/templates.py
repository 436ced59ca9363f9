"""Promotions created from templates: the whole tree of a template is copied into a new promotion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from promenade import model
from promenade.errors import Invalid, NotFound
from promenade.ids import is_id
from promenade.model.declare import Collection, EntityType
from promenade.store.driver.unit import Session
from promenade.store.promotions.templates import Tree, TreeTooLarge, read_tree
from promenade.workflows.authoring import Authoring

ROWS_MAX = 10_000  # takes half a second


async def create_promotion_from_template(authoring: Authoring, session: Session, template_id: str | None) -> str:
    """Create a promotion in status DRAFT with everything from the template but no code, and return its ID.

    Every call creates another promotion (specification, Public API actions, rule 3). It takes a fixed number of
    statements, whatever the template's size. Raises Invalid without an ID (REQUIRED) and for a template of more than 10
    000 rows (TEMPLATE_TOO_LARGE), and NotFound for a malformed ID, an unknown one and one of another tenant alike.
    """
    if not template_id:
        raise Invalid("REQUIRED", "templateId is required.", "templateId")
    key = template_id.lower()
    try:
        template = await read_tree(session, "PromotionTemplates", key, ROWS_MAX) if is_id(key) else None
    except TreeTooLarge:
        message = f"The template has more than {ROWS_MAX} conditions and actions in total, with the rows below them."
        raise Invalid("TEMPLATE_TOO_LARGE", message, "templateId") from None
    if template is None:
        raise NotFound("NOT_FOUND", "There is no such template.", "templateId")
    promotion_id = await authoring.create("Promotions", _copy(template, model.entity("Promotions")))
    for part, live in live_parts().items():
        rows = [{**_copy(one, live), "promotion_ID": promotion_id} for one in template.parts[part]]
        if rows:
            await authoring.create_many(live.set_name, rows)
    group = template.row["priority_group_id"]
    if group is not None:
        await authoring.create("PriorityGroupPromotions", {"priorityGroup_ID": group, "promotion_ID": promotion_id})
    return promotion_id


@cache
def live_parts() -> dict[str, EntityType]:
    """Return, by name of a template's own compositions, the corresponding entity of a promotion.

    A promotion has no compositions for them (see `model.promotions`), so they are derived from their names:
    ``TemplateConditions`` becomes Conditions. Below them, compositions correspond by name.
    """
    template = model.entity("PromotionTemplates")
    return {part.name: model.entity(part.target.removeprefix("Template")) for part in _compositions(template)}


@cache
def copied_properties(source_set: str, target_set: str) -> dict[str, str]:
    """Return column -> property for everything that both entity sets declare and a copy takes over.

    The columns are those of one entity set, the properties those of the other. Excluded are the row's identity (its
    key, its natural key, its owner) and the properties that the service sets.
    """
    source, target = model.entity(source_set), model.entity(target_set)
    fields = {
        field.name: target.field(field.name).wire
        for field in source.fields
        if not field.read_only and field.name not in {"id", *source.natural_key} and _has_field(target, field.name)
    }
    names = {link.name for link in target.links}
    links = {
        link.column: target.link(link.name).property_wire
        for link in source.links
        if not link.owner and not link.read_only and link.name in names
    }
    return fields | links


def _copy(tree: Tree, target: EntityType) -> dict[str, Any]:
    """Return the tree as a new row of ``target``; missing values get the target's defaults."""
    properties = copied_properties(tree.entity.set_name, target.set_name)
    row = {wire: tree.row[column] for column, wire in properties.items() if tree.row[column] is not None}
    for part in _compositions(target):
        below = tree.parts.get(part.name)
        if below:
            row[part.wire] = [_copy(one, model.entity(part.target)) for one in below]
    return row


def _has_field(entity: EntityType, name: str) -> bool:
    return any(field.name == name and not field.virtual for field in entity.fields)


def _compositions(entity: EntityType) -> Iterator[Collection]:
    return (part for part in entity.collections if part.composition)
