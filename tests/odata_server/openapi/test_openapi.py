"""The OpenAPI document: valid, complete, and as strict as the service it describes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

from odata_server.edm import Edm
from odata_server.errors import ODataError
from odata_server.openapi.document import render_openapi
from odata_server.payload import decode_entity
from odata_server.source import Key
from tests.odata_server import bookshop_edm
from tests.odata_server.csdl.library import library

BOOKSHOP = bookshop_edm.EDM
GUID = "01234567-89ab-cdef-0123-456789abcdef"


def render(edm: Edm, **options: Any) -> dict[str, Any]:
    return render_openapi(edm, title="Books", version="1.2.3", base_url="https://example.com/books/", **options)


@cache
def _bookshop() -> dict[str, Any]:
    return render(BOOKSHOP)


def _validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]}, format_checker=FormatChecker())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def _methods(document: dict[str, Any], path: str) -> set[str]:
    return set(document["paths"][path]) - {"parameters"}


def test_the_document_is_openapi() -> None:
    document = render(library(), extras={"minorVersion": {"type": "integer"}})
    assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


@pytest.mark.parametrize("edm", [library(), BOOKSHOP], ids=["library", "bookshop"])
def test_every_operation_id_is_unique_and_every_schema_is_valid(edm: Edm) -> None:
    document = render(edm)
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    for name, schema in document["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert schema, name


def test_the_same_model_gives_the_same_document() -> None:
    assert json.dumps(render(library())) == json.dumps(render(library()))


def test_every_component_is_used_and_every_reference_has_its_component() -> None:
    document = _bookshop()
    text = json.dumps(document)
    for kind in ("parameters", "responses", "schemas"):
        for name in document["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text or name.endswith("-input"), (kind, name)
    for used in {part.split('"')[0] for part in text.split('"#/components/')[1:]}:
        kind, name = used.split("/")
        assert name in document["components"][kind]


def test_no_class_of_a_generated_client_has_the_name_of_one_of_its_members() -> None:
    """Generators in Python make variables of both: Error with its member error did not pass a type checker."""
    for name, schema in _bookshop()["components"]["schemas"].items():
        assert name.lower() not in schema.get("properties", {}), name


def test_a_writable_set_has_all_its_addresses() -> None:
    document = _bookshop()
    methods = {
        path: _methods(document, path)
        for path in document["paths"]
        if path.startswith(("/Books(", "/Books/", "/Books"))
    }
    book = "/Books({ID})"
    assert methods["/Books"] == {"get", "post"}
    assert methods["/Books/$count"] == {"get"}
    assert methods[book] == {"get", "patch", "put", "delete"}
    assert methods[f"{book}/author"] == {"get", "patch", "put", "delete"}
    assert methods[f"{book}/author/$ref"] == {"get", "put", "delete"}
    assert methods[f"{book}/chapters"] == {"get", "post"}
    assert methods[f"{book}/chapters/$count"] == {"get"}
    assert methods[f"{book}/chapters/$ref"] == {"get", "post", "delete"}
    assert methods[f"{book}/reviews/$ref"] == {"get", "post", "delete"}
    assert methods[f"{book}/{{property}}"] == {"get", "put", "delete"}
    assert methods[f"{book}/{{property}}/$value"] == {"get", "put", "delete"}
    assert _methods(document, "/Shops({ID})/{property}") == {"get", "put", "patch", "delete"}, "it has an address"
    assert _methods(document, "/Shops({ID})/{property}/$value") == {"get", "put", "delete"}


def test_an_answer_links_to_the_operations_on_its_entity() -> None:
    paths = _bookshop()["paths"]
    made = paths["/Books({ID})/translations"]["post"]["responses"]["201"]["links"]
    key = {"book_ID": "$response.body#/book_ID", "language": "$response.body#/language"}
    assert {name: (one["operationId"], one["parameters"]) for name, one in made.items()} == {
        name: (f"Translations.{name}", key) for name in ("read", "update", "replace", "delete")
    }
    listed = paths["/Countries"]["get"]["responses"]["200"]["links"]
    assert listed == {"read": {"operationId": "Countries.read", "parameters": {"code": "$response.body#/value/0/code"}}}


def test_operations_for_odata_clients_only_can_be_left_out() -> None:
    document = render(BOOKSHOP, whole=False)
    book = "/Books({ID})"
    below = {path: _methods(document, path) for path in document["paths"] if path.startswith(book)}
    assert below[book] == {"get", "patch", "put", "delete"}
    assert below[f"{book}/author"] == {"get"}
    assert below[f"{book}/chapters"] == {"get", "post"}
    assert below[f"{book}/chapters/$count"] == {"get"}
    assert below[f"{book}/order"] == {"post"}
    assert f"{book}/Bookshop.order" not in below
    assert not [path for path in document["paths"] if path.endswith(("$ref", "$value", "{property}"))]
    assert {"/", "/$metadata", "/$batch", "/Books/$count"} <= set(document["paths"])
    left = {path: item for path, item in _bookshop()["paths"].items() if path in document["paths"]}
    batch = document["paths"].pop("/$batch")["post"]
    assert list(batch["requestBody"]["content"]) == ["application/json"], "no generator writes parts in MIME"
    for path, item in document["paths"].items():
        assert item == {member: left[path][member] for member in item}


def test_every_operation_has_a_tag_that_is_declared_and_a_summary() -> None:
    document = _bookshop()
    declared = {tag["name"] for tag in document["tags"]}
    for path, _, operation in operations(document):
        assert operation["summary"], path
        (tag,) = operation["tags"]
        assert tag in declared, path
    tags = {
        path: {operation["tags"][0] for _, _, operation in operations({"paths": {path: document["paths"][path]}})}
        for path in ("/", "/$batch", "/closeShop", "/Books")
    }
    assert tags == {"/": {"Service"}, "/$batch": {"Service"}, "/closeShop": {"Service"}, "/Books": {"Books"}}


def test_a_read_only_set_has_no_operations_that_write() -> None:
    document = _bookshop()
    methods = set()
    for path in document["paths"]:
        if path.startswith("/Countries"):
            methods |= _methods(document, path)
    assert methods == {"get"}


def test_operations_stand_at_both_of_their_addresses() -> None:
    paths = _bookshop()["paths"]
    for name in ("order", "Bookshop.order"):
        assert "post" in paths[f"/Books({{ID}})/{name}"]
    for name in ("reprice", "Bookshop.reprice"):
        assert "post" in paths[f"/Books/{name}"]
    price = paths["/Books({ID})/priceIn(currency='{currency}',rate={rate})"]
    assert [one["name"] for one in price["parameters"]] == ["ID", "currency", "rate"]
    assert set(paths["/greet(name='{name}')"]["get"]["responses"]["200"]["content"]) == {
        "application/json",
        "text/plain",
    }
    assert "post" in paths["/closeShop"]


def test_a_key_of_several_properties_names_each() -> None:
    item = _bookshop()["paths"]["/OrderItems(order_ID={order_ID},position={position})"]
    assert [(one["name"], one["schema"]["type"]) for one in item["parameters"]] == [
        ("order_ID", "string"),
        ("position", "integer"),
    ]


# ---- bodies -------------------------------------------------------------------------------------------------------


def _no_reference(text: str, navigation: object) -> Key:
    raise AssertionError(text)


WHOLE = {"isbn": "9783161484100", "title": "It", "price": 9.99, "language": "en"}


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ({}, True),
        ({"title": "x" * 200}, True),
        ({"title": "x" * 201}, False),
        ({"title": None}, False),
        ({"title": 7}, False),
        ({"description": None}, True),
        ({"price": "9.99"}, True),
        ({"price": "9.999"}, False),
        ({"price": "ten"}, False),
        ({"price": 10_000_000}, False),
        ({"price": 9_999_999.99}, True),
        ({"price": None}, False),
        ({"purchasePrice": 1}, True),
        ({"stock": 2**31}, False),
        ({"stock": 1.5}, False),
        ({"stock": "1"}, False),
        ({"sold": "123456789012345"}, True),
        ({"rating": "INF"}, True),
        ({"rating": "much"}, False),
        ({"rating": 1e3}, True),
        ({"published": "2020-02-29T12:00:00Z"}, True),
        ({"published": "2020-02-29T12:00:00.123+02:00"}, True),
        ({"published": "2020-02-29"}, False),
        ({"format": "EBook"}, True),
        ({"format": "Scroll"}, False),
        ({"available": False}, True),
        ({"available": "false"}, False),
        ({"tags": ["a", "b"]}, True),
        ({"tags": [None]}, False),
        ({"tags": ["x" * 31]}, False),
        ({"tags": None}, False),
        ({"thumbnail": "AAEC"}, True),
        ({"thumbnail": "!"}, False),
        ({"ID": GUID}, True),
        ({"ID": "7"}, False),
        ({"nonsense": 1}, False),
        ({"@odata.type": "#Bookshop.Book"}, True),
        ({"chapters": [{"number": 1, "title": "One", "sections": [{"heading": "A"}]}]}, True),
        ({"chapters": [{"number": 1, "title": "One", "nonsense": 1}]}, False),
        ({"chapters": {"number": 1, "title": "One"}}, False),
        ({"blurb": {"text": "Read it"}}, True),
        ({"blurb": None}, True),
        ({"blurb": [{"text": "Read it"}]}, False),
        ({"translations": [{"language": "de", "title": "Es"}]}, True),
    ],
)
def test_the_schema_of_a_create_accepts_what_the_decoder_accepts(change: dict[str, Any], accepted: bool) -> None:
    body = WHOLE | change
    document = _bookshop()
    schema = document["paths"]["/Books"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    try:
        book = BOOKSHOP.entity_types["Book"]
        decode_entity(BOOKSHOP, book, json.dumps(body).encode(), for_create=True, resolve_reference=_no_reference)
        decoded = True
    except ODataError:
        decoded = False
    assert (decoded, _validator(document, schema).is_valid(body)) == (accepted, accepted)


def _body(document: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    schema: dict[str, Any] = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    return schema


def test_a_create_requires_the_properties_that_have_no_default() -> None:
    document = _bookshop()
    assert document["components"]["schemas"]["Book-create"]["required"] == ["isbn", "title", "price"]
    assert document["components"]["schemas"]["Chapter-create"]["required"] == ["book_ID", "number", "title"]
    assert document["components"]["schemas"]["Book.chapters-create"]["required"] == ["number", "title"]
    assert document["components"]["schemas"]["OrderItem-create"]["required"] == ["order_ID", "position", "book_ID"]
    assert _body(document, "/Books({ID})/chapters", "post") == {"$ref": "#/components/schemas/Book.chapters-create"}


def test_an_update_may_leave_out_anything_and_a_replacement_may_not() -> None:
    document = _bookshop()
    patch, put = (_validator(document, _body(document, "/Books({ID})", method)) for method in ("patch", "put"))
    for body, patched, replaced in [
        ({}, True, False),
        ({"title": "New", "price": 1}, True, True),
        ({"isbn": "1"}, False, False),
        ({"ID": GUID}, False, False),
        ({"chapters": [{"ID": GUID, "title": "Better"}]}, True, False),
    ]:
        assert (patch.is_valid(body), put.is_valid(body)) == (patched, replaced), body


def test_computed_properties_are_read_only_and_secrets_write_only() -> None:
    schemas = _bookshop()["components"]["schemas"]
    assert schemas["Book"]["properties"]["createdAt"]["readOnly"]
    assert "createdAt" not in schemas["Book-create"]["properties"]
    assert "purchasePrice" not in schemas["Book"]["properties"]
    assert schemas["Book-create"]["properties"]["purchasePrice"]["writeOnly"]


def test_a_generated_secret_appears_only_in_the_answer_to_the_create() -> None:
    document = render(BOOKSHOP, told_once={"Book": ["purchasePrice"]})
    created = document["paths"]["/Books"]["post"]["responses"]["201"]["content"]["application/json"]["schema"]
    read = document["paths"]["/Books({ID})"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    answer = ROW | {"purchasePrice": 1}
    assert (_validator(document, created).is_valid(answer), _validator(document, read).is_valid(answer)) == (
        True,
        False,
    )
    assert not _validator(document, created).is_valid(answer | {"nonsense": 1})


# ---- answers ------------------------------------------------------------------------------------------------------

ROW = {
    "@etag": 'W/"1"',
    "ID": GUID,
    "title": "It",
    "price": 9.99,
    "sold": 3,
    "description": None,
    "published": "2020-02-29T12:00:00Z",
    "tags": ["a"],
    "author": {"ID": GUID, "name": "A", "born": "1947-09-21", "email": None},
    "genre": None,
    "chapters@count": 1,
    "chapters": [{"ID": GUID, "number": 1}],
}


@pytest.mark.parametrize(
    ("answer", "valid"),
    [
        ({"@context": "$metadata#Books", "@count": 1, "value": [ROW], "minorVersion": 13}, True),
        ({"@odata.context": "$metadata#Books", "value": [], "minorVersion": 13, "@odata.nextLink": "Books?x"}, True),
        ({"value": [ROW]}, False),
        ({"value": [ROW | {"purchasePrice": 1}], "minorVersion": 13}, False),
        ({"value": [ROW | {"title": None}], "minorVersion": 13}, False),
        ({"value": [ROW | {"price": "9.99"}], "minorVersion": 13}, False),
        ({"value": [ROW | {"ID": "x"}], "minorVersion": 13}, False),
        ({"value": ROW, "minorVersion": 13}, False),
        ({"value": [], "minorVersion": 13, "more": 1}, False),
    ],
)
def test_an_answer_that_differs_from_the_model_is_found(answer: dict[str, Any], valid: bool) -> None:
    document = render(BOOKSHOP, extras={"minorVersion": {"type": "integer"}})
    schema = document["paths"]["/Books"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert _validator(document, schema).is_valid(answer) is valid


def test_every_kind_of_answer_holds_what_the_service_adds() -> None:
    paths = render(BOOKSHOP, extras={"minorVersion": {"type": "integer"}})["paths"]
    for path in ("/Books({ID})/author/$ref", "/Books({ID})/{property}"):
        schema = paths[path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert "minorVersion" in schema["required"]
        assert "minorVersion" in schema["properties"]


def test_errors_are_answered_as_the_host_says() -> None:
    problem = {"type": "object", "required": ["title"]}
    document = render(
        BOOKSHOP,
        error_content={"application/problem+json": {"$ref": "#/components/schemas/Problem"}},
        own_schemas={"Problem": problem},
    )
    assert list(document["components"]["responses"]["409"]["content"]) == ["application/problem+json"]
    responses = document["paths"]["/Books"]["post"]["responses"]
    assert {"400", "401", "403", "404", "405", "409", "412", "413", "429"} <= set(responses)


def test_an_operation_answers_with_the_status_the_host_says() -> None:
    document = render(BOOKSHOP, statuses={"order": 202})
    assert "202" in document["paths"]["/Books({ID})/order"]["post"]["responses"]
