"""Random conditions, and sales likely to satisfy them: every value is one that some condition compares with."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

from promenade.engine.basket import ArticleFact, Basket, BasketLine, Customer, Payment, PosGroupFact, Settings
from promenade.engine.definition import ArticleRow, ConditionRow
from promenade.engine.view import ArticleGroups, BasketView

TREE = {"food": None, "fruit": "food", "bread": "food", "tools": None}
ARTICLES = {"A": "fruit", "B": "bread", "C": "tools", "D": None}
MAKERS = ("m1", "m2")
NUMBERS = ("0", "1", "5", "9.5", "10", "10.0", "49", "50", "100", "007")
TEXTS = ("GOLD", "SILVER", "GO", "gold", "", "5x", *NUMBERS)
OPERATORS = (None, "EQUALS", "CONTAINS", "STARTS_WITH", "GREATER_THAN", "LESS_THAN", "BETWEEN", "GTE", "LTE")
NUMERIC = (None, "EQUALS", "GREATER_THAN", "LESS_THAN", "BETWEEN", "GTE", "LTE")
PREFIXES = ("4", "41", "4111", "5", "50", "49999999", "50000000")
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
CLOCKS = (time(0), time(2, 15), time(2, 45), time(8), time(12), time(23, 55))
FIRST = date(2026, 3, 20)  # daylight saving time in Berlin starts on the 29th
ZONES = ("Europe/Berlin", "UTC", "America/New_York")


def _texts(draw: random.Random) -> dict[str, Any]:
    row: dict[str, Any] = {"operator": draw.choice(OPERATORS), "value": draw.choice([one for one in TEXTS if one])}
    if row["operator"] == "BETWEEN":
        row["value_to"] = draw.choice([one for one in TEXTS if one])
    elif draw.random() < 0.3:
        row["values"] = tuple(draw.sample([one for one in TEXTS if one], 2))
    return row


def _numbers(draw: random.Random) -> dict[str, Any]:
    numbers = NUMBERS[:-1]
    row: dict[str, Any] = {"operator": draw.choice(NUMERIC), "value": draw.choice(numbers)}
    if row["operator"] == "BETWEEN":
        row["value_to"] = draw.choice(numbers)
    elif draw.random() < 0.2:
        row["values"] = (draw.choice(numbers),)
    return row


def _minima(draw: random.Random) -> dict[str, Any]:
    return {
        "min_quantity_thousandths": draw.choice((None, None, 1000, 3000)),
        "min_amount_hundredths": draw.choice((None, None, 1000, 5000)),
    }


def _lines(draw: random.Random) -> dict[str, Any]:
    kind = draw.choice(("ARTICLE", "ARTICLE_LIST", "ARTICLE_GROUP", "MANUFACTURER", "ADDITIONAL_FIELD"))
    row: dict[str, Any] = {"condition_type": kind, **_minima(draw)}
    if kind == "ARTICLE":
        row["article_number"] = draw.choice(tuple(ARTICLES))
    elif kind == "ARTICLE_LIST":
        row["articles"] = tuple([ArticleRow(one) for one in draw.sample(tuple(ARTICLES), 2)])
        if draw.random() < 0.3:
            row["articles"] += (ArticleRow(None, ean="ean-A"),)
    elif kind == "ARTICLE_GROUP":
        row["article_group_id"] = draw.choice(tuple(TREE))
        row["include_sub_groups"] = draw.random() < 0.5
    elif kind == "MANUFACTURER":
        row["value"] = draw.choice(MAKERS)
    else:
        row |= {"field_name": "f", **_texts(draw)}
    return row


def _times(draw: random.Random) -> dict[str, Any]:
    if draw.random() < 0.4:
        start = FIRST + timedelta(days=draw.randrange(20))
        return {
            "condition_type": "TIME_PERIOD",
            "date_from": draw.choice((None, start)),
            "date_to": start + timedelta(days=draw.randrange(-2, 6)),
        }
    return {
        "condition_type": "TIME_WINDOW",
        "time_from": draw.choice((None, *CLOCKS)),
        "time_to": draw.choice((None, *CLOCKS)),
        "weekdays": ",".join(draw.sample(DAYS, draw.choice((1, 2, 5)))),
    }


REQUEST = ("CUSTOMER", "CUSTOMER_GROUP", "PAYMENT_MEANS", "CHANNEL", "USER_DEFINED", "LOYALTY_ACCOUNT")


def _request(draw: random.Random, kind: str = "") -> dict[str, Any]:
    kind = kind or draw.choice(REQUEST)
    row: dict[str, Any] = {"condition_type": kind}
    if kind == "LOYALTY_ACCOUNT":
        field = draw.choice(("points", "tier"))
        return row | {"field_name": field, **(_numbers(draw) if field == "points" else _texts(draw))}
    return row | ({"field_name": "u"} if kind == "USER_DEFINED" else {}) | _texts(draw)


def _money(draw: random.Random) -> dict[str, Any]:
    return {"condition_type": draw.choice(("RECEIPT_AMOUNT", "ITEM_QUANTITY")), **_numbers(draw)}


def _card(draw: random.Random) -> dict[str, Any]:
    row: dict[str, Any] = {"condition_type": "CREDIT_CARD_BIN", "operator": draw.choice(OPERATORS)}
    row["value"] = draw.choice(PREFIXES)
    if row["operator"] == "BETWEEN":
        row["value_to"] = draw.choice(PREFIXES)
    return row


def _manual(draw: random.Random) -> dict[str, Any]:
    return {"condition_type": "MANUAL_DISCOUNT", **(_texts(draw) if draw.random() < 0.6 else {})}


FAMILIES = (_lines, _lines, _times, _times, _request, _request, _money, _money, _card, _manual)


def conditions(draw: random.Random) -> tuple[ConditionRow, ...]:
    """Draw one to five conditions, mostly on the same subject, in groups combined with OR and NOT."""
    family: Callable[..., dict[str, Any]] = draw.choice(FAMILIES)
    if family is _request and draw.random() < 0.7:
        family = partial(_request, kind=draw.choice(REQUEST))
    rows: list[ConditionRow] = []
    for number in range(1, draw.choice((1, 2, 2, 3, 3, 4, 5)) + 1):
        made = (family if draw.random() < 0.8 else draw.choice(FAMILIES))(draw)
        connector = draw.choice(("AND", "AND", "AND", "NOT", "OR"))
        rows.append(ConditionRow(f"c{number}", number, connector, **made))
    return tuple(rows)


def _moment(draw: random.Random, rows: tuple[ConditionRow, ...]) -> datetime:
    """Draw a moment near the boundary of some time condition, or any other."""
    day = datetime(2026, 3, 20, tzinfo=UTC) + timedelta(days=draw.randrange(-3, 30))
    if draw.random() < 0.5:
        return day + timedelta(minutes=draw.choice((0, 5, 15, 30, 45)), hours=draw.randrange(24))
    clock = draw.choice(CLOCKS)
    edge = day + timedelta(hours=clock.hour - draw.choice((0, 1, 2, -4, -5)), minutes=clock.minute)
    return edge + timedelta(microseconds=draw.choice((-1, 0, 1)))


def _amounts(draw: random.Random) -> tuple[int, int]:
    """Draw a quantity in thousandths and a price in hundredths."""
    quantity = draw.choice((1000, 1000, 3000, 5000, 9500, 10_000, 500, 1, 50_000, -1000))
    return quantity, draw.choice((0, 1, 100, 500, 950, 1000, 4900, 4901, 4999, 5000, 5001, 10_000))


def sale(draw: random.Random, rows: tuple[ConditionRow, ...], now: datetime | None = None) -> BasketView:
    """Draw a sale that is likely to satisfy some of the conditions."""
    values = [text for row in rows for text in (row.value, row.value_to, *row.values) if text] + [
        "",
        "5x",
        "2x",
        "GOLD",
    ]

    def text() -> str | None:
        one = draw.choice(values)
        return draw.choice((None, one, one, one.upper(), one + "0", one + ".0", one[:-1]))

    lines = []
    for number in range(draw.choice((0, 1, 1, 2, 3))):
        article = draw.choice(tuple(ARTICLES))
        quantity, price = _amounts(draw)
        field = text()
        lines.append(
            BasketLine(
                f"L{number}",
                article,
                quantity,
                price,
                ean=draw.choice((None, "ean-A")),
                article_group_id=draw.choice((ARTICLES[article], "tools", "food", None)),
                manufacturer_id=draw.choice((None, *MAKERS)),
                fields=() if field is None else (("f", field),),
            )
        )
    numbers = [int(float(one)) for one in values if one.replace(".", "").isdigit()] or [0]
    points = draw.choice((None, draw.choice(numbers) + draw.choice((-1, 0, 1))))
    user, card = text(), draw.choice(PREFIXES)
    card = draw.choice((card, card.ljust(8, "0"), card.ljust(8, "9"), card[:3]))
    basket = Basket(
        "t",
        tuple(lines),
        PosGroupFact("pos", "POS", "EUR", draw.choice(ZONES)),
        customer=draw.choice(
            (None, Customer(text(), text(), None, text(), points), Customer(text(), text(), None, text(), points))
        ),
        payment=draw.choice((None, Payment(text(), text(), card))),
        channel=text(),
        user_fields=() if user is None else (("u", user),),
        manual_discount=draw.random() < 0.8,
        manual_discount_reason=text(),
    )
    facts = {"D": ArticleFact("D", article_group_id="fruit")}
    return BasketView(basket, facts, {}, ArticleGroups(TREE), Settings(now=now or _moment(draw, rows)))
