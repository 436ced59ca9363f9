"""Made-up sales in the form that folds get."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from promenade.workflows.reports.sales import LoggedDiscount, LoggedLine, LoggedPromotion, LoggedSale
from tests.workflows.shop import NOON, identity

__all__ = ["any_sales", "made_sale"]

BERLIN = ZoneInfo("Europe/Berlin")


def made_sale(
    name: str,
    *lines: tuple[str, Mapping[str, str]],
    at: datetime = NOON,
    place: str | None = "shop",
    currency: str = "EUR",
    total: str = "10",
    taken_back: Mapping[str, str] | None = None,
    control: Sequence[str] = (),
) -> LoggedSale:
    """Return a sale with lines given by article and discounts per promotion; promotions and places by name."""
    given: dict[str, Decimal] = {one: Decimal(amount) for one, amount in (taken_back or {}).items()}
    for _, shares in lines:
        for one, amount in shares.items():
            given[one] = given.get(one, Decimal(0)) + Decimal(amount)
    return LoggedSale(
        log_id=identity(f"log {name}"),
        origin="cloud",
        transaction_id=name,
        transaction_counter=1,
        pos_group_id=None if place is None else identity(place),
        customer_id=None,
        currency=currency,
        subtotal=Decimal(total) + sum(given.values()),
        discount=sum(given.values(), Decimal(0)),
        grand_total=Decimal(total),
        evaluated_at=at,
        confirmed_at=at,
        local_at=at.astimezone(BERLIN).replace(tzinfo=None),
        lines=tuple(_line(str(number), *line) for number, line in enumerate(lines)),
        promotions=(
            *(_promotion(one, amount, None) for one, amount in given.items()),
            *(_promotion(one, Decimal(0), "CONTROL") for one in control),
        ),
    )


def _line(reference: str, article: str, shares: Mapping[str, str]) -> LoggedLine:
    return LoggedLine(
        reference=reference,
        article_number=article,
        article_group_key=None,
        quantity_thousandths=1000,
        discounts=tuple(LoggedDiscount(identity(one), Decimal(amount)) for one, amount in shares.items()),
    )


def _promotion(name: str, amount: Decimal, arm: str | None) -> LoggedPromotion:
    return LoggedPromotion(
        promotion_id=identity(name),
        promotion_name=name,
        total_discount=amount,
        points=0,
        pilot_arm=arm,
    )


def any_sales(seed: int, number: int) -> list[LoggedSale]:
    """Return sales of a few months, places and promotions, in the order of their upload; some are returns."""
    chance = random.Random(seed)
    begin = datetime(2026, 1, 30, 20, tzinfo=UTC)
    sales = []
    for at in range(number):
        lines = [
            (
                f"A{chance.randrange(30)}",
                {
                    f"promotion {one}": str(Decimal(chance.randrange(1, 4000)).scaleb(-2))
                    for one in chance.sample(range(4), chance.randrange(3))
                },
            )
            for _ in range(chance.randrange(4))
        ]
        back = {f"promotion {chance.randrange(4)}": "-12.34"} if not any(one for _, one in lines) else {}
        sales.append(
            made_sale(
                f"T{at}",
                *lines,
                at=begin + timedelta(minutes=chance.randrange(60 * 24 * 70)),
                place=None if chance.random() < 0.1 else f"place {chance.randrange(25)}",
                currency="EUR" if chance.random() < 0.8 else "KWD",
                total=str(Decimal(chance.randrange(-500_000, 99_000_000)).scaleb(-2)),
                taken_back=back if chance.random() < 0.5 else {},
                control=[f"promotion {chance.randrange(4, 6)}"] if chance.random() < 0.2 else [],
            )
        )
    return sales
