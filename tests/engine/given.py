"""Short helpers to build baskets, conditions and promotions in the engine's unit tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from promenade.engine.basket import (
    ArticleFact,
    Basket,
    BasketLine,
    Customer,
    Payment,
    PosGroupFact,
    Settings,
)
from promenade.engine.conditions import parse_conditions
from promenade.engine.definition import ActionRow, ConditionRow, PromotionDefinition
from promenade.engine.verdict import Met, Verdict
from promenade.engine.view import ArticleGroups, BasketView

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)  # a Saturday
TEN_PERCENT = ActionRow(
    id="action", sequence=1, action_type="RECEIPT", discount_type="PERCENTAGE", discount_value_hundredths=1000
)


def line(
    article: str = "A",
    quantity: str = "1",
    price: str = "10",
    *,
    group: str | None = None,
    maker: str | None = None,
    ean: str | None = None,
    fields: tuple[tuple[str, str], ...] = (),
    reference: str = "",
) -> BasketLine:
    return BasketLine(
        reference=reference or f"{article}-{quantity}-{price}",
        article_number=article,
        quantity_thousandths=int(Decimal(quantity) * 1000),
        unit_price_hundredths=int(Decimal(price) * 100),
        ean=ean,
        article_group_id=group,
        manufacturer_id=maker,
        fields=fields,
    )


def article(number: str, **facts: Any) -> ArticleFact:
    return ArticleFact(article_number=number, **facts)


def basket(
    *lines: BasketLine,
    currency: str = "EUR",
    zone: str = "UTC",
    pos_group: str = "pos-1",
    customer: Customer | None = None,
    payment: Payment | None = None,
    channel: str | None = None,
    fields: tuple[tuple[str, str], ...] = (),
    manual: bool = False,
    reason: str | None = None,
) -> Basket:
    return Basket(
        transaction_id="t-1",
        lines=lines,
        pos_group=PosGroupFact(id=pos_group, code=pos_group, currency=currency, time_zone=zone),
        customer=customer,
        payment=payment,
        channel=channel,
        user_fields=fields,
        manual_discount=manual,
        manual_discount_reason=reason,
    )


def view(
    *lines: BasketLine,
    articles: tuple[ArticleFact, ...] = (),
    groups: Mapping[str, str | None] | None = None,
    now: datetime = NOW,
    settings: Settings | None = None,
    **rest: Any,
) -> BasketView:
    """Return a view of a basket; ``rest`` as for `basket`."""
    return BasketView(
        basket(*lines, **rest),
        {one.article_number: one for one in articles},
        {one.ean: one for one in articles if one.ean},
        ArticleGroups(groups or {}),
        settings or Settings(now=now),
    )


def row(kind: str, value: str | None = None, *, connector: str = "AND", sequence: int = 1, **rest: Any) -> ConditionRow:
    return ConditionRow(
        id=f"c{sequence}", sequence=sequence, connector=connector, condition_type=kind, value=value, **rest
    )


def check(condition: ConditionRow, seen: BasketView) -> Verdict:
    """Return the verdict of one condition on the original sale amount."""
    ((_, parsed),) = parse_conditions((condition,))[0]
    return parsed.check(seen, seen.sale_total_minor)


def holds(condition: ConditionRow, seen: BasketView) -> bool:
    return isinstance(check(condition, seen), Met)


def promotion(name: str, *conditions: ConditionRow, **rest: Any) -> PromotionDefinition:
    """Return an active promotion of 10 % off the receipt; conditions keep their order."""
    rest.setdefault("actions", (TEN_PERCENT,))
    return PromotionDefinition(id=name, name=name, conditions=conditions, **rest)
