"""Copy promotions: everything that defines what a promotion gives, and everything that limits it."""

from __future__ import annotations

from functools import cache
from typing import Any

from promenade import model
from promenade.errors import Invalid, NotFound
from promenade.model.declare import Collection, EntityType
from promenade.store.driver.unit import Session
from promenade.store.promotions.templates import Tree, TreeTooLarge, read_owned, read_tree
from promenade.workflows.authoring import Authoring
from promenade.workflows.promotions.templates import copied_properties

ROWS_MAX = 10_000  # per kind; a unit writes at most 20 000 in total
NAME_MAX = 255
PREFIX = "Copy of "

LINKS = ("BudgetPromotions", "CouponTypePromotions", "PriorityGroupPromotions")
"""What a promotion is linked to from outside and a copy is linked to as well."""


async def copy_promotion(
    authoring: Authoring, session: Session, promotion_id: str, *, code: str | None, name: str | None
) -> str:
    """Copy a promotion into a new one in status DRAFT; return its ID.

    The copy has all limits of the original: campaign, POS groups, budgets, coupon types, priority and exclusion group,
    limits. Without them it would give more, or to more people, than the original. Not copied are the original's code,
    its counters and its pilot. Without ``name`` it is called "Copy of ...". Takes a fixed number of statements,
    whatever the promotion's size.

    Raises NotFound, Invalid (PROMOTION_TOO_LARGE, TOO_MANY_ROWS, and errors of ``code`` or ``name``) and Conflict
    (ALREADY_EXISTS of ``code``, LOCKED of the campaign).
    """
    try:
        original = await read_tree(session, "Promotions", promotion_id, ROWS_MAX)
        if original is None:
            raise NotFound("NOT_FOUND", "There is no such promotion.")
        parts = {
            entity.set_name: await read_owned(session, entity.set_name, "promotion_id", promotion_id, ROWS_MAX)
            for entity in (*parts_beside(), *map(model.entity, LINKS))
        }
    except TreeTooLarge:
        message = f"The promotion has more than {ROWS_MAX} rows of one kind, which is too many to copy."
        raise Invalid("PROMOTION_TOO_LARGE", message) from None
    row = _row(original) | {
        "status": "DRAFT",
        "code": code,
        "name": (PREFIX + original.row["name"])[:NAME_MAX] if name is None else name,
    }
    copy_id = await authoring.create("Promotions", row)
    for set_name, trees in parts.items():
        if trees:
            await authoring.create_many(set_name, [_row(tree) | {"promotion_ID": copy_id} for tree in trees])
    authoring.record("Promotions", original.row, "copy")
    return copy_id


@cache
def parts_beside() -> tuple[EntityType, ...]:
    """Entities that belong to a promotion but are not compositions of it: its conditions and its actions."""
    promotion = model.entity("Promotions")
    within = {part.target for part in promotion.collections if part.composition}
    return tuple(
        entity
        for entity in model.entities()
        if entity.owner is not None and entity.owner.target == "Promotions" and entity.set_name not in within
    )


def _row(tree: Tree) -> dict[str, Any]:
    """Convert the tree to a new row, including nulls: properties not set in the original are not set in the copy."""
    properties = copied_properties(tree.entity.set_name, tree.entity.set_name)
    row = {wire: tree.row[column] for column, wire in properties.items()}
    for part in tree.entity.collections:
        if part.composition:
            row |= _below(part, [_row(one) for one in tree.parts[part.name]])
    return row


def _below(part: Collection, rows: list[dict[str, Any]]) -> dict[str, Any]:
    if part.many:
        return {part.wire: rows}
    return {part.wire: rows[0]} if rows else {}
