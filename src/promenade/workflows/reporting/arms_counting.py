"""Which sales are in which arm of which pilot or experiment, and what they came to there.

A sale is in the arm that its log records. One of a treated POS group is in the treated arm although the promotion did
not apply to it: the control arm, too, holds the sales that it would have left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from promenade.store.arm_report_aims import ArticleKeys, read_article_keys
from promenade.store.arm_report_sums import DaySums
from promenade.store.arm_report_trials import CONTROL, EXPERIMENT, PILOT, Trial
from promenade.store.types import to_microseconds
from promenade.store.unit import Session
from promenade.workflows.reporting.sales import LoggedLine, LoggedPromotion, LoggedSale

__all__ = ["ArmSale", "add_up", "in_arms", "thousandths"]

_UNKNOWN = ArticleKeys()


@dataclass(frozen=True, slots=True)
class ArmSale:
    """A sale in an arm; ``recorded`` is what its log says of the promotion, ``trial`` is None where it is deleted."""

    sale: LoggedSale
    promotion_id: str
    is_control: bool
    recorded: LoggedPromotion | None
    trial: Trial | None
    kind: str


def thousandths(amount: Decimal) -> int:
    """An amount of three decimals as a whole number."""
    return int(amount.scaleb(3))


def in_arms(sales: Sequence[LoggedSale], trials: Sequence[Trial]) -> Iterator[ArmSale]:
    """Every sale in every arm that it is in."""
    by_promotion: dict[str, dict[str, Trial]] = {}
    for trial in trials:
        by_promotion.setdefault(trial.promotion_id, {})[trial.kind] = trial
    for sale in sales:
        recorded = {one.promotion_id: one for one in sale.promotions}
        for one in sale.promotions:
            if one.pilot_arm is not None:
                known = by_promotion.get(one.promotion_id, {})
                its = _trial_of(one.pilot_arm, known, sale)
                if its is None or its.currency in (None, sale.currency):
                    kind = its.kind if its is not None else one.pilot_arm
                    kind = PILOT if kind == CONTROL else kind
                    yield ArmSale(sale, one.promotion_id, one.pilot_arm == CONTROL, one, its, kind)
        moment = to_microseconds(sale.evaluated_at)
        for trial in trials:
            found = recorded.get(trial.promotion_id)
            if found is not None and found.pilot_arm is not None:
                continue
            if trial.currency in (None, sale.currency) and trial.treats(sale.pos_group_id, moment):
                yield ArmSale(sale, trial.promotion_id, False, found, trial, trial.kind)


def _trial_of(arm: str, known: Mapping[str, Trial], sale: LoggedSale) -> Trial | None:
    """The trial that an arm is of; a control arm may be that of a pilot, or later of an experiment."""
    if arm != CONTROL:
        return known.get(arm) or next(iter(known.values()), None)
    moment = to_microseconds(sale.evaluated_at)
    running = (one for one in known.values() if any(since <= moment < until for since, until in one.runs))
    return next(running, None) or known.get(PILOT) or known.get(EXPERIMENT)


async def add_up(
    session: Session, sales: Sequence[LoggedSale], trials: Sequence[Trial]
) -> tuple[dict[tuple[str, date, str], DaySums], dict[tuple[str, date, str], DaySums]]:
    """What the sales come to, by promotion, day and currency: by days of the POS groups, and by days in UTC."""
    found = list(in_arms(sales, trials))
    articles = await read_article_keys(session, _asked(found))
    local: dict[tuple[str, date, str], DaySums] = {}
    utc: dict[tuple[str, date, str], DaySums] = {}
    for one in found:
        is_converted = _is_converted(one, articles)
        for days, day in ((local, one.sale.local_at.date()), (utc, one.sale.confirmed_at.date())):
            key = (one.promotion_id, day, one.sale.currency)
            sums = days.get(key)
            if sums is None:
                sums = days[key] = DaySums(one.kind)
            _add(sums, one, is_converted)
    return local, utc


def _add(sums: DaySums, one: ArmSale, is_converted: bool) -> None:
    arm = sums.control if one.is_control else sums.treated
    arm.baskets.add(thousandths(one.sale.grand_total))
    arm.conversions += is_converted
    if one.recorded is not None:
        arm.discount += thousandths(one.recorded.total_discount)
        sums.promotion_name = one.recorded.promotion_name
    elif one.trial is not None and sums.promotion_name is None:
        sums.promotion_name = one.trial.promotion_name
    if one.kind == EXPERIMENT:
        sums.trial = EXPERIMENT


def _asked(found: Sequence[ArmSale]) -> list[str]:
    """Numbers of the articles of which more must be known to tell whether a promotion is about them."""
    numbers: dict[str, None] = {}
    for one in found:
        if one.trial is not None and any(aim.asks_articles for aim in one.trial.aims):
            numbers.update(dict.fromkeys([line.article_number for line in one.sale.lines if line.quantity > 0]))
    return sorted(numbers)


def _is_converted(one: ArmSale, articles: Mapping[str, ArticleKeys]) -> bool:
    """Whether the basket holds a line that the promotion targets; what comes back is none."""
    for line in one.sale.lines:
        if line.quantity <= 0:
            continue
        if any(discount.promotion_id == one.promotion_id for discount in line.discounts):
            return True
        if one.trial is not None:
            keys = _keys(line, articles)
            if any(aim.hits(line.article_number, keys) for aim in one.trial.aims):
                return True
    return False


def _keys(line: LoggedLine, articles: Mapping[str, ArticleKeys]) -> ArticleKeys:
    known = articles.get(line.article_number, _UNKNOWN)
    if line.article_group_key is None or line.article_group_key == known.group:
        return known
    return ArticleKeys(known.ean, line.article_group_key, known.manufacturer)
