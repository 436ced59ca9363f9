"""Writing, for every writable entity set of the public API: what is accepted, kept, changed and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from promenade import model
from promenade.model.declare import PUBLIC, Field, Kind
from tests.contract.conftest import MINE, THEIRS, Api, code_of, entity_natural_key, targets_of
from tests.contract.made_up import ENTITIES, identity, value
from tests.contract.test_isolation import NOWHERE, WRITABLE
from tests.contract.test_reading import comparable, entity_type

MALFORMED: dict[Kind, Any] = {
    Kind.TEXT: 17,
    Kind.UUID: "not-a-uuid",
    Kind.INTEGER: "many",
    Kind.LONG: "many",
    Kind.DECIMAL: "1,5",
    Kind.BOOLEAN: "yes",
    Kind.TIMESTAMP: "yesterday",
    Kind.DATE: "2026-02-30",
    Kind.TIME: "25:00:00",
    Kind.TEXTS: "one",
}


def writable(set_name: str) -> list[Field]:
    """Return the fields that a client may set."""
    return [
        one
        for one in ENTITIES[set_name].fields
        if not (one.read_only or one.virtual or one.name in {"id", "tenant_id"}) and PUBLIC not in one.hidden_from
    ]


def counted(api: Api, set_name: str) -> int:
    return int(api.call("GET", f"{set_name}/$count").text)


def refused(api: Api, set_name: str, body: Any, code: str, target: str, status: int = 400) -> None:
    """Check that a create is refused for one property and leaves nothing behind."""
    before = counted(api, set_name)
    answer = api.call("POST", set_name, body)
    assert answer.status_code == status, f"{set_name} {target}: {answer.status_code} {answer.text[:500]}"
    named = targets_of(answer)
    assert target in named, f"{set_name}: {named} does not name {target}: {answer.text[:500]}"
    codes = {code_of(answer), *(one["code"] for one in answer.json().get("details") or ())}
    assert code in codes, f"{set_name} {target}: {answer.text[:500]}"
    assert counted(api, set_name) == before, f"{set_name}: a refused create left something behind"


def test_a_promotion_can_be_written_through_a_part_of_a_log(api: Api) -> None:
    address = f"CalculationLogPromotions({identity(MINE, 'CalculationLogPromotions', 1)})/promotion"
    answer = api.call("PATCH", address, {"description": api.get(address)["description"]})
    assert answer.status_code == 204, answer.text


@pytest.mark.parametrize("set_name", WRITABLE)
def test_a_created_entity_can_be_read(api: Api, set_name: str) -> None:
    sent = api.body(set_name, whole=True)
    answer = api.call("POST", set_name, sent)

    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert answer.headers["location"].endswith(f"/api/v1/{set_name}({made['ID']})")
    assert answer.headers["etag"] == made["@etag"]
    read = api.get(f"{set_name}({made['ID']})")
    properties = entity_type(set_name).property_by_name
    for name, given in sent.items():
        if not properties[name].write_only:
            assert comparable(properties[name], made[name]) == comparable(properties[name], given), name
    secrets = {name for name, one in properties.items() if one.write_only}
    assert {name: given for name, given in made.items() if name not in secrets} == read
    assert made["minorVersion"] == 13


@pytest.mark.parametrize("set_name", WRITABLE)
def test_omitted_properties_get_their_defaults(api: Api, set_name: str) -> None:
    sent = api.body(set_name)
    made = api.made(set_name, sent)

    for one in writable(set_name):
        if one.wire not in sent and one.default is not None and not one.write_only:
            properties = entity_type(set_name).property_by_name
            assert comparable(properties[one.wire], made[one.wire]) == comparable(properties[one.wire], one.default)
    if ENTITIES[set_name].managed:
        assert made["createdAt"] == made["modifiedAt"]
        assert made["createdBy"] == made["modifiedBy"] != ""
    if ENTITIES[set_name].shows_tenant:
        assert made["tenantId"] == MINE


@pytest.mark.parametrize("set_name", WRITABLE)
def test_a_client_may_choose_the_key_once(api: Api, set_name: str) -> None:
    key = identity("chosen", set_name, next(api.numbers))
    made = api.made(set_name, api.body(set_name) | {"ID": key.upper()})

    assert made["ID"] == key
    again = api.call("POST", set_name, api.body(set_name) | {"ID": key})
    assert (again.status_code, code_of(again)) == (409, "ALREADY_EXISTS"), again.text


@pytest.mark.parametrize("set_name", WRITABLE)
def test_every_field_can_be_changed(api: Api, set_name: str) -> None:
    made = api.made(set_name, api.body(set_name))
    path = f"{set_name}({made['ID']})"
    fresh = api.body(set_name, whole=True)
    properties = entity_type(set_name).property_by_name
    for name, given in fresh.items():
        if name == "status":
            continue  # set by a state machine, which has tests of its own
        answer = api.call("PATCH", path, {name: given})
        assert answer.status_code == 204, f"{name}={given!r}: {answer.text}"
        if not properties[name].write_only:
            read = api.get(path)
            assert comparable(properties[name], read[name]) == comparable(properties[name], given), name
            assert read["@etag"] == answer.headers["etag"]


@pytest.mark.parametrize("set_name", WRITABLE)
def test_optional_fields_can_be_emptied(api: Api, set_name: str) -> None:
    sent = api.body(set_name, whole=True)
    made = api.made(set_name, sent)
    path = f"{set_name}({made['ID']})"
    natural = entity_natural_key(ENTITIES[set_name])
    for one in writable(set_name):
        if one.nullable and one.wire in sent and one.wire not in natural and not one.write_only:
            if one.kind is Kind.TEXTS:
                continue
            answer = api.call("PATCH", path, {one.wire: None})
            assert answer.status_code == 204, f"{one.wire}: {answer.text}"
            assert api.get(path)[one.wire] is None, one.wire


@pytest.mark.parametrize("set_name", WRITABLE)
def test_a_deleted_entity_is_gone(api: Api, set_name: str) -> None:
    made = api.made(set_name, api.body(set_name))
    path = f"{set_name}({made['ID']})"

    assert api.call("DELETE", path).status_code == 204
    for method in ("GET", "DELETE"):
        assert api.call(method, path).status_code == 404
    assert api.call("PATCH", path, {}).status_code == 404
    assert api.get(f"{set_name}?$filter=ID eq {made['ID']}")["value"] == []


@pytest.mark.parametrize("set_name", WRITABLE)
def test_a_stale_etag_changes_nothing(api: Api, set_name: str) -> None:
    made = api.made(set_name, api.body(set_name))
    path = f"{set_name}({made['ID']})"

    for method in ("PATCH", "DELETE"):
        answer = api.call(method, path, {} if method == "PATCH" else None, if_match='W/"4711"')
        assert (answer.status_code, code_of(answer)) == (412, "PRECONDITION_FAILED"), answer.text
    assert api.call("PATCH", path, {}, if_match=made["@etag"]).status_code == 204
    assert api.call("DELETE", path, if_match="*").status_code == 204


@pytest.mark.parametrize("set_name", WRITABLE)
def test_required_properties_cannot_be_omitted(api: Api, set_name: str) -> None:
    body = api.body(set_name)
    entity = ENTITIES[set_name]
    names = [one.wire for one in writable(set_name) if one.required]
    names += [link.property_wire for link in entity.links if link.required and not link.read_only]
    for name in names:
        refused(api, set_name, {key: given for key, given in body.items() if key != name}, "REQUIRED", name)
        answer = api.call("POST", set_name, body | {name: None})
        assert answer.status_code == 400, name
        assert name in targets_of(answer)


@pytest.mark.parametrize("set_name", WRITABLE)
def test_lengths_digits_and_ranges_hold(api: Api, set_name: str) -> None:
    body = api.body(set_name)
    for one in writable(set_name):
        if one.length and one.kind is Kind.TEXT and not (one.code_list or one.choices):
            refused(api, set_name, body | {one.wire: "x" * (one.length + 1)}, "TOO_LONG", one.wire)
        if one.kind is Kind.DECIMAL:
            refused(api, set_name, body | {one.wire: "1." + "1" * ((one.scale or 0) + 1)}, "TOO_MANY_DIGITS", one.wire)
            refused(api, set_name, body | {one.wire: "9" * 20}, "TOO_MANY_DIGITS", one.wire)
        if one.minimum is not None:
            refused(api, set_name, body | {one.wire: str_or_int(one, one.minimum - 1)}, "OUT_OF_RANGE", one.wire)
        if one.maximum is not None and fits(one, one.maximum + 1):
            refused(api, set_name, body | {one.wire: str_or_int(one, one.maximum + 1)}, "OUT_OF_RANGE", one.wire)


def fits(one: Field, number: Any) -> bool:
    return one.kind is not Kind.DECIMAL or number < 10 ** ((one.precision or 0) - (one.scale or 0))


def str_or_int(one: Field, number: Any) -> Any:
    return str(number) if one.kind is Kind.DECIMAL else int(number)


@pytest.mark.parametrize("set_name", WRITABLE)
def test_types_are_checked(api: Api, set_name: str) -> None:
    body = api.body(set_name)
    for one in writable(set_name):
        answer = api.call("POST", set_name, body | {one.wire: MALFORMED[one.kind]})
        assert answer.status_code == 400, f"{one.wire}: {answer.text}"
        assert one.wire in {target.split("/")[0] for target in targets_of(answer)}, answer.text
    for link in ENTITIES[set_name].links:
        if not link.read_only:
            answer = api.call("POST", set_name, body | {link.property_wire: "not-a-uuid"})
            assert answer.status_code == 400, link.property_wire
            assert link.property_wire in targets_of(answer)
    refused(api, set_name, body | {"noSuchProperty": 1}, "UNKNOWN_PROPERTY", "noSuchProperty")


@pytest.mark.parametrize("set_name", WRITABLE)
def test_codes_come_from_their_list(api: Api, set_name: str) -> None:
    body = api.body(set_name)
    for one in writable(set_name):
        if one.code_list or one.choices:
            unknown = "QQQ" if one.code_list == "Currencies" else "NO_SUCH_CODE"
            refused(api, set_name, body | {one.wire: unknown}, "UNKNOWN_CODE", one.wire)


@pytest.mark.parametrize("set_name", WRITABLE)
def test_every_code_of_a_list_is_accepted(api: Api, set_name: str) -> None:
    made = api.made(set_name, api.body(set_name))
    for one in writable(set_name):
        # A state machine sets the status, the budget determines the currency; EXTERNAL articles do not exist.
        if one.code_list and one.wire not in {"status", "codeType", "source"} and one.code_list != "Currencies":
            for code in model.code_list(one.code_list).codes:
                answer = api.call("PATCH", f"{set_name}({made['ID']})", {one.wire: code})
                assert answer.status_code == 204, f"{one.wire}={code}: {answer.text}"


@pytest.mark.parametrize("set_name", WRITABLE)
def test_links_must_refer_to_rows_of_the_same_tenant(api: Api, set_name: str) -> None:
    body = api.body(set_name)
    for link in ENTITIES[set_name].links:
        if link.read_only:
            continue
        name = link.property_wire
        refused(api, set_name, body | {name: NOWHERE}, "UNKNOWN_REFERENCE", name)
        foreign = identity(THEIRS, link.target, 1)
        if set_name == "PromotionPilotConfigs" and name == "promotion_ID":
            answer = api.call("POST", set_name, body | {name: foreign})
            assert answer.status_code == 409, "a second config is refused before the tenant is looked at"
            continue
        refused(api, set_name, body | {name: foreign}, "UNKNOWN_REFERENCE", name)
        bound = {key: given for key, given in body.items() if key != name}
        answer = api.call("POST", set_name, bound | {link.wire: {"@id": f"{link.target}({foreign})"}})
        assert answer.status_code == 400, f"{name} bound to a foreign row: {answer.text}"


@pytest.mark.parametrize("set_name", WRITABLE)
def test_natural_keys_are_unique(api: Api, set_name: str) -> None:
    entity = ENTITIES[set_name]
    for names in (entity.natural_key, *entity.unique):
        wires = [wire_of(set_name, name) for name in names if name]
        if not names or None in wires:
            continue
        first = api.body(set_name, whole=True)
        if any(first.get(wire) is None for wire in wires if wire):
            continue
        api.made(set_name, first)
        second = api.body(set_name, whole=True) | {wire: first[wire] for wire in wires if wire}
        before = counted(api, set_name)
        answer = api.call("POST", set_name, second)
        assert answer.status_code == 409, f"{wires}: {answer.text}"
        assert targets_of(answer) & set(wires), answer.text
        assert counted(api, set_name) == before
        if set_name != "PromotionPilotConfigs":  # for these, the specification checks it before the tenant
            assert api.call("POST", set_name, second, client="stranger").status_code != 409


def wire_of(set_name: str, name: str) -> str | None:
    """Return the wire name of a column that a client may set."""
    entity = ENTITIES[set_name]
    for one in writable(set_name):
        if one.name == name and not one.write_only:
            return one.wire
    return next((link.property_wire for link in entity.links if link.column == name and not link.read_only), None)


@pytest.mark.parametrize("set_name", WRITABLE)
def test_the_tenant_of_a_row_is_that_of_the_token(api: Api, set_name: str) -> None:
    body = api.body(set_name)
    for foreign in (THEIRS, "nobody", ""):
        answer = api.call("POST", set_name, body | {"tenantId": foreign})
        assert answer.status_code == 403, answer.text
    made = api.made(set_name, body | ({"tenantId": MINE} if ENTITIES[set_name].shows_tenant else {}))
    answer = api.call("PATCH", f"{set_name}({made['ID']})", {"tenantId": THEIRS})
    assert answer.status_code == 403, answer.text


@pytest.mark.parametrize("set_name", WRITABLE)
def test_a_whole_entity_can_be_sent_back(api: Api, set_name: str) -> None:
    """A client may send back everything it read, with changes, including computed properties and annotations."""
    made = api.made(set_name, api.body(set_name))
    path = f"{set_name}({made['ID']})"
    read = api.get(path)
    secrets = {one.wire: value(ENTITIES[set_name], one, 1) for one in writable(set_name) if one.write_only}
    sent = {name: given for name, given in read.items() if name != "locked"} | {
        name: given for name, given in secrets.items() if given is not None and set_name != "CouponTypes"
    }
    answer = api.call("PUT", path, sent)
    assert answer.status_code == 204, answer.text
    now = api.get(path)
    ignored = {"@etag", "@context", "modifiedAt", "previousSecretUntil"}  # rotating the secret changes it
    assert {n: v for n, v in now.items() if n not in ignored} == {n: v for n, v in read.items() if n not in ignored}


@pytest.mark.parametrize("set_name", WRITABLE)
def test_compositions_are_created_with_their_parent(api: Api, set_name: str) -> None:
    for collection in ENTITIES[set_name].collections:
        if not collection.composition or collection.target not in ENTITIES:
            continue
        by = ENTITIES[collection.target].link(collection.by).property_wire
        children = [api.body(collection.target, whole=True) for _ in range(2 if collection.many else 1)]
        nested = [{name: given for name, given in child.items() if name != by} for child in children]
        body = api.body(set_name) | {collection.wire: nested if collection.many else nested[0]}
        made = api.made(set_name, body)
        read = api.get(f"{set_name}({made['ID']})?$expand={collection.wire}")[collection.wire]
        rows = read if collection.many else [read]
        assert len(rows) == len(nested), collection.wire
        assert {row[by] for row in rows} == {made["ID"]}
        # the same through the parent's URL
        if collection.many:
            more = {name: given for name, given in api.body(collection.target).items() if name != by}
            answer = api.call("POST", f"{set_name}({made['ID']})/{collection.wire}", more)
            assert answer.status_code == 201, answer.text
            assert answer.json()[by] == made["ID"]
        # a fault in a nested entity names its place, and nothing is stored
        before = counted(api, set_name)
        broken = {**nested[0], "noSuchProperty": 1}
        body = api.body(set_name) | {collection.wire: [broken] if collection.many else broken}
        answer = api.call("POST", set_name, body)
        assert answer.status_code == 400
        place = f"{collection.wire}/0/noSuchProperty" if collection.many else f"{collection.wire}/noSuchProperty"
        assert place in targets_of(answer), answer.text
        assert counted(api, set_name) == before
        # and they are deleted with it
        assert api.call("DELETE", f"{set_name}({made['ID']})").status_code == 204
        assert api.get(f"{collection.target}?$filter={by} eq {made['ID']}")["value"] == []


@pytest.mark.parametrize("set_name", WRITABLE)
def test_every_change_is_in_the_audit_trail(api: Api, set_name: str) -> None:
    made = api.made(set_name, api.body(set_name))
    path = f"{set_name}({made['ID']})"
    fresh = api.body(set_name, whole=True)
    name, given = next((n, g) for n, g in fresh.items() if n in made and n != "status" and made[n] != g)
    assert api.call("PATCH", path, {name: given}).status_code == 204
    assert api.call("DELETE", path).status_code == 204

    trail = api.get(f"AuditLogs?$filter=entityId eq '{made['ID']}'&$orderby=timestamp")["value"]
    actions = [row["action"] for row in trail if row["entityType"] == set_name]
    assert actions[0] == "CREATE"
    assert actions[-1] == "DELETE"
    assert "UPDATE" in actions
    assert all(row["actor"] and row["entityName"] for row in trail)
