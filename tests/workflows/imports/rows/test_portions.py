"""Rows of one portion interact as if they were stored one after the other."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from promenade.store.driver.statistics import planned_rows
from promenade.store.driver.unit import Session
from tests.workflows.counting import count_statements
from tests.workflows.imports.rows.dock import Dock, text_of

A, B, C, D = (f"{letter * 8}-0000-4000-8000-000000000000" for letter in "abcd")


def told(portion: Any) -> list[tuple[int, str, str | None]]:
    return [(one.number, one.code, one.property) for one in portion.faults]


def numbers(portion: Any) -> list[int]:
    return [one.number for one in portion.stored]


def group(key: str, **rest: Any) -> dict[str, Any]:
    return {"groupId": key, **rest}


def priority(code: str, **rest: Any) -> dict[str, Any]:
    return {"code": code, "name": code, **rest}


async def test_the_first_of_two_rows_with_one_key_is_stored(dock: Dock) -> None:
    await dock.desk.given("PriorityGroups", code="TAKEN")
    rows = [priority(code) for code in ("X", "TAKEN", "Y", "X", "TAKEN")]
    portion = await dock.bring("PriorityGroups", rows)
    assert numbers(portion) == [1, 3]
    assert told(portion) == [(number, "ALREADY_EXISTS", "code") for number in (2, 4, 5)]


async def test_a_refused_row_does_not_reserve_its_key(dock: Dock) -> None:
    """Whatever else is wrong with the first row, invalid or conflicting, the next row with its key is stored."""
    taken = await dock.desk.given("PriorityGroups")
    rows = [
        priority("X", description="x" * 1001), priority("X"), priority("Y", ID=taken), priority("Y"),
        priority("Z", ID=A), priority("W", ID=A), priority("W", ID=B), priority("V", ID=B.upper()),
    ]  # fmt: skip
    portion = await dock.bring("PriorityGroups", rows)
    assert numbers(portion) == [2, 4, 5, 7]
    assert told(portion) == [
        (1, "TOO_LONG", "description"), (3, "ALREADY_EXISTS", "ID"), (6, "ALREADY_EXISTS", "ID"),
        (8, "ALREADY_EXISTS", "ID"),
    ]  # fmt: skip


async def test_rows_can_refer_to_rows_created_before_them(dock: Dock) -> None:
    there = await dock.desk.given("ArticleGroups")
    rows = [
        group("1", ID=A), group("2", parent_ID=A.upper()), group("3", parent_ID=B), group("4", ID=B),
        group("5", parent_ID=B), group("6", ID=C, name="x" * 256), group("7", parent_ID=C),
        group("8", **{"parent@odata.bind": f"ArticleGroups({A})"}), group("9", ID=D, parent_ID=D),
        group("10", ID=there), group("11", parent_ID=there),
    ]  # fmt: skip
    portion = await dock.bring("ArticleGroups", rows)
    assert numbers(portion) == [1, 2, 4, 5, 8, 11]
    assert told(portion) == [
        (3, "UNKNOWN_REFERENCE", "parent_ID"), (6, "TOO_LONG", "name"), (7, "UNKNOWN_REFERENCE", "parent_ID"),
        (9, "CYCLE", "parent_ID"), (10, "ALREADY_EXISTS", "ID"),
    ]  # fmt: skip


async def test_a_later_row_changes_a_row_created_earlier(dock: Dock) -> None:
    there = await dock.desk.given("PosGroups", code="OLD", description="kept", country="DE")
    rows: list[dict[str, Any]] = [
        {"code": "NEW", "name": "first", "currency": "EUR"},
        {"code": "OLD", "name": "renamed"},
        {"code": "NEW", "name": "second", "country": "FR"},
        {"code": "NEW", "country": None},
        {"code": "NEW", "name": "x" * 300},
        {"code": "OLD", "ID": there.upper(), "country": "AT"},
        {"code": "OLD", "ID": A},
        {"code": "NEWER"},
    ]
    portion = await dock.bring("PosGroups", rows)
    assert [(one.number, one.is_new, one.name) for one in portion.stored] == [
        (1, True, "NEW"), (2, False, "OLD"), (3, False, "NEW"), (4, False, "NEW"), (6, False, "OLD"),
    ]  # fmt: skip
    assert set(told(portion)) == {
        (5, "TOO_LONG", "name"), (7, "ALREADY_EXISTS", "ID"), (8, "REQUIRED", "name"), (8, "REQUIRED", "currency"),
    }  # fmt: skip
    (new,) = await dock.desk.rows("PosGroups", code="NEW")
    assert (new["name"], new["country"], new["currency"], new["version"]) == ("second", None, "EUR", 3)
    old = await dock.desk.row("PosGroups", there)
    assert (old["name"], old["description"], old["country"], old["version"]) == ("renamed", "kept", "AT", 3)


async def test_moves_in_a_tree_come_one_after_the_other(dock: Dock) -> None:
    """A below B and B below A at once is a cycle; in sequence only the second one is."""
    for key, row_id in (("a", A), ("b", B), ("c", C)):
        await dock.desk.create("ArticleGroups", groupId=key, ID=row_id)
    rows = [
        group("a", parent_ID=B), group("b", parent_ID=A), group("c", parent_ID=A), group("a", parent_ID=None),
        group("b", parent_ID=C),
    ]  # fmt: skip
    portion = await dock.bring("ArticleGroups", rows)
    assert told(portion) == [(2, "CYCLE", "parent_ID")]
    above = {row["groupId"]: row["parent_ID"] for row in await dock.desk.rows("ArticleGroups")}
    assert above == {"a": None, "b": C, "c": A}
    portion = await dock.bring("ArticleGroups", [group("a", parent_ID=B), group("b", parent_ID=None), group("n", ID=D)])
    assert told(portion) == [(1, "CYCLE", "parent_ID")]
    # Existing rows may be moved below new ones.
    portion = await dock.bring("ArticleGroups", [group("m"), group("p", ID=str(uuid.uuid4())), group("a", parent_ID=D)])
    assert portion.faults == ()


async def test_one_faulty_row_refuses_an_all_or_nothing_import(dock: Dock) -> None:
    """The errors are those of the first faulty row, whatever their kind."""
    await dock.desk.given("PriorityGroups", code="TAKEN")
    rows = [priority("A"), priority("A", priority=1), priority("B", name=" ", priority=2**40), b'"text"']
    for start, expected in (
        (0, [(2, "ALREADY_EXISTS", "code")]),
        (1, [(2, "TYPE_MISMATCH", "priority")]),
        (2, [(1, "TYPE_MISMATCH", "priority")]),
        (3, [(1, "MALFORMED_BODY", None)]),
    ):
        portion = await dock.bring("PriorityGroups", rows[start:], keep_good=False)
        assert portion.stored == ()
        assert told(portion) == expected
    assert [fault.message for fault in portion.faults] == ["The row must be a JSON object."], "not the whole request"
    rows = [priority("C", name=" ", description="x" * 2000), priority("D", name="")]
    portion = await dock.bring("PriorityGroups", rows, keep_good=False)
    assert told(portion) == [(1, "TOO_LONG", "description")]  # as in a create: the length is checked first
    assert [row["code"] for row in await dock.desk.rows("PriorityGroups")] == ["TAKEN"]
    portion = await dock.bring("PriorityGroups", [priority("A"), priority("B")], keep_good=False)
    assert numbers(portion) == [1, 2]


async def test_locked_campaigns_refuse_rows_one_by_one(dock: Dock) -> None:
    campaign = await dock.desk.given("Campaigns")
    promotion = await dock.desk.given("Promotions", campaign_ID=campaign)
    free = await dock.desk.given("Promotions")
    await dock.desk.transition("Campaigns", campaign, "lock")
    rows: list[dict[str, Any]] = [{"name": "a"}, {"name": "b", "campaign_ID": campaign}, {"name": "c"},
                                  {"name": "d", "campaign@odata.bind": f"Campaigns({campaign})"}]  # fmt: skip
    portion = await dock.bring("Promotions", rows)
    assert told(portion) == [(2, "LOCKED", "campaign_ID"), (4, "LOCKED", "campaign_ID")]
    assert (await dock.post("Promotions", rows[1]))[1][0][::2] == ("LOCKED", "campaign_ID")
    rows = [{"promotion_ID": one, "conditionType": "CHANNEL"} for one in (free, promotion, free, promotion)]
    portion = await dock.bring("Conditions", rows)
    assert numbers(portion) == [1, 3]
    assert told(portion) == [(2, "LOCKED", None), (4, "LOCKED", None)]
    assert (await dock.post("Conditions", rows[1]))[1][0][::2] == ("LOCKED", None)


async def test_conditions_of_live_promotions_must_compile(dock: Dock) -> None:
    """Errors found only at the end of a unit are reported for the rows concerned, and the others are stored."""
    live = await dock.desk.given("Promotions", status="ACTIVE")
    draft = await dock.desk.given("Promotions")
    good = {"conditionType": "CHANNEL", "value": "SHOP"}
    bad = {"conditionType": "RECEIPT_AMOUNT", "value": "much"}
    rows = [{**row, "promotion_ID": key} for key in (live, draft) for row in (good, bad, good)]
    answers = [(await dock.post("Conditions", row))[1] for row in rows]
    assert [bool(one) for one in answers] == [False, True, False, False, False, False]
    for row in await dock.desk.rows("Conditions"):
        if row["promotion_ID"] != live:
            await dock.desk.remove("Conditions", row["ID"])
    portion = await dock.bring("Conditions", rows)
    assert numbers(portion) == [1, 3, 4, 5, 6]
    assert [(one.code, one.message, one.property) for one in portion.faults] == answers[1]


async def test_an_already_broken_promotion_is_reported_for_every_row(dock: Dock) -> None:
    """An error that names no row of the portion is located by bisection; each row that causes it alone gets it."""
    live = await dock.desk.given("Promotions", status="ACTIVE")
    await dock.desk.put(
        "Conditions", promotion_id=live, condition_type="RECEIPT_AMOUNT", value="much", logical_connector="AND",
        sequence=0, include_sub_groups=False,
    )  # fmt: skip
    draft = await dock.desk.given("Promotions")
    row = {"conditionType": "CHANNEL", "value": "SHOP", "sequence": -1}
    rows = [row | {"promotion_ID": key} for key in (draft, live, draft, live, draft)]
    told_alone = (await dock.post("Conditions", rows[1]))[1]
    assert [(code, target) for code, _, target in told_alone] == [("NOT_A_NUMBER", "Conditions(2)/value")]
    portion = await dock.bring("Conditions", rows)
    assert numbers(portion) == [1, 3, 5]
    for number in (2, 4):
        found = [(one.code, one.message, one.property) for one in portion.faults if one.number == number]
        assert found == told_alone


async def test_imported_coupon_codes_are_individual_external_and_unique(dock: Dock) -> None:
    await dock.desk.given("CouponTypes", codeType="GENERIC", genericCode="SHARED")
    generic, individual = [await dock.desk.given("CouponTypes", codeType=kind) for kind in ("GENERIC", "INDIVIDUAL")]
    await dock.desk.put("CouponCodes", coupon_type_id=individual, code="POOLED", status="ACTIVE")
    rows = [
        {"code": "G1", "couponType_ID": generic},
        {"code": "I1", "couponType@odata.bind": f"CouponTypes({individual})", "source": "MANUAL", "status": "CREATED"},
        {"code": "I1", "couponType_ID": individual},
        {"code": "SHARED", "couponType_ID": individual},
        {"code": "POOLED", "couponType_ID": individual},
        {"code": "!", "couponType_ID": individual, "customerId": "c", "issuanceChannel": "BATCH"},
        {"code": "I2", "couponType_ID": individual, "status": "REDEEMED"},
        {"couponType_ID": individual},
        {"code": "I3"},
    ]
    portion = await dock.bring("CouponCodes", rows)
    assert numbers(portion) == [2, 6]
    assert {one.name for one in portion.stored} == {""}
    assert told(portion) == [
        (1, "INDIVIDUAL_ONLY", "couponType_ID"),
        (3, "ALREADY_EXISTS", "code"), (4, "ALREADY_EXISTS", "code"), (5, "ALREADY_EXISTS", "code"),
        (7, "INVALID_INITIAL_STATUS", "status"), (8, "REQUIRED", "code"), (9, "REQUIRED", "couponType_ID"),
    ]  # fmt: skip
    found = {row["code"]: row for row in await dock.desk.rows("CouponCodes")}
    for code, status in (("I1", "CREATED"), ("!", "ACTIVE")):
        there = found[code]
        assert (there["source"], there["issuanceChannel"], there["status"]) == ("EXTERNAL", "EXTERNAL", status)


async def test_a_row_may_be_as_deep_as_a_create_and_a_portion_deeper(dock: Dock) -> None:
    promotion = await dock.desk.given("Promotions")
    row = {"promotion_ID": promotion, "conditionType": "ARTICLE_LIST"}
    wide = row | {"articleListItems": [{"ean": str(number)} for number in range(4000)]}
    too_wide = row | {"articleListItems": [{"ean": "1"}] * 10_000}
    portion = await dock.bring("Conditions", [wide, wide, wide, too_wide, wide])
    assert numbers(portion) == [1, 2, 3, 5]
    assert told(portion) == [(4, "TOO_MANY_ROWS", None)]
    assert len(await dock.desk.rows("ConditionArticleListItems")) == 16_000


@pytest.mark.parametrize("bad", ["none", "every other", "all"])
async def test_faulty_rows_take_no_extra_statements(dock: Dock, bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await dock.desk.given("PriorityGroups", code="TAKEN")
    count = count_statements(monkeypatch, "hot")

    def row(number: int) -> bytes:
        faulty = bad == "all" or (bad == "every other" and number % 2)
        kinds: list[dict[str, Any]] = [{"code": "TAKEN"}, {"name": None}, {"description": "x" * 1001}, {"ID": "x"}]
        return text_of(priority(str(number)) | (kinds[number // 2 % 4] if faulty else {}))

    portion = await dock.bring("PriorityGroups", [row(number) for number in range(200)])
    assert len(portion.stored) == {"none": 200, "every other": 100, "all": 0}[bad]
    assert count() <= 30


async def test_the_planner_gets_statistics_of_a_growing_table(dock: Dock) -> None:
    """Otherwise it would scan all promotions of the tenant for each of their parts, within one transaction."""
    place = await dock.desk.given("PosGroups")
    rows = [{"name": "p", "posGroups": [{"posGroup_ID": place}]} for _ in range(250)]
    assert len((await dock.bring("Promotions", rows, keep_good=False)).stored) == 250

    async def planned(session: Session) -> list[int | None]:
        return [await planned_rows(session, name) for name in ("Promotions", "PromotionPosGroups")]

    known = await dock.context.database.read(planned, tenant=dock.tenant)
    assert known == ([None, None] if dock.context.database.dialect == "sqlite" else [250, 250])


async def test_a_faulty_row_leaves_nothing_behind(dock: Dock) -> None:
    places = [await dock.desk.given("PosGroups") for _ in range(2)]
    good = {"name": "good", "posGroups": [{"posGroup_ID": one} for one in places], "calculationConfig": {}}
    twice = good | {"posGroups": [{"posGroup_ID": places[0]}] * 2}
    portion = await dock.bring("Promotions", [good, twice, good | {"calculationConfig": {"mode": "NO"}}, good])
    assert numbers(portion) == [1, 4]
    assert told(portion) == [(2, "ALREADY_EXISTS", "posGroups/1/posGroup_ID"),
                             (3, "UNKNOWN_CODE", "calculationConfig/mode")]  # fmt: skip
    assert len(await dock.desk.rows("PromotionPosGroups")) == 4
    assert len(await dock.desk.rows("CalculationConfigs")) == 2
