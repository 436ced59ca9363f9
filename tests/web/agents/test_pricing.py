"""Tools about prices: exact, explained, stored only if asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from promenade.web.agents import pricing
from tests.web.agents.conftest import Agents
from tests.web.services.admin_actions.test_moves import act, ten_off


@pytest.fixture(scope="module")
def shop(agents: Agents) -> Iterator[tuple[str, str, str]]:
    """A POS group, an article with ten per cent off, and the promotion."""
    article = agents.unique("A")
    group = agents.unique("P")
    agents.make("PosGroups", client="admin", code=group, name="Berlin", currency="EUR", IsActiveEntity=True)
    promotion = ten_off(agents, article, client="promoter", name="Ten off")
    act(agents, "Promotions", promotion, "activate")
    yield group, article, promotion["ID"]
    act(agents, "Promotions", promotion, "deactivate")


def line(article: str, **changes: Any) -> dict[str, Any]:
    return {"articleNumber": article, "quantity": "3", "unitPrice": "9.99", **changes}


def test_a_basket_is_priced_to_the_cent_and_nothing_is_stored(agents: Agents, shop: tuple[str, str, str]) -> None:
    group, article, promotion = shop
    priced = agents.use("price_basket", client="till", posGroup=group, lines=[line(article)])
    assert (priced["subtotal"], priced["discount"], priced["grandTotal"]) == ("29.97", "3.00", "26.97")
    assert priced["currency"] == "EUR"
    (one,) = priced["lines"]
    assert (one["quantity"], one["unitPrice"], one["net"]) == ("3", "9.99", "26.97")
    assert one["discounts"] == [{"promotionId": promotion, "promotionName": "Ten off", "amount": "3.00"}]
    assert priced["transactionCounter"] is None
    refused = agents.refusal("read_calculation", client="till", transactionId=priced["transactionId"])
    assert refused[0] == "TRANSACTION_NOT_FOUND"


def test_a_price_that_is_stored_on_request_can_be_read_again(agents: Agents, shop: tuple[str, str, str]) -> None:
    group, article, _ = shop
    name = agents.unique("till-7/")
    stored = agents.use(
        "price_basket", client="till", posGroup=group, lines=[line(article)], store=True, transactionId=name
    )
    assert (stored["transactionId"], stored["transactionCounter"]) == (name, 1)
    read = agents.use("read_calculation", client="till", transactionId=name)
    assert (read["confirmed"], read["iterations"]) == (False, 1)
    assert read["price"] == stored


def test_it_explains_why_a_promotion_did_not_apply_and_prices_drafts_on_request(
    agents: Agents, shop: tuple[str, str, str]
) -> None:
    group, _, _ = shop
    article = agents.unique("A")
    draft = ten_off(agents, article, client="promoter", name="Not yet")
    basket = {"posGroup": group, "lines": [line(article, quantity=2, unitPrice=5)]}
    assert agents.use("price_basket", client="till", **basket)["discount"] == "0.00"
    with_drafts = agents.use("price_basket", client="till", includeInactive=True, **basket)
    assert with_drafts["discount"] == "1.00"
    assert with_drafts["lines"][0]["discounts"][0]["promotionId"] == draft["ID"]
    explained = agents.use("price_basket", client="till", explain=True, **basket)
    assert "Ten off" in {one["promotionName"] for one in explained["missedPromotions"]}
    refused = agents.refusal("price_basket", client="till", includeInactive=True, store=True, **basket)
    assert refused == ("INVALID_ARGUMENTS", "includeInactive")
    refused = agents.refusal("price_basket", client="till", transactionId="T-1", **basket)
    assert refused == ("INVALID_ARGUMENTS", "transactionId")


def test_customer_coupons_and_time_are_part_of_the_request(agents: Agents, shop: tuple[str, str, str]) -> None:
    group, article, _ = shop
    priced = agents.use(
        "price_basket",
        client="till",
        posGroup=group,
        lines=[line(article)],
        coupons=["NOBODY-HAS-IT"],
        customer={"customerId": "C-1", "loyaltyTier": "GOLD"},
        at="2026-03-01T12:00:00+01:00",
        channel="IN_STORE",
        paymentMeans="CARD",
    )
    assert [one["code"] for one in priced["invalidCoupons"]] == ["NOBODY-HAS-IT"]
    assert priced["evaluatedAt"].startswith("2026-03-01T11:00:00")


@pytest.mark.parametrize(
    "wrong", [{"quantity": 1.5}, {"unitPrice": 9.99}, {"unitPrice": "9,99"}, {"unitPrice": "1e3"}, {"colour": "red"}]
)
def test_numbers_that_are_not_exact_are_refused(
    agents: Agents, shop: tuple[str, str, str], wrong: dict[str, Any]
) -> None:
    group, article, _ = shop
    code, _ = agents.refusal("price_basket", client="till", posGroup=group, lines=[line(article, **wrong)])
    assert code == "INVALID_ARGUMENTS"


def test_a_long_answer_is_cut_and_says_so(
    agents: Agents, shop: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    group, article, _ = shop
    asked = {"posGroup": group, "lines": [line(article) for _ in range(200)]}
    whole = agents.use("price_basket", client="till", **asked)
    assert (len(whole["lines"]), whole["cut"]) == (200, False)
    monkeypatch.setattr(pricing, "RESULT_BYTES_MAX", 16 * 1024)
    cut = agents.use("price_basket", client="till", **asked)
    assert (cut["lines"], cut["cut"]) == (whole["lines"][: len(cut["lines"])], True)
    assert 0 < len(cut["lines"]) < 200
    assert cut["grandTotal"] == whole["grandTotal"]


def test_prices_need_the_scope_of_tills(agents: Agents, shop: tuple[str, str, str]) -> None:
    group, article, _ = shop
    assert agents.refusal("price_basket", posGroup=group, lines=[line(article)]) == ("MISSING_SCOPE", None)
    assert agents.refusal("read_calculation", transactionId="x") == ("MISSING_SCOPE", None)


def test_another_tenants_transactions_and_shops_are_not_there(agents: Agents, shop: tuple[str, str, str]) -> None:
    group, article, _ = shop
    name = agents.unique("T")
    agents.use("price_basket", client="till", posGroup=group, lines=[line(article)], store=True, transactionId=name)
    assert agents.refusal("read_calculation", client="stranger", transactionId=name)[0] == "TRANSACTION_NOT_FOUND"
    assert agents.refusal("price_basket", client="stranger", posGroup=group, lines=[line(article)])[1] == "posGroupCode"


@pytest.mark.parametrize("name", [".", "..", "../../admin", "a?b", "a#b", "%2e%2e"])
def test_the_name_of_a_transaction_leads_nowhere_else(agents: Agents, name: str) -> None:
    code, _ = agents.refusal("read_calculation", client="admin", transactionId=name)
    assert code in {"TRANSACTION_NOT_FOUND", "NOT_FOUND"}
