"""Actions and functions: how they are addressed, their parameters, and their results."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.odata_server.bookshop import book, order
from tests.odata_server.service.shelves import Client

EMMA = f"Books({book(2)})"
NOBODY = "Books(99999999-0000-4000-8000-000000000000)"


@pytest.mark.parametrize(
    "path",
    [
        f"{EMMA}/Bookshop.priceIn(currency='USD',rate=1.5)",
        f"{EMMA}/priceIn(currency='USD',rate=1.5)",
        f"{EMMA}/priceIn(rate=@r,currency=@c)?@r=1.5&@c='USD'",
        f"{EMMA}/priceIn?currency='USD'&rate=1.5",
        f"{EMMA}/Bookshop.priceIn?@currency='USD'&@rate=1.5",
    ],
)
async def test_functions_accept_parameters_in_every_form(reader: Client, path: str) -> None:
    answer = await reader("GET", path)
    assert answer.json == {"@context": "/shop/$metadata#Edm.Decimal", "value": 3}
    (call,) = reader.source.calls
    assert call.parameters == {"currency": "USD", "rate": Decimal("1.5")}
    assert (call.binding, call.entity_set.name) == ({"ID": book(2)}, "Books")


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        (f"{EMMA}/priceIn(discount=0.5)", {"discount": Decimal("0.5")}),
        (f"{EMMA}/Bookshop.priceIn?discount=0.5", {"discount": Decimal("0.5")}),
        (f"{EMMA}/priceIn(discount=@d)?@d=0.5", {"discount": Decimal("0.5")}),
        (f"{EMMA}/priceIn?@discount=0.5", {"discount": Decimal("0.5")}),
        ("greet(name='Bo')", {"name": "Bo"}),
        ("greet(title='Ms',name='Bo')", {"title": "Ms", "name": "Bo"}),
        ("greet(title='Ms',word='Hi',name='Bo')", {"title": "Ms", "word": "Hi", "name": "Bo"}),
        ("greet?name='Bo'&title='Ms'", {"title": "Ms", "name": "Bo"}),
    ],
)
async def test_the_overload_is_called_that_has_the_parameters(
    reader: Client, path: str, parameters: dict[str, object]
) -> None:
    assert (await reader("GET", path)).status == 200
    (call,) = reader.source.calls
    assert call.parameters == parameters
    assert {one.name for one in call.operation.parameters} >= parameters.keys()


async def test_decimals_of_results_are_quoted_on_request(reader: Client) -> None:
    accept = "application/json;IEEE754Compatible=true"
    found = await reader.get(f"{EMMA}/priceIn(currency='USD',rate=1.25)", Accept=accept)
    assert found["value"] == "2.50"


async def test_operations_return_results_of_every_type(reader: Client) -> None:
    assert (await reader.get("greet(name='Bo''b')"))["value"] == "Hello Bo'b"
    bare = await reader("GET", "greet(name='Bob')", Accept="text/plain")
    assert (bare.headers["Content-Type"], bare.body) == ("text/plain;charset=utf-8", b"Hello Bob")
    report = await reader.get("stockReport()")
    assert report == {
        "@context": "/shop/$metadata#Collection(Bookshop.StockLine)",
        "value": [{"title": "Emma", "stock": 0, "value": None}],
    }
    cheapest = await reader("GET", "Books/cheapest?$select=title")
    assert cheapest.json["@context"] == "/shop/$metadata#Books(title)/$entity"
    assert (cheapest.json["title"], cheapest.headers["ETag"]) == ("Beowulf", 'W/"1"')


async def test_actions_are_called_with_their_parameters_and_return_their_results(shop: Client) -> None:
    ordered = await shop("POST", f"{EMMA}/Bookshop.order", {"quantity": 2})
    assert (ordered.status, ordered.headers["X-Order"]) == (201, "1")
    assert (ordered.json["@context"], ordered.json["ID"]) == ("/shop/$metadata#Orders/$entity", order(1))
    assert (await shop("POST", f"{EMMA}/restock", {"quantity": 2})).status == 204
    assert (await shop("POST", "closeShop", {"reason": "night"})).json["value"] == "night"
    for body in (b"", {}, {"reason": None}, b"null"):
        assert (await shop("POST", "closeShop", body)).status == 204
    assert [call.operation.name for call in shop.source.calls][:3] == ["order", "restock", "closeShop"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", f"{EMMA}/restock", {}, 400, "REQUIRED"),
        ("POST", f"{EMMA}/restock", {"quantity": None}, 400, "NOT_NULLABLE"),
        ("POST", f"{EMMA}/restock", {"quantity": "2"}, 400, "TYPE_MISMATCH"),
        ("POST", f"{EMMA}/restock", {"quantity": 2, "x": 1}, 400, "UNKNOWN_PARAMETER"),
        ("POST", f"{EMMA}/restock", [], 400, "MALFORMED_BODY"),
        ("POST", f"{EMMA}/restock(quantity=2)", {}, 400, "URI_SYNTAX"),
        ("POST", f"{NOBODY}/restock", {"quantity": 2}, 404, "NOT_FOUND"),
        ("GET", f"{NOBODY}/priceIn(currency='USD',rate=1)", None, 404, "NOT_FOUND"),
        ("GET", f"{EMMA}/priceIn(currency='USD')", None, 400, "REQUIRED"),
        ("GET", f"{EMMA}/priceIn(currency='USD',discount=1)", None, 400, "UNKNOWN_PARAMETER"),
        ("GET", f"{EMMA}/priceIn()", None, 400, "UNKNOWN_PARAMETER"),
        ("GET", "greet", None, 400, "UNKNOWN_PARAMETER"),
        ("GET", "greet(word='Hi')", None, 400, "MULTIPLE_ERRORS"),
        ("GET", "greet(name='Bo',word='Hi')", None, 400, "REQUIRED"),
        ("GET", "greet(other=1)", None, 400, "UNKNOWN_PARAMETER"),
        ("GET", f"{EMMA}/priceIn(currency='USDX',rate=1)", None, 400, "TOO_LONG"),
        ("GET", f"{EMMA}/priceIn(currency=USD,rate=1)", None, 400, None),
        ("GET", f"{EMMA}/priceIn(currency='USD',currency='USD',rate=1)", None, 400, None),
        ("GET", f"{EMMA}/priceIn('USD')", None, 400, None),
        ("GET", "greet(name='x')/length", None, 404, "NOT_FOUND"),
        ("GET", "greet(name='x')/$value", None, 501, "NOT_IMPLEMENTED"),
        ("GET", "greet(name='x')?$top=1", None, 400, "OPTION_NOT_APPLICABLE"),
        ("GET", "Books/$filter(stock gt 5)/cheapest()".replace(" ", "%20"), None, 501, "NOT_IMPLEMENTED"),
        ("GET", "Genres(1)/books/cheapest()", None, 501, "NOT_IMPLEMENTED"),
        ("POST", "Books/reprice", {"percent": 1}, 409, "OUT_OF_STOCK"),
    ],
)
async def test_invalid_calls_of_operations_are_refused(
    shop: Client, method: str, path: str, body: object, status: int, code: str | None
) -> None:
    answer = await shop(method, path, body)
    assert answer.status == status
    assert code is None or answer.code == code
