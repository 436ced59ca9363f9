"""Build the frozen `Outcome` from a finished pass: lines with their discounts, promotions, coupons, points, totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promenade.engine.basket import CouponFact
from promenade.engine.benefits.loyalty import POINTS_MAX, points_after
from promenade.engine.best_deal.deal import nothing_found
from promenade.engine.ledger import FREE, shares_of
from promenade.engine.money import POWERS_OF_TEN
from promenade.engine.outcome import (
    AppliedPromotion,
    BestDeal,
    BudgetLimited,
    CouponUse,
    GrantedItem,
    LineDiscount,
    LineOutcome,
    Outcome,
    RefusedCoupon,
    UnitShare,
)
from promenade.engine.recommendations import Advice
from promenade.engine.stacking import SHARE_NOT_AVAILABLE, Decision, Pass
from promenade.engine.view import BasketView

_BUDGET_REASONS = frozenset(("BUDGET_NOT_ACTIVE", "BUDGET_EXHAUSTED", "BUDGET_INSUFFICIENT", SHARE_NOT_AVAILABLE))


def assemble_untouched(
    view: BasketView, coupons: Sequence[CouponFact], control_arms: tuple[str, ...], hashes: tuple[str, ...]
) -> Outcome:
    """The answer when no promotion can affect the basket: the basket as sent, and the tenant's base points."""
    sale = view.sale_total_minor
    returned = 0
    if len(view.sale) < len(view.lines):
        returned = sum([one.total_minor for one in view.lines if not one.is_sale])
    subtotal = sale + returned
    base_points = _base_points(view, subtotal)
    refused = tuple([RefusedCoupon(fact.code, _unlinked_refusal(fact)) for fact in coupons])
    return Outcome(
        view.currency,
        view.exponent,
        _untouched_lines(view),
        (),
        subtotal,
        0,
        subtotal,
        sale,
        returned,
        (),
        base_points,
        base_points,
        (),
        refused,
        (),
        (),
        (),
        (),
        (),
        hashes,
        control_arms,
        nothing_found(view) if view.settings.strategy == "BEST_DEAL" else None,
        _never_discounted(view),
    )


def _untouched_lines(view: BasketView) -> tuple[LineOutcome, ...]:
    """The lines as they were sent."""
    return tuple(
        [
            LineOutcome(
                one.reference,
                one.article_number,
                one.line.ean,
                one.line.article_group_id,
                one.line.manufacturer_id,
                one.quantity_thousandths,
                one.unit,
                one.unit_price_hundredths,
                one.total_minor,
                0,
                one.total_minor if one.is_sale else 0,
                (),
            )
            for one in view.lines
        ]
    )


def _unlinked_refusal(fact: CouponFact) -> str:
    if fact.refusal is None and fact.coupon_type_id is not None:
        return "NO_PROMOTION"
    return fact.refusal or "UNKNOWN_CODE"


def _base_points(view: BasketView, net_minor: int) -> int:
    """The tenant's points for the net total, rounded down; none for a net return."""
    rate = view.settings.points_per_currency_unit_thousandths
    if rate <= 0 or net_minor <= 0:
        return 0
    return min(net_minor * rate // (1000 * POWERS_OF_TEN[view.exponent]), POINTS_MAX)


def assemble(
    view: BasketView,
    done: Pass,
    decisions: Sequence[Decision],
    coupons: Sequence[CouponFact],
    advice: Advice,
    control_arms: tuple[str, ...],
    hashes: tuple[str, ...],
    best_deal: BestDeal | None,
) -> Outcome:
    """Build the answer once; nothing is decided here."""
    discounts, touched = _line_discounts(view, done)
    lines, return_subtotal = _lines(view, done, discounts)
    subtotal = view.sale_total_minor + return_subtotal
    discount = done.discount_minor
    net = subtotal - discount
    base_points = _base_points(view, net)
    points, points_by = _points(done, base_points)
    used, refused = _coupons(done, decisions, coupons) if coupons else ((), ())
    return Outcome(
        view.currency,
        view.exponent,
        lines,
        _granted(done),
        subtotal,
        discount,
        net,
        view.sale_total_minor,
        return_subtotal,
        tuple([_applied(one, names, points_by) for one, names in zip(done.applied, touched, strict=True)]),
        points,
        base_points,
        used,
        refused,
        tuple(
            [
                BudgetLimited(one.candidate.promotion.id, one.candidate.promotion.name, one.reason)
                for one in decisions
                if one.reason is not None and one.reason in _BUDGET_REASONS
            ]
        ),
        advice.recommendations,
        advice.missed,
        advice.gaps,
        advice.nudges,
        hashes,
        control_arms,
        best_deal,
        _never_discounted(view),
    )


def _never_discounted(view: BasketView) -> tuple[tuple[int, str], ...]:
    if not view.barred:
        return ()
    return tuple([(place, reason) for place in sorted(view.barred) if (reason := view.lines[place].barred) is not None])


def _line_discounts(view: BasketView, done: Pass) -> tuple[list[list[LineDiscount] | None], list[tuple[str, ...]]]:
    """Discounts of each line in order of application, and the lines of each applied promotion."""
    references = [line.line.reference for line in view.lines]
    units = done.ledger.units
    found: list[list[LineDiscount] | None] = [None] * len(references)
    touched: list[tuple[str, ...]] = []
    # What many promotions have alike is made once: a discount on a single unit, and the names of the same lines.
    single: dict[int, tuple[UnitShare, ...]] = {}
    named: dict[tuple[int, ...], tuple[str, ...]] = {(): ()}
    for decision in done.applied:
        turn = decision.turn
        if turn is None:
            touched.append(())
            continue
        promotion = decision.candidate.promotion
        identity, name, kind = promotion.id, promotion.name, promotion.definition.promotion_type
        coupon = decision.candidate.coupon
        for take in turn.takes:
            position, shown, amount, pieces, before, after = take
            count = units[position]
            if count == 1:
                shares = single.get(amount)
                if shares is None:
                    shares = single[amount] = (UnitShare(1, amount),)
            elif pieces is None:
                shares = shares_of(count, before[0], after[0])
            else:
                shares = turn.unit_shares(take)
            entry = LineDiscount(identity, name, kind, shown[0], shown[1], amount, coupon, shares)
            entries = found[position]
            if entries is None:
                found[position] = [entry]
            else:
                entries.append(entry)
        places = tuple([take[0] for take in turn.takes])
        names = named.get(places)
        if names is None:
            names = named[places] = tuple([references[place] for place in sorted(set(places))])
        touched.append(names)
    return found, touched


def _lines(
    view: BasketView, done: Pass, discounts: list[list[LineDiscount] | None]
) -> tuple[tuple[LineOutcome, ...], int]:
    """The lines of the response, and the sum of the returned ones (<= 0)."""
    states = done.ledger.states
    returned = 0
    outcomes: list[LineOutcome] = []
    for position, line in enumerate(view.lines):
        source = line.line
        total = line.total_minor
        taken, _, runs = states[position]
        if not line.is_sale:
            returned += total
            net = 0
        else:
            net = total - taken
        entries = discounts[position]
        free: str | None = None
        if runs is not None and entries is not None and all(run[2] & FREE for run in runs):
            free = _giver(done, position)
        outcomes.append(
            LineOutcome(
                source.reference,
                source.article_number,
                source.ean,
                source.article_group_id,
                source.manufacturer_id,
                source.quantity_thousandths,
                line.unit,
                source.unit_price_hundredths,
                total,
                taken,
                net,
                () if entries is None else tuple(entries),
                free,
            )
        )
    return tuple(outcomes), returned


def _giver(done: Pass, position: int) -> str | None:
    """The promotion that made a line free; the last one when several contributed."""
    for decision in reversed(done.applied):
        turn = decision.turn
        if turn is None:
            continue
        for take in turn.takes:
            runs = take[5][2]
            if take[0] == position and runs is not None and any(run[2] & FREE for run in runs):
                return decision.candidate.promotion.id
    return None


def _granted(done: Pass) -> tuple[GrantedItem, ...]:
    """Items added to the basket, with references that a replay repeats."""
    granted: list[GrantedItem] = []
    for decision in done.applied:
        turn = decision.turn
        if turn is None or turn.grants is None:
            continue
        promotion = decision.candidate.promotion
        for number, grant in enumerate(turn.grants, start=1):
            granted.append(
                GrantedItem(
                    f"GRANT-{promotion.id[:8]}-{grant.article_number}-{number}",
                    grant.article_number,
                    grant.ean,
                    grant.quantity,
                    grant.price_minor,
                    grant.price_source,
                    grant.price_minor * grant.quantity,
                    promotion.id,
                    promotion.name,
                    decision.candidate.coupon is not None,
                )
            )
    return tuple(granted)


def _points(done: Pass, base_points: int) -> tuple[int, dict[int, int]]:
    """All points, and what each promotion with rewards changed, by its ordinal: in their order, after the base."""
    points = base_points
    changes: dict[int, int] = {}
    for decision in done.applied:
        turn = decision.turn
        if turn is not None and turn.rewards is not None:
            before = points
            for reward in turn.rewards:
                points = points_after(points, reward)
            changes[turn.ordinal] = points - before
    return points, changes


def _applied(decision: Decision, references: tuple[str, ...], points_by: Mapping[int, int]) -> AppliedPromotion:
    candidate, turn = decision.candidate, decision.turn
    promotion = candidate.promotion
    definition = promotion.definition
    give_away = types = None
    if turn is not None:
        give_away, types = turn.grants, turn.coupon_types
    return AppliedPromotion(
        promotion.id,
        promotion.name,
        definition.promotion_type,
        promotion.hash,
        definition.version,
        0 if turn is None else turn.discount_minor,
        0 if turn is None or give_away is None else turn.give_away_minor,
        references,
        candidate.coupon,
        1 if turn is None else turn.applications,
        points_by.get(candidate.ordinal, 0) if points_by else 0,
        () if types is None else tuple(types),
        definition.budget_ids,
        promotion.pilot_arm,
    )


def _coupons(
    done: Pass, decisions: Sequence[Decision], coupons: Sequence[CouponFact]
) -> tuple[tuple[CouponUse, ...], tuple[RefusedCoupon, ...]]:
    """Which codes triggered what, and why the others did not (sections 5 and 10)."""
    used: list[CouponUse] = []
    refused: list[RefusedCoupon] = []
    for position, fact in enumerate(coupons):
        if fact.refusal is not None or fact.coupon_type_id is None:
            refused.append(RefusedCoupon(fact.code, fact.refusal or "UNKNOWN_CODE"))
            continue
        promotions = tuple(
            [one.candidate.promotion.id for one in done.applied if one.candidate.coupon_position == position]
        )
        if promotions:
            used.append(CouponUse(fact.code, fact.coupon_type_id, fact.coupon_type_name or "", promotions))
        else:
            refused.append(RefusedCoupon(fact.code, _coupon_refusal(fact.coupon_type_id, decisions)))
    return tuple(used), tuple(refused)


def _coupon_refusal(coupon_type_id: str, decisions: Sequence[Decision]) -> str:
    """Why a valid code triggered nothing: another code already did, or its promotions did not apply."""
    linked = [one for one in decisions if coupon_type_id in one.candidate.promotion.definition.coupon_type_ids]
    if not linked:
        return "NO_PROMOTION"
    if any(one.reason in (None, "USAGE_LIMIT_REACHED") for one in linked):
        return "USAGE_LIMIT_REACHED"
    return "NEEDS_CLOUD" if any(one.reason == SHARE_NOT_AVAILABLE for one in linked) else "CONDITION_NOT_MET"
