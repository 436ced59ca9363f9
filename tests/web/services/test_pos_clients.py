"""The OpenAPI document of the POS service as a generator of clients reads it: names, types, examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from promenade.web.services.pos_examples import POS_EXAMPLES
from promenade.web.services.pos_openapi import render_pos_openapi
from tests.web.conftest import Shop

DOCUMENT: dict[str, Any] = json.loads(render_pos_openapi())
WHOLE: dict[str, Any] = json.loads(render_pos_openapi(whole=True))


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def test_each_operation_has_one_address_and_a_name_that_is_a_method() -> None:
    names = [operation["operationId"] for *_, operation in _operations(DOCUMENT)]
    assert len(names) == len(set(names)) == 18
    assert all(re.fullmatch(r"[a-z][A-Za-z]+", name) for name in names)
    every = {operation["operationId"].partition(".")[0] for *_, operation in _operations(WHOLE)}
    assert every == set(names), "the other addresses are those of the same operations"


def test_the_other_document_has_the_same_operations_at_the_same_addresses_and_more() -> None:
    """Whoever has generated a client from all addresses finds each of them there, under its name."""
    assert {path: WHOLE["paths"][path] for path in DOCUMENT["paths"]} == DOCUMENT["paths"]
    assert WHOLE["components"] == DOCUMENT["components"]
    assert "evaluate.action" in {operation["operationId"] for *_, operation in _operations(WHOLE)}


def test_each_operation_has_a_tag_a_summary_and_schemas_of_its_errors() -> None:
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    for path, _, operation in _operations(DOCUMENT):
        assert set(operation["tags"]) <= tags, path
        assert operation["summary"].endswith("."), path
        errors = {status for status in operation["responses"] if not status.startswith("2")}
        assert {"401", "403", "503"} <= errors, path
    for response in DOCUMENT["components"]["responses"].values():
        assert response["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}


def test_no_message_is_several_types_and_no_default_is_null() -> None:
    numbers = {"QuantityInput", "PriceInput", "AmountInput"}
    for name, schema in DOCUMENT["components"]["schemas"].items():
        assert not {"anyOf", "oneOf", "allOf", "not"} & schema.keys() or name in numbers, name
        assert name.lower() not in schema.get("properties", {}), f"{name}: a class and a member of it would be one name"
        nulls = [member for member, one in schema.get("properties", {}).items() if one.get("default", "") is None]
        assert not nulls, name
    said = DOCUMENT["components"]["schemas"]["EvaluateRequest"]["description"]
    assert "`posGroupId` or `posGroupCode` is required" in said


def test_the_examples_are_accepted_by_the_document_and_by_the_service(shop: Shop) -> None:
    by_name = {operation["operationId"]: (path, operation) for path, _, operation in _operations(DOCUMENT)}
    counter = 1
    for name, example in POS_EXAMPLES.items():
        path, operation = by_name[name]
        content = operation["requestBody"]["content"]["application/json"]
        (shown,) = content["examples"].values()
        assert shown["value"] == example
        schema = {**content["schema"], "components": DOCUMENT["components"]}
        assert [str(error) for error in Draft202012Validator(schema).iter_errors(example)] == [], name
        # The example names a POS group of the demo, which this shop does not have.
        body = json.loads(json.dumps(example).replace("DE-HAM", "BERLIN"))
        # Not as the till: other tests have it try more unknown codes than it may.
        answer = shop.call(f"/pos{path}", body, client="administrator")
        assert answer.status_code == 200, f"{name}: {answer.text}"
        if name == "evaluate":
            counter = answer.json()["meta"]["header"]["transactionCounter"]
    assert counter == 1, "confirm and cancel name the iteration that evaluate has made"


@pytest.mark.parametrize("left_out", ["posGroupCode", "items"])
def test_what_the_description_requires_is_required(shop: Shop, left_out: str) -> None:
    request = {name: value for name, value in POS_EXAMPLES["evaluate"]["request"].items() if name != left_out}
    assert shop.call("/pos/v2/evaluate", {"request": request}).status_code == 400
