"""Advice under `FIRST_RULES`: a saving is that of the one promotion on a basket in which its gaps are closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from promenade.engine.basket import BasketLine
from promenade.engine.conditions.registry import Params
from promenade.engine.money import POWERS_OF_TEN, decimal_text
from promenade.engine.outcome import Gap, MissedPromotion, Nudge
from promenade.engine.promotion import CompiledPromotion, reached_percent
from promenade.engine.recommendations import (
    GAPS_MAX,
    NUDGES_MAX,
    SENTENCES,
    Advice,
    CandidateVerdict,
    details,
    led_to,
    percent_of,
    recommendations,
)
from promenade.engine.verdict import Missed
from promenade.engine.view import BasketView

# Reasons for which the promotion did not apply although it would have given something to this basket.
_PRICED = frozenset(
    (
        "COUPON_REQUIRED",
        "BLOCKED_BY_EXCLUSIVITY",
        "BLOCKED_BY_EXCLUSION_GROUP",
        "BUDGET_NOT_ACTIVE",
        "BUDGET_EXHAUSTED",
        "BUDGET_INSUFFICIENT",
        "USAGE_LIMIT_REACHED",
    )
)


class Prices(Protocol):
    """How the engine prices what is not so: discount plus give-away of one promotion on some basket."""

    def alone(self, promotion: CompiledPromotion, view: BasketView) -> int:
        """The result without any other promotion, budget or limit; 0 if it does not qualify."""
        ...

    def beside(self, promotion: CompiledPromotion, view: BasketView) -> int:
        """What it adds to what the other promotions, its budgets and limits leave."""
        ...


def advise(
    view: BasketView,
    fates: Sequence[CandidateVerdict],
    outsiders: Sequence[tuple[CompiledPromotion, str]],
    prices: Prices,
) -> Advice:
    """All advice for one evaluation. ``fates`` in order of application, without those that leave nothing to say.

    ``outsiders`` (`Catalogue.outsiders`) only matter with ``include_missed``, gaps and nudges come with ``nudges``.
    """
    settings = view.settings
    led = led_to(view, fates) if settings.include_missed else fates
    recommended = recommendations(view, led)
    missed: tuple[MissedPromotion, ...] = ()
    gaps: list[Gap] = []
    if settings.include_missed:
        missed = _missed(view, fates, outsiders, prices)
    if settings.nudges:
        gaps = _gaps(view, led, prices)
    return Advice(recommended, missed, tuple(gaps), _nudges(view, gaps))


# Missed promotions


def _missed(
    view: BasketView,
    fates: Sequence[CandidateVerdict],
    outsiders: Sequence[tuple[CompiledPromotion, str]],
    prices: Prices,
) -> tuple[MissedPromotion, ...]:
    found = [_missed_verdict(view, fate, prices) for fate in fates if fate.reason is not None]
    found.extend(
        [_missed_verdict(view, CandidateVerdict(promotion, reason), prices) for promotion, reason in outsiders]
    )
    return tuple(found)


def _missed_verdict(view: BasketView, fate: CandidateVerdict, prices: Prices) -> MissedPromotion:
    promotion, reason = fate.promotion, fate.reason or ""
    params: Params = ()
    message = SENTENCES.get(reason, "")
    percent: int | None = None
    if fate.unmet is not None or fate.gaps:
        params, message = details(view, fate)
        percent = percent_of(fate)
    winner = fate.blocked_by
    own = _own_minor(view, fate, prices)
    return MissedPromotion(
        promotion.id,
        promotion.name,
        promotion.definition.promotion_type,
        reason,
        message,
        params,
        percent,
        own,
        None if winner is None else winner.id,
        None if winner is None else winner.name,
        None if winner is None or own is None else fate.winner_minor - own,
        None if winner is None else f"It would apply if {winner.name} did not.",
    )


def _own_minor(view: BasketView, fate: CandidateVerdict, prices: Prices) -> int | None:
    """What it would have given; None where nothing the customer does would make it apply."""
    if fate.own_minor is not None:
        return fate.own_minor
    if fate.reason in _PRICED:
        return prices.alone(fate.promotion, view)
    shortfalls = fate.shortfalls()
    return _saving(view, fate, shortfalls, prices) if shortfalls else None


# Gaps and nudges


def _gaps(view: BasketView, fates: Sequence[CandidateVerdict], prices: Prices) -> list[Gap]:
    """thresholdGaps, the nearest first; each priced with all gaps of its promotion closed."""
    found: list[tuple[int, int, CandidateVerdict, Missed, tuple[Missed, ...]]] = []
    for place, fate in enumerate(fates):
        shortfalls = fate.shortfalls()
        if fate.reason is None or fate.unmet is None:
            found.extend([(-reached_percent(one), place, fate, one, (one,)) for one in shortfalls])
        else:
            found.extend([(-reached_percent(one), place, fate, one, shortfalls) for one in shortfalls])
    found.sort(key=_nearness)
    return [_gap(view, fate, one, _saving(view, fate, all_, prices)) for _, _, fate, one, all_ in found[:GAPS_MAX]]


def _nearness(found: tuple[int, int, CandidateVerdict, Missed, tuple[Missed, ...]]) -> tuple[int, int]:
    return found[0], found[1]


def _saving(view: BasketView, fate: CandidateVerdict, shortfalls: tuple[Missed, ...], prices: Prices) -> int:
    """The saving from closing the gaps: everything the promotion then gives, or the increase where it applies
    already.
    """
    basket = closed(view, shortfalls)
    if basket is None:
        return 0
    saving = prices.beside(fate.promotion, basket)
    if fate.reason is None:
        saving -= prices.beside(fate.promotion, view)
    return max(0, saving)


def _gap(view: BasketView, fate: CandidateVerdict, missed: Missed, saving: int) -> Gap:
    digits = 3 if missed.is_quantity else view.exponent
    current, threshold = missed.current or 0, missed.threshold or 0
    shown_current = current * 100 // 10**digits
    shown_threshold = -(-threshold * 100 // 10**digits)
    promotion = fate.promotion
    gap_type = missed.gap_type or ""
    gap = shown_threshold - shown_current
    return Gap(promotion.id, promotion.name, gap_type, shown_current, shown_threshold, gap, saving)


def _nudges(view: BasketView, gaps: Sequence[Gap]) -> tuple[Nudge, ...]:
    """The gaps worth closing, the greatest saving first."""
    worth = sorted([gap for gap in gaps if gap.potential_saving_minor > 0], key=lambda gap: -gap.potential_saving_minor)
    return tuple([_nudge(view, gap) for gap in worth[:NUDGES_MAX]])


def _nudge(view: BasketView, gap: Gap) -> Nudge:
    saving = f"{decimal_text(gap.potential_saving_minor, view.exponent)} {view.currency}"
    if gap.gap_type == "ITEM_QUANTITY":
        missing = f"{decimal_text(gap.gap_hundredths, 2, trim=True)} more"
        action = "ADD_ITEMS"
    else:
        missing = f"{decimal_text(gap.gap_hundredths, 2)} {view.currency} more"
        action = "INCREASE_AMOUNT"
    return Nudge(
        f"Buy {missing} and save {saving} with {gap.promotion_name}.",
        action,
        gap.potential_saving_minor,
        gap.promotion_id,
        gap.promotion_name,
        gap.gap_type,
    )


# ---- the basket as it would be if a threshold were reached ----------------------------------------------------------


def closed(view: BasketView, shortfalls: tuple[Missed, ...]) -> BasketView | None:
    """The view with every shortfall closed in the least favourable way, so that no saving is promised too high.

    Pieces are added to the cheapest line that counts; an amount on named lines as one more line like the cheapest of
    them, an amount on the receipt as an unspecific line. None when there is no line to add to.
    """
    changed: dict[int, BasketLine] = {}
    for missed in shortfalls:
        if missed.is_quantity:
            model = _cheapest(view, missed.lines or view.sale)
            if model is None:
                return None
            line = changed.get(model, view.lines[model].line)
            gap = (missed.threshold or 0) - (missed.current or 0)
            wanted = gap if view.lines[model].weighed else -(-gap // 1000) * 1000
            changed[model] = _like(line, line.reference, line.quantity_thousandths + wanted, line.unit_price_hundredths)
    amounts = [(number, missed) for number, missed in enumerate(shortfalls) if not missed.is_quantity]
    # The added pieces have a price too: only the rest of an amount is still missing.
    more = view.with_lines(changed, ()).sale_total_minor - view.sale_total_minor if changed and amounts else 0
    added: list[BasketLine] = []
    for number, missed in amounts:
        gap = (missed.threshold or 0) - (missed.current or 0)
        if missed.lines or gap > more:
            model = _cheapest(view, missed.lines)
            rest = gap if missed.lines else gap - more
            added.append(_worth(view, None if model is None else view.lines[model].line, rest, number))
    return view.with_lines(changed, added)


def _cheapest(view: BasketView, positions: tuple[int, ...]) -> int | None:
    if not positions:
        return None
    lines = view.lines
    # Positions ascend, so among equal prices the first is found.
    return min(positions, key=lambda position: lines[position].unit_price_hundredths)


def _worth(view: BasketView, model: BasketLine | None, amount_minor: int, number: int) -> BasketLine:
    """One piece worth at least ``amount_minor``, otherwise like ``model``."""
    price = -(-amount_minor * 100 // POWERS_OF_TEN[view.exponent])
    reference = f"~{number}"  # never leaves this evaluation
    if model is None:
        return BasketLine(reference, "", 1000, price)
    return _like(model, reference, 1000, price)


def _like(line: BasketLine, reference: str, quantity_thousandths: int, unit_price_hundredths: int) -> BasketLine:
    """The line with another quantity and price; `dataclasses.replace` takes three times as long."""
    return BasketLine(
        reference,
        line.article_number,
        quantity_thousandths,
        unit_price_hundredths,
        line.ean,
        line.article_group_id,
        line.manufacturer_id,
        line.fields,
    )
