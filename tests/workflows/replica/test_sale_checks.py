"""Possible results of a store are accepted, and impossible ones are refused (reliability B4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promenade.engine.basket import Basket, BasketLine, Facts, PosGroupFact, Settings
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import PromotionDefinition
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from promenade.errors import Invalid
from promenade.workflows.replica.uploads import IssuedCode, SoldItem, SoldPromotion, UploadedSale
from promenade.workflows.sync.sale_checks import check_document, check_sale
from tests.engine.made_up import baskets, catalogue_of, circumstanced, circumstances
from tests.engine.scenario_kit import load_all
from tests.kit.examples import examples
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.uploads import as_sent, upload_of
from tests.workflows.shop import NOON


def accept(sale: UploadedSale) -> None:
    document = as_sent(sale)
    check_document(document)
    again = msgspec.convert(document, UploadedSale)
    assert again == sale
    check_sale(again)


def test_every_scenario_of_the_engine_can_be_uploaded() -> None:
    for scenario in load_all():
        catalogue = Catalogue(scenario.article_groups, scenario.barred_groups)
        catalogue.compile_all(scenario.definitions)
        priced = evaluate(catalogue, scenario.basket, scenario.facts, scenario.settings)
        accept(upload_of(scenario.basket, priced, scenario.facts, scenario.settings))


@settings(max_examples=examples(100))
@given(circumstanced(), baskets(), st.data())
def test_every_random_outcome_of_the_engine_can_be_uploaded(
    definitions: list[PromotionDefinition], bought: Basket, data: st.DataObject
) -> None:
    basket, facts, told = data.draw(circumstances(bought))
    accept(upload_of(basket, evaluate(catalogue_of(definitions), basket, facts, told), facts, told))


PRICED = outcome(
    (line("1", 2000, 1000, discount("off", ((2, 100),))), line("2", -1000, -500)),
    (applied("off", 200, budget_ids=("marketing",), coupon_type_ids=("thanks",)), applied("stamps", points=7)),
    base_points=10,
)


def good() -> UploadedSale:
    lines = tuple(
        BasketLine(one.reference, one.article_number, one.quantity_thousandths, one.unit_price_hundredths)
        for one in PRICED.lines
    )
    basket = Basket("T1", lines, PosGroupFact("shop", "SHOP", "EUR"))
    return upload_of(basket, PRICED, Facts(), Settings(NOON))


def of_result(**changes: Any) -> Callable[[UploadedSale], UploadedSale]:
    return lambda sale: msgspec.structs.replace(sale, result=replace(sale.result, **changes))


def of_line(**changes: Any) -> Callable[[UploadedSale], UploadedSale]:
    def change(sale: UploadedSale) -> UploadedSale:
        first, *others = sale.result.lines
        return of_result(lines=(replace(first, **changes), *others))(sale)

    return change


def of_promotion(**changes: Any) -> Callable[[UploadedSale], UploadedSale]:
    def change(sale: UploadedSale) -> UploadedSale:
        first, *others = sale.result.applied
        return of_result(applied=(replace(first, **changes), *others))(sale)

    return change


def of_sale(**changes: Any) -> Callable[[UploadedSale], UploadedSale]:
    return lambda sale: msgspec.structs.replace(sale, **changes)


def of_basket(**changes: Any) -> Callable[[UploadedSale], UploadedSale]:
    def change(sale: UploadedSale) -> UploadedSale:
        basket = replace(sale.request.basket, **changes)
        return msgspec.structs.replace(sale, request=msgspec.structs.replace(sale.request, basket=basket))

    return change


def of_regular_price(hundredths: int) -> Callable[[UploadedSale], UploadedSale]:
    lines = [replace(one, regular_price_hundredths=hundredths) for one in good().request.basket.lines]
    return of_basket(lines=tuple(lines))


def of_confirm(**changes: Any) -> Callable[[UploadedSale], UploadedSale]:
    return lambda sale: msgspec.structs.replace(sale, confirm=msgspec.structs.replace(sale.confirm, **changes))


def item(**changes: Any) -> SoldItem:
    given: dict[str, Any] = {"article_number": "A-1", "quantity": Decimal(2), "unit_price": Decimal(5), **changes}
    return SoldItem(**given)


ISSUED = IssuedCode("thanks", "off", NOON)
INCONSISTENT = {
    "a discount greater than its units": of_line(discounts=(discount("off", ((2, 90),)),)),
    "a discount below zero": of_line(discounts=(discount("off", ((2, -100),)),), discount_minor=-200, net_minor=1200),
    "a line cheaper than its price": of_line(total_minor=10, net_minor=0, discount_minor=10),
    "a line's discount that is not its own": of_line(discount_minor=300, net_minor=700),
    "another quantity than in the basket": of_line(quantity_thousandths=4000, total_minor=2000, net_minor=1800),
    "a promotion that gave more than its lines": of_promotion(discount_minor=900),
    "a promotion that gives less than nothing away": of_promotion(give_away_minor=-1),
    "a budget that is charged twice": of_promotion(budget_ids=("marketing", "marketing")),
    "a coupon that nobody presented": of_promotion(coupon_code="SECRET"),
    "points beyond counting": of_promotion(points=10**13),
    "a total that does not add up": of_result(grand_total_minor=1),
    "a discount that does not add up": of_result(discount_minor=900, grand_total_minor=-400),
    "another currency than the basket's": of_result(currency="USD"),
    "decimals that the currency has not": of_result(exponent=3),
    "no lines": of_result(lines=()),
    "a regular price below zero": of_regular_price(-1),
    "a regular price beyond all prices": of_regular_price(10**15),
    "another transaction's basket": of_basket(transaction_id="T2"),
    "coupons without facts": of_basket(coupons=("CODE",)),
    "a moment that it was not priced at": of_sale(evaluated_at=NOON.replace(hour=1)),
    "a coupon issued that was not granted": of_sale(issued=[IssuedCode("other", "off", NOON)]),
    "a coupon issued twice": of_sale(issued=[ISSUED, ISSUED]),
}
MALFORMED = {
    "a price that is no number": of_confirm(items=[item(unit_price=Decimal("NaN"))]),
    "a net without end": of_confirm(items=[item(line_net=Decimal("Infinity"))]),
    "a discount of 1e400": of_confirm(items=[item(line_discount=Decimal("1e400"))]),
    "a moment without a time zone": of_sale(confirmed_at=datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the point
    "a moment before all computers": of_sale(confirmed_at=NOON.replace(year=1)),
    "an article's number without end": of_basket(lines=(BasketLine("1", "A" * 51, 1000, 1),)),
    "a NUL": of_basket(channel="a\0b"),
    "a price without end": of_basket(lines=(BasketLine("1", "A", 1000, 10**30),)),
    "a version beyond counting": of_promotion(version=2**31),
}


def refusal(sale: UploadedSale) -> str:
    def check() -> None:
        check_document(as_sent(sale))
        check_sale(sale)

    with pytest.raises(Invalid) as caught:
        check()
    return caught.value.code


def test_the_unmodified_sale_is_accepted() -> None:
    accept(good())
    accept(of_regular_price(10**6)(good()))
    accept(of_sale(issued=[ISSUED])(good()))


@pytest.mark.parametrize("name", INCONSISTENT)
def test_inconsistent_sales_are_refused(name: str) -> None:
    assert refusal(INCONSISTENT[name](good())) == "SALE_INCONSISTENT"


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_sales_are_refused(name: str) -> None:
    assert refusal(MALFORMED[name](good())) == "SALE_MALFORMED"


def test_fractional_numbers_are_refused_in_documents() -> None:
    with pytest.raises(Invalid):
        check_document({"quantity_thousandths": 1.5})


def test_a_confirm_may_name_promotions_with_amount_and_currency() -> None:
    accept(of_confirm(promotions=[SoldPromotion("off", amount=Decimal("1.50"), currency="EUR")])(good()))
    assert isinstance(PRICED, Outcome)
