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
    sold: _Sold | None = None
    for one in found:
        if sold is None or sold.sale is not one.sale:  # a sale's arms come one after the other
            sold = _Sold(one.sale, articles)
        is_converted = sold.is_targeted(one)
        discount = 0 if one.recorded is None else thousandths(one.recorded.total_discount)
        for days, day in ((local, sold.local_day), (utc, sold.utc_day)):
            key = (one.promotion_id, day, one.sale.currency)
            sums = days.get(key)
            if sums is None:
                sums = days[key] = DaySums(one.kind)
            arm = sums.control if one.is_control else sums.treated
            arm.baskets.add(sold.grand_total)
            arm.conversions += is_converted
            arm.discount += discount
            _name(sums, one)
    return local, utc


def _name(sums: DaySums, one: ArmSale) -> None:
    if one.recorded is not None:
        sums.promotion_name = one.recorded.promotion_name
    elif one.trial is not None and sums.promotion_name is None:
        sums.promotion_name = one.trial.promotion_name
    if one.kind == EXPERIMENT:
        sums.trial = EXPERIMENT


def _article_keys(found: Sequence[ArmSale]) -> list[str]:
    """Return the numbers of the articles whose attributes are needed to match them against promotions' targets."""
    numbers: set[str] = set()
    asks: dict[tuple[str, str], bool] = {}
    last: LoggedSale | None = None
    for one in found:
        if one.trial is None or one.sale is last:
            continue
        key = one.promotion_id, one.trial.kind
        if key not in asks:
            asks[key] = any(aim.asks_articles for aim in one.trial.aims)
        if asks[key]:
            last = one.sale
            numbers.update([line.article_number for line in last.lines if line.is_sold])
    return sorted(numbers)


class _Sold:
    """What the arms of a sale have in common: its days, its total in thousandths, and the lines that it sold.

    Return lines do not count.
    """

    __slots__ = ("_discounted", "_lines", "grand_total", "local_day", "sale", "utc_day")

    def __init__(self, sale: LoggedSale, articles: Mapping[str, ArticleKeys]) -> None:
        sold = [line for line in sale.lines if line.is_sold]
        self.sale = sale
        self.local_day = sale.local_at.date()
        self.utc_day = sale.confirmed_at.date()
        self.grand_total = thousandths(sale.grand_total)
        self._discounted = {discount.promotion_id for line in sold for discount in line.discounts}
        self._lines = [(line.article_number, _keys(line, articles)) for line in sold]

    def is_targeted(self, one: ArmSale) -> bool:
        """Whether it contains a line that the promotion of one of its arms targets."""
        if one.promotion_id in self._discounted:
            return True
        if one.trial is not None:
            for aim in one.trial.aims:
                for number, keys in self._lines:
                    if aim.hits(number, keys):
                        return True
        return False


def _keys(line: LoggedLine, articles: Mapping[str, ArticleKeys]) -> ArticleKeys:
    known = articles.get(line.article_number, _UNKNOWN)
    if line.article_group_key is None or line.article_group_key == known.group:
        return known
    return ArticleKeys(known.ean, line.article_group_key, known.manufacturer)
