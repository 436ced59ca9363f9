"""The effect of advice that was shown: threshold gaps, near misses, nudges, savings and free items.

*Shown* counts evaluations: `count_shown` processes each stored evaluation once. *Converted* counts sales: of the
evaluations of a confirmed transaction, the first that returned the advice is compared with the confirmed sale. Savings
and free items are converted when they are part of the sale. The other kinds say what is missing: they are converted
when the promotion applied to the sale and nothing was missing any more. Advice that a customer did not follow is kept
for some time: a later sale of the same customer converts it likewise. All counts are for the day on which the advice
was shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from promenade.store.driver.unit import Session
from promenade.store.pricing.packing import IterationKey
from promenade.store.pricing.shown import GAP, NEAR_MISS, NUDGE, Advised
from promenade.store.reports.advice import (
    Evaluation,
    OpenAdvice,
    OpenKey,
    ShownKey,
    Walked,
    add_shown,
    evaluations_of,
    keep_open,
    names_of,
    open_advice,
    read_place,
    recorded,
    walk,
)
from promenade.store.reports.sums import Tally, kept_for
from promenade.workflows.context import Context
from promenade.workflows.reports.folds import Write, fold
from promenade.workflows.reports.sales import LoggedSale, zone_of

MISSING = frozenset((GAP, NEAR_MISS, NUDGE))
"""Advice that tells what is missing."""

_, OPEN_FOR = kept_for("advice_open")
SETTLED = timedelta(seconds=20)  # an evaluation is stored within this time after its request
STRETCH = 200  # evaluations processed at a time: some 20 ms


def _day(at: datetime, time_zone: str | None) -> date:
    """Return the day in the POS group's time zone, or in UTC if the group no longer exists."""
    return at.astimezone(zone_of(time_zone)).date()


# ---- shown --------------------------------------------------------------------------------------------------------


async def count_shown(context: Context) -> tuple[int, bool]:
    """Process the next evaluations of all tenants; return how many there were, and whether there may be more."""
    database = context.database
    place = await database.read(read_place, system=True)
    until = context.clock() - SETTLED

    async def look(session: Session) -> tuple[Walked, dict[_Promotion, str]]:
        found = await walk(session, place, until=until, limit=STRETCH)
        return found, await _names(session, found.rows)

    stretch, names = await database.read(look, system=True)
    if not stretch.rows:
        return 0, False
    counts: Counter[ShownKey] = Counter()
    for row in stretch.rows:
        day = _day(row.evaluated_at, row.time_zone)
        counts.update([(row.tenant_id, *advised, day, row.shown.currency) for advised in row.shown.advice])
    shown = {key: (names.get((key[0], key[2]), ""), count) for key, count in counts.items()}
    moved = await database.write(
        lambda session: add_shown(session, shown, place, stretch.place), system=True, durable=False
    )
    return (len(stretch.rows), len(stretch.rows) == STRETCH) if moved else (0, True)


_Promotion = tuple[str, str]
"""Tenant, ID."""


async def _names(session: Session, evaluations: Sequence[Evaluation]) -> dict[_Promotion, str]:
    """Return the names of all promotions that were shown, as the evaluations say; if they do not, the present ones.

    Of promotions that were deleted in the meantime, the last evaluation's record is read.
    """
    last: dict[_Promotion, IterationKey] = {}
    names: dict[_Promotion, str] = {}
    for one in evaluations:
        key = one.tenant_id, one.origin, one.transaction_id, one.transaction_counter
        last |= {(one.tenant_id, promotion_id): key for _, promotion_id in one.shown.advice}
        names |= {(one.tenant_id, promotion_id): name for promotion_id, name in one.shown.names.items()}
    if last.keys() - names.keys():
        names |= await names_of(session, last.keys() - names.keys())
    gone = {last[of] for of in last.keys() - names.keys()}
    if gone:
        for key, shown in (await recorded(session, gone)).items():
            names |= {(key[0], promotion_id): name for promotion_id, name in shown.names.items()}
    return names


# ---- converted ----------------------------------------------------------------------------------------------------


@fold("advice", tables=("advice_converted", "advice_open"))
async def count_conversions(session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int = 1) -> Write:
    """Count the conversions of advice in these sales, and keep the advice their customers did not follow yet.

    Of cancelled sales, conversions of advice that was shown in the sale itself are taken out again, and what its
    customer left with is forgotten. Advice of an earlier visit, once followed, counts as followed.
    """
    evaluations = await evaluations_of(session, sorted({(sale.origin, sale.transaction_id) for sale in sales}))
    by_transaction: dict[tuple[str, str], list[Evaluation]] = {}
    for row in evaluations:
        by_transaction.setdefault((row.origin, row.transaction_id), []).append(row)
    customers = {sale.customer_id for sale in sales if sale.customer_id is not None}
    ordered = sorted(sales, key=lambda one: (one.confirmed_at, one.log_id))
    advised = [_advice_of(sale, by_transaction.get((sale.origin, sale.transaction_id), ())) for sale in ordered]

    async def write(session: Session) -> int:
        counting = _Counting(await open_advice(session, customers) if customers else {})
        counted = counting.add if sign > 0 else counting.take_out
        for sale, (first, last) in zip(ordered, advised, strict=True):
            counted(sale, first, last)
        written = await keep_open(session, counting.left_with(at), counting.gone())
        return written + await counting.found().write(session, sign)

    return write


@dataclass(frozen=True, slots=True)
class _Shown:
    """The day and basket total when advice was first shown in a transaction."""

    day: date
    grand_total: Decimal


class _Conversions(NamedTuple):
    """Sales that followed the same advice.

    ``extra_revenue`` is their total minus that of the baskets when the advice was shown.
    """

    kind: str
    promotion_id: str
    day: date
    currency: str
    extra_revenue: Decimal
    total_discount: Decimal
    converted: int


@dataclass
class _Counting:
    """Counts sales in order of confirmation. ``known``: advice that customers had not followed before these sales."""

    known: Mapping[OpenKey, OpenAdvice]
    _found: dict[tuple[str, str, date, str], list[Any]] = field(default_factory=dict)
    _open: dict[OpenKey, OpenAdvice | None] = field(default_factory=dict)
    _of_customer: dict[str, set[Advised]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for customer_id, *of in self.known:
            self._of_customer.setdefault(customer_id, set()).add((of[0], of[1]))

    def add(self, sale: LoggedSale, first: Mapping[Advised, _Shown], last: Collection[Advised]) -> None:
        given = _given(sale)
        reached = self._count_reached(sale, given, first, last)
        if sale.customer_id is None:
            return
        open_ = self._of_customer.setdefault(sale.customer_id, set())
        # Advice shown again in this sale says that something is still missing, so this sale does not convert it.
        for of in sorted([one for one in open_ if one[1] in given and one not in last]):
            self._come_back(sale, of, reached, given[of[1]])
        for kind, promotion_id in first.keys() - reached:
            if kind in MISSING:
                shown = first[kind, promotion_id]
                left_with = OpenAdvice(shown.day, sale.currency, sale.grand_total, sale.confirmed_at)
                self._open[sale.customer_id, kind, promotion_id] = left_with
                open_.add((kind, promotion_id))

    def take_out(self, sale: LoggedSale, first: Mapping[Advised, _Shown], last: Collection[Advised]) -> None:
        """Find what `add` has counted of a sale that was cancelled since."""
        self._count_reached(sale, _given(sale), first, last)
        for key, left_with in self.known.items():
            if key[0] == sale.customer_id and left_with.shown_at == sale.confirmed_at:
                self._open[key] = None

    def _count_reached(
        self,
        sale: LoggedSale,
        given: Mapping[str, Decimal],
        first: Mapping[Advised, _Shown],
        last: Collection[Advised],
    ) -> set[Advised]:
        """Count the advice shown in the sale itself that it has followed, and return it."""
        reached = {
            advised for advised in first if advised[1] in given and (advised[0] not in MISSING or advised not in last)
        }
        for kind, promotion_id in reached:
            shown = first[kind, promotion_id]
            self._convert(sale, (kind, promotion_id), shown.day, shown.grand_total, given[promotion_id])
        return reached

    def _convert(self, sale: LoggedSale, of: Advised, day: date, before: Decimal, discount: Decimal) -> None:
        key = *of, day, sale.currency
        found = self._found.get(key)
        if found is None:
            self._found[key] = [sale.grand_total - before, discount, 1]
            return
        found[0] += sale.grand_total - before
        found[1] += discount
        found[2] += 1

    def _come_back(self, sale: LoggedSale, of: Advised, reached: set[Advised], discount: Decimal) -> None:
        key = (sale.customer_id or "", *of)
        left_with = self._open[key] if key in self._open else self.known[key]
        if left_with is None or left_with.currency != sale.currency:
            return
        since = sale.confirmed_at - left_with.shown_at
        if timedelta(0) < since <= OPEN_FOR:
            if of not in reached:
                self._convert(sale, of, left_with.day, left_with.grand_total, discount)
            self._open[key] = None

    def found(self) -> Tally:
        """Return the conversions."""
        tally = Tally("advice_converted")
        for key, sums in self._found.items():
            tally.add(_Conversions(*key, *sums))
        return tally

    def left_with(self, at: datetime) -> dict[OpenKey, OpenAdvice]:
        """The new advice that customers have not followed and still may."""
        return {key: one for key, one in self._open.items() if one is not None and one.shown_at > at - OPEN_FOR}

    def gone(self) -> list[OpenKey]:
        """The advice that customers have followed since."""
        return [key for key, one in self._open.items() if one is None and key in self.known]


def _given(sale: LoggedSale) -> dict[str, Decimal]:
    """Return the discounts of the promotions that applied, by promotion."""
    return {one.promotion_id: one.total_discount for one in sale.promotions if one.pilot_arm != "CONTROL"}


def _advice_of(
    sale: LoggedSale, evaluations: Sequence[Evaluation]
) -> tuple[dict[Advised, _Shown], Collection[Advised]]:
    """Return the advice shown up to the confirmed evaluation, each when first shown, and that of the confirmed one."""
    first: dict[Advised, _Shown] = {}
    last: Collection[Advised] = ()
    for row in evaluations:
        shown = row.shown
        # The amounts of baskets in another currency cannot be compared.
        if abs(row.transaction_counter) > sale.transaction_counter or shown.currency != sale.currency:
            continue
        new = [advised for advised in shown.advice if advised not in first]
        if new:
            total = Decimal(shown.grand_total_minor).scaleb(-shown.exponent)
            first.update(dict.fromkeys(new, _Shown(_day(row.evaluated_at, row.time_zone), total)))
        if abs(row.transaction_counter) == sale.transaction_counter:
            last = shown.advice
    return first, last
