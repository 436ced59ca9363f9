"""Reading every entity set of the public API: by key, in lists, filtered, sorted, selected, expanded, searched."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest

from odata_server.edm import EntityType, Primitive, Property
from promenade import model
from promenade.model.declare import PUBLIC, Kind
from promenade.model.edm import edm_for
from tests.contract.conftest import MINE, ROWS, Api
from tests.contract.made_up import ENTITIES, identity, seeded_row

EDM = edm_for(PUBLIC)
STORED = sorted(name for name in EDM.entity_sets if name in ENTITIES and ENTITIES[name].stored)
CODE_LISTS = sorted(model.code_lists())
UNQUOTED = {
    Primitive.GUID, Primitive.BOOLEAN, Primitive.INT32, Primitive.INT64, Primitive.DECIMAL, Primitive.DATE,
    Primitive.DATE_TIME_OFFSET, Primitive.TIME_OF_DAY,
}  # fmt: skip


def entity_type(set_name: str) -> EntityType:
    found: EntityType = EDM.entity_types[EDM.entity_sets[set_name].entity_type]
    return found


def readable(set_name: str) -> list[Property]:
    return [one for one in entity_type(set_name).properties if not one.write_only]


def literal(one: Property, given: Any) -> str:
    """Return a value as a filter literal, percent-encoded."""
    if given is None:
        return "null"
    if isinstance(given, bool):
        return str(given).lower()
    text = str(given) if one.type in UNQUOTED else "'" + str(given).replace("'", "''") + "'"
    return quote(text, safe="")


def comparable(one: Property, given: Any) -> Any:
    if given is None or one.type is not Primitive.DECIMAL:
        return given
    return Decimal(str(given))


@pytest.mark.parametrize("set_name", STORED)
def test_an_entity_has_every_property(api: Api, set_name: str) -> None:
    row = seeded_row(MINE, ENTITIES[set_name], 2)
    body = api.get(f"{set_name}({row['ID']})")

    assert {one.name for one in readable(set_name)} <= set(body)
    assert body["minorVersion"] == 13
    for one in readable(set_name):
        if one.name in row and not one.collection:
            assert comparable(one, body[one.name]) == comparable(one, row[one.name]), one.name
    assert not {one.name for one in entity_type(set_name).properties if one.write_only} & set(body)


@pytest.mark.parametrize("set_name", STORED)
def test_a_list_holds_the_tenants_rows_alone(api: Api, set_name: str) -> None:
    pages = [api.get(f"{set_name}?$count=true&$select=ID")]
    while "@nextLink" in pages[-1]:  # tests that write may have run before, and each write adds to the audit trail
        pages.append(api.get(pages[-1]["@nextLink"].rpartition("/api/v1/")[2]))

    seeded = {identity(MINE, set_name, number) for number in range(1, ROWS + 1)}
    listed = [row["ID"] for body in pages for row in body["value"]]
    found = set(listed)
    assert seeded <= found
    assert pages[0]["@count"] == len(listed) == int(api.call("GET", f"{set_name}/$count").text)
    assert pages[0]["minorVersion"] == 13
    assert not {identity("theirs", set_name, number) for number in range(1, ROWS + 1)} & found


@pytest.mark.parametrize("set_name", STORED)
def test_every_property_can_be_filtered(api: Api, set_name: str) -> None:
    row = api.get(f"{set_name}({identity(MINE, set_name, 2)})")

    for one in readable(set_name):
        if one.collection:
            continue
        given = row[one.name]
        operator = "eq"
        answer = api.get(f"{set_name}?$filter={one.name}%20{operator}%20{literal(one, given)}&$select={one.name}")
        values = [comparable(one, found[one.name]) for found in answer["value"]]
        assert values, f"nothing has {one.name} eq {given!r}"
        assert set(values) == {comparable(one, given)}, one.name
        others = api.get(f"{set_name}?$filter={one.name}%20ne%20{literal(one, given)}&$select={one.name}")
        assert comparable(one, given) not in [comparable(one, found[one.name]) for found in others["value"]], one.name


@pytest.mark.parametrize("set_name", STORED)
def test_every_property_can_be_sorted_by(api: Api, set_name: str) -> None:
    for one in readable(set_name):
        if one.collection:
            continue
        for direction in ("asc", "desc"):
            rows = api.get(f"{set_name}?$orderby={one.name}%20{direction}&$select={one.name}")["value"]
            values = [comparable(one, row[one.name]) for row in rows]
            known = [given for given in values if given is not None]
            assert known == sorted(known, key=sort_key, reverse=direction == "desc"), (one.name, direction)
            nulls = [index for index, given in enumerate(values) if given is None]
            first_or_last = range(len(nulls)) if direction == "asc" else range(len(known), len(values))
            assert nulls == list(first_or_last), f"{one.name} {direction}: null is the least of all"


def sort_key(given: Any) -> Any:
    return given.encode() if isinstance(given, str) else given


@pytest.mark.parametrize("set_name", STORED)
def test_every_property_can_be_selected(api: Api, set_name: str) -> None:
    key = identity(MINE, set_name, 1)
    for one in readable(set_name):
        body = api.get(f"{set_name}({key})?$select={one.name}")
        properties = {name for name in body if not name.startswith("@")}
        assert properties == {"ID", one.name, "minorVersion"}, one.name


@pytest.mark.parametrize("set_name", STORED)
def test_every_navigation_can_be_expanded_and_walked(api: Api, set_name: str) -> None:
    key = identity(MINE, set_name, 2)
    plain = api.get(f"{set_name}({key})")
    for navigation in entity_type(set_name).navigations:
        expanded = api.get(f"{set_name}({key})?$expand={navigation.name}")[navigation.name]
        answer = api.call("GET", f"{set_name}({key})/{navigation.name}")
        if navigation.collection:
            walked = answer.json()["value"]
            assert walked == expanded, navigation.name
            assert all(row[other] == plain[own] for row in expanded for own, other in navigation.on), navigation.name
        elif expanded is None:
            assert answer.status_code == 204, navigation.name
        else:
            walked = {name: given for name, given in answer.json().items() if not name.startswith("@con")}
            assert walked.items() >= expanded.items(), navigation.name
            assert all(expanded[other] == plain[own] for own, other in navigation.on), navigation.name


@pytest.mark.parametrize("set_name", STORED)
def test_compositions_come_with_their_children(api: Api, set_name: str) -> None:
    key = identity(MINE, set_name, 1)
    for collection in ENTITIES[set_name].collections:
        if collection.composition and collection.target in ENTITIES:
            nested = api.get(f"{set_name}({key})?$expand={collection.wire}")[collection.wire]
            rows = nested if collection.many else [nested]
            assert identity(MINE, collection.target, 1) in {row["ID"] for row in rows}


@pytest.mark.parametrize("set_name", STORED)
def test_search_finds_what_each_collection_is_searched_by(api: Api, set_name: str) -> None:
    assert api.get(f"{set_name}?$search=xyzzyplugh")["value"] == []
    searched = edm_for(PUBLIC).entity_types[set_name].searched
    assert searched
    row = seeded_row(MINE, ENTITIES[set_name], 2)
    for one in searched:
        if row[one.name] is not None:
            phrase = quote(f'"{row[one.name]}"')
            found = {found["ID"] for found in api.get(f"{set_name}?$search={phrase}&$select=ID")["value"]}
            assert row["ID"] in found, one.name


@pytest.mark.parametrize("set_name", STORED)
def test_pages_have_the_requested_size(api: Api, set_name: str) -> None:
    everything = [row["ID"] for row in api.get(f"{set_name}?$select=ID&$orderby=ID")["value"]]
    first = api.get(f"{set_name}?$select=ID&$orderby=ID&$top=2")["value"]
    second = api.get(f"{set_name}?$select=ID&$orderby=ID&$top=2&$skip=2")["value"]

    assert [row["ID"] for row in (*first, *second)] == everything[:4]
    assert api.get(f"{set_name}?$top=0")["value"] == []


@pytest.mark.parametrize("set_name", STORED)
def test_following_the_links_of_pages_finds_every_row_once(api: Api, set_name: str) -> None:
    everything = [row["ID"] for row in api.get(f"{set_name}?$select=ID&$orderby=ID")["value"]]
    found: list[str] = []
    body = api.get(f"{set_name}?$select=ID&$orderby=ID", Prefer="maxpagesize=2")
    while True:
        assert len(body["value"]) <= 2
        found += [row["ID"] for row in body["value"]]
        if "@nextLink" not in body or len(found) > 20:
            break
        body = api.get(body["@nextLink"].rpartition("/api/v1/")[2], Prefer="maxpagesize=2")
    assert found[:20] == everything[: len(found[:20])]


@pytest.mark.parametrize("set_name", STORED)
def test_an_etag_saves_reading_twice(api: Api, set_name: str) -> None:
    path = f"{set_name}({identity(MINE, set_name, 1)})"
    answer = api.call("GET", path)

    assert answer.json()["@etag"] == answer.headers["etag"]
    assert api.call("GET", path, if_none_match=answer.headers["etag"]).status_code == 304
    assert api.call("GET", path, if_none_match='W/"0"').status_code == 200


@pytest.mark.parametrize("set_name", CODE_LISTS)
def test_code_lists_hold_their_values(api: Api, set_name: str) -> None:
    code_list = model.code_list(set_name)
    body = api.get(f"{set_name}?$count=true")

    assert [row["code"] for row in sorted(body["value"], key=lambda row: row["sequence"])] == list(code_list.codes)
    assert body["@count"] == len(code_list.codes)
    first = code_list.values[0]
    one = api.get(f"{set_name}('{first.code}')")
    assert (one["name"], one["description"], one["sequence"]) == (first.name, first.description, first.sequence)
    found = api.get(f"{set_name}?$filter=code%20eq%20%27{first.code}%27")["value"]
    assert [row["code"] for row in found] == [first.code]
    assert api.get(f"{set_name}('NO_SUCH_CODE')", status=404)


def test_texts_of_codes_can_be_filtered_and_ordered_by(api: Api) -> None:
    body = api.get("Promotions?$filter=statusText/name%20eq%20%27Draft%27&$expand=statusText&$orderby=typeText/name")
    assert body["value"]
    assert {row["statusText"]["code"] for row in body["value"]} == {"DRAFT"}


def test_the_tests_cover_all_kinds_of_fields_of_the_model() -> None:
    kinds = {one.kind for entity in ENTITIES.values() for one in entity.fields if one.shown_in(PUBLIC)}
    assert kinds <= set(Kind)
    assert {one.type for name in STORED for one in readable(name)} - UNQUOTED == {Primitive.STRING}
