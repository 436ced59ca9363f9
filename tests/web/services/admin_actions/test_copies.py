"""Copies of promotions, as a back office makes them; tests/workflows checks that copies are complete."""

from __future__ import annotations

import pytest

from tests.web.services.admin.conftest import Admin, active, fault
from tests.web.services.admin_actions.test_moves import ten_off


def test_a_copy_is_a_new_active_entity_in_status_draft(admin: Admin) -> None:
    group = admin.pos_group()
    code = admin.unique()
    original = ten_off(admin, "A-1", code=code, status="ACTIVE", posGroups=[{"posGroup_ID": group}])
    answer = admin.post(f"{active('Promotions', original)}/AdminService.copy", client="promoter")
    assert answer.status_code == 201, answer.text
    copy = answer.json()
    assert copy["@odata.context"].endswith("$metadata#Promotions/$entity")
    assert copy["ID"] != original["ID"]
    assert (copy["IsActiveEntity"], copy["HasDraftEntity"], copy["status"]) == (True, False, "DRAFT")
    assert (copy["name"], copy["code"], copy["applicationsCount"]) == ("Copy of Ten off", None, 0)
    read = admin.read(f"{active('Promotions', copy)}?$expand=posGroups")
    assert [one["posGroup_ID"] for one in read["posGroups"]] == [group]
    conditions = admin.read(f"Conditions?$filter=promotion_ID eq {copy['ID']}")["value"]
    assert [one["articleNumber"] for one in conditions] == ["A-1"]
    actions = admin.read(f"DiscountActions?$filter=promotion_ID eq {copy['ID']}")["value"]
    assert [one["discountValue"] for one in actions] == [10]
    activated = admin.post(f"{active('Promotions', copy)}/AdminService.activate")
    assert activated.json()["status"] == "ACTIVE"


def test_a_copy_has_the_name_and_the_code_that_are_given(admin: Admin) -> None:
    original, code = admin.promotion(name="n" * 255), admin.unique()
    address = f"{active('Promotions', original)}/AdminService.copy"
    copy = admin.post(address, {"code": code, "name": "Autumn"}).json()
    assert (copy["code"], copy["name"]) == (code, "Autumn")
    assert fault(admin.post(address, {"code": code}))[:2] == (409, "ALREADY_EXISTS")
    assert admin.post(address).json()["name"] == ("Copy of " + "n" * 255)[:255]


@pytest.mark.parametrize(
    "body", [{"name": "n" * 256}, {"code": "c" * 51}, {"name": " "}, {"name": "\0"}, {"name": 5}, {"title": "x"}]
)
def test_a_copy_with_an_invalid_name_or_code_is_refused(admin: Admin, body: dict[str, object]) -> None:
    original = admin.promotion()
    before = admin.read("Promotions/$count")
    assert fault(admin.post(f"{active('Promotions', original)}/AdminService.copy", body))[0] == 400
    assert admin.read("Promotions/$count") == before
