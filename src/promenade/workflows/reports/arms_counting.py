"""Assigns sales to the arms of pilots and experiments, and adds them up.

A sale belongs to the arm in its log. A sale in a treated POS group is in the treated arm even if the promotion did not
apply to it: the control arm also contains sales that the promotion would not have affected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Session
from promenade.store.reports.arms import DaySums
from promenade.store.reports.trials import CONTROL, EXPERIMENT, PILOT, ArticleKeys, Trial, read_article_keys
from promenade.workflows.reports.sales import LoggedLine, LoggedPromotion, LoggedSale

_UNKNOWN = ArticleKeys()


@dataclass(frozen=True, slots=True)
class ArmSale:
    """A sale in an arm; ``recorded`` is the promotion in its log, ``trial`` is None if it was deleted."""

    sale: LoggedSale
    promotion_id: str
    is_control: bool
    recorded: LoggedPromotion | None
    trial: Trial | None
    kind: str


def thousandths(amount: Decimal) -> int:
    """Convert an amount with three decimals to an integer."""
    return int(amount.scaleb(3))


def in_arms(sales: Sequence[LoggedSale], trials: Sequence[Trial]) -> Iterator[ArmSale]:
    """Yield every sale for each arm that it is in."""
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
    """Return the trial of an arm; a control arm may belong to a pilot or to a later experiment."""
    if arm != CONTROL:
        return known.get(arm) or next(iter(known.values()), None)
    moment = to_microseconds(sale.evaluated_at)
    running = (one for one in known.values() if any(since <= moment < until for since, until in one.runs))
    return next(running, None) or known.get(PILOT) or known.get(EXPERIMENT)


async def add_up(
    session: Session, sales: Sequence[LoggedSale], trials: Sequence[Trial]
) -> tuple[dict[tuple[str, date, str], DaySums], dict[tuple[str, date, str], DaySums]]:
    """Add up the sales by promotion, day and currency: by local days of the POS groups, and by UTC days."""
    found = list(in_arms(sales, trials))
    articles = await read_article_keys(session, _article_keys(found))
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


def _article_keys(found: Sequence[ArmSale]) -> list[str]:
    """Return the numbers of the articles whose attributes are needed to match them against promotions' targets."""
    numbers: dict[str, None] = {}
    for one in found:
        if one.trial is not None and any(aim.asks_articles for aim in one.trial.aims):
            numbers.update(dict.fromkeys([line.article_number for line in one.sale.lines if line.quantity > 0]))
    return sorted(numbers)


def _is_converted(one: ArmSale, articles: Mapping[str, ArticleKeys]) -> bool:
    """Whether the basket contains a line that the promotion targets; return lines do not count."""
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
