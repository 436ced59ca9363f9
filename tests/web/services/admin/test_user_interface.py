"""A user interface that knows only `$metadata` can request everything that the annotations tell it to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.web.services.admin.conftest import Admin, active, draft, fault

Csdl = dict[str, Any]


@pytest.fixture(scope="package")
def schema(admin: Admin) -> Csdl:
    """Return the service's schema from its JSON metadata."""
    document = admin.read("$metadata?$format=application/json")
    found: Csdl = document["AdminService"]
    return found


def sets_of(schema: Csdl) -> dict[str, Csdl]:
    """Return the entity type of each entity set."""
    container = schema["EntityContainer"]
    return {
        name: schema[one["$Type"].rpartition(".")[2]]
        for name, one in container.items()
        if isinstance(one, dict) and one.get("$Collection")
    }


def paths_in(value: object) -> Iterator[str]:
    """Return the paths of values that an annotation names."""
    if isinstance(value, dict):
        if "$Path" in value:
            yield value["$Path"]
        for inner in value.values():
            yield from paths_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from paths_in(inner)


def with_texts(schema: Csdl, entity_type: Csdl, paths: Iterable[str]) -> list[str]:
    """Return the paths with those of their text properties."""
    found = list(paths)
    for path in found:
        if "/" not in path:
            found.extend(paths_in(entity_type[path].get("@Common.Text")))
    return list(dict.fromkeys(found))


def options(paths: Iterable[str]) -> str:
    """Return ``$select`` and ``$expand`` for property paths of any depth."""
    tree: dict[str, Any] = {}
    for path in paths:
        place = tree
        for segment in path.split("/"):
            place = place.setdefault(segment, {})
    return "&".join(_options(tree))


def _options(tree: dict[str, Any]) -> list[str]:
    selected = ",".join(name for name, inner in tree.items() if not inner)
    expanded = ",".join(f"{name}({';'.join(_options(inner))})" for name, inner in tree.items() if inner)
    return [*([f"$select={selected}"] if selected else []), *([f"$expand={expanded}"] if expanded else [])]


def test_every_list_can_be_read_as_it_is_shown(admin: Admin, schema: Csdl) -> None:
    for name, entity_type in sets_of(schema).items():
        columns = entity_type.get("@UI.LineItem", [])
        asked = options(with_texts(schema, entity_type, paths_in(columns)))
        answer = admin.get(f"{name}?{asked}&$top=2&$count=true")
        assert answer.status_code == 200, (name, asked, answer.text)
        assert columns or name == "DraftAdministrativeData"


def test_every_list_can_be_filtered_and_sorted_as_is_offered(admin: Admin, schema: Csdl) -> None:
    container = schema["EntityContainer"]
    for name, entity_type in sets_of(schema).items():
        filters = [f"{one} eq null" for one in entity_type.get("@UI.SelectionFields", [])]
        unsortable = container[name]["@Capabilities.SortRestrictions"].get("NonSortableProperties", [])
        columns = [path for path in paths_in(entity_type.get("@UI.LineItem", [])) if path not in unsortable]
        columns = with_texts(schema, entity_type, columns[:4])
        asked = f"$filter={' or '.join(filters)}" if filters else "$top=1"
        answer = admin.get(f"{name}?{asked}&$orderby={','.join(columns)}" if columns else f"{name}?{asked}")
        assert answer.status_code == 200, (name, asked, answer.text)


def test_every_page_can_be_read_as_it_is_shown(admin: Admin, schema: Csdl) -> None:
    for name, entity_type in sets_of(schema).items():
        shown = [value for term, value in entity_type.items() if term.startswith(("@UI.FieldGroup", "@UI.HeaderInfo"))]
        asked = options(with_texts(schema, entity_type, paths_in(shown)))
        answer = admin.get(f"{name}?{asked}&$top=1")
        assert answer.status_code == 200, (name, asked, answer.text)


def test_every_value_list_can_be_opened(admin: Admin, schema: Csdl) -> None:
    asked = set()
    for entity_type in sets_of(schema).values():
        for member in entity_type.values():
            found = member.get("@Common.ValueList") if isinstance(member, dict) else None
            if found is not None:
                names = ",".join(one["ValueListProperty"] for one in found["Parameters"])
                search = "&$search=a" if found["SearchSupported"] else ""
                asked.add(f"{found['CollectionPath']}?$select={names}{search}&$top=1")
    assert len(asked) > 40
    for path in sorted(asked):
        assert admin.get(path).status_code == 200, path


def test_the_conditions_of_a_promotion_are_found_by_their_link_in_words(admin: Admin) -> None:
    """Specification, Promotions: they are read with a filter; no navigation property leads to them."""
    made = admin.promotion()
    admin.make("Conditions", promotion_ID=made["ID"], conditionType="RECEIPT_AMOUNT", value="50")
    listed = admin.read(f"Conditions?$filter=promotion_ID eq {made['ID']}&$select=parameterSummary")["value"]
    assert [one["parameterSummary"] for one in listed] == ["Basket is worth at least 50.00"]
    for name in ("conditions", "discountActions", "loyaltyActions"):
        assert admin.get(f"{active('Promotions', made)}/{name}").status_code == 404
        assert fault(admin.get(f"Promotions?$expand={name}")) == (400, "UNKNOWN_PROPERTY", name)


def test_links_to_a_promotion_are_read_through_it_and_created_separately(admin: Admin) -> None:
    made = admin.promotion()
    assert admin.read(f"{active('Promotions', made)}/budgetPromotions")["value"] == []
    # Its set declares in Capabilities.NavigationRestrictions that none is created through navigation.
    assert admin.post(f"{active('Promotions', made)}/budgetPromotions", {}).status_code == 405


def test_a_sentence_is_neither_filtered_nor_sorted_by(admin: Admin) -> None:
    for option in ("$filter=contains(parameterSummary,'50')", "$orderby=parameterSummary"):
        assert fault(admin.get(f"Conditions?{option}"))[:2] == (400, "NOT_FILTERABLE")


def test_drafts_have_colours_and_shares_like_active_entities(admin: Admin) -> None:
    values: dict[str, Any] = {
        "code": admin.unique("B"),
        "name": "B",
        "currency": "EUR",
        "totalAmount": 100,
        "status": "ACTIVE",
    }
    made = admin.make("Budgets", IsActiveEntity=True, **values)
    admin.edit("Budgets", made["ID"])
    asked = "$select=statusCriticality,utilization,remainingAmount"
    for address in (active("Budgets", made), draft("Budgets", made)):
        told = admin.read(f"{address}?{asked}")
        assert (told["statusCriticality"], told["utilization"], told["remainingAmount"]) == (3, 0, 100)
    found = admin.read(f"Budgets?$filter=statusCriticality eq 3 and utilization le 1 and ID eq {made['ID']}")
    assert [one["code"] for one in found["value"]] == [values["code"]]
