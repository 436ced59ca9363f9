"""Everything that prevents a promotion from running; checked by activation and by the start of a pilot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.errors import Detail

PARTS_MAX = 50  # parts of a promotion reported in one response


def missing(definition: PromotionDefinition, at: datetime, path: str = "") -> list[Detail]:
    """Return what a promotion lacks to run from ``at`` on: a name, an action, a validity that is not over.

    Targets are properties of the promotion, prefixed with ``path`` (data model, State machines).
    """
    faults: list[Detail] = []
    if not definition.name.strip():
        faults.append(Detail("REQUIRED", "The promotion needs a name.", f"{path}name"))
    if not definition.actions and not definition.loyalty_actions:
        message = "The promotion gives nothing: it needs a discount action or a loyalty action."
        faults.append(Detail("ACTION_MISSING", message, f"{path}DiscountActions"))
    first, last = definition.valid_from, definition.valid_to
    if last is not None and first is not None and first >= last:
        faults.append(Detail("WINDOW_EMPTY", "The promotion ends before it begins.", f"{path}validTo"))
    elif last is not None and last <= at:
        faults.append(Detail("VALIDITY_OVER", "The promotion's validity has ended.", f"{path}validTo"))
    return faults


def broken_parts(definition: PromotionDefinition) -> list[DefinitionError]:
    """Return why a promotion does not compile: the errors of up to 50 conditions and actions; empty: it compiles."""
    try:
        compile_promotion(definition)
    except DefinitionError as error:
        # The compiler stops at the first error; checking each part separately reports all of them at once.
        return list(islice(_each_alone(definition), PARTS_MAX)) or [error]
    return []


def _each_alone(definition: PromotionDefinition) -> Iterator[DefinitionError]:
    bare = replace(definition, conditions=(), actions=(), loyalty_actions=())
    for place, condition in enumerate(definition.conditions, 1):
        yield from _alone(replace(bare, conditions=(condition,)), "Conditions", place)
    for place, action in enumerate(definition.actions, 1):
        for error in _alone(replace(bare, actions=(action,)), "DiscountActions", place):
            if error.code != "NO_LOYALTY_ACTION" or not definition.loyalty_actions:
                yield error
    for place, loyalty in enumerate(definition.loyalty_actions, 1):
        yield from _alone(replace(bare, loyalty_actions=(loyalty,)), "LoyaltyActions", place)


def _alone(definition: PromotionDefinition, part: str, place: int) -> Iterator[DefinitionError]:
    try:
        compile_promotion(definition)
    except DefinitionError as error:
        target = error.target.replace(f"{part}(1)", f"{part}({place})", 1)
        yield DefinitionError(target, error.code, error.message)
