"""A compiled promotion: parsed conditions and benefits, its place in the order, its content hash."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from promenade.engine.basket import FIRST_RULES
from promenade.engine.benefits.registry import REWARDS_ONLY, Benefit
from promenade.engine.benefits.targets import Exclusions, MayBeBarred, Targets
from promenade.engine.conditions.registry import Condition, Group, IndexKey
from promenade.engine.definition import PromotionDefinition
from promenade.engine.pilots import control_groups, treated_groups
from promenade.engine.thresholds import Least
from promenade.engine.verdict import Met, Missed, Trigger
from promenade.engine.view import BasketView

LAST_PRIORITY_GROUP = 1 << 62  # no priority group: after every group (section 4)

# Statuses that a simulation with includeInactive prices too; ARCHIVED never is.
INACTIVE_STATUSES = frozenset(("DRAFT", "PENDING_APPROVAL", "APPROVED", "REJECTED", "INACTIVE"))

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ALWAYS = 1 << 62  # later than any instant

Order = tuple[int, int, int, int, int, int, str]
"""A place in the order of section 4: compared number by number."""

NO_COUPON = -1  # before the first code presented

# A negated condition that holds.
FORBIDDEN = Missed("CONDITION_EXCLUDED")


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
        """How much was reached, 0 to 99: the minimum over the failed conditions; 0 where one has no measure."""
        failed = self.failed
        if len(failed) == 1:
            return reached_percent(failed[0].missed)
        return min([reached_percent(one.missed) for one in failed])

    def nearness(self) -> tuple[int, int]:
        """Greater is closer to being met: compared by the fraction reached, then by fewer failed conditions."""
        return self.percent(), -len(self.failed)


def reached_percent(missed: Missed) -> int:
    """How much of a threshold was reached, 0 to 99; 0 where nothing was measured."""
    current, threshold = missed.current, missed.threshold
    if current is None or threshold is None or threshold <= 0 or current <= 0:
        return 0
    return 100 * current // threshold if current < threshold else 99


class RequestFacts:
    """The parts of a request that the rules of section 2 look at."""

    __slots__ = ("coupon_type_ids", "currency", "include_inactive", "now", "pos_group_id")

    def __init__(self, view: BasketView, coupon_type_ids: frozenset[str]) -> None:
        self.pos_group_id = view.pos_group_id
        self.currency = view.currency
        self.now = microseconds(view.settings.now)
        self.include_inactive = view.settings.include_inactive
        self.coupon_type_ids = coupon_type_ids  # types of the valid codes presented


def microseconds(at: datetime) -> int:
    """An aware instant as an integer, which compares faster than a datetime."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


class CompiledPromotion:
    """One promotion, ready to be priced.

    ``order_before`` and ``order_after`` are the parts of the order of section 4 on both sides of the position of the
    triggering coupon; ``order`` is the whole of it without a coupon. ``entries`` are the keys under which the candidate
    index holds it, None when any basket may matter; ``entries_in_part`` also those of any piece of a bundle. ``least``
    is what it needs, where that alone decides; ``least_rest`` what must be left of the sale at its turn, likewise.
    ``group_id`` is its priority group, ``exclusion_id`` its exclusion group. ``pilot_arm`` is the arm that a POS group
    where it is a candidate belongs to: PILOT, EXPERIMENT or none. ``is_plain``: only time and place decide whether it
    is a candidate.
    """

    __slots__ = (
        "benefits",
        "common_exclusions",
        "control_groups",
        "currency",
        "definition",
        "ends",
        "entries",
        "entries_in_part",
        "exclusion_id",
        "givers",
        "gives_items",
        "group_id",
        "groups",
        "hash",
        "id",
        "is_dynamic",
        "is_global",
        "is_group_exclusive",
        "is_multiplicative",
        "is_plain",
        "is_restricted",
        "is_unit_exclusive",
        "is_use_limited",
        "least",
        "least_rest",
        "name",
        "order",
        "order_after",
        "order_before",
        "pilot_arm",
        "pos_groups",
        "stage",
        "starts",
        "treated_groups",
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
        self.entries: tuple[IndexKey, ...] | None = None
        self.entries_in_part: tuple[IndexKey, ...] | None = None
        self.least: Least | None = None
        self.least_rest: Least | None = None
        self.stage = min([benefit.stage for benefit in benefits], default=2)
        self.gives_items = any(benefit.code == "FREE_ITEM" for benefit in benefits)
        member = definition.priority_group
        self.is_global = definition.exclusivity == "GLOBAL"
        self.is_group_exclusive = definition.exclusivity == "GROUP" and member is not None
        self.is_unit_exclusive = definition.exclusivity == "PROMOTION"
        self.group_id = None if member is None else member.group_id
        self.exclusion_id = None if definition.exclusion_group is None else definition.exclusion_group.group_id
        most_uses = (definition.max_applications_total, definition.max_applications_per_customer)
        self.is_use_limited = most_uses != (None, None)
        self.is_restricted = self.is_use_limited or _is_restricted(definition)
        self.is_multiplicative = definition.calculation_mode == "MULTIPLICATIVE"
        # Only then can earlier promotions' discounts decide whether it qualifies.
        self.is_dynamic = self.is_multiplicative and any(
            condition.code == "RECEIPT_AMOUNT" for group in groups for _, condition in group
        )
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
        self.order = self.order_with(NO_COUPON)
        self.common_exclusions: tuple[Exclusions, ...] = () if definition.counts_excluded else _exclusions_of(benefits)
        self.givers = _givers_of(benefits)
        self.currency = definition.currency
        self.pos_groups = definition.pos_groups
        self.starts, self.ends = _window(definition)
        self.is_plain = not (definition.status != "ACTIVE" or definition.is_experiment or definition.coupon_type_ids)
        pilot = definition.pilot
        self.treated_groups: frozenset[str] = frozenset() if pilot is None else treated_groups(pilot)
        self.control_groups: frozenset[str] = frozenset() if pilot is None else control_groups(pilot)
        self.pilot_arm = "PILOT" if definition.status == "PILOT" else "EXPERIMENT" if definition.is_experiment else None

    @property
    def counts_otherwise(self) -> bool:
        """Whether it says itself what counts, so that its sale may be another one than that of most promotions."""
        excludes = bool(self.common_exclusions) and self.definition.counts_excluded is False
        return self.definition.counts_barred is not None or excludes

    def leads(self, rules: int) -> tuple[IndexKey, ...] | None:
        """The entries that lead to it for these rules of advice."""
        return self.entries if rules == FIRST_RULES else self.entries_in_part

    def order_with(self, coupon_position: int) -> Order:
        """Its place in the order if the code presented at this position triggers it."""
        return *self.order_before, coupon_position, *self.order_after

    def refusal(self, asker: RequestFacts) -> str | None:
        """Why it is no candidate (sections 2 and 9), None when it is one.

        A reason code of section 10; ``INACTIVE`` is internal and never shown.
        """
        definition = self.definition
        by_status = None if definition.status == "ACTIVE" else self._refusal_by_status(asker)
        # First the reasons for not being offered at all, so that no caller learns of a draft that is offered elsewhere.
        if by_status == "INACTIVE":
            return by_status
        if definition.currency is not None and definition.currency != asker.currency:
            return "WRONG_CURRENCY"
        if definition.pos_groups and asker.pos_group_id not in definition.pos_groups:
            return "WRONG_POS_GROUP"
        if not self.starts <= asker.now < self.ends:
            return "OUTSIDE_VALIDITY"
        if by_status is not None:
            return by_status
        if definition.is_experiment and self.experiment_arm(asker.pos_group_id) == "OUTSIDE":
            return "NOT_IN_PILOT"
        if definition.coupon_type_ids and definition.coupon_type_ids.isdisjoint(asker.coupon_type_ids):
            return "COUPON_REQUIRED"
        return None

    def _refusal_by_status(self, asker: RequestFacts) -> str | None:
        status = self.definition.status
        if status == "PILOT":
            treated = asker.pos_group_id in self.treated_groups and self._pilot_runs(asker.now)
            return None if treated else "NOT_IN_PILOT"
        if asker.include_inactive and status in INACTIVE_STATUSES:
            return None
        return "OUTSIDE_VALIDITY" if status == "EXPIRED" else "INACTIVE"

    def _pilot_runs(self, now: int) -> bool:
        pilot = self.definition.pilot
        return pilot is not None and microseconds(pilot.starts_at) <= now < microseconds(pilot.ends_at)

    def experiment_arm(self, pos_group_id: str) -> str:
        """EXPERIMENT, or OUTSIDE where the experiment is not a candidate (section 2.4)."""
        definition = self.definition
        if definition.control_group_id == pos_group_id:
            return "OUTSIDE"
        wanted = definition.experiment_group_id
        return "EXPERIMENT" if wanted is None or wanted == pos_group_id else "OUTSIDE"

    def is_control(self, pos_group_id: str, now: int) -> bool:
        """Whether the POS group is in its control arm at ``now`` (see `microseconds`)."""
        definition = self.definition
        if definition.status == "PILOT":
            return pos_group_id in self.control_groups and self._pilot_runs(now)
        running = definition.status == "ACTIVE" and self.starts <= now < self.ends
        return running and definition.is_experiment and definition.control_group_id == pos_group_id

    def view_of(self, view: BasketView) -> BasketView:
        """The sale as its conditions and benefits see it: without the lines that do not count for it (section 3)."""
        if not (view.barred or self.common_exclusions):
            return view
        counts, counts_excluded = self.definition.counts_barred, self.definition.counts_excluded
        if counts is None:
            counts = view.settings.barred_counts
        if counts_excluded is None:
            counts_excluded = view.settings.excluded_counts
        if counts_excluded or not self.common_exclusions:
            return view if counts else view.without(view.barred)
        found = view.others.get(self)
        if found is None:
            aside = frozenset.intersection(*[exclusions.found(view) for exclusions in self.common_exclusions])
            found = view.others[self] = view.without(aside if counts else aside | view.barred)
        return found

    def is_barred(self, view: BasketView, qualifying: tuple[int, ...] | None = None) -> bool:
        """Whether all that it would discount in a sale is never discounted; ``qualifying``: if its conditions hold."""
        if not view.barred and (qualifying is None or not self.gives_items):
            return False
        return bool(self.givers) and all(one.is_barred(view, qualifying) for one in self.givers)

    def is_spared(self, view: BasketView, qualifying: tuple[int, ...]) -> bool:
        """Whether an action finds nothing in a sale but what it leaves out because the till has reduced it."""
        return any(one.is_spared(view, qualifying) for one in self.givers)

    def is_outdone(self, view: BasketView, targets: Iterable[int]) -> bool:
        """Whether it leaves the customer the better of both, and all that it is about is reduced by the till."""
        found = [target.exclusions for target in _targets_of(self.benefits)]
        compares = any(one is not None and one.better_reduced for one in found)
        return compares and all(view.lines[place].reduction_hundredths for place in targets)

    def qualify(self, view: BasketView, remaining_sale_minor: int) -> Met | Unmet:
        """Section 3. Met carries the qualifying sale lines (never None) and the triggers; Unmet what failed.

        ``view`` is that of `view_of`, and ``remaining_sale_minor`` what is left of its lines.

        ``remaining_sale_minor`` is the sale amount minus what earlier promotions took; RECEIPT_AMOUNT reads it in
        MULTIPLICATIVE mode and the original amount in ADDITIVE mode.
        """
        groups = self.groups
        if not groups:
            return Met(view.sale)
        least = self.least
        # Only free items count how often a threshold is reached.
        if least is not None and not self.gives_items and (known := _measured(groups[0], least, view)) is not None:
            return known
        amount = remaining_sale_minor if self.is_multiplicative else view.sale_total_minor
        if len(groups) == 1 and len(groups[0]) == 1 and not self.gives_items:  # most promotions
            negated, condition = groups[0][0]
            if not negated:
                verdict = condition.check(view, amount)
                if isinstance(verdict, Missed):
                    return Unmet((FailedCondition(condition, False, verdict),), verdict.lines)
                return Met(view.sale, verdict.triggers) if verdict.lines is None else verdict
        matched: tuple[int, ...] | None = None
        triggers: tuple[Trigger, ...] = ()
        holding: list[Group] = []
        closest: Unmet | None = None
        for group in groups:
            result = _check_group(group, view, amount)
            if isinstance(result, Unmet):
                if not holding and (closest is None or result.nearness() > closest.nearness()):
                    closest = result
                continue
            holding.append(group)
            triggers += result.triggers
            if result.lines is not None:
                matched = result.lines if matched is None else matched + result.lines
        if not holding and closest is not None:
            return closest
        if self.gives_items:
            triggers += _presences(holding, view, amount)
        return Met(view.sale if matched is None else tuple(sorted(set(matched))), triggers)


def _givers_of(benefits: Iterable[Benefit]) -> tuple[MayBeBarred, ...]:
    """What can tell of each of its actions on goods whether there is nothing to discount; empty if one cannot."""
    goods = [benefit for benefit in benefits if benefit.stage < REWARDS_ONLY]
    found = [benefit if isinstance(benefit, MayBeBarred) else getattr(benefit, "target", None) for benefit in goods]
    known = tuple([one for one in found if isinstance(one, MayBeBarred)])
    return known if len(known) == len(goods) else ()


def _targets_of(benefits: Iterable[Benefit]) -> list[Targets]:
    """What its actions on goods are about, as far as it is one thing."""
    goods = [benefit for benefit in benefits if benefit.stage < REWARDS_ONLY]
    return [target for benefit in goods if isinstance(target := getattr(benefit, "target", None), Targets)]


def _exclusions_of(benefits: Iterable[Benefit]) -> tuple[Exclusions, ...]:
    """What its actions on goods exclude; empty if one of them excludes nothing, and so counts all."""
    targets = _targets_of(benefits)
    found = [target.exclusions for target in targets if target.exclusions is not None]
    return tuple(found) if len(found) == len(targets) else ()


def admitted(promotions: Iterable[CompiledPromotion], asker: RequestFacts) -> list[CompiledPromotion]:
    """Those that are candidates: `CompiledPromotion.refusal`, without a call for most of them."""
    now, currency, pos_group = asker.now, asker.currency, asker.pos_group_id
    return [
        one
        for one in promotions
        if (
            one.starts <= now < one.ends
            and (one.currency is None or one.currency == currency)
            and (not one.pos_groups or pos_group in one.pos_groups)
            if one.is_plain
            else one.refusal(asker) is None
        )
    ]


def _is_restricted(definition: PromotionDefinition) -> bool:
    """Whether anything but its conditions and what is left of its lines can keep it from applying, beside its usage."""
    return (
        definition.max_applications_per_transaction == 0
        or bool(definition.budget_ids)
        or definition.exclusivity == "GLOBAL"
        or definition.priority_group is not None
    )


def _measured(group: Group, least: Least, view: BasketView) -> Met | Unmet | None:
    """Whether a group holds, from the sums that the basket adds up once; None where its conditions must say why not."""
    quantity, amount, lines = least.counted(view)
    if quantity >= least.quantity_thousandths and amount >= least.amounts[view.exponent]:
        return Met(lines)
    if len(group) > 1:
        return None
    condition = group[0][1]
    missed = condition.missed(view, quantity, amount, lines)
    return None if missed is None else Unmet((FailedCondition(condition, False, missed),), missed.lines)


def _check_group(group: Group, view: BasketView, amount: int) -> Met | Unmet:
    """Check all conditions of one AND group, even after the first failure: advice names every one."""
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


def _presences(holding: list[Group], view: BasketView, amount: int) -> tuple[Trigger, ...]:
    """Conditions that only require presence: one threshold of 0 for each condition that only names lines.

    Where several groups hold, a line that one of them names is enough; empty where one needs no lines at all.
    """
    needed: list[list[tuple[int, ...]]] = []
    for group in holding:
        verdicts = [condition.check(view, amount) for negated, condition in group if not negated]
        needed.append([one.lines for one in verdicts if isinstance(one, Met) and one.lines and not one.triggers])
    if len(needed) == 1:
        places = needed[0]
    else:
        named = {place for each in needed for lines in each for place in lines}
        places = [tuple(sorted(named))] if all(needed) else []
    return tuple(
        [Trigger(lines, True, 0, sum([view.lines[place].quantity_thousandths for place in lines])) for lines in places]
    )


def _window(definition: PromotionDefinition) -> tuple[int, int]:
    """From (included) and to (not included) where it is valid, within its campaign's window; empty if cancelled."""
    starts, ends = -ALWAYS, ALWAYS
    windows = [(definition.valid_from, definition.valid_to)]
    if definition.campaign_window is not None:
        windows.append(definition.campaign_window)
    for opens, closes in windows:
        if opens is not None:
            starts = max(starts, microseconds(opens))
        if closes is not None:
            ends = min(ends, microseconds(closes))
    return (ALWAYS, ALWAYS) if definition.campaign_cancelled else (starts, ends)
