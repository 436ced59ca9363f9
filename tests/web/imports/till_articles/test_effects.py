"""The effect of an import on the next basket, and of many tills' simultaneous imports on each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

from tests.web.conftest import Shop, basket, item
from tests.web.imports.till_articles.conftest import Till, line_of

TILLS = 8


def _priced(shop: Shop, **line: Any) -> dict[str, Any]:
    return line_of(shop.call("/pos/v2/evaluate", basket(items=[item(**line)])))


def test_the_next_basket_knows_an_article_by_its_ean(till: Till) -> None:
    number = till.number()
    line = {"articleNumber": f"unknown {number}", "ean": "4000000000017"}
    assert _priced(till.shop, **line)["discounts"] == []
    till.store({"articleNumber": number, "ean": "4000000000017", "articleGroupId": "SALE"})
    assert _priced(till.shop, **line)["lineDiscount"] == {"value": 5.0, "currency": "EUR"}
    till.store({"articleNumber": number, "ean": None})
    assert _priced(till.shop, **line)["discounts"] == []


def test_the_next_basket_knows_the_group_and_the_unit_of_an_article(till: Till) -> None:
    number = till.number()
    assert _priced(till.shop, articleNumber=number)["discounts"] == []
    till.store({"articleNumber": number, "articleGroupId": "SALE", "unit": "KGM"})
    priced = _priced(till.shop, articleNumber=number)
    assert priced["lineDiscount"]["value"] == 5.0
    assert priced["quantity"]["unit"] == "KGM"
    till.store({"articleNumber": number, "articleGroupId": "OTHER"})
    assert _priced(till.shop, articleNumber=number)["discounts"] == []


def test_a_free_item_is_valued_at_the_last_imported_price(till: Till) -> None:
    def worth() -> tuple[str, float]:
        answer = till.shop.call("/pos/v2/evaluate", basket(items=[item(articleNumber="TRIGGER")]))
        (granted,) = answer.json()["grantedItems"]
        return granted["priceSource"], granted["referencePrice"]["value"]

    for price in (7.5, "8.25", 9):
        till.store({"articleNumber": "GIFT", "basePrice": price, "currency": "EUR"})
        assert worth() == ("MASTER_DATA", float(price))


def test_a_batch_is_as_fresh_once_it_has_ended(till: Till) -> None:
    number = till.number()
    assert _priced(till.shop, articleNumber=number)["discounts"] == []
    till.ended(till.hand_in([{"articleNumber": number, "articleGroupId": "SALE"}]))
    assert _priced(till.shop, articleNumber=number)["lineDiscount"]["value"] == 5.0


def test_articles_of_another_tenant_do_not_affect_prices(till: Till) -> None:
    number = till.number()
    till.store({"articleNumber": number, "articleGroupId": "SALE"}, client="neighbour")
    assert _priced(till.shop, articleNumber=number)["discounts"] == []


def test_several_tills_import_the_same_articles_at_once(till: Till) -> None:
    """Each in a different order, so that each holds a lock that another waits for."""
    numbers = [till.number() for _ in range(300)]
    till.shop.token()

    def send(place: int) -> httpx2.Response:
        turned = numbers[place * 37 :] + numbers[: place * 37]
        order = turned[::-1] if place % 2 else turned
        articles = [{"articleNumber": one, "name": f"by till {place}", "ean": one} for one in order]
        return till.shop.call("/pos/articles/import", {"articles": articles})

    with ThreadPoolExecutor(TILLS) as pool:
        answers = list(pool.map(send, range(TILLS)))
    assert [one.status_code for one in answers] == [200] * TILLS
    told = [one.json() for one in answers]
    assert sum(one["imported"] for one in told) == len(numbers), "each article is new to one till"
    assert sum(one["updated"] for one in told) == len(numbers) * (TILLS - 1)
    assert sum(one["failed"] for one in told) == 0
    ids = {(result["articleNumber"], result["id"]) for one in told for result in one["results"]}
    assert len(ids) == len(numbers), "every till is told the same IDs"
    for number, article_id in sorted(ids)[::50]:
        stored = till.article(number)
        assert stored is not None
        assert stored["ID"] == article_id


def test_tills_and_batches_at_once_leave_each_article_once(till: Till) -> None:
    numbers = [till.number() for _ in range(400)]
    articles = [{"articleNumber": one} for one in numbers]
    till.shop.token()

    def send(place: int) -> httpx2.Response:
        address = "import-batch" if place % 2 else "import"
        return till.shop.call(f"/pos/articles/{address}", {"articles": articles[:: -1 if place % 3 else 1]})

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(send, range(6)))
    assert sorted(one.status_code for one in answers) == [200, 200, 200, 202, 202, 202]
    jobs = [till.ended(one.json()["jobId"]) for one in answers if one.status_code == 202]
    assert [(one["status"], one["failedArticles"]) for one in jobs] == [("SUCCEEDED", 0)] * 3
    assert till.article(numbers[0]) is not None
    assert till.article(numbers[-1]) is not None


def test_a_till_prices_while_a_thousand_articles_come_in(till: Till) -> None:
    articles = [{"articleNumber": till.number(), "name": "Rye", "basePrice": 1} for _ in range(1000)]
    till.shop.token()
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(till.shop.call, "/pos/articles/import", {"articles": articles})
        priced = 0
        while not importing.done():
            assert _priced(till.shop)["lineDiscount"]["value"] == 1.0
            priced += 1
    told = importing.result().json()
    assert (told["imported"], told["failed"], len(told["results"])) == (1000, 0, 1000)
    assert priced > 0
    again = till.store(*articles)
    assert (again["imported"], again["updated"]) == (0, 1000)
