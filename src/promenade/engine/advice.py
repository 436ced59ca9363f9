"""Advice: what the customer could still get, and why a promotion did not apply (pricing semantics, section 10).

Advice reads the verdicts that pricing produced; it never checks a condition again. Every saving that it tells is the
difference between two pricings of the whole basket (`promises`), and so is every remedy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from promenade.engine.conditions.registry import Params
from promenade.engine.money import decimal_text
from promenade.engine.outcome import Addition, Gap, MissedPromotion, Nudge
from promenade.engine.promises import Brought, Promise, Promises, with_coupon, with_payment
from promenade.engine.promotion import CompiledPromotion
from promenade.engine.recommendations import (
    NUDGES_MAX,
    SENTENCES,
    Advice,
    CandidateVerdict,
    details,
    led_to,
    percent_of,
    recommendations,
)
from promenade.engine.supposing import WhatIf
from promenade.engine.view import BasketView

RIVALS_MAX = 3  # promotions that a remedy names

_NO_ADVICE = Advice((), (), (), ())


def advise(
    view: BasketView,
    fates: Sequence[CandidateVerdict],
    outsiders: Sequence[tuple[CompiledPromotion, str]],
    what_if: WhatIf | None,
) -> Advice:
    """All advice for one evaluation. ``fates`` in order of application, without those that leave nothing to say.

    ``outsiders`` (`Catalogue.outsiders`) only matter with ``include_missed``, gaps and nudges come with ``nudges``;
    without ``what_if`` only what is recommended.
    """
    settings = view.settings
    if not view.sale:  # what is returned is not shopped for
        if not settings.include_missed:
            return _NO_ADVICE
        return Advice((), _reasons(view, fates, outsiders), (), ())
    led = led_to(view, fates) if settings.include_missed else fates
    recommended = recommendations(view, led)
    if what_if is None:
        return Advice(recommended, (), (), ())
    promises = Promises(what_if)
    near = list(promises.of_nearest(led).values()) if settings.nudges else []
    missed = _missed(view, fates, outsiders, promises, what_if) if settings.include_missed else ()
    return Advice(recommended, missed, tuple([_gap(view, one) for one in near]), _nudges(view, near))


# Missed promotions


def _reasons(
    view: BasketView, fates: Sequence[CandidateVerdict], outsiders: Sequence[tuple[CompiledPromotion, str]]
) -> tuple[MissedPromotion, ...]:
    """Why promotions did not apply, without any promise."""
    return tuple([_Missing(view, fate).told() for fate in _that_did_not_apply(fates, outsiders)])


def _that_did_not_apply(
    fates: Sequence[CandidateVerdict], outsiders: Sequence[tuple[CompiledPromotion, str]]
) -> list[CandidateVerdict]:
    inside = [fate for fate in fates if fate.reason is not None]
    return inside + [CandidateVerdict(promotion, reason) for promotion, reason in outsiders]


def _missed(
    view: BasketView,
    fates: Sequence[CandidateVerdict],
    outsiders: Sequence[tuple[CompiledPromotion, str]],
    promises: Promises,
    what_if: WhatIf,
) -> tuple[MissedPromotion, ...]:
    promised = promises.of_nearest(fates)
    found: list[MissedPromotion] = []
    for fate in _that_did_not_apply(fates, outsiders):
        missing = _Missing(view, fate)
        promise = promised.get(fate.promotion.id)
        if promise is not None:
            missing.promise(promise)
        elif fate.reason == "COUPON_REQUIRED":
            missing.bring(with_coupon(what_if, fate.promotion))
        elif fate.blocked_by is not None:
            missing.yield_to(fate.blocked_by, what_if)
        elif not fate.shortfalls():
            missing.bring(with_payment(what_if, fate))
        found.append(missing.told())
    return tuple(found)


class _Missing:
    """One entry of missedPromotions while its facts come together."""

    __slots__ = (
        "_additions",
        "_difference_minor",
        "_fate",
        "_message",
        "_params",
        "_percent",
        "_remedy",
        "_saving_minor",
        "_view",
        "_without",
    )

    def __init__(self, view: BasketView, fate: CandidateVerdict) -> None:
        self._view = view
        self._explain(fate)
        self._saving_minor: int | None = None
        self._additions: tuple[Addition, ...] | None = None
        self._difference_minor: int | None = None
        self._remedy: str | None = None
        self._without: tuple[tuple[str, str], ...] | None = None

    def _explain(self, fate: CandidateVerdict) -> None:
        self._fate = fate
        self._message = SENTENCES.get(fate.reason or "", "")
        self._params: Params = ()
        self._percent: int | None = None
        if fate.unmet is not None or fate.gaps:
            self._params, self._message = details(self._view, fate)
            self._percent = percent_of(fate)

    def promise(self, promise: Promise) -> None:
        """Tell what closing its gaps would save."""
        self._saving_minor, self._additions = promise.saving_minor, promise.additions

    def bring(self, brought: Brought | None) -> None:
        """Tell what a coupon or a payment would save, and which one."""
        if brought is not None:
            self._params += brought.params
            self._saving_minor = brought.saving_minor

    def yield_to(self, winner: CompiledPromotion, what_if: WhatIf) -> None:
        """Tell what would have to go for it to apply, and what the basket would save then, if pricing confirms it.

        If it has another reason even then, such as its budget, that is the reason.
        """
        gone = [winner]
        for _ in range(RIVALS_MAX):
            supposed = what_if.without(frozenset([one.id for one in gone]))
            decision = None if supposed is None else supposed.decision(self._fate.promotion)
            if supposed is None or decision is None:
                return
            if decision.reason is None:
                self._difference_minor = what_if.now_minor - supposed.total_minor
                names = [one.name for one in gone]
                self._remedy = f"It would apply if {_listed(names)} did not."
                self._without = tuple([(one.id, one.name) for one in gone])
                return
            if decision.blocked_by is None and decision.reason != "BLOCKED_BY_EXCLUSIVITY":
                promotion = self._fate.promotion
                self._explain(CandidateVerdict(promotion, decision.reason, unmet=decision.unmet, gaps=decision.gaps))
            if decision.blocked_by is None or decision.blocked_by.promotion in gone:
                return
            gone.append(decision.blocked_by.promotion)

    def told(self) -> MissedPromotion:
        """The entry."""
        fate = self._fate
        promotion, winner = fate.promotion, fate.blocked_by
        return MissedPromotion(
            promotion.id,
            promotion.name,
            promotion.definition.promotion_type,
            fate.reason or "",
            self._message,
            self._params,
            self._percent,
            self._saving_minor,
            None if winner is None else winner.id,
            None if winner is None else winner.name,
            self._difference_minor,
            self._remedy,
            self._additions,
            self._without,
        )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Gaps and nudges


def _gap(view: BasketView, promise: Promise) -> Gap:
    missed, promotion = promise.told, promise.promotion
    digits = 3 if missed.is_quantity else view.exponent
    current, threshold = missed.current or 0, missed.threshold or 0
    gap = -(-promise.gap // 10) if missed.is_quantity else promise.gap
    return Gap(
        promotion.id,
        promotion.name,
        missed.gap_type or "",
        current * 100 // 10**digits,
        -(-threshold * 100 // 10**digits),
        gap,
        promise.saving_minor,
        promise.additions,
    )


def _nudges(view: BasketView, promises: Iterable[Promise]) -> tuple[Nudge, ...]:
    """The gaps most worth closing, the greatest saving first."""
    best = sorted(promises, key=lambda one: -one.saving_minor)
    return tuple([_nudge(view, promise) for promise in best[:NUDGES_MAX]])


def _nudge(view: BasketView, promise: Promise) -> Nudge:
    promotion = promise.promotion
    saving = f"{decimal_text(promise.saving_minor, view.exponent)} {view.currency}"
    wanted = _listed([_wanted(view, one) for one in promise.additions])
    only_amounts = all(one.is_amount for one in promise.additions)
    return Nudge(
        f"Buy {wanted} and save {saving} with {promotion.name}.",
        "INCREASE_AMOUNT" if only_amounts else "ADD_ITEMS",
        promise.saving_minor,
        promotion.id,
        promotion.name,
        promise.told.gap_type or "",
        promise.additions,
    )


def _wanted(view: BasketView, addition: Addition) -> str:
    """What to buy, in words: ``1 more of Mug``, ``10.00 EUR more``."""
    name = _name(view, addition)
    if addition.is_amount:
        amount = f"{decimal_text(addition.unit_price_hundredths, 2)} {view.currency} more"
        return f"{amount} of {name}" if name else amount
    return f"{decimal_text(addition.quantity_thousandths, 3, trim=True)} more of {name}"


def _name(view: BasketView, addition: Addition) -> str:
    number = addition.article_number
    article = None if number is None else view.article(number)
    return (None if article is None else article.name) or number or ""
