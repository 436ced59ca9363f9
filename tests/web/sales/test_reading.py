"""A till that crashed reads its transaction again: what was answered, confirmed and returned; and customers' points."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import PROMOTION_ID, Shop, basket, fault, item
from tests.web.sales.test_loyalty import book

TRANSACTIONS = "/pos/v2/transactions"


def confirm(shop: Shop, answer: Any) -> None:
    header = answer.json()["meta"]["header"]
    applied = [{"promotionId": one["promotionId"]} for one in summary(answer)["promotionBreakdown"]]
    request = {"header": header, "transactionId": header["transactionId"], "appliedPromotions": applied}
    assert shop.call("/pos/v2/confirm", {"request": request}).status_code == 200


def summary(answer: Any) -> Any:
    return answer.json()["totals"]["savingsSummary"]


@pytest.mark.parametrize("transaction", ["READ-1", "till/7/4711", "späti"])
def test_an_iteration_is_answered_with_the_same_bytes_again(shop: Shop, transaction: str) -> None:
    header = {"transactionId": transaction, "headerReference": "x", "receiptId": "R-1"}
    answers = [shop.call("/pos/v2/evaluate", basket(header=header, items=[item(quantity=number)])) for number in (1, 2)]
    answers.append(shop.call("/pos/v2/evaluate", basket(header=header, includeMissedPromotions=True)))
    for counter, answer in enumerate(answers, 1):
        again = shop.call(f"{TRANSACTIONS}/{transaction}/{counter}")
        assert (again.status_code, again.content) == (200, answer.content)
    quoted = {"accept": "application/json;IEEE754Compatible=true"}
    first = shop.call("/pos/v2/evaluate", basket(header=header), **quoted)
    assert shop.call(f"{TRANSACTIONS}/{transaction}/4", **quoted).content == first.content
    state = shop.call(f"{TRANSACTIONS}/{transaction}").json()
    assert (state["transactionId"], state["confirmed"], "confirmation" in state) == (transaction, False, False)
    assert [one["transactionCounter"] for one in state["iterations"]] == [4, 3, 2, 1]
    assert {one["receiptId"] for one in state["iterations"]} == {"R-1"}


def test_a_confirmed_transaction_tells_its_lines_and_what_was_returned(shop: Shop) -> None:
    header = {"transactionId": "READ-2"}
    lines = [item(lineReference="a", quantity=3), item(lineReference="b", quantity="0.500")]
    shop.call("/pos/v2/evaluate", basket(header=header))
    priced = shop.call("/pos/v2/evaluate", basket(header=header, items=lines))
    confirm(shop, priced)

    def returned() -> dict[str, tuple[Any, Any]]:
        state = shop.call(f"{TRANSACTIONS}/READ-2").json()
        assert (state["confirmed"], state["confirmation"]["transactionCounter"]) == (True, 2)
        assert state["confirmation"]["message"] == "Transaction confirmed."
        found = state["confirmation"]["lines"]
        return {one["lineReference"]: (one["quantity"], one["returnedQuantity"]) for one in found}

    assert returned() == {"a": (3, 0), "b": (0.5, 0)}
    assert refunded(shop, "READ-2") == [(13.5, 0), (2.25, 0)]
    named = [{"key": "originalTransactionId", "value": "READ-2"}, {"key": "originalLineReference", "value": "a"}]
    for number in (1, 2):
        back = item(quantity=-1, additionalFields=named)
        confirm(shop, shop.call("/pos/v2/evaluate", basket(header={"transactionId": f"BACK-{number}"}, items=[back])))
        assert returned() == {"a": (3, number), "b": (0.5, 0)}
        assert refunded(shop, "READ-2") == [(13.5, 4.5 * number), (2.25, 0)]


def refunded(shop: Shop, transaction: str) -> list[tuple[float, float]]:
    """Return what was paid for each line and what was refunded."""
    lines = shop.call(f"{TRANSACTIONS}/{transaction}").json()["confirmation"]["lines"]
    return [(one["paid"]["value"], one["refunded"]["value"]) for one in lines]


def test_a_cancelled_sale_tells_how_the_cancel_was_answered(shop: Shop) -> None:
    confirm(shop, shop.call("/pos/v2/evaluate", basket(header={"transactionId": "READ-5"})))
    assert shop.call(f"{TRANSACTIONS}/READ-5").json()["cancelled"] is False
    answer = shop.call("/pos/v2/cancel", {"transactionId": "READ-5", "transactionCounter": 1})
    state = shop.call(f"{TRANSACTIONS}/READ-5").json()
    assert (state["confirmed"], state["cancelled"], state["cancellation"]) == (True, True, answer.json())
    assert refunded(shop, "READ-5") == [(9, 9)]


@pytest.mark.parametrize("transaction", ["till-8/4711", "till-8/0042", "till-8/2611250001", "till-8/0"])
def test_the_number_at_the_end_may_belong_to_the_transaction(shop: Shop, transaction: str) -> None:
    shop.call("/pos/v2/evaluate", basket(header={"transactionId": transaction}))
    assert shop.call(f"{TRANSACTIONS}/{transaction}").json()["transactionId"] == transaction


def test_what_does_not_exist_is_not_found(shop: Shop) -> None:
    shop.call("/pos/v2/evaluate", basket(header={"transactionId": "READ-3"}))
    for path, code in (
        ("READ-3/2", "ITERATION_NOT_FOUND"), ("READ-4/1", "ITERATION_NOT_FOUND"), ("READ-4", "TRANSACTION_NOT_FOUND"),
        ("x" * 51, "TRANSACTION_NOT_FOUND"), (f"READ-3/{'9' * 5000}", "TRANSACTION_NOT_FOUND"),
    ):  # fmt: skip
        assert fault(shop.call(f"{TRANSACTIONS}/{path}"))[:2] == (404, code), path
    assert fault(shop.call(f"{TRANSACTIONS}/READ-3/0"))[:2] == (400, "VALIDATION_FAILED")


def test_a_till_reads_a_customers_points(shop: Shop) -> None:
    for number in range(1, 13):
        book(shop, "P-1", f"points-{number}", (None, 5), (PROMOTION_ID, 2))
    found = shop.call("/pos/v2/customers/P-1/loyalty").json()
    assert (found["customerId"], found["balance"], len(found["entries"])) == ("P-1", 84, 20)
    assert [one["balanceAfter"] for one in found["entries"]][:3] == [84, 82, 77]
    assert (found["entries"][0]["transactionId"], found["entries"][0]["points"]) == ("points-12", 2)
    nobody = shop.call("/pos/v2/customers/P-0/loyalty").json()
    assert (nobody["balance"], nobody["entries"]) == (0, [])


def test_reading_needs_the_scope_of_a_till(shop: Shop) -> None:
    for path in (f"{TRANSACTIONS}/READ-1", f"{TRANSACTIONS}/READ-1/1", "/pos/v2/customers/P-1/loyalty"):
        assert shop.call(path, client="planner").status_code == 403
        assert shop.http.get(path).status_code == 401
