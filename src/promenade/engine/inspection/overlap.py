"""Other promotions that run at the same time and place for the same sales, and what happens when they meet."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from promenade.engine.inspection.displacing import always_applies, can_meet
from promenade.engine.inspection.finding import ERROR, INFO, WARNING, Finding
from promenade.engine.inspection.literals import Circumstances
from promenade.engine.inspection.reach import Meeting, Reach, keys_of
from promenade.engine.inspection.scene import Scene
from promenade.engine.promotion import CompiledPromotion, microseconds

__all__ = ["REPORTED_MAX", "articles_in_question", "check_overlaps"]

REPORTED_MAX = 50
COMPARED_MAX = 400  # overlaps of which it is followed whether the conditions admit both; the rest is counted as it is
ARTICLES_MAX = 5_000  # of others' articles that are looked up to compare them with groups

_LIVE = frozenset(("ACTIVE", "PILOT"))

_OF_GROUP = "of their mutual exclusion group"

ALWAYS, BLOCKED, ONE_OF, BLOCKS, STACKS = range(5)


@dataclass(frozen=True, slots=True)
class _Overlap:
    """``kind``: what happens, the worst first; ``where`` and ``why`` in words."""

    kind: int
    other: CompiledPromotion
    where: str
    why: str
    meeting: Meeting

    @property
    def rank(self) -> tuple[int, int, str]:
        return self.kind, -self.meeting, self.other.id


def articles_in_question(scene: Scene, ours: CompiledPromotion, others: Sequence[CompiledPromotion]) -> list[str]:
    """Others' articles whose group and maker tell whether they are what this promotion is for; at most 5000."""
    reach = Reach(keys_of(ours), scene.tenant, scene.given.groups)
    if not reach.needs_articles:
        return []
    wanted: dict[str, None] = {}
    for other in _contemporaries(scene, others):
        for kind, value in keys_of(other) or ():
            if kind == "article":
                wanted[value] = None
        if len(wanted) >= ARTICLES_MAX:
            break
    return list(wanted)[:ARTICLES_MAX]


def check_overlaps(scene: Scene, ours: CompiledPromotion, others: Sequence[CompiledPromotion]) -> Iterator[Finding]:
    """At most `REPORTED_MAX` overlaps, what matters most first, and how many more there are."""
    if not scene.places or not ours.benefits:
        return
    groups = scene.live_groups
    if not groups:
        return
    around = list(_contemporaries(scene, others))
    reach = Reach(keys_of(ours), scene.tenant, scene.given.groups)
    found = [one for other in around if (one := _overlap(scene, ours, other, reach)) is not None]
    first = heapq.nsmallest(COMPARED_MAX, found, key=lambda one: one.rank)
    met = [one for one in first if can_meet(groups, one.other, _common(scene, one.other))]
    told = [_judged(scene, ours, one, around) for one in met[:REPORTED_MAX]]
    for one in sorted(told, key=lambda one: one.rank):
        yield _told(one)
    rest = len(met) - len(told) + len(found) - len(first)
    if rest:
        message = f"It overlaps with {rest} more promotions that are not listed here."
        yield Finding("OVERLAPS_MORE", INFO, message, "Promotions")


# --- who is around ----------------------------------------------------------------------------------------------------


def _contemporaries(scene: Scene, others: Sequence[CompiledPromotion]) -> Iterator[CompiledPromotion]:
    """Live promotions that are candidates at some moment and place where this one is, from now on."""
    since = max(scene.starts, scene.now)
    by_currency: dict[str | None, set[str]] = {None: set(scene.places)}
    for key, place in scene.places.items():
        by_currency.setdefault(place.currency, set()).add(key)
    for other in others:
        one = other.definition
        if one.status not in _LIVE or other.id == scene.definition.id or not other.benefits:
            continue
        if max(since, other.starts) >= min(scene.ends, other.ends):
            continue
        places = by_currency.get(one.currency)
        if not places or (one.pos_groups and places.isdisjoint(one.pos_groups)):
            continue
        if one.is_experiment and all(other.experiment_arm(place) == "OUTSIDE" for place in places):
            continue
        if one.status == "PILOT" and not _meets_pilot(other, places, since, scene.ends):
            continue
        yield other


def _meets_pilot(other: CompiledPromotion, places: set[str], since: int, until: int) -> bool:
    pilot = other.definition.pilot
    if pilot is None or places.isdisjoint(other.treated_groups):
        return False
    return max(since, microseconds(pilot.starts_at)) < min(until, microseconds(pilot.ends_at))


def _common(scene: Scene, other: CompiledPromotion) -> Circumstances:
    """The circumstances under which both run."""
    starts, ends = max(scene.starts, scene.now, other.starts), min(scene.ends, other.ends)
    return replace(scene.given, starts=starts, ends=ends)


# --- what happens -----------------------------------------------------------------------------------------------------


def _overlap(scene: Scene, ours: CompiledPromotion, other: CompiledPromotion, reach: Reach) -> _Overlap | None:
    meeting = reach.meets(keys_of(other))
    order = _order(ours, other)
    rule = _rule(ours, other)
    if rule is not None:
        # In the order and the mutual exclusion groups of their own, whatever the lines.
        kind = ONE_OF if rule.startswith(_OF_GROUP) else _kind(scene, order)
        return _Overlap(kind, other, "in sales that satisfy both", rule, meeting)
    if meeting is Meeting.NO:
        return None
    where = f"on lines that both {'may be' if meeting is Meeting.LIKELY else 'are'} for"
    if ours.is_unit_exclusive or other.is_unit_exclusive:
        who = _this(other, ours.is_unit_exclusive)
        why = f"{who} shares no unit that it discounts (exclusivityLevel PROMOTION)"
        return _Overlap(_kind(scene, order), other, where, why, meeting)
    return _Overlap(STACKS, other, where, _place_in_order(other, order), meeting)


def _kind(scene: Scene, order: int) -> int:
    if scene.tenant.strategy == "BEST_DEAL" or order == 0:
        return ONE_OF
    return BLOCKED if order < 0 else BLOCKS


def _rule(ours: CompiledPromotion, other: CompiledPromotion) -> str | None:
    """Why only one of them applies to a sale, whatever lines they are for; None if both may."""
    mine, theirs = ours.definition, other.definition
    if ours.is_global or other.is_global:
        return f"{_this(other, ours.is_global)} applies alone or not at all (exclusivityLevel GLOBAL)"
    if mine.priority_group is not None and theirs.priority_group is not None:
        is_same = mine.priority_group.group_id == theirs.priority_group.group_id
        if is_same and (ours.is_group_exclusive or other.is_group_exclusive):
            return "only one of their priority group applies (exclusivityLevel GROUP)"
    group = mine.exclusion_group
    if group is not None and theirs.exclusion_group is not None and group.group_id == theirs.exclusion_group.group_id:
        which = "smallest" if group.resolution_strategy == "LOWEST_DISCOUNT" else "greatest"
        return f"{_OF_GROUP} the one with the {which} discount applies"
    return None


def _order(ours: CompiledPromotion, other: CompiledPromotion) -> int:
    """Below zero: the other one is processed first; above: ours; 0: that depends on the coupons presented."""
    mine, theirs = ours.order_before, other.order_before
    if mine == theirs:
        by_coupon = bool(ours.definition.coupon_type_ids), bool(other.definition.coupon_type_ids)
        if by_coupon == (True, True):
            return 0
        return _compared((by_coupon[0], *ours.order_after), (by_coupon[1], *other.order_after))
    return _compared(mine, theirs)


def _compared(mine: tuple[object, ...], theirs: tuple[object, ...]) -> int:
    return 1 if mine < theirs else -1


def _this(other: CompiledPromotion, is_ours: bool) -> str:
    return "this one" if is_ours else repr(other.name)


def _place_in_order(other: CompiledPromotion, order: int) -> str:
    if order == 0:
        return "the coupon that is presented first decides which is processed first"
    return f"{_this(other, order > 0)} is processed first"


def _judged(scene: Scene, ours: CompiledPromotion, one: _Overlap, around: Sequence[CompiledPromotion]) -> _Overlap:
    """The overlap, or that it leaves nothing of the promotion at all."""
    if one.kind != BLOCKED or scene.tenant.strategy != "SEQUENTIAL" or _rule(ours, one.other) is None:
        return one
    in_exclusion_group = ours.definition.exclusion_group is not None
    other = one.other
    if in_exclusion_group or not always_applies(scene, other):
        return one
    for before in around:
        # What is applied before it could block the other one and leave room for this one.
        if before is other:
            continue
        is_earlier = before.order_before[0] < other.order_before[0] if other.is_global else _order(before, other) >= 0
        if is_earlier:
            return one
    return replace(one, kind=ALWAYS)


# --- words ------------------------------------------------------------------------------------------------------------

_CODES = {
    ALWAYS: ("ALWAYS_DISPLACED", ERROR),
    BLOCKED: ("DISPLACED_BY", WARNING),
    ONE_OF: ("EXCLUDE_EACH_OTHER", WARNING),
    BLOCKS: ("DISPLACES", WARNING),
    STACKS: ("STACKS_WITH", INFO),
}


def _told(one: _Overlap) -> Finding:
    code, severity = _CODES[one.kind]
    name = repr(one.other.name)
    messages = {
        ALWAYS: f"{name} always displaces it: it takes something off every sale (small change aside) that this one"
        f" could apply to, it is processed first, and {one.why}.",
        BLOCKED: f"{name} displaces it {one.where}: the other one is processed first, and once it has given something,"
        f" {one.why}.",
        ONE_OF: f"It and {name} exclude each other {one.where}: {one.why}.",
        BLOCKS: f"It displaces {name} {one.where}: it is processed first, and once it has given something, {one.why}.",
        STACKS: f"It adds up with {name} {one.where}: {one.why}.",
    }
    return Finding(code, severity, messages[one.kind], "Promotions", None, one.other.id)
