"""The POS service describes itself: service document, metadata and OpenAPI, over HTTP."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

from promenade.web.http.numbers import BadNumber, amount_thousandths, price_hundredths, quantity_thousandths
from promenade.web.services.pos_metadata import pos_edm
from tests.kit.annotation_targets import inlined
from tests.odata_server.csdl.checker import EDM, EDMX, faults
from tests.web.conftest import Shop, basket, fault, item

Members = dict[str, tuple[str, str | None]]
_TEXT, _KEY = "Edm.String", ("Edm.Guid", None)
_SHOWN: Members = {"code": (_TEXT, "64"), "customerId": (_TEXT, "50")}
COUPON_ACTIONS: dict[str, Members] = {
    "validateCoupon": _SHOWN | {"transactionId": (_TEXT, "50")},
    "reserveCoupon": _SHOWN | {"transactionId": (_TEXT, "50")},
    "redeemCoupon": {"reservationId": _KEY, "transactionId": (_TEXT, "50")},
    "cancelCoupon": {"reservationId": _KEY},
    "activateCoupon": _SHOWN,
    "issueCoupons": {
        "couponTypeId": _KEY,
        "couponTypeName": (_TEXT, "255"),
        "customerId": (_TEXT, "50"),
        "customerIds": (f"Collection({_TEXT})", "50"),
        "reason": (_TEXT, "255"),
        "metadata": ("PosService.JsonObject", None),
    },
}

SALE_ACTIONS: dict[str, Members] = {
    "cancel": {"transactionId": (_TEXT, "50"), "transactionCounter": ("Edm.Int32", None), "reason": (_TEXT, "255")},
}

ARTICLE_ACTIONS: dict[str, Members] = {
    "importArticles": {"articles": ("Collection(PosService.Article)", None)},
    "importArticlesBatch": {"articles": ("Collection(PosService.Article)", None), "name": (_TEXT, "255")},
}

PLAIN_ACTIONS = SALE_ACTIONS | COUPON_ACTIONS | ARTICLE_ACTIONS


@pytest.fixture(scope="module")
def openapi(shop: Shop) -> dict[str, Any]:
    answer = shop.http.get("/pos/openapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    document: dict[str, Any] = answer.json()
    return document


def _schema_of(openapi: dict[str, Any], name: str) -> Draft202012Validator:
    schema = {"$ref": f"#/components/schemas/{name}", "components": openapi["components"]}
    return Draft202012Validator(schema, format_checker=FormatChecker())


# ---- OData --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/pos", "/pos/"])
def test_the_service_document_has_no_sets_and_speaks_4_0_by_default(shop: Shop, path: str) -> None:
    answer = shop.call(path)
    assert (answer.status_code, answer.headers["odata-version"]) == (200, "4.0")
    assert answer.json() == {"@odata.context": f"{shop.url}/pos/$metadata", "value": []}


@pytest.mark.parametrize(("asked", "spoken"), [("4.01", "4.01"), ("4.0", "4.0"), ("5.0", "4.0"), ("x", "4.0")])
def test_the_version_follows_the_rule_of_every_pos_address(shop: Shop, asked: str, spoken: str) -> None:
    for path in ("/pos", "/pos/$metadata"):
        assert shop.call(path, OData_MaxVersion=asked).headers["odata-version"] == spoken
    priced = shop.call("/pos/simulate", basket(), OData_MaxVersion=asked)
    assert priced.headers["odata-version"] == spoken


@pytest.mark.parametrize("version", ["4.0", "4.01"])
def test_the_metadata_keeps_every_rule_of_csdl(shop: Shop, version: str) -> None:
    answer = shop.call("/pos/$metadata", OData_MaxVersion=version)
    assert answer.headers["content-type"] == "application/xml"
    assert faults(answer.content, version) == []


def test_the_actions_can_be_called_at_the_root(shop: Shop) -> None:
    schema = inlined(ET.fromstring(shop.call("/pos/$metadata").content)).find(f"{EDMX}DataServices/{EDM}Schema")
    assert schema is not None
    assert schema.attrib["Namespace"] == "PosService"
    priced_and_sold = ("evaluate", "simulate", "prices", "confirm")
    imports = {one.get("Name"): one.get("Action") for one in schema.iter(f"{EDM}ActionImport")}
    assert imports == {name: f"PosService.{name}" for name in (*priced_and_sold, *PLAIN_ACTIONS)}
    messages = {
        action.get("Name"): (
            [(one.get("Name"), one.get("Type")) for one in action.findall(f"{EDM}Parameter")],
            [one.get("Type") for one in action.findall(f"{EDM}ReturnType")],
        )
        for action in schema.findall(f"{EDM}Action")
        if action.get("Name") in priced_and_sold
    }
    priced = [("request", "PosService.EvaluateRequest")], ["PosService.EvaluateResponseV2"]
    assert messages == {
        "evaluate": priced,
        "simulate": priced,
        "prices": ([("request", "PosService.PricesRequest")], ["PosService.PricesResponse"]),
        "confirm": ([("request", "PosService.ConfirmRequest")], ["PosService.ConfirmResponse"]),
    }


@pytest.mark.parametrize(("name", "members"), PLAIN_ACTIONS.items())
def test_actions_without_an_envelope_take_their_members_as_parameters(shop: Shop, name: str, members: Members) -> None:
    schema = inlined(ET.fromstring(shop.call("/pos/$metadata").content)).find(f"{EDMX}DataServices/{EDM}Schema")
    assert schema is not None
    action = next(one for one in schema.findall(f"{EDM}Action") if one.get("Name") == name)
    parameters = {one.get("Name"): (one.get("Type"), one.get("MaxLength")) for one in action.findall(f"{EDM}Parameter")}
    assert parameters == members
    returned = action.find(f"{EDM}ReturnType")
    assert returned is not None
    assert returned.get("Type") == f"PosService.{name[0].upper()}{name[1:]}Response"


def test_the_metadata_is_served_as_json_on_request(shop: Shop) -> None:
    by_option = shop.call("/pos/$metadata?$format=json")
    by_header = shop.call("/pos/$metadata", accept="application/json")
    assert by_option.headers["content-type"] == by_header.headers["content-type"] == "application/json"
    assert by_option.json() == by_header.json()
    assert by_option.json()["PosService"]["BasketItem"]["articleNumber"]["$MaxLength"] == 50
    assert fault(shop.call("/pos/$metadata", accept="image/png"))[:2] == (406, "NOT_ACCEPTABLE")


def test_unchanged_metadata_is_answered_with_304(shop: Shop) -> None:
    for path in ("/pos/$metadata", "/pos/openapi.json"):
        etag = shop.call(path).headers["etag"]
        again = shop.call(path, If_None_Match=f'"other", {etag}')
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert not [name for name in again.headers if name.startswith("content-")]
        assert shop.call(path, If_None_Match='"other"').status_code == 200


def test_head_answers_without_a_body(shop: Shop) -> None:
    for path in ("/pos", "/pos/", "/pos/$metadata", "/pos/openapi.json"):
        answer = shop.http.head(path, headers={"authorization": f"Bearer {shop.token()}"})
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-length"] == shop.call(path).headers["content-length"]


def test_the_metadata_needs_a_token_and_the_openapi_document_does_not(shop: Shop) -> None:
    for path in ("/pos", "/pos/", "/pos/$metadata"):
        assert fault(shop.http.get(path))[:2] == (401, "UNAUTHORIZED")
        assert fault(shop.call(path, client="planner"))[:2] == (403, "MISSING_SCOPE")
        assert shop.call(path, client="administrator").status_code == 200
        refused = shop.call(path, {})
        assert fault(refused)[:2] == (405, "METHOD_NOT_ALLOWED")
        assert refused.headers["allow"] == "GET, HEAD"
    assert shop.http.get("/pos/openapi.json").status_code == 200


# ---- facets are those of the decoder ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_name", "field", "check"),
    [
        ("BasketItem", "quantity", quantity_thousandths),
        ("BasketItem", "unitPrice", price_hundredths),
        ("MoneyInput", "value", amount_thousandths),
    ],
)
def test_the_declared_number_ranges_are_those_accepted(type_name: str, field: str, check: Any) -> None:
    prop = pos_edm().complex_types[type_name].property_by_name[field]
    assert prop.precision is not None
    assert prop.scale is not None
    largest = (Decimal(10) ** prop.precision - 1).scaleb(-prop.scale)
    check(largest)
    for refused in (largest + Decimal(1).scaleb(-prop.scale), Decimal(1).scaleb(-prop.scale - 1)):
        with pytest.raises(BadNumber):
            check(refused)
    is_signed = not any(one.term == "Validation.Minimum" for one in prop.annotations)
    if is_signed:
        check(-largest)
    else:
        with pytest.raises(BadNumber):
            check(-largest)


def test_the_declared_lengths_and_counts_are_those_accepted(shop: Shop) -> None:
    types = pos_edm().complex_types
    for name, prop in types["BasketItem"].property_by_name.items():
        if prop.max_length is not None:
            for length, status in ((prop.max_length, 200), (prop.max_length + 1, 400)):
                body = basket(items=[item(**{name: "x" * length})])
                assert shop.call("/pos/simulate", body).status_code == status, (name, length)
    coupons = types["EvaluateRequest"].property_by_name["coupons"]
    most = next(one.value for one in coupons.annotations if one.term == "Validation.MaxItems")
    assert isinstance(most, int)
    for count, status in ((most, 200), (most + 1, 400)):
        body = basket(coupons=[{"code": f"C{number}"} for number in range(count)])
        assert shop.call("/pos/simulate", body).status_code == status


# ---- OpenAPI ------------------------------------------------------------------------------------------------------


def test_the_openapi_document_is_valid_and_of_our_version(openapi: dict[str, Any]) -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(openapi).iter_errors()] == []
    assert (openapi["openapi"], openapi["info"]["version"]) == ("3.1.0", "1.14.0")


def test_every_address_of_the_document_is_served(shop: Shop) -> None:
    whole = shop.http.get("/pos/openapi-all.json").json()
    assert len(whole["paths"]) == 53
    for path, methods in whole["paths"].items():
        address = "/pos" + path.replace("{transactionId}", "t").replace("{transactionCounter}", "1")
        for method in methods:
            answer = shop.http.request(method, address, headers={"content-type": "application/json"})
            assert fault(answer)[:2] == (401, "UNAUTHORIZED"), address


def test_the_document_names_the_status_of_an_iteration_that_is_not_there(shop: Shop, openapi: dict[str, Any]) -> None:
    header = {"transactionId": "never seen", "transactionCounter": 1}
    sale = {"header": header, "transactionId": "never seen", "appliedPromotions": []}
    refused = shop.call("/pos/v2/confirm", {"request": sale})
    assert refused.status_code == 404
    assert "404" in openapi["paths"]["/v2/confirm"]["post"]["responses"]


def _strict(schema: Any) -> Any:
    """Return the response schema, closed to properties it does not name."""
    if isinstance(schema, dict):
        closed = {key: _strict(value) for key, value in schema.items()}
        return closed | {"additionalProperties": False} if "properties" in schema and "anyOf" not in schema else closed
    return [_strict(one) for one in schema] if isinstance(schema, list) else schema


def test_answers_have_exactly_the_documented_members(shop: Shop, openapi: dict[str, Any]) -> None:
    strict = {**openapi, "components": {**openapi["components"], "schemas": _strict(openapi["components"]["schemas"])}}
    lines = [item(), item(quantity=-1), item(articleNumber="B-2", lineReference="x")]
    body = basket(items=lines, coupons=[{"code": "NONE"}], includeMissedPromotions=True)
    for name in ("simulate", "evaluate"):
        answer = shop.call(f"/pos/{name}", body).json()
        assert [str(error) for error in _schema_of(strict, "EvaluateResponseV2").iter_errors(answer)] == []
    header = {key: answer["meta"]["header"][key] for key in ("transactionId", "transactionCounter")}
    sale = {"header": header, "transactionId": header["transactionId"], "appliedPromotions": []}
    confirmed = shop.call("/pos/confirm", {"request": sale}).json()
    assert [str(error) for error in _schema_of(strict, "ConfirmResponse").iter_errors(confirmed)] == []
    done = shop.call(f"/pos/v2/transactions/{header['transactionId']}/{header['transactionCounter']}/side-effects")
    assert [str(error) for error in _schema_of(strict, "SideEffectsResult").iter_errors(done.json())] == []
    alive = shop.call("/pos/heartbeat").json()
    assert [str(error) for error in _schema_of(strict, "Heartbeat").iter_errors(alive)] == []
    refused = shop.call("/pos/evaluate", {"request": {"items": []}})
    assert refused.status_code == 400
    assert [str(error) for error in _schema_of(openapi, "ErrorResponse").iter_errors(refused.json())] == []


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({}, True),
        ({"items": []}, False),
        ({"posGroupCode": "x" * 21}, False),
        ({"items": [item(quantity=0)]}, False),
        ({"items": [item(quantity="-0.00")]}, False),
        ({"items": [item(quantity="1.5")]}, True),
        ({"items": [item(quantity="1.5555")]}, False),
        ({"items": [item(unitPrice=-1)]}, False),
        ({"items": [item(unitPrice=10**13)]}, False),
        ({"items": [item(ean=None)]}, True),
        ({"items": [{"articleNumber": "A-1"}]}, False),
        ({"coupons": ["C"]}, False),
        ({"timestamp": "2026-05-01T10:00:00Z"}, True),
        ({"timestamp": "yesterday"}, False),
        ({"header": {"transactionCounter": 1}}, False),
        ({"header": {"headerReference": "x" * 101}}, False),
        ({"manualDiscount": {"enabled": None}}, False),
        ({"customer": {"loyalty": {"points": -1}}}, False),
        ({"userDefinedFields": [{"key": "", "value": "x"}]}, False),
        ({"unknown": 1}, True),
    ],
)
def test_the_document_accepts_the_requests_that_the_service_accepts(
    shop: Shop, openapi: dict[str, Any], changes: dict[str, Any], accepted: bool
) -> None:
    body = basket(**changes)
    served = shop.call("/pos/simulate", body).status_code == 200
    described = _schema_of(openapi, "EvaluateRequest").is_valid(json.loads(json.dumps(body["request"])))
    assert (served, described) == (accepted, accepted)
