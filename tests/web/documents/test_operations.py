"""Promotions as documents over HTTP: read, compared and applied by the roles and rules of administration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kit.databases import Databases
from tests.web.services.admin.conftest import Admin, active, fault, served
from tests.web.services.admin_actions.test_moves import act, ten_off


@pytest.fixture(scope="module")
def admin(databases: Databases) -> Iterator[Admin]:
    """Serve the admin service in this process."""
    with served(databases, "sqlite", has_worker=False) as admin:
        yield admin


def document_of(admin: Admin, promotion: Any, *, definitions: bool = False, **how: Any) -> str:
    address = f"{active('Promotions', promotion)}/AdminService.document(withDefinitions={str(definitions).lower()})"
    return str(admin.read(address, **how)["value"])


def apply(admin: Admin, document: str, *, client: str = "promoter", **more: Any) -> Any:
    return admin.post("Promotions/AdminService.applyDocument", {"document": document, **more}, client=client)


def applied(admin: Admin, document: str, **how: Any) -> dict[str, Any]:
    answer = apply(admin, document, **how)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def compared(admin: Admin, document: str, before: str | None = None, client: str = "treasurer") -> dict[str, Any]:
    body = {"document": document} | ({} if before is None else {"before": before})
    answer = admin.post("Promotions/AdminService.compareDocument", body, client=client)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ten(code: str, value: str = "10", **more: str) -> str:
    lines = [f"{key}: {one}" for key, one in {"code": code, "name": "Ten off", **more}.items()]
    lines += [
        "discountActions:",
        "  - actionType: RECEIPT",
        "    discountType: PERCENTAGE",
        f"    discountValue: {value}",
    ]
    return "\n".join(lines) + "\n"


def test_a_document_is_read_changed_and_applied(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"), code=admin.unique("P"), client="promoter")
    before = document_of(admin, promotion, client="treasurer")
    after = before.replace("discountValue: 10", "discountValue: 12.50")
    assert compared(admin, after)["changes"] == ["Discount actions 1: Discount value: 10 -> 12.50"]
    assert compared(admin, after, before)["changes"] == ["Discount actions 1: Discount value: 10 -> 12.50"]
    assert compared(admin, before)["changes"] == []
    done = applied(admin, after)
    assert (done["promotion_ID"], done["status"], done["isNew"]) == (promotion["ID"], "DRAFT", False)
    assert document_of(admin, promotion) == after
    assert applied(admin, after)["changes"] == []


def test_a_document_of_a_new_promotion_creates_it_as_a_draft_of_its_author(admin: Admin) -> None:
    code = admin.unique("N")
    assert compared(admin, ten(code))["isNew"] is True
    done = applied(admin, ten(code, status="ACTIVE"), withoutStatus=True)
    assert (done["isNew"], done["status"]) == (True, "DRAFT")
    row = admin.read(active("Promotions", done["promotion_ID"]))
    assert (row["code"], row["createdBy"]) == (code, "promoter")
    assert applied(admin, ten(code, status="ACTIVE"))["status"] == "ACTIVE"


def test_faults_name_the_line_and_the_member_and_leave_nothing_behind(admin: Admin) -> None:
    code = admin.unique("W")
    status, error, target = fault(apply(admin, ten(code, "-3")))
    assert (status, error, target) == (400, "INVALID_DOCUMENT", "discountActions/0/discountValue")
    answer = apply(admin, ten(code, campaign="NOWHERE", colour="red")).json()["error"]
    assert answer["code"] == "INVALID_DOCUMENT"
    assert "line" in answer["message"]
    assert fault(apply(admin, "a: &x 1\n"))[:2] == (400, "MALFORMED_DOCUMENT")
    assert fault(apply(admin, "[]\n"))[:2] == (400, "INVALID_DOCUMENT")
    for text in ("", "---\n" + ten(code) + "---\n" + ten(code)):
        assert fault(apply(admin, text))[:2] == (400, "ONE_DOCUMENT")
    assert fault(apply(admin, "#" * 262_145))[:2] == (400, "TOO_LONG")
    assert admin.read(f"Promotions?$filter=code eq '{code}'")["value"] == []


def test_what_a_document_defines_needs_the_role_that_creates_it(admin: Admin) -> None:
    code = admin.unique("B")
    budget = (
        f"definitions:\n  budgets:\n    - name: {code}\n      code: {code}\n      totalAmount: 5\n      currency: EUR\n"
    )
    text = ten(code) + f"budgets: [{code}]\n" + budget
    refused = fault(apply(admin, text))
    assert refused[:2] == (403, "MISSING_SCOPE"), refused
    assert admin.read(f"Promotions?$filter=code eq '{code}'")["value"] == []
    assert admin.read(f"Budgets?$filter=code eq '{code}'")["value"] == []
    assert applied(admin, text, client="admin")["isNew"] is True
    assert len(admin.read(f"Budgets?$filter=code eq '{code}'")["value"]) == 1


def test_who_may_not_write_promotions_applies_no_document(admin: Admin) -> None:
    assert fault(apply(admin, ten(admin.unique("R")), client="treasurer"))[:2] == (403, "MISSING_SCOPE")
    assert fault(apply(admin, ten(admin.unique("R")), client="till"))[:2] == (403, "MISSING_SCOPE")


def test_a_promotion_that_somebody_edits_is_not_overwritten(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"), code=admin.unique("E"), client="promoter")
    text = document_of(admin, promotion).replace("discountValue: 10", "discountValue: 11")
    assert admin.edit("Promotions", promotion["ID"], client="admin").status_code == 201
    assert apply(admin, text).status_code in {403, 409}
    assert "discountValue: 10" in document_of(admin, promotion)


def test_another_tenants_promotion_is_a_new_one(admin: Admin) -> None:
    promotion = ten_off(admin, admin.unique("A"), code=admin.unique("T"), client="promoter")
    text = document_of(admin, promotion)
    assert compared(admin, text, client="stranger")["promotion_ID"] is None
    address = f"{active('Promotions', promotion)}/AdminService.document(withDefinitions=false)"
    assert admin.get(address, client="stranger").status_code == 404
    act(admin, "Promotions", promotion, "archive")
