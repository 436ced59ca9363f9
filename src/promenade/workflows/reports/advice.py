"""The effect of advice that was shown: threshold gaps, near misses, nudges, savings and free items.

*Shown* counts evaluations: `count_shown` processes each stored evaluation once. *Converted* counts sales: of the
evaluations of a confirmed transaction, the first that returned the advice is compared with the confirmed sale. Savings
and free items are converted when they are part of the sale. The other kinds say what is missing: they are converted
when the promotion applied to the sale and nothing was missing any more. Advice that a customer did not follow is kept
for some time: a later sale of the same customer converts it likewise. All counts are for the day on which the advice
was shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

import msgspec

from promenade.store.driver.unit import Session
from promenade.store.pricing.packing import unpacked
from promenade.store.reports.advice import (
    Evaluation,
    OpenAdvice,
    OpenKey,
    ShownKey,
    add_shown,
    evaluations_of,
    keep_open,
    open_advice,
    read_place,
    walk,
)
from promenade.store.reports.sums import Tally, kept_for
from promenade.workflows.context import Context
from promenade.workflows.reports.folds import Write, fold
from promenade.workflows.reports.sales import LoggedSale, zone_of

GAP, NEAR_MISS, NUDGE, SAVING, FREE_ITEM = "GAP", "NEAR_MISS", "NUDGE", "SAVING", "FREE_ITEM"
MISSING = frozenset((GAP, NEAR_MISS, NUDGE))
"""Advice that tells what is missing."""

_, OPEN_FOR = kept_for("advice_open")
SETTLED = timedelta(seconds=20)  # an evaluation is stored within this time after its request
STRETCH = 200  # evaluations processed at a time: some 20 ms

Advised = tuple[str, str]
"""Kind of advice, promotion."""


# ---- what evaluations returned ------------------------------------------------------------------------------------


class _Of(msgspec.Struct, frozen=True):
    """Anything that names a promotion."""

    promotion_id: str
    promotion_name: str


class _Recommendation(_Of, frozen=True):
    kind: str


class _Applied(_Of, frozen=True):
    discount_minor: int


class _Line(msgspec.Struct, frozen=True):
    free_promotion_id: str | None = None


class _Outcome(msgspec.Struct, frozen=True):
    """The part of `engine.outcome.Outcome` needed here; most of it is skipped."""

    currency: str
    exponent: int
    grand_total_minor: int
    lines: tuple[_Line, ...]
    applied: tuple[_Applied, ...]
    granted: tuple[_Of, ...]
    recommendations: tuple[_Recommendation, ...]
    gaps: tuple[_Of, ...]
    nudges: tuple[_Of, ...]

    def advice(self) -> dict[Advised, str]:
        """Return the advice shown, each once, with the promotion's name, which may be empty for a line's free item."""
        found = {(FREE_ITEM, one.free_promotion_id): "" for one in self.lines if one.free_promotion_id is not None}
        found |= {(SAVING, one.promotion_id): one.promotion_name for one in self.applied if one.discount_minor > 0}
        found |= {(FREE_ITEM, one.promotion_id): one.promotion_name for one in self.granted}
        found |= {
            (NEAR_MISS, one.promotion_id): one.promotion_name
            for one in self.recommendations
            if one.kind == "NEAR_MISS" and one.promotion_id
        }
        found |= {(GAP, one.promotion_id): one.promotion_name for one in self.gaps}
        return found | {(NUDGE, one.promotion_id): one.promotion_name for one in self.nudges}


_RECORD = msgspec.msgpack.Decoder(tuple[msgspec.Raw, msgspec.Raw, msgspec.Raw, str, _Outcome])


def _outcomes(evaluations: Iterable[Evaluation]) -> Iterator[_Outcome]:
    return (_RECORD.decode(content)[4] for content in unpacked(one.record for one in evaluations))


def _day(at: datetime, time_zone: str | None) -> date:
    """Return the day in the POS group's time zone, or in UTC if the group no longer exists."""
    return at.astimezone(zone_of(time_zone)).date()


# ---- shown --------------------------------------------------------------------------------------------------------


async def count_shown(context: Context) -> tuple[int, bool]:
    """Process the next evaluations of all tenants; return how many there were, and whether there may be more."""
    database = context.database
    place = await database.read(read_place, system=True)
    until = context.clock() - SETTLED
    stretch = await database.read(lambda session: walk(session, place, until=until, limit=STRETCH), system=True)
    if not stretch.rows:
        return 0, False
    shown: dict[ShownKey, tuple[str, int]] = {}
    for row, outcome in zip(stretch.rows, _outcomes(stretch.rows), strict=True):
        day = _day(row.evaluated_at, row.time_zone)
        for (kind, promotion_id), name in outcome.advice().items():
            key = (row.tenant_id, kind, promotion_id, day, outcome.currency)
            shown[key] = (name or shown.get(key, ("", 0))[0], shown.get(key, ("", 0))[1] + 1)
    moved = await database.write(
        lambda session: add_shown(session, shown, place, stretch.place), system=True, durable=False
    )
    return (len(stretch.rows), len(stretch.rows) == STRETCH) if moved else (0, True)


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
        return written + await counting.found.write(session, sign)

    return write


@dataclass(frozen=True, slots=True)
class _Shown:
    """The day and basket total when advice was first shown in a transaction."""

    day: date
    grand_total: Decimal


class _Conversion(NamedTuple):
    """A sale that followed advice.

    ``extra_revenue`` is its total minus that of the basket when the advice was shown.
    """

    kind: str
    promotion_id: str
    day: date
    currency: str
    extra_revenue: Decimal
    total_discount: Decimal
    converted: int = 1


@dataclass
class _Counting:
    """Counts sales in order of confirmation. ``known``: advice that customers had not followed before these sales."""

    known: Mapping[OpenKey, OpenAdvice]
    found: Tally = field(default_factory=lambda: Tally("advice_converted"))
    _open: dict[OpenKey, OpenAdvice | None] = field(default_factory=dict)
    _of_customer: dict[str, set[Advised]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for customer_id, *of in self.known:
            self._of_customer.setdefault(customer_id, set()).add((of[0], of[1]))

    def add(self, sale: LoggedSale, first: Mapping[Advised, _Shown], last: Collection[Advised]) -> None:
        given = _given(sale)
        reached = self._count_reached(sale, first, last)
        if sale.customer_id is None:
            return
        open_ = self._of_customer.setdefault(sale.customer_id, set())
        for kind, promotion_id in sorted(open_):
            # Advice shown again in this sale says that something is still missing, so this sale does not convert it.
            if promotion_id in given and (kind, promotion_id) not in last:
                self._come_back(sale, (kind, promotion_id), reached, given[promotion_id])
        for kind, promotion_id in first.keys() - reached:
            if kind in MISSING:
                shown = first[kind, promotion_id]
                left_with = OpenAdvice(shown.day, sale.currency, sale.grand_total, sale.confirmed_at)
                self._open[sale.customer_id, kind, promotion_id] = left_with
                open_.add((kind, promotion_id))

    def take_out(self, sale: LoggedSale, first: Mapping[Advised, _Shown], last: Collection[Advised]) -> None:
        """Find what `add` has counted of a sale that was cancelled since."""
        self._count_reached(sale, first, last)
        for key, left_with in self.known.items():
            if key[0] == sale.customer_id and left_with.shown_at == sale.confirmed_at:
                self._open[key] = None

    def _count_reached(
        self, sale: LoggedSale, first: Mapping[Advised, _Shown], last: Collection[Advised]
    ) -> set[Advised]:
        """Count the advice shown in the sale itself that it has followed, and return it."""
        given = _given(sale)
        reached = {
            advised for advised in first if advised[1] in given and (advised[0] not in MISSING or advised not in last)
        }
        for kind, promotion_id in reached:
            shown = first[kind, promotion_id]
            self._convert(sale, (kind, promotion_id), shown.day, shown.grand_total, given[promotion_id])
        return reached

    def _convert(self, sale: LoggedSale, of: Advised, day: date, before: Decimal, discount: Decimal) -> None:
        self.found.add(_Conversion(*of, day, sale.currency, sale.grand_total - before, discount))

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

    def left_with(self, at: datetime) -> dict[OpenKey, OpenAdvice]:
        """The new advice that customers have not followed and still may."""
        return {key: one for key, one in self._open.items() if one is not None and one.shown_at > at - OPEN_FOR}

    def gone(self) -> list[OpenKey]:
        """The advice that customers have followed since."""
        return [key for key, one in self._open.items() if one is None and key in self.known]


def _given(sale: LoggedSale) -> dict[str, Decimal]:
    """Return the discounts of the promotions that applied, by promotion."""
    return {one.promotion_id: one.total_discount for one in sale.promotions if one.pilot_arm != "CONTROL"}


def _advice_of(sale: LoggedSale, evaluations: Sequence[Evaluation]) -> tuple[dict[Advised, _Shown], set[Advised]]:
    """Return the advice shown up to the confirmed evaluation, each when first shown, and that of the confirmed one."""
    first: dict[Advised, _Shown] = {}
    last: set[Advised] = set()
    its_own = [one for one in evaluations if abs(one.transaction_counter) <= sale.transaction_counter]
    for row, outcome in zip(its_own, _outcomes(its_own), strict=True):
        if outcome.currency != sale.currency:  # the amounts of the baskets cannot be compared
            continue
        advice = outcome.advice()
        new = advice.keys() - first.keys()
        if new:
            total = Decimal(outcome.grand_total_minor).scaleb(-outcome.exponent)
            first.update(dict.fromkeys(new, _Shown(_day(row.evaluated_at, row.time_zone), total)))
        if abs(row.transaction_counter) == sale.transaction_counter:
            last = set(advice)
    return first, last
