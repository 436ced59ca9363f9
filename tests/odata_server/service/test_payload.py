"""Bodies are parsed exactly or refused, and all faults are reported at once."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odata_server.edm import NavigationProperty
from odata_server.errors import ODataError, bad_request
from odata_server.payload import decode_entity, decode_json, decode_parameters
from odata_server.source import Key, Payload
from tests.odata_server.service.shop import EDM, ITEM, PAINT

ID = "01234567-89ab-cdef-0123-456789abcdef"


def resolve(text: str, navigation: NavigationProperty) -> Key:
    if "(" not in text:
        raise bad_request("BAD_REFERENCE", "It leads nowhere.")
    return {"ID": text.partition("(")[2].rstrip(")")}


def decode(body: Any, *, for_create: bool = True) -> Payload:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return decode_entity(EDM, ITEM, raw, for_create=for_create, resolve_reference=resolve)


def faults(body: Any, *, for_create: bool = True) -> list[tuple[str, str | None]]:
    with pytest.raises(ODataError) as caught:
        decode(body, for_create=for_create)
    error = caught.value
    assert error.status == 400
    if not error.details:
        return [(error.code, error.target)]
    return [(fault.code, fault.target) for fault in error.details]


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("name", '"äöü€😀"', "äöü€😀"),
        ("price", "10.10", Decimal("10.1")),
        ("price", '"99999.99"', Decimal("99999.99")),
        ("price", "1e3", Decimal(1000)),
        ("price", "0.10000", Decimal("0.1")),
        ("price", "0e999", Decimal(0)),
        ("weight", "1234567890.123456789012345678901", Decimal("1234567890.123456789012345678901")),
        ("amount", "-2147483648", -(2**31)),
        ("amount", "3.0", 3),
        ("big", '"9223372036854775807"', 2**63 - 1),
        ("big", "9223372036854775807", 2**63 - 1),
        ("ratio", "1", 1.0),
        ("ratio", '"-INF"', float("-inf")),
        ("active", "false", False),
        ("day", '"2024-02-29"', date(2024, 2, 29)),
        ("at", '"2024-02-29T23:30:00.123456-01:00"', datetime(2024, 3, 1, 0, 30, 0, 123456, UTC)),
        ("at", '"2024-02-29T23:30Z"', datetime(2024, 2, 29, 23, 30, tzinfo=UTC)),
        ("at", '"2024-02-29T23:30:00.500000000z"', datetime(2024, 2, 29, 23, 30, 0, 500000, UTC)),
        ("second", '"2024-02-29T23:30:01.000Z"', datetime(2024, 2, 29, 23, 30, 1, tzinfo=UTC)),
        ("opens", '"09:30"', time(9, 30)),
        ("lasts", '"-P1DT2H3M4.5S"', -timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("image", '"-_8"', b"\xfb\xff"),
        ("image", '"+/8="', b"\xfb\xff"),
        ("color", '"RED"', "RED"),
        ("address", '{"city": null, "zip": "1"}', {"city": None, "zip": "1"}),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", "[]", []),
        ("owner_ID", f'"{ID.upper()}"', ID),
        ("secret", '"s"', "s"),
        ("price", "null", None),
    ],
)
def test_values_are_read_exactly(name: str, raw: str, value: object) -> None:
    assert decode(f'{{"{name}": {raw}}}'.encode()).values == {name: value}


@pytest.mark.parametrize(
    ("name", "raw", "code"),
    [
        ("name", '"sixsix"', "TOO_LONG"),
        ("name", "1", "TYPE_MISMATCH"),
        ("name", "null", "NOT_NULLABLE"),
        ("name", '"\\u0000"', "ILLEGAL_CHARACTER"),
        ("price", "1.001", "TOO_MANY_DIGITS"),
        ("price", "100000", "TOO_MANY_DIGITS"),
        ("price", "1e300", "TOO_MANY_DIGITS"),
        ("price", '"1_0"', "TYPE_MISMATCH"),
        ("price", '" 1"', "TYPE_MISMATCH"),
        ("price", '"٣"', "TYPE_MISMATCH"),
        ("price", "true", "TYPE_MISMATCH"),
        ("weight", "1" * 61, "TOO_MANY_DIGITS"),
        ("weight", "1" * 400, "TOO_MANY_DIGITS"),
        ("small", "32768", "TYPE_MISMATCH"),
        ("amount", "2147483648", "TYPE_MISMATCH"),
        ("amount", '"1"', "TYPE_MISMATCH"),
        ("amount", "1.5", "TYPE_MISMATCH"),
        ("amount", "1e999", "TYPE_MISMATCH"),
        ("amount", "true", "TYPE_MISMATCH"),
        ("big", "9223372036854775808", "TYPE_MISMATCH"),
        ("ratio", "1e999", "TYPE_MISMATCH"),
        ("active", "1", "TYPE_MISMATCH"),
        ("active", "null", "NOT_NULLABLE"),
        ("day", '"2023-02-29"', "TYPE_MISMATCH"),
        ("day", '"2024-1-1"', "TYPE_MISMATCH"),
        ("at", '"2024-02-29"', "TYPE_MISMATCH"),
        ("at", '"2024-02-29T10:00:00"', "TYPE_MISMATCH"),
        ("at", '"9999-12-31T23:59:59-23:00"', "TYPE_MISMATCH"),
        ("at", '"2024-02-29T10:00:00.1234567Z"', "TOO_MANY_DIGITS"),
        ("at", '"2024-02-29T10:00:00+01:99"', "TYPE_MISMATCH"),
        ("second", '"2024-02-29T10:00:00.5Z"', "TOO_MANY_DIGITS"),
        ("opens", '"24:00:00"', "TYPE_MISMATCH"),
        ("lasts", '"P1Y"', "TYPE_MISMATCH"),
        ("lasts", '"P"', "TYPE_MISMATCH"),
        ("lasts", '"P999999999DT999999999H"', "TYPE_MISMATCH"),
        ("image", '"%%%"', "TYPE_MISMATCH"),
        ("color", '"GREEN"', "TYPE_MISMATCH"),
        ("color", '"RED,BLUE"', "TYPE_MISMATCH"),
        ("owner_ID", '"1"', "TYPE_MISMATCH"),
        ("tags", "null", "NOT_NULLABLE"),
        ("tags", '"a"', "TYPE_MISMATCH"),
        ("nix", "1", "UNKNOWN_PROPERTY"),
        ("fixed", "null", "READ_ONLY"),
        ("fixed@odata.bind", '"Owners(1)"', "READ_ONLY"),
        ("parent", "null", "NOT_NULLABLE"),
        ("parts", "{}", "TYPE_MISMATCH"),
    ],
)
def test_an_invalid_value_is_refused_with_the_name_of_its_property(name: str, raw: str, code: str) -> None:
    assert faults(f'{{"{name}": {raw}}}'.encode()) == [(code, name.partition("@")[0])]


def test_a_navigation_is_sent_as_a_full_set_or_as_a_delta() -> None:
    for body in (b'{"parts": [], "parts@delta": []}', b'{"parts@delta": [], "parts": []}'):
        assert [code for code, _ in faults(body)] == ["MALFORMED_BODY"]


def test_all_faults_are_reported_at_once_with_their_paths() -> None:
    body = {
        "name": "toolong",
        "address": {"zip": None, "x": 1},
        "tags": ["ok", "long", None],
        "parts": [{"name": "fine"}, {"price": "x", "parts": [{"nix": 1}]}],
        "owner@odata.bind": "nowhere",
    }
    assert faults(body) == [
        ("TOO_LONG", "name"),
        ("NOT_NULLABLE", "address/zip"),
        ("UNKNOWN_PROPERTY", "address/x"),
        ("TOO_LONG", "tags/1"),
        ("NOT_NULLABLE", "tags/2"),
        ("TYPE_MISMATCH", "parts/1/price"),
        ("UNKNOWN_PROPERTY", "parts/1/parts/0/nix"),
        ("BAD_REFERENCE", "owner"),
    ]


def test_values_that_the_service_sets_itself_are_ignored() -> None:
    body = {"ID": ID, "createdAt": "x", "origin": "here", "@odata.etag": 'W/"1"', "@id": "x", "name@Some.term": 1}
    assert decode(body).values == {"ID": ID, "origin": "here"}
    assert decode(body, for_create=False).values == {}


@pytest.mark.parametrize("form", ["owner@odata.bind", "owner@bind"])
def test_a_bound_navigation_becomes_its_foreign_key(form: str) -> None:
    assert decode({form: f"Owners({ID})"}).values == {"owner_ID": ID}
    assert decode({form: None}).values == {"owner_ID": None}


@pytest.mark.parametrize("reference", [{"@id": f"Owners({ID})"}, {"@odata.id": f"Owners({ID})"}, {"ID": ID}])
def test_a_reference_in_place_of_an_entity_is_a_link(reference: dict[str, str]) -> None:
    assert decode({"owner": reference}).values == {"owner_ID": ID}
    assert decode({"friends": [reference]}).links == {"friends": ({"ID": ID},)}


def test_nested_entities_keep_their_keys_and_whether_they_are_a_full_set_or_a_delta() -> None:
    whole = decode({"parts": [{"ID": ID, "name": "a"}]}, for_create=False).nested["parts"]
    assert whole.items == (Payload({"ID": ID, "name": "a"}),)
    assert not whole.delta
    changes = decode(
        {
            "parts@delta": [
                {"name": "b"},
                {"@removed": {"reason": "deleted"}, "ID": ID},
                {"@removed": {}, "@id": "Items(2)"},
            ]
        },
        for_create=False,
    ).nested["parts"]
    assert changes.delta
    assert changes.items == (Payload({"name": "b"}),)
    assert changes.removed == ({"ID": ID}, {"ID": "2"})
    assert decode({"parts": []}).nested["parts"].items == ()
    assert decode({"label": None}).nested["label"].items == ()
    assert decode({"owner": {"name": "new"}}).nested["owner"].items == (Payload({"name": "new"}),)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"1", b"null", b"{", b'{"a":NaN}', b'{"a":1} {}', b"\xff", b'"\xed\xa0\x80"'),
        *(b'{"name":"\\ud800"}', b"[" * 100_000, b'{"price":' + b"1" * 5000 + b"}", b'{"parts":[' * 300 + b"]}" * 300),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    assert [code for code, _ in faults(body)] == ["MALFORMED_BODY"]


def test_a_body_with_very_many_faults_gets_a_short_answer() -> None:
    assert len(faults({f"x{number}": 1 for number in range(10_000)})) == 100


@pytest.mark.parametrize(
    "body",
    [
        {"tags": ["a"] * 100_001},
        {"parts": [{}] * 100_001},
        {"friends@bind": ["Owners(1)"] * 100_001},
        {f"@x{number}": 1 for number in range(100_001)},
        {"address": {f"@x{number}": 1 for number in range(100_001)}},
    ],
    ids=["list", "entities", "links", "entity", "complex"],
)
def test_a_body_has_no_more_values_than_can_be_read_in_time(body: dict[str, Any]) -> None:
    with pytest.raises(ODataError) as caught:
        decode(body)
    assert (caught.value.status, caught.value.code) == (413, "BODY_TOO_LARGE")


def test_parameters_are_read_like_properties() -> None:
    assert decode_parameters(EDM, PAINT, {"color": "RED", "layers": ["a"]}, resolve) == {
        "color": "RED",
        "layers": ["a"],
    }
    with pytest.raises(ODataError) as caught:
        decode_parameters(EDM, PAINT, {"coats": "x", "layers": ["abc"], "more": 1, "@odata.context": "x"}, resolve)
    assert [(fault.code, fault.target) for fault in caught.value.details] == [
        ("TYPE_MISMATCH", "coats"),
        ("TOO_LONG", "layers/0"),
        ("UNKNOWN_PARAMETER", "more"),
        ("REQUIRED", "color"),
    ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(ID),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*ITEM.property_by_name, *ITEM.navigation_by_name, "@id", "x"]), inner)
    ),
)


@given(
    st.dictionaries(
        st.sampled_from([*ITEM.property_by_name, *ITEM.navigation_by_name])
        | st.sampled_from([*ITEM.navigation_by_name]).map(lambda name: f"{name}@odata.bind")
        | st.sampled_from([*ITEM.navigation_by_name]).map(lambda name: f"{name}@delta")
        | st.text(),
        _JSON,
    ),
    st.booleans(),
)
def test_any_body_is_decoded_or_refused(body: dict[str, Any], for_create: bool) -> None:
    outcome: Payload | ODataError
    try:
        outcome = decode_entity(EDM, ITEM, body, for_create=for_create, resolve_reference=resolve)
    except ODataError as error:
        outcome = error
    if isinstance(outcome, Payload):
        assert outcome.values.keys() <= ITEM.property_by_name.keys()
    else:
        msgspec.json.encode([outcome.message, outcome.target, [fault.target for fault in outcome.details]])


@given(st.binary(max_size=50))
def test_any_bytes_are_json_or_refused(body: bytes) -> None:
    with suppress(ODataError):
        decode_json(body)
