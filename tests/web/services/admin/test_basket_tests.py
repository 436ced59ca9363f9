"""Tests of prices: planners keep baskets with what they must cost, run them, and learn what differs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import basket_tests as rules
from promenade.workflows.promotions import basket_tests as running
from tests.web.conftest import run
from tests.web.services.admin.conftest import MADE, NOBODY, OWN, Admin, active, fault

WINTER, SUMMER = "2025-12-24T10:00:00Z", "2025-07-01T10:00:00Z"
ITEM = {"articleNumber": "A", "quantity": 1, "unitPrice": 1}
CARD = {"cardNumber": "4111 1111 1111 1111"}


class Fair:
    """A POS group that sells one article, with a promotion that takes 10 % off it."""

    def __init__(self, admin: Admin, **promotion: Any) -> None:
        self.admin = admin
        self.article = admin.unique("A")
        self.group = admin.unique("P")
        admin.make("PosGroups", code=self.group, name="Fair", currency="EUR", IsActiveEntity=True)
        self.code, self.promotion = self.reduced(**promotion)

    def reduced(self, **values: Any) -> tuple[str, str]:
        """Create a promotion that takes 10 % off the article; return its code and ID."""
        code = self.admin.unique("C")
        made = self.admin.promotion(**{"code": code, "status": "ACTIVE", **values})
        action: dict[str, Any] = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10}
        self.admin.make("DiscountActions", promotion_ID=made["ID"], targetArticleNumber=self.article, **action)
        return code, made["ID"]

    def request(self, **values: Any) -> str:
        item = {"articleNumber": self.article, "quantity": 2, "unitPrice": "5.00"}
        return json.dumps({"posGroupCode": self.group, "items": [item], **values})

    def body(self, **values: Any) -> dict[str, Any]:
        given = {"name": "Two of it", "request": self.request(), "expectedTotal": "9.00"}
        return {**given, "expectedPromotions": [self.code], **values}

    def test(self, **values: Any) -> str:
        return str(self.admin.make("BasketTests", **self.body(**values))["ID"])

    def run(self, test_id: str, **how: Any) -> dict[str, Any]:
        answer = self.admin.post(f"BasketTests({test_id})/AdminService.run", **how)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def run_all(self, promotion_id: str | None = None) -> dict[str, int]:
        values = {} if promotion_id is None else {"promotionId": promotion_id}
        answer = self.admin.post("BasketTests/AdminService.runAll", values)
        assert answer.status_code == 200, answer.text
        return {name: answer.json()[name] for name in ("passed", "failed", "left")}


@pytest.fixture
def fair(admin: Admin) -> Fair:
    return Fair(admin)


def test_a_test_passes_as_long_as_total_and_promotions_are_as_expected(fair: Fair) -> None:
    made = fair.admin.make("BasketTests", **fair.body())
    assert (made["status"], made["currency"], made["lastRunAt"]) == ("NEVER_RUN", "EUR", None)
    ran = fair.run(made["ID"])
    assert (ran["status"], ran["difference"], ran["statusCriticality"]) == ("PASSED", None, 3)
    assert (float(ran["actualTotal"]), ran["actualPromotions"]) == (9.0, [fair.code])
    assert ran["lastRunAt"] > made["createdAt"]
    assert ran["modifiedAt"] == made["modifiedAt"]  # the test itself is the same


def test_a_failed_test_says_totals_and_promotions_in_words(fair: Fair) -> None:
    other, _ = fair.reduced(status="DRAFT")
    failed = fair.run(fair.test(expectedTotal="8.50", expectedPromotions=[other]))
    assert (failed["status"], failed["statusCriticality"]) == ("FAILED", 1)
    assert failed["difference"] == (
        f"Expected total 8.50 EUR, got 9.00 EUR. Promotions missing: {other}. Promotions too many: {fair.code}."
    )


def test_a_changed_test_has_not_been_run_yet(fair: Fair) -> None:
    test_id = fair.test()
    assert fair.run(test_id)["status"] == "PASSED"
    renamed = fair.admin.patch(f"BasketTests({test_id})", {"name": "Another name"}).json()
    assert renamed["status"] == "PASSED"
    changed = fair.admin.patch(f"BasketTests({test_id})", {"expectedTotal": "9.10"}).json()
    assert (changed["status"], changed["actualTotal"], changed["lastRunAt"]) == ("NEVER_RUN", None, None)
    assert fair.run(test_id)["status"] == "FAILED"


def test_a_test_is_priced_at_its_own_time_or_at_that_of_the_run(admin: Admin) -> None:
    fair = Fair(admin, validFrom="2025-12-01T00:00:00Z", validTo="2026-01-01T00:00:00Z")
    for at, total, codes in ((WINTER, "9.00", [fair.code]), (SUMMER, "10.00", []), (None, "10.00", [])):
        request = fair.request(**({"timestamp": at} if at else {}))
        made = admin.make("BasketTests", **fair.body(request=request, expectedTotal=total, expectedPromotions=codes))
        assert made["pricedAt"] == at
        assert fair.run(made["ID"])["status"] == "PASSED", at


def test_a_test_of_december_passes_when_its_promotion_has_expired(fair: Fair) -> None:
    promotion: dict[str, Any] = {
        "ID": str(uuid4()),
        "name": "Advent",
        "code": fair.admin.unique("C"),
        "status": "EXPIRED",
    }
    window = {"validFrom": datetime(2025, 12, 1, tzinfo=UTC), "validTo": datetime(2026, 1, 1, tzinfo=UTC)}
    action: dict[str, Any] = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": Decimal(20)}
    action |= {"ID": str(uuid4()), "promotion_ID": promotion["ID"], "targetArticleNumber": fair.article}

    async def expired() -> None:
        async def work(session: Session) -> None:
            await insert_rows(session, "Promotions", [promotion | window], at=MADE, by="tests")
            await insert_rows(session, "DiscountActions", [action], at=MADE, by="tests")

        database = await open_database(fair.admin.database_url)
        try:
            await database.write(work, tenant=OWN)
        finally:
            await database.close()

    run(expired())
    made = []
    for at, total, codes in (
        (WINTER, "7.00", [fair.code, promotion["code"]]),
        (SUMMER, "9.00", [fair.code]),
        (None, "9.00", [fair.code]),
    ):
        request = fair.request(**({"timestamp": at} if at else {}))
        test_id = fair.test(request=request, expectedTotal=total, expectedPromotions=codes, promotion_ID=fair.promotion)
        made.append(test_id)
        assert fair.run(test_id)["status"] == "PASSED", at
    assert fair.run_all(fair.promotion) == {"passed": 3, "failed": 0, "left": 0}
    assert not {row for _, row, _ in warnings(fair.admin, fair.promotion)} & set(made)


def test_promotions_are_named_by_code_or_id_and_kept_once_by_code(fair: Fair) -> None:
    made = fair.admin.make("BasketTests", **fair.body(expectedPromotions=[fair.promotion, fair.code]))
    assert made["expectedPromotions"] == [fair.code]


def test_points_may_be_expected_but_are_never_too_many(fair: Fair) -> None:
    points, points_id = fair.reduced()
    (action,) = fair.admin.read(f"DiscountActions?$filter=promotion_ID eq {points_id}")["value"]
    loyalty: dict[str, Any] = {"actionType": "ADD_FIXED", "points": 5}
    fair.admin.make("LoyaltyActions", promotion_ID=points_id, **loyalty)
    fair.admin.delete(f"DiscountActions({action['ID']})")
    expected = fair.run(fair.test(expectedPromotions=[fair.code, points]))
    assert (expected["status"], sorted(expected["actualPromotions"])) == ("PASSED", sorted([fair.code, points]))
    assert fair.run(fair.test())["status"] == "PASSED"
    fair.admin.patch(active("Promotions", points_id), {"status": "INACTIVE"})
    assert fair.run(fair.test(expectedPromotions=[fair.code, points]))["difference"] == f"Promotions missing: {points}."


def test_a_basket_that_cannot_be_priced_any_more_fails_with_the_reason(fair: Fair) -> None:
    test_id = fair.test()
    (group,) = fair.admin.read(f"PosGroups?$filter=code eq '{fair.group}'")["value"]
    fair.admin.patch(active("PosGroups", group), {"isActive": False})
    failed = fair.run(test_id)
    assert (failed["status"], failed["actualTotal"]) == ("FAILED", None)
    assert failed["difference"].startswith("The basket cannot be priced: There is no active POS group")


def test_a_run_leaves_no_trace_but_its_result(fair: Fair) -> None:
    test_id = fair.test(request=fair.request(coupons=[{"code": "NO-SUCH"}], customer={"customerId": "C-1"}))
    logs = ("CalculationLogs?", "RedemptionLogs?", "AuditLogs?$filter=actor eq 'admin'&")
    counted = [f"{name}$count=true&$top=0" for name in logs]
    before = [fair.admin.read(one)["@odata.count"] for one in counted]
    assert fair.run(test_id)["status"] == "PASSED"
    assert [fair.admin.read(one)["@odata.count"] for one in counted] == before
    assert fair.admin.read(active("Promotions", fair.promotion))["applicationsCount"] == 0


def test_all_tests_or_those_of_a_promotion_are_run_in_bounds(fair: Fair, monkeypatch: pytest.MonkeyPatch) -> None:
    own = [fair.test(promotion_ID=fair.promotion, expectedTotal=total) for total in ("9.00", "9.00", "8.00")]
    other = fair.test()
    assert fair.run_all(fair.promotion) == {"passed": 2, "failed": 1, "left": 0}
    assert fair.admin.read(f"BasketTests({other})")["status"] == "NEVER_RUN"
    assert fair.run_all(NOBODY) == {"passed": 0, "failed": 0, "left": 0}
    monkeypatch.setattr(running, "RUN_MAX", 2)
    ran = fair.admin.read(f"BasketTests({own[0]})")["lastRunAt"]
    assert sum(fair.run_all(fair.promotion).values()) == 3
    first = fair.run_all(fair.promotion)
    assert (first["passed"] + first["failed"], first["left"]) == (2, 1)
    # Those that were left have come up by now.
    assert all(fair.admin.read(f"BasketTests({one})")["lastRunAt"] > ran for one in own)
    monkeypatch.setattr(running, "RUN_SECONDS", -1.0)
    late = fair.run_all(fair.promotion)
    assert (late["passed"] + late["failed"], late["left"]) == (1, 2)


# --- before activation ------------------------------------------------------------------------------------------------


def warnings(admin: Admin, promotion_id: str) -> list[tuple[str, str | None, str]]:
    """Return severity, row and message of what the check of a promotion says about tests."""
    answer = admin.post(f"{active('Promotions', promotion_id)}/AdminService.check")
    assert answer.status_code == 200, answer.text
    found = [one for one in answer.json()["value"] if one["code"].startswith("BASKET_TEST")]
    assert {one["target"] for one in found} <= {"BasketTests"}
    return [(one["severity"], one["entity_ID"], one["message"]) for one in found]


def test_a_check_warns_of_tests_that_would_fail_with_the_promotion_active(fair: Fair) -> None:
    admin = fair.admin
    code, draft = fair.reduced(status="DRAFT", priority=200)
    broken, other = fair.test(name="Whole price"), fair.test(promotion_ID=fair.promotion, name="Of another one")
    kept = fair.test(promotion_ID=draft, expectedTotal="8.00", expectedPromotions=[fair.code, code])
    said_of = 'The test "Whole price" would fail with the promotion active.'
    said = [one for one in warnings(admin, draft) if one[1] in {broken, other, kept}]
    assert said == [
        (
            "WARNING",
            broken,
            f"{said_of} Expected total 9.00 EUR, got 8.00 EUR. Promotions too many: {code}.",
        )
    ]
    assert [fair.run(one)["status"] for one in (broken, kept)] == ["PASSED", "FAILED"]  # it is not active yet
    admin.post(f"{active('Promotions', draft)}/AdminService.activate")
    assert [fair.run(one)["status"] for one in (broken, kept)] == ["FAILED", "PASSED"]
    for one in (broken, other, kept):
        admin.delete(f"BasketTests({one})")


def test_a_check_prices_at_the_time_of_the_test(admin: Admin) -> None:
    fair = Fair(admin, status="DRAFT", validFrom="2025-12-01T00:00:00Z", validTo="2026-01-01T00:00:00Z")
    for at, total in ((WINTER, "10.00"), (SUMMER, "9.00")):
        request = fair.request(timestamp=at)
        test_id = fair.test(promotion_ID=fair.promotion, request=request, expectedTotal=total, expectedPromotions=[])
        ((severity, row, message),) = [one for one in warnings(admin, fair.promotion) if one[1] == test_id]
        got = "9.00" if at == WINTER else "10.00"
        assert (severity, row) == ("WARNING", test_id)
        assert f"Expected total {total} EUR, got {got} EUR." in message
        admin.delete(f"BasketTests({test_id})")


def test_a_check_changes_no_result_and_no_price(fair: Fair) -> None:
    _, draft = fair.reduced(status="DRAFT")
    test_id = fair.test()
    assert [one for one in warnings(fair.admin, draft) if one[1] == test_id]
    assert fair.admin.read(f"BasketTests({test_id})")["status"] == "NEVER_RUN"
    assert fair.run(test_id)["status"] == "PASSED"
    fair.admin.delete(f"BasketTests({test_id})")


def test_a_check_names_a_promotion_that_pricing_does_not_know(fair: Fair) -> None:
    code, archived = fair.reduced(status="DRAFT")
    assert fair.admin.post(f"{active('Promotions', archived)}/AdminService.archive").status_code == 200
    test_id = fair.test()
    (message,) = [text for _, row, text in warnings(fair.admin, archived) if row == test_id]
    assert f"Promotions too many: {code}." in message
    fair.admin.delete(f"BasketTests({test_id})")


def test_a_check_runs_so_many_tests_and_says_how_many_it_leaves(fair: Fair, monkeypatch: pytest.MonkeyPatch) -> None:
    own = [fair.test(promotion_ID=fair.promotion, expectedTotal="1.00") for _ in range(3)]
    monkeypatch.setattr(running, "CHECKED_MAX", 2)
    said = warnings(fair.admin, fair.promotion)
    assert {row for severity, row, _ in said if severity == "WARNING"} < set(own)
    severity, row, message = said[-1]
    assert (severity, row) == ("INFO", None)
    assert ", 2 were run with the promotion active; " in message


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "code", "target"),
    [
        ({"name": " "}, "REQUIRED", "name"),
        ({"expectedTotal": None}, "NOT_NULLABLE", "expectedTotal"),
        ({"expectedTotal": "9.005"}, "TOO_MANY_DECIMALS", "expectedTotal"),
        ({"currency": "CHF"}, "CURRENCY_MISMATCH", "currency"),
        ({"expectedPromotions": ["NO-SUCH"]}, "UNKNOWN_PROMOTION", "expectedPromotions"),
        ({"promotion_ID": NOBODY}, "UNKNOWN_REFERENCE", "promotion_ID"),
        ({"request": json.dumps({"posGroupCode": "NOWHERE", "items": [ITEM]})}, "POS_GROUP_NOT_FOUND", "request"),
        ({"request": json.dumps({"items": [], "x": "y" * 66_000})}, "TOO_LONG", "request"),
        ({"request": "not JSON"}, "INVALID_BASKET", "request"),
        ({"request": "[]"}, "INVALID_BASKET", "request"),
        ({"request": '{"items": []}'}, "INVALID_BASKET", "request"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_what_a_test_cannot_be_is_refused(fair: Fair, values: dict[str, Any], code: str, target: str) -> None:
    body = fair.body(**values)
    assert fault(fair.admin.post("BasketTests", body)) == (400, code, target)
    assert fault(fair.admin.patch(f"BasketTests({fair.test()})", values)) == (400, code, target)


@pytest.mark.parametrize(
    ("request_", "code", "target"),
    [
        ("{", "MALFORMED_JSON", "request"),
        ('{"items": [{"articleNumber": "A", "quantity": 0, "unitPrice": 1}]}', "QUANTITY_ZERO", "items[0].quantity"),
        ('{"items": [{"articleNumber": "A", "quantity": 1, "unitPrice": "x"}]}', "NOT_A_NUMBER", "items[0].unitPrice"),
        ('{"items": [], "itmes": []}', "UNKNOWN_FIELD", "itmes"),
        ('{"items": []}, "more": {"items": []}', "MALFORMED_JSON", "request"),
        ('{"items": [], "timestamp": "0001-01-01T00:00:00Z"}', "OUT_OF_RANGE", "timestamp"),
        (json.dumps({"items": [ITEM], "paymentInfo": CARD}), "TOO_LONG", "paymentInfo.cardNumber"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_a_bad_basket_names_the_field(fair: Fair, request_: str, code: str, target: str) -> None:
    whole = request_.replace('{"items"', f'{{"posGroupCode": "{fair.group}", "items"', 1)
    answer = fair.admin.post("BasketTests", fair.body(request=whole))
    assert fault(answer) == (400, "INVALID_BASKET", "request")
    details = answer.json()["error"]["details"]
    expected = (code, target if target == "request" else f"request/{target}")
    assert expected in {(one["code"], one["target"]) for one in details}, details


def test_the_number_of_tests_is_bounded(fair: Fair, monkeypatch: pytest.MonkeyPatch) -> None:
    there = fair.admin.read("BasketTests?$count=true&$top=0")["@odata.count"]
    monkeypatch.setattr(rules, "TESTS_MAX", there + 1)
    fair.test()
    assert fault(fair.admin.post("BasketTests", fair.body()))[:2] == (409, "TOO_MANY_TESTS")


def test_planners_write_and_run_tests_and_others_read_them(fair: Fair) -> None:
    admin, test_id = fair.admin, fair.test()
    address = f"BasketTests({test_id})"
    assert admin.post("BasketTests", fair.body(), client="promoter").status_code == 201
    assert fair.run(test_id, client="promoter")["status"] == "PASSED"
    assert admin.get(address, client="treasurer").status_code == 200
    for client, status in (("treasurer", 403), ("till", 403), ("integrator", 403), ("stranger", 404)):
        assert admin.post(f"{address}/AdminService.run", client=client).status_code == status, client
        assert admin.patch(address, {"name": "Mine"}, client=client).status_code == status, client
        assert admin.delete(address, client=client).status_code == status, client
        if client != "stranger":
            assert admin.post("BasketTests", fair.body(), client=client).status_code == 403
            assert admin.post("BasketTests/AdminService.runAll", {}, client=client).status_code == 403
    assert admin.post("BasketTests/AdminService.runAll", {}, client="stranger").json()["passed"] == 0
    assert fault(admin.post("BasketTests", fair.body(), client="stranger"))[:2] == (400, "POS_GROUP_NOT_FOUND")
    assert admin.delete(address).status_code == 204


def test_a_promotion_with_tests_is_not_deleted(fair: Fair) -> None:
    test_id = fair.test(promotion_ID=fair.promotion)
    fair.admin.patch(active("Promotions", fair.promotion), {"status": "INACTIVE"})
    assert fault(fair.admin.delete(active("Promotions", fair.promotion)))[:2] == (409, "IN_USE")
    fair.admin.delete(f"BasketTests({test_id})")
    assert fair.admin.delete(active("Promotions", fair.promotion)).status_code == 204


def test_the_audit_trail_tells_who_changed_a_test(fair: Fair) -> None:
    test_id = fair.test()
    fair.admin.patch(f"BasketTests({test_id})", {"expectedTotal": "8.00"}, client="promoter")
    fair.run(test_id)
    fair.admin.delete(f"BasketTests({test_id})")
    trail = f"AuditLogs?$filter=entityType eq 'BasketTests' and entityId eq '{test_id}'&$orderby=timestamp"
    found = fair.admin.read(trail)["value"]
    assert [(one["action"], one["actor"]) for one in found] == [
        ("CREATE", "admin"), ("UPDATE", "promoter"), ("DELETE", "admin"),
    ]  # fmt: skip
    assert "expectedTotal" in found[1]["note"]
