"""Five weeks of shoppers: what they buy, when, where, and who they are.

Everything is drawn from a seeded source; `promenade.demo.seeding` prices and confirms the sales.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from zoneinfo import ZoneInfo

from promenade.demo.assortment import Article, Store, shelf_price
from promenade.demo.leaflet import Leaflet
from promenade.demo.surroundings import CUSTOMER_GROUPS, LOYALTY_TIERS
from promenade.engine.basket import BasketLine, Customer, Payment

_GROUPS = tuple(CUSTOMER_GROUPS)
_TIERS = tuple(LOYALTY_TIERS)
_CARDS = (("VISA_CREDIT", "40001234"), ("VISA_DEBIT", "41119876"), ("MASTERCARD", "52004321"))
_DAYS, _PAID_BEFORE = 35, timedelta(minutes=2)
_BUSY_DAYS = (4, 3, 4, 4, 6, 7, 1)  # how many shoppers come on Mondays, Tuesdays ..., compared with one another
_BUSY_HOURS = dict(zip(range(7, 22), (2, 4, 6, 7, 8, 7, 5, 4, 5, 7, 9, 10, 8, 4, 2), strict=True))


@dataclass(frozen=True, slots=True)
class Sale:
    """One basket at one till; ``returns`` lines name an earlier sale in their fields.

    ``asked_first``: the number of its lines when the till first asked for the price; 0: it asked only once.
    """

    transaction_id: str
    at: datetime
    store: Store
    lines: tuple[BasketLine, ...]
    customer: Customer | None
    payment: Payment
    channel: str
    coupons: tuple[str, ...]
    user_fields: tuple[tuple[str, str], ...]
    manual_discount_reason: str | None
    asked_first: int = 0


def draw_sales(rng: Random, leaflet: Leaflet, until: datetime, count: int) -> Iterator[Sale]:
    """Draw ``count`` sales of the five weeks before ``until``, in order of time."""
    shelf = _popular_first(rng, leaflet)
    tills = leaflet.assortment.tills()
    visits = sorted(
        ((_moment(rng, store, until), store) for store in rng.choices(tills, k=count)), key=lambda visit: visit[0]
    )
    individual = iter(leaflet.individual_codes)
    earlier: list[Sale] = []
    for number, (at, store) in enumerate(visits, start=1):
        lines = _basket(rng, shelf, store, earlier)
        lines += _extras(rng, shelf, leaflet, store, at, len(lines))
        sale = Sale(
            transaction_id=f"DEMO-{store.code}-{number:06d}",
            at=at,
            store=store,
            lines=lines,
            customer=_customer(rng),
            payment=_payment(rng),
            channel="ONLINE" if store.code.endswith("WEB") else rng.choice(("IN_STORE", "IN_STORE", "MOBILE", "KIOSK")),
            coupons=_coupons(rng, leaflet.generic_codes, individual),
            user_fields=(("scanAndGo", "true"),) if rng.random() < 0.05 else (),
            manual_discount_reason=rng.choice(("DAMAGED", "GOODWILL")) if rng.random() < 0.02 else None,
            asked_first=rng.randrange(1, len(lines)) if len(lines) > 1 and rng.random() < 0.3 else 0,
        )
        earlier.append(sale)
        yield sale


def _moment(rng: Random, store: Store, until: datetime) -> datetime:
    """Return a moment when people shop, on the store's own clock, before that of ``until``."""
    now = until.astimezone(ZoneInfo(store.time_zone))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = [midnight - timedelta(days=back) for back in range(_DAYS + 1)]
    while True:
        (day,) = rng.choices(days, [_BUSY_DAYS[day.weekday()] for day in days])
        (hour,) = rng.choices(list(_BUSY_HOURS), list(_BUSY_HOURS.values()))
        moment = day.replace(hour=hour, minute=rng.randrange(60), second=rng.randrange(60)).astimezone(UTC)
        if until - timedelta(days=_DAYS) <= moment < until - _PAID_BEFORE:
            return moment


def _popular_first(rng: Random, leaflet: Leaflet) -> Sequence[Article]:
    """Shuffle the articles, favourites and leaflet goods first: `_pick` prefers the front, so that few sell often."""
    every = leaflet.assortment.articles
    return leaflet.favourites * 6 + rng.sample(every[:3_000], 400) + rng.sample(every, 4_000)


def _pick(rng: Random, shelf: Sequence[Article]) -> Article:
    return shelf[min(rng.randrange(len(shelf)), rng.randrange(len(shelf)))]


def _basket(rng: Random, shelf: Sequence[Article], store: Store, earlier: Sequence[Sale]) -> tuple[BasketLine, ...]:
    lines = []
    for place in range(1, 2 + min(rng.randrange(13), rng.randrange(13))):
        article = _pick(rng, shelf)
        weight = rng.randint(120, 2_400)
        pieces = rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 6))
        fields = (("daysLeft", str(rng.randint(1, 5))),) if rng.random() < 0.04 else ()
        lines.append(_line(str(place), article, weight if article.by_weight else pieces * 1000, store, fields))
    bought = [sale for sale in earlier[-100:] if sale.store.currency == store.currency]
    if bought and rng.random() < 0.04:
        lines.append(_return_line(str(len(lines) + 1), rng.choice(bought), has_receipt=rng.random() < 0.8))
    return tuple(lines)


def _extras(
    rng: Random, shelf: Sequence[Article], leaflet: Leaflet, store: Store, at: datetime, held: int
) -> tuple[BasketLine, ...]:
    """Add articles on trial in this store, and those that shoppers in Germany buy more of since the launch."""
    chosen = [one.article for one in leaflet.trials if rng.random() < one.chances.get(store.code, 0)]
    if leaflet.launched_at is not None and at >= leaflet.launched_at and store.currency == "EUR":
        chosen += [_pick(rng, shelf) for _ in range(rng.choice((0, 1, 2, 3)))]
    return tuple(
        _line(str(place), article, 1500 if article.by_weight else 1000, store, ())
        for place, article in enumerate(chosen, start=held + 1)
    )


def _line(
    reference: str, article: Article, thousandths: int, store: Store, fields: tuple[tuple[str, str], ...]
) -> BasketLine:
    return BasketLine(
        reference=reference,
        article_number=article.article_number,
        quantity_thousandths=thousandths,
        unit_price_hundredths=int(shelf_price(article, store.currency) * Decimal(100)),
        ean=article.ean,
        fields=fields,
    )


def _return_line(reference: str, sale: Sale, *, has_receipt: bool) -> BasketLine:
    """Return a line that brings back the first line of an earlier sale."""
    bought = sale.lines[0]
    fields = (("originalTransactionId", sale.transaction_id), ("originalLineReference", bought.reference))
    return BasketLine(
        reference=reference,
        article_number=bought.article_number,
        quantity_thousandths=-1000,
        unit_price_hundredths=bought.unit_price_hundredths,
        ean=bought.ean,
        fields=fields if has_receipt and bought.quantity_thousandths >= 1000 else (),
    )


def _customer(rng: Random) -> Customer | None:
    if rng.random() < 0.45:
        return None
    number = min(rng.randrange(600), rng.randrange(600))
    return Customer(
        customer_id=f"C-{10_000 + number}",
        customer_group=_GROUPS[number % len(_GROUPS)] if number % 3 == 0 else None,
        loyalty_card_number=f"L{70_000 + number}",
        loyalty_tier=_TIERS[number % len(_TIERS)],
        loyalty_points=number * 3,
    )


def _payment(rng: Random) -> Payment:
    if rng.random() < 0.4:
        return Payment(payment_means="CASH")
    card_type, prefix = rng.choice(_CARDS)
    return Payment(payment_means="CARD", card_type=card_type, card_prefix=prefix)


def _coupons(rng: Random, generic: Sequence[str], individual: Iterator[str]) -> tuple[str, ...]:
    codes = []
    if rng.random() < 0.12:
        codes.append(rng.choice(generic))
    if rng.random() < 0.06:
        codes.extend(code for code in (next(individual, None),) if code)
    return tuple(codes)
