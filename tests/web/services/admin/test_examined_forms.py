"""Details of response formats that a strict client checks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.services.admin.conftest import Admin, active, draft

QUOTED = "application/json;odata.metadata=minimal;IEEE754Compatible=true"


@pytest.fixture(scope="module")
def placed(admin: Admin) -> dict[str, Any]:
    """Create a promotion with one POS group, and a draft of it."""
    made = admin.promotion(posGroups=[{"posGroup_ID": admin.pos_group()}])
    assert admin.edit("Promotions", made["ID"]).status_code == 201
    return made


def test_counts_are_strings_in_the_ieee754_compatible_format(admin: Admin, placed: dict[str, Any]) -> None:
    """OData JSON Format 4.01, 3.2: Int64 and Decimal as strings, "including the count, if requested"."""
    mine = f"$filter=ID eq {placed['ID']}"
    listed = f"Promotions?{mine} and IsActiveEntity eq true&$count=true"
    assert admin.get(listed, accept=QUOTED).json()["@odata.count"] == "1"
    assert admin.get(listed).json()["@odata.count"] == 1

    for address in (active("Promotions", placed), draft("Promotions", placed)):
        inner = admin.get(f"{address}?$expand=posGroups($count=true)", accept=QUOTED).json()
        assert inner["posGroups@odata.count"] == "1"
        alone = admin.get(f"{address}?$expand=posGroups/$count", accept=QUOTED, odata_maxversion="4.01").json()
        assert alone["posGroups@count"] == "1"
    links = admin.get(f"{active('Promotions', placed)}/posGroups/$ref?$count=true", accept=QUOTED).json()
    assert links["@odata.count"] == "1"

    hook = admin.make("WebhookSubscriptions", callbackUrl="https://example.com/x", eventTypes=["*"], name="x")
    kinds = admin.get(f"WebhookSubscriptions({hook['ID']})/eventTypes?$count=true", accept=QUOTED).json()
    assert kinds["@odata.count"] == "1"


def test_every_list_of_a_draft_root_has_filter_fields(admin: Admin) -> None:
    """A list page has filter fields for every draft root; where there is no code to choose, its key."""
    schema = admin.read("$metadata?$format=application/json")["AdminService"]
    container = schema["EntityContainer"]
    roots = [name for name, one in container.items() if isinstance(one, dict) and "@Common.DraftRoot" in one]
    assert len(roots) == 14
    for name in roots:
        assert schema[container[name]["$Type"].rpartition(".")[2]]["@UI.SelectionFields"], name
    assert "code" in schema["PriorityGroups"]["@UI.SelectionFields"]
