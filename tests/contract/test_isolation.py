"""Isolation: rows of another tenant do not exist, whatever the verb, path or option; scopes imply no others."""

from __future__ import annotations

from typing import Any

import pytest

from promenade import model
from promenade.model.declare import PUBLIC, Mode
from promenade.model.edm import edm_for
from tests.contract.conftest import MINE, THEIRS, Api, code_of
from tests.contract.made_up import ENTITIES, identity
from tests.contract.test_reading import CODE_LISTS, STORED, entity_type

EDM = edm_for(PUBLIC)
WRITABLE = sorted(name for name in STORED if ENTITIES[name].public is Mode.RW)
READ_ONLY = sorted([*(name for name in STORED if ENTITIES[name].public is Mode.RO), "PromotionsCalendar", *CODE_LISTS])
NOWHERE = "00000000-0000-4000-8000-00000000dead"


def same_answer(api: Api, method: str, of_theirs: str, of_nobody: str, body: Any = None) -> None:
    """Check that a foreign ID and an unknown one get the same response: 404."""
    foreign, unknown = (api.call(method, path, body) for path in (of_theirs, of_nobody))
    assert foreign.status_code == unknown.status_code == 404, f"{method} {of_theirs}: {foreign.text}"
    assert neutral(foreign.text) == neutral(unknown.text)


def neutral(text: str) -> str:
    for name in ENTITIES:
        text = text.replace(identity(THEIRS, name, 1), NOWHERE)
    return text


@pytest.mark.parametrize("set_name", STORED)
def test_a_foreign_row_does_not_exist_in_any_verb(api: Api, set_name: str) -> None:
    theirs, nobody = f"{set_name}({identity(THEIRS, set_name, 1)})", f"{set_name}({NOWHERE})"

    same_answer(api, "GET", theirs, nobody)
    entity_set = EDM.entity_sets[set_name]
    if entity_set.updatable:
        same_answer(api, "PATCH", theirs, nobody, {})
        if ENTITIES[set_name].public is Mode.RW:
            same_answer(api, "PUT", theirs, nobody, {})
    if entity_set.deletable:
        same_answer(api, "DELETE", theirs, nobody)
    assert api.get(f"{set_name}({identity(THEIRS, set_name, 1)})", client="stranger")["ID"]


@pytest.mark.parametrize("set_name", STORED)
def test_navigations_of_a_foreign_row_are_answered_like_those_of_a_missing_row(api: Api, set_name: str) -> None:
    theirs, nobody = f"{set_name}({identity(THEIRS, set_name, 1)})", f"{set_name}({NOWHERE})"
    for navigation in entity_type(set_name).navigations:
        same_answer(api, "GET", f"{theirs}/{navigation.name}", f"{nobody}/{navigation.name}")
    for one in entity_type(set_name).properties[:2]:
        same_answer(api, "GET", f"{theirs}/{one.name}", f"{nobody}/{one.name}")


@pytest.mark.parametrize("set_name", STORED)
def test_a_foreign_row_cannot_be_filtered_for(api: Api, set_name: str) -> None:
    theirs = identity(THEIRS, set_name, 1)
    for condition in (f"ID eq {theirs}", f"ID eq '{theirs}'", f"ID in ({theirs})", "tenantId eq 'theirs'"):
        if condition.startswith("tenantId") and "tenantId" not in entity_type(set_name).property_by_name:
            continue
        body = api.get(f"{set_name}?$filter={condition}&$count=true")
        assert (body["value"], body["@count"]) == ([], 0), condition
    for link in ENTITIES[set_name].links:
        if link.target in ENTITIES:
            foreign = identity(THEIRS, link.target, 1)
            assert api.get(f"{set_name}?$filter={link.property_wire} eq {foreign}")["value"] == []
            assert api.get(f"{set_name}?$filter={link.wire}/ID eq {foreign}")["value"] == []


@pytest.mark.parametrize("set_name", STORED)
def test_a_foreign_row_is_in_no_batch(api: Api, set_name: str) -> None:
    theirs = identity(THEIRS, set_name, 1)
    requests = [
        {"id": "1", "method": "get", "url": f"{set_name}({theirs})"},
        {"id": "2", "method": "get", "url": f"{set_name}?$filter=ID eq {theirs}"},
    ]
    answers = api.call("POST", "$batch", {"requests": requests}).json()["responses"]
    assert answers[0]["status"] == 404
    assert answers[1]["body"]["value"] == []


@pytest.mark.parametrize("set_name", [*STORED, "PromotionsCalendar", *CODE_LISTS])
def test_a_request_without_a_token_is_refused(api: Api, set_name: str) -> None:
    for method in ("GET", "POST"):
        answer = api.call(method, set_name, {} if method == "POST" else None, client=None)
        assert (answer.status_code, code_of(answer)) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("set_name", [*STORED, "PromotionsCalendar", *CODE_LISTS])
def test_scopes_do_not_imply_other_scopes(api: Api, set_name: str) -> None:
    key = f"'{model.code_list(set_name).codes[0]}'" if set_name in CODE_LISTS else identity(MINE, set_name, 1)
    refused: list[tuple[str, str, Any, str]] = [
        ("GET", set_name, None, "only-writer"),
        ("GET", f"{set_name}({key})", None, "only-writer"),
        ("GET", f"{set_name}/$count", None, "till"),
        ("POST", set_name, {}, "reader"),
        ("PATCH", f"{set_name}({key})", {}, "reader"),
        ("DELETE", f"{set_name}({key})", None, "till"),
    ]
    for method, path, body, client in refused:
        answer = api.call(method, path, body, client=client)
        assert (answer.status_code, code_of(answer)) == (403, "MISSING_SCOPE"), f"{method} {path}: {answer.text}"


@pytest.mark.parametrize("set_name", READ_ONLY)
def test_read_only_sets_refuse_writing(api: Api, set_name: str) -> None:
    key = f"'{model.code_list(set_name).codes[0]}'" if set_name in CODE_LISTS else identity(MINE, set_name, 1)
    for method, path in (("POST", set_name), *((verb, f"{set_name}({key})") for verb in ("PATCH", "PUT", "DELETE"))):
        body: Any = None if method == "DELETE" else {}
        as_rest = api.call(method, path, body)
        assert as_rest.status_code == 405, f"{method} {path}: {as_rest.text}"
        assert "GET" in as_rest.headers["allow"]
        assert not {"POST", "PATCH", "PUT", "DELETE"} & set(as_rest.headers["allow"].replace(" ", "").split(","))
        assert as_rest.headers["content-type"].startswith("application/problem+json")
        as_odata = api.call(method, path, body, odata_version="4.01")
        assert as_odata.status_code == 403, f"{method} {path}: {as_odata.text}"
        assert as_odata.json()["error"]["code"] == as_rest.json()["code"]
