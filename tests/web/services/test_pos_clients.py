"""The OpenAPI document of the POS service as a generator of clients reads it: names, types, examples."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.web.services.pos_examples import pos_examples
from promenade.web.services.pos_openapi import render_pos_openapi
from tests.web.conftest import OPENED, TENANT, Shop, run
from tests.web.services.till_day import COUPON_TYPE, play

DOCUMENT: dict[str, Any] = json.loads(render_pos_openapi())
WHOLE: dict[str, Any] = json.loads(render_pos_openapi(whole=True))
EXAMPLES = pos_examples()
_SOMETIMES = {"startedAt", "completedAt", "reason"}
"""Members of a sale's side effects that depend on how far the worker is."""


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def test_each_operation_has_one_address_and_a_name_that_is_a_method() -> None:
    names = [operation["operationId"] for *_, operation in _operations(DOCUMENT)]
    assert len(names) == len(set(names)) == 19
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


def test_every_request_and_every_answer_has_an_example_that_the_document_accepts() -> None:
    assert {operation["operationId"] for *_, operation in _operations(DOCUMENT)} == set(EXAMPLES)
    for path, _, operation in _operations(DOCUMENT):
        name = operation["operationId"]
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        bodies += [one for status, one in operation["responses"].items() if status.startswith("2")]
        assert len(bodies) == len(EXAMPLES[name]), path
        for body, example in zip(bodies, EXAMPLES[name].values(), strict=True):
            content = body["content"]["application/json"]
            (shown,) = content["examples"].values()
            assert shown["value"] == example
            schema = {**content["schema"], "components": DOCUMENT["components"]}
            assert [str(error) for error in Draft202012Validator(schema).iter_errors(example)] == [], name


def test_the_examples_are_what_a_till_sends_and_gets(shop: Shop) -> None:
    run(_insert_type(shop))

    def call(path: str, body: Any) -> Any:
        # Not as the till: other tests have it try more unknown codes than it may.
        answer = shop.call(f"/pos{path}", body, client="administrator")
        assert answer.status_code in (200, 202), f"{path}: {answer.text}"
        return answer.json()

    played = play(call, "BERLIN")  # the examples name a POS group of the demo, which this shop does not have
    assert set(EXAMPLES) - set(played) == {"requeueSideEffects"}, "a sale's side effects cannot be made to fail here"
    for name, day in played.items():
        assert day.get("request", {}).keys() == EXAMPLES[name].get("request", {}).keys()
        _assert_alike(EXAMPLES[name]["answer"], day["answer"], name)


def _assert_alike(example: Any, answered: Any, where: str) -> None:
    """Check that an answer has the members of the example; a list may be empty and a value null in one of them."""
    if isinstance(example, dict) and answered is not None:
        always = {name for name in example if name not in _SOMETIMES}
        assert always <= set(answered) <= set(example) | _SOMETIMES, where
        for name in example.keys() & answered.keys():
            _assert_alike(example[name], answered[name], f"{where}.{name}")
    elif isinstance(example, list) and example and answered:
        _assert_alike(example[0], answered[0], f"{where}[0]")
    elif example is not None and answered is not None and not isinstance(example, list):
        kinds = [{int: float}.get(type(one), type(one)) for one in (example, answered)]
        assert kinds[0] is kinds[1], where


async def _insert_type(shop: Shop) -> None:
    database = await open_database(shop.database_url)

    async def work(session: Session) -> None:
        await insert_rows(session, "CouponTypes", [{"ID": str(uuid.uuid4()), **COUPON_TYPE}], at=OPENED, by="tests")

    try:
        await database.write(work, tenant=TENANT)
    finally:
        await database.close()


@pytest.mark.parametrize("left_out", ["posGroupCode", "items"])
def test_what_the_description_requires_is_required(shop: Shop, left_out: str) -> None:
    request = {name: value for name, value in EXAMPLES["evaluate"]["request"]["request"].items() if name != left_out}
    assert shop.call("/pos/v2/evaluate", {"request": request}).status_code == 400
