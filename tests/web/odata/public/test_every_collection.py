"""What the specification requires of every collection, tested on each."""

from __future__ import annotations

from promenade.model.declare import PUBLIC
from promenade.model.edm import edm_for
from tests.web.odata.public.conftest import LOGGED, ODATA, Api, odata_fault, problem

SETS = edm_for(PUBLIC).entity_sets
READ_ONLY = [name for name, one in SETS.items() if one.read_only]
READ_WRITE = [name for name, one in SETS.items() if one.insertable]
NOBODY = "99999999-9999-4999-8999-999999999999"


def key_of(name: str) -> str:
    return "('NOTHING')" if edm_for(PUBLIC).entity_types[name].key == ("code",) else f"({NOBODY})"


def test_a_collection_is_read_with_its_count_and_the_minor_version(api: Api) -> None:
    for name in SETS:
        page = api.read(f"{name}?$top=2&$count=true")
        assert page["minorVersion"] == 13, name
        assert page["@context"].endswith(f"$metadata#{name}"), name
        assert page["@count"] >= len(page["value"]) <= 2, name


def test_a_missing_row_is_404(api: Api) -> None:
    for name in SETS:
        answer = api.get(f"{name}{key_of(name)}")
        assert problem(answer)[0] == 404, name


def test_read_only_collections_take_no_write_from_rest_clients(api: Api) -> None:
    for name in READ_ONLY:
        for method, path in (("POST", name), ("PATCH", name + key_of(name)), ("DELETE", name + key_of(name))):
            answer = api.call(method, path, None if method == "DELETE" else {})
            assert (problem(answer)[:2], answer.headers["allow"]) == ((405, "READ_ONLY"), "GET"), (method, name)


def test_read_only_collections_take_no_write_from_odata_clients(api: Api) -> None:
    for name in READ_ONLY:
        for method, path in (("POST", name), ("PATCH", name + key_of(name)), ("DELETE", name + key_of(name))):
            answer = api.call(method, path, None if method == "DELETE" else {}, **ODATA)
            assert odata_fault(answer)[:2] == (403, "READ_ONLY"), (method, name)


def test_writing_needs_the_write_scope(api: Api) -> None:
    for name in READ_WRITE:
        for method, path in (("POST", name), ("PATCH", name + key_of(name)), ("DELETE", name + key_of(name))):
            answer = api.call(method, path, None if method == "DELETE" else {}, client="reader")
            assert problem(answer)[:2] == (403, "MISSING_SCOPE"), (method, name)


def test_reading_needs_the_read_scope(api: Api) -> None:
    for name in SETS:
        for client in ("writer", "administrator", "till"):
            assert problem(api.get(name, client=client))[:2] == (403, "MISSING_SCOPE"), (name, client)


def test_a_missing_row_can_be_neither_changed_nor_deleted(api: Api) -> None:
    for name in READ_WRITE:
        for method in ("PATCH", "DELETE"):
            answer = api.call(method, name + key_of(name), None if method == "DELETE" else {})
            assert problem(answer)[0] == 404, (method, name)


def test_an_unknown_property_is_refused_by_its_name(api: Api) -> None:
    for name in READ_WRITE:
        status, _, target = problem(api.post(name, {"nonsense": 1}))
        assert (status, target) == (400, "nonsense"), name


def test_query_options_with_unknown_properties_are_refused(api: Api) -> None:
    for name in SETS:
        for option in ("$orderby=nonsense", "$select=nonsense", "$expand=nonsense", "$filter=nonsense eq 1"):
            assert problem(api.get(f"{name}?{option}"))[0] == 400, (name, option)


def test_every_navigation_can_be_expanded_at_once(api: Api) -> None:
    for name in SETS:
        assert api.get(f"{name}?$expand=*&$top=1").status_code == 200, name


def test_every_property_can_be_selected_and_ordered_by(api: Api) -> None:
    for name, entity_set in SETS.items():
        properties = edm_for(PUBLIC).entity_types[entity_set.entity_type].properties
        names = [one.name for one in properties if not one.write_only]
        assert api.get(f"{name}?$top=1&$select={','.join(names)}").status_code == 200, name
        if "minorVersion" in names:
            assert api.get(f"{name}?$top=1&$select=ID&$orderby=minorVersion desc").status_code == 200, name
        plain = [one.name for one in properties if not one.write_only and not one.collection]
        for start in range(0, len(plain), 20):
            answer = api.get(f"{name}?$top=1&$orderby={' desc,'.join(plain[start : start + 20])}")
            assert answer.status_code == 200, (name, answer.text)


def test_rows_of_another_tenant_are_not_there(api: Api) -> None:
    """LOGGED 2 belongs to the other tenant; 1 shows that the query works."""
    for name in ("CouponCodes", "CouponTypes", "AuditLogs", "ImportJobs", "ImportJobErrors", "Campaigns", "Promotions"):
        assert api.get(f"{name}({LOGGED.format(1)})").status_code == 200, name
        assert problem(api.get(f"{name}({LOGGED.format(2)})"))[0] == 404, name
