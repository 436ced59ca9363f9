"""Other promotions that run at the same time and place for the same sales, and what happens when both apply."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from promenade.engine.benefits.article import ArticleDiscount
from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.benefits.free_item import FreeItem
from promenade.engine.benefits.receipt import ReceiptDiscount
from promenade.engine.benefits.registry import REWARDS_ONLY, Benefit, IndexKey
from promenade.engine.benefits.targets import Exclusions
from promenade.engine.conditions.article import NamedLines
from promenade.engine.conditions.receipt import ReceiptAmount
from promenade.engine.inspection.finding import ERROR, INFO, WARNING, ArticleSeen, Finding, Tenant
from promenade.engine.inspection.literals import Circumstances, Literal, literals_of, outlook_of
from promenade.engine.inspection.scene import Scene
from promenade.engine.inspection.texts import Outlook
from promenade.engine.promotion import CompiledPromotion, microseconds
from promenade.engine.view import ArticleGroups

REPORTED_MAX = 50
COMPARED_MAX = 400  # overlaps for which the conditions are compared as well; the rest are counted as they are
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
    """Others' articles whose group and manufacturer decide whether this promotion applies to them; at most 5000."""
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
    """At most `REPORTED_MAX` overlaps, the most important first, and how many more there are."""
    if not scene.places or not ours.benefits:
        return
    groups = scene.live_groups
    if not groups:
        return
    around = list(_contemporaries(scene, others))
    reach = Reach(keys_of(ours), scene.tenant, scene.given.groups)
    found = [one for other in around if (one := _overlap(scene, ours, other, reach)) is not None]
    first = heapq.nsmallest(COMPARED_MAX, found, key=lambda one: one.rank)
    met = [
        one
        for one in first
        if not _count_alike(scene, ours, one.other) or can_meet(groups, one.other, _common(scene, one.other))
    ]
    told = [_judged(scene, ours, one, around) for one in met[:REPORTED_MAX]]
    for one in sorted(told, key=lambda one: one.rank):
        yield _finding_of(one)
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
        # By their order and their own mutual exclusion groups, whatever the lines.
        kind = ONE_OF if rule.startswith(_OF_GROUP) else _kind(scene, order)
        return _Overlap(kind, other, "in sales that satisfy both", rule, meeting)
    if meeting is Meeting.NO:
        return None
    where = f"on lines that both {'may apply' if meeting is Meeting.LIKELY else 'apply'} to"
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
    """Why only one of them applies to a sale, whatever its lines; None if both may."""
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
    """Negative: the other one is processed first; positive: ours; 0: that depends on the coupons presented."""
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
    """The overlap, or the fact that it leaves nothing of the promotion at all."""
    if one.kind != BLOCKED or scene.tenant.strategy != "SEQUENTIAL" or _rule(ours, one.other) is None:
        return one
    in_exclusion_group = ours.definition.exclusion_group is not None
    other = one.other
    if in_exclusion_group or not _count_alike(scene, ours, other) or not always_applies(scene, other):
        return one
    for before in around:
        # A promotion applied earlier could block the other one and leave room for this one.
        if before is other:
            continue
        is_earlier = before.order_before[0] < other.order_before[0] if other.is_global else _order(before, other) >= 0
        if is_earlier:
            return one
    return replace(one, kind=ALWAYS)


def _count_alike(scene: Scene, ours: CompiledPromotion, other: CompiledPromotion) -> bool:
    """Whether the same goods count for the conditions of both, so that these can be compared."""
    return _counting(scene.tenant, ours) == _counting(scene.tenant, other)


def _counting(tenant: Tenant, one: CompiledPromotion) -> tuple[bool, tuple[Exclusions, ...]]:
    """Whether goods that are never discounted count, and which others do not."""
    barred, excluded = one.definition.counts_barred, one.definition.counts_excluded
    counts_excluded = tenant.excluded_counts if excluded is None else excluded
    return tenant.barred_counts if barred is None else barred, () if counts_excluded else one.common_exclusions


# --- words ------------------------------------------------------------------------------------------------------------

_CODES = {
    ALWAYS: ("ALWAYS_DISPLACED", ERROR),
    BLOCKED: ("DISPLACED_BY", WARNING),
    ONE_OF: ("EXCLUDE_EACH_OTHER", WARNING),
    BLOCKS: ("DISPLACES", WARNING),
    STACKS: ("STACKS_WITH", INFO),
}


def _finding_of(one: _Overlap) -> Finding:
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


# ---- which lines a promotion may discount, and whether two may meet on one ------------------------------------------


class Meeting(IntEnum):
    """NO: they name different lines; LIKELY: by the master data, or where no comparison is possible; SURE."""

    NO = 0
    LIKELY = 1
    SURE = 2


def keys_of(promotion: CompiledPromotion) -> frozenset[IndexKey] | None:
    """Index keys of the lines that a promotion may discount; None = any line. Empty: it only gives rewards."""
    keys: set[IndexKey] = set()
    by_conditions: frozenset[IndexKey] | None = frozenset()
    is_known = False
    for benefit in promotion.benefits:
        if benefit.stage == REWARDS_ONLY:
            continue
        if isinstance(benefit, FreeItem):
            keys.add(("article", benefit.article_number))
            continue
        own = _own_keys(benefit) if isinstance(benefit, BundleDiscount) else benefit.keys()
        if own is None:
            if not is_known:
                by_conditions, is_known = _keys_of_conditions(promotion), True
            if by_conditions is None:
                return None
            keys |= by_conditions
        else:
            keys.update(own)
    return frozenset(keys)


def _own_keys(bundle: BundleDiscount) -> Iterable[IndexKey] | None:
    found: list[IndexKey] = []
    for part in bundle.components:
        keys = part.target.keys() if part.target.own else bundle.target.keys()
        if keys is None:
            return None
        found.extend(keys)
    return found


def _keys_of_conditions(promotion: CompiledPromotion) -> frozenset[IndexKey] | None:
    keys: set[IndexKey] = set()
    for group in promotion.groups:
        named = [one for negated, one in group if not negated and isinstance(one, NamedLines)]
        found = [one.keys() for one in named]
        if not found or None in found:
            return None
        for each in found:
            keys.update(each or ())
    return frozenset(keys) if promotion.groups else None


class Reach:
    """The lines that one promotion may discount, prepared for comparison with many others."""

    def __init__(self, keys: frozenset[IndexKey] | None, tenant: Tenant, groups: ArticleGroups) -> None:
        self._tenant = tenant
        self._groups = groups
        self.is_any = keys is None
        named = keys or frozenset()
        self.articles = frozenset([value for kind, value in named if kind == "article"])
        self.eans = frozenset([value for kind, value in named if kind == "ean"])
        self.exact = frozenset([value for kind, value in named if kind == "group"])
        self.trees = frozenset([value for kind, value in named if kind == "tree"])
        self.makers = frozenset([value for kind, value in named if kind == "manufacturer"])
        self.is_open = any(kind == "field" for kind, _ in named)
        self._above = frozenset([step for group in self.exact | self.trees for step in groups.path(group)])
        seen = [tenant.articles[one] for one in self.articles if one in tenant.articles]
        seen += [tenant.eans[one] for one in self.eans if one in tenant.eans]
        self._seen_numbers = frozenset([one.article_number for one in seen])
        self._seen_eans = frozenset([one.ean for one in seen if one.ean])
        self._seen_groups = frozenset([one.article_group_id for one in seen if one.article_group_id])
        self._seen_above = frozenset([step for group in self._seen_groups for step in groups.path(group)])
        self._seen_makers = frozenset([one.manufacturer_id for one in seen if one.manufacturer_id])

    @property
    def needs_articles(self) -> bool:
        """Whether the group and manufacturer of others' articles make a difference."""
        return bool(self.eans or self.exact or self.trees or self.makers)

    def meets(self, keys: frozenset[IndexKey] | None) -> Meeting:
        """Whether a line may be discounted by both."""
        if keys is None:
            return Meeting.SURE if self.is_any or self._names_something() else Meeting.NO
        if self.is_any:
            return Meeting.SURE if keys else Meeting.NO
        best = Meeting.NO
        for kind, value in keys:
            best = max(best, self._meets(kind, value))
            if best is Meeting.SURE:
                break
        return best

    def _names_something(self) -> bool:
        return bool(self.articles or self.eans or self.exact or self.trees or self.makers or self.is_open)

    def _meets(self, kind: str, value: str) -> Meeting:
        if self.is_open or kind == "field":
            return Meeting.LIKELY
        if kind == "article":
            return self._meets_article(value)
        if kind == "ean":
            if value in self.eans:
                return Meeting.SURE
            return Meeting.LIKELY if value in self._seen_eans else self._meets_seen(self._tenant.eans.get(value))
        if kind == "manufacturer":
            if value in self.makers:
                return Meeting.SURE
            return Meeting.LIKELY if value in self._seen_makers or self._above else Meeting.NO
        return self._meets_group(value, with_sub_groups=kind == "tree")

    def _meets_article(self, number: str) -> Meeting:
        if number in self.articles:
            return Meeting.SURE
        return Meeting.LIKELY if number in self._seen_numbers else self._meets_seen(self._tenant.articles.get(number))

    def _meets_seen(self, article: ArticleSeen | None) -> Meeting:
        if article is None:
            return Meeting.NO
        group = article.article_group_id
        by_group = bool(group) and (group in self.exact or not self.trees.isdisjoint(self._groups.path(group or "")))
        by_ean = article.ean is not None and article.ean in self.eans
        return Meeting.LIKELY if by_group or by_ean or article.manufacturer_id in self.makers else Meeting.NO

    def _meets_group(self, group: str, *, with_sub_groups: bool) -> Meeting:
        if group in self.exact or not self.trees.isdisjoint(self._groups.path(group)):
            return Meeting.SURE
        if with_sub_groups and group in self._above:
            return Meeting.SURE
        by_articles = group in (self._seen_above if with_sub_groups else self._seen_groups)
        return Meeting.LIKELY if by_articles or self.makers else Meeting.NO


# ---- dead by somebody else's exclusion, for certain -----------------------------------------------------------------


PAIRS_MAX = 64  # AND groups of one promotion times those of another


def can_meet(ours: Sequence[Sequence[Literal]], other: CompiledPromotion, given: Circumstances) -> bool:
    """Whether some sale may satisfy both promotions' conditions."""
    theirs = literals_of(other.groups) or ((),)
    if len(ours) * len(theirs) > PAIRS_MAX:
        return True
    is_alike = given.is_additive and not other.is_multiplicative
    for mine in ours:
        for group in theirs:
            # Amounts of two moments cannot be compared.
            theirs_alike = group if is_alike else _without_amounts(group)
            if not theirs_alike or outlook_of([*mine, *theirs_alike], given, theirs_alike) is not Outlook.NO:
                return True
    return False


def _without_amounts(group: Sequence[Literal]) -> list[Literal]:
    return [one for one in group if not isinstance(one.condition, ReceiptAmount)]


def always_applies(scene: Scene, other: CompiledPromotion) -> bool:
    """Whether ``other``, if nothing blocks it, takes something off every sale that this promotion could apply to.

    Sales so small that its discount rounds to nothing are not considered.
    """
    if scene.tenant.tree.barred or any(one.never_discounted for one in scene.tenant.articles.values()):
        return False  # a sale of goods that are never discounted
    definition = other.definition
    limits = (definition.max_applications_total, definition.max_applications_per_customer)
    if definition.status != "ACTIVE" or definition.is_experiment or definition.coupon_type_ids or definition.budget_ids:
        return False
    if definition.exclusion_group is not None or limits != (None, None):
        return False
    if definition.max_applications_per_transaction == 0 or definition.precision is not None or not scene.places:
        return False
    if other.starts > max(scene.starts, scene.now) or other.ends < scene.ends:
        return False
    if definition.pos_groups and not scene.places.keys() <= definition.pos_groups:
        return False
    if definition.currency is not None and any(one.currency != definition.currency for one in scene.places.values()):
        return False
    return any(_surely_gives(one) for one in other.benefits) and _is_implied(scene, other)


def _surely_gives(benefit: Benefit) -> bool:
    """Whether it discounts whatever is sold."""
    if isinstance(benefit, ReceiptDiscount):
        kind, value = benefit.shown
    elif isinstance(benefit, ArticleDiscount) and benefit.discount is not None and benefit.plain:
        kind, value = benefit.discount.shown
    else:
        return False
    is_whole = not benefit.target.own and benefit.target.exclusions is None and benefit.maximum is None
    return is_whole and kind in ("PERCENTAGE", "ABSOLUTE") and value >= 100


def _is_implied(scene: Scene, other: CompiledPromotion) -> bool:
    """Whether each way to satisfy our conditions satisfies theirs, one by one."""
    if not other.groups:
        return True
    theirs = literals_of(other.groups)
    if any(isinstance(one.condition, NamedLines) or one.negated for group in theirs for one in group):
        return False  # the discount could fall on lines that cost nothing
    ours = scene.live_groups
    if not ours or len(ours) * len(theirs) > PAIRS_MAX or other.is_multiplicative or not scene.given.is_additive:
        return False
    given = replace(scene.given, starts=max(scene.given.starts, scene.now))
    return all(any(all(_implies(mine, one, given) for one in group) for group in theirs) for mine in ours)


def _implies(mine: Sequence[Literal], one: Literal, given: Circumstances) -> bool:
    """A condition implies whatever cannot fail while it holds."""
    denied = Literal(not one.negated, one.condition, one.place)
    return outlook_of([*mine, denied], given, [denied]) is Outlook.NO
