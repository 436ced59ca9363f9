"""A promotion compiled once: parsed conditions and benefits, its place in the order, its content hash."""

from __future__ import annotations

from promenade.engine.benefits.registry import Benefit
from promenade.engine.conditions.registry import Condition
from promenade.engine.definition import PromotionDefinition
from promenade.engine.verdict import Met, Missed, Trigger
from promenade.engine.view import BasketView

__all__ = ["CompiledPromotion", "FailedCondition", "Unmet"]

LAST_PRIORITY_GROUP = 1 << 62  # no priority group: after every group (section 4)

# A condition under NOT that does hold.
FORBIDDEN = Missed("CONDITION_EXCLUDED")

Group = tuple[tuple[bool, Condition], ...]


class FailedCondition:
    """One condition that did not hold, with its verdict."""

    __slots__ = ("condition", "missed", "negated")

    def __init__(self, condition: Condition, negated: bool, missed: Missed) -> None:
        self.condition = condition
        self.negated = negated
        self.missed = missed


class Unmet:
    """Conditions not met: the failed ones of the group that came closest. ``lines``: what that group did match."""

    __slots__ = ("failed", "lines")

    def __init__(self, failed: tuple[FailedCondition, ...], lines: tuple[int, ...]) -> None:
        self.failed = failed
        self.lines = lines

    def percent(self) -> int:
        """How much was reached, 0 to 99: the least over the failed conditions; 0 where one has no measure."""
        return min([_reached_percent(one.missed) for one in self.failed])

    def nearness(self) -> tuple[int, int]:
        """Greater is closer to being met: the fraction reached, then the fewer conditions failed."""
        return self.percent(), -len(self.failed)


def _reached_percent(missed: Missed) -> int:
    current, threshold = missed.current, missed.threshold
    if current is None or threshold is None or threshold <= 0 or current <= 0:
        return 0
    return min(99, 100 * current // threshold)


class CompiledPromotion:
    """One promotion, ready to be priced.

    ``order_before`` and ``order_after`` are the parts of the order of section 4 on both sides of the position of the
    triggering coupon: sort by ``(order_before, coupon_position, order_after)``.
    """

    __slots__ = (
        "benefits",
        "definition",
        "groups",
        "hash",
        "id",
        "is_global",
        "is_group_exclusive",
        "is_multiplicative",
        "is_unit_exclusive",
        "name",
        "order_after",
        "order_before",
        "stage",
    )

    def __init__(
        self, definition: PromotionDefinition, groups: tuple[Group, ...], benefits: tuple[Benefit, ...], digest: str
    ) -> None:
        self.definition = definition
        self.id = definition.id
        self.name = definition.name
        self.hash = digest
        self.groups = groups
        self.benefits = benefits
        self.stage = min([benefit.stage for benefit in benefits], default=2)
        member = definition.priority_group
        self.is_global = definition.exclusivity == "GLOBAL"
        self.is_group_exclusive = definition.exclusivity == "GROUP" and member is not None
        self.is_unit_exclusive = definition.exclusivity == "PROMOTION"
        self.is_multiplicative = definition.calculation_mode == "MULTIPLICATIVE"
        self.order_before: tuple[int, int, int] = (
            LAST_PRIORITY_GROUP if member is None else member.group_priority,
            0 if self.is_global else 1,
            self.stage,
        )
        self.order_after: tuple[int, int, str] = (
            0 if member is None else member.sequence,
            definition.priority,
            definition.id,
        )

    def qualify(self, view: BasketView, remaining_sale_minor: int) -> Met | Unmet:
        """Section 3. Met carries the qualifying sale lines (never None) and the triggers; Unmet what failed.

        ``remaining_sale_minor`` is the sale amount minus what earlier promotions took; RECEIPT_AMOUNT reads it in
        MULTIPLICATIVE mode and the original amount in ADDITIVE mode.
        """
        groups = self.groups
        if not groups:
            return Met(view.sale)
        amount = remaining_sale_minor if self.is_multiplicative else view.sale_total_minor
        matched: tuple[int, ...] | None = None
        triggers: tuple[Trigger, ...] = ()
        holds = False
        closest: Unmet | None = None
        for group in groups:
            result = _check_group(group, view, amount)
            if isinstance(result, Unmet):
                if not holds and (closest is None or result.nearness() > closest.nearness()):
                    closest = result
                continue
            holds = True
            triggers += result.triggers
            if result.lines is not None:
                matched = result.lines if matched is None else matched + result.lines
        if not holds and closest is not None:
            return closest
        if matched is None:
            return Met(view.sale, triggers)
        if len(matched) > 1:
            matched = tuple(sorted(set(matched)))
        return Met(matched, triggers)


def _check_group(group: Group, view: BasketView, amount: int) -> Met | Unmet:
    """All conditions of one AND group are checked, also past the first that fails: advice names every one."""
    lines: tuple[int, ...] | None = None
    triggers: tuple[Trigger, ...] = ()
    failed: list[FailedCondition] | None = None
    for negated, condition in group:
        verdict = condition.check(view, amount)
        if isinstance(verdict, Missed):
            if not negated:
                failed = [] if failed is None else failed
                failed.append(FailedCondition(condition, False, verdict))
                if verdict.lines:
                    lines = verdict.lines if lines is None else lines + verdict.lines
        elif negated:
            failed = [] if failed is None else failed
            failed.append(FailedCondition(condition, True, FORBIDDEN))
        else:
            if verdict.lines is not None:
                lines = verdict.lines if lines is None else lines + verdict.lines
            if verdict.triggers:
                triggers += verdict.triggers
    if failed is not None:
        return Unmet(tuple(failed), () if lines is None else tuple(sorted(set(lines))))
    return Met(lines, triggers)
