"""Documents are applied by the rules of authoring, whole or not at all, and change only what differs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import NotFound
from promenade.workflows.authoring.unit import Decision
from promenade.workflows.documents.applying import Author, apply_all, plan_all
from promenade.workflows.documents.exporting import others
from tests.workflows.authoring.desk import NOON
from tests.workflows.counting import count_statements
from tests.workflows.documents.pair import Pair, documents_of, lines_of

TEN = """\
code: TEN
name: Ten percent
conditions:
  - conditionType: ARTICLE
    articleNumber: "0815"
  - conditionType: CHANNEL
    value: ONLINE
    valueListItems:
      - value: A
      - value: B
discountActions:
  - actionType: ARTICLE
    discountType: PERCENTAGE
    discountValue: 10
"""
COUPONS = """\
couponTypes: [VIP]
definitions:
  couponTypes:
    - code: VIP
      name: For friends
      status: ACTIVE
      couponCodeConfiguration: {prefix: V-}
"""


def told(plans: list[Any]) -> list[list[str]]:
    return [lines_of(plan.faults) for plan in plans]


async def refused(pair: Pair, *texts: str, **options: Any) -> list[str]:
    """Apply documents; return the lines of all faults."""
    return [line for lines in told(await pair.apply(*texts, **options)) for line in lines]


async def status(pair: Pair, code: str = "TEN") -> str | None:
    rows = await pair.target.rows("Promotions", code=code)
    return rows[0]["status"] if rows else None


async def test_what_does_not_differ_is_not_written(pair: Pair) -> None:
    await pair.applied(TEN)
    before = {
        name: await pair.target.rows(name) for name in ("Conditions", "ConditionValueListItems", "DiscountActions")
    }
    pair.target.now += timedelta(hours=1)
    (plan,) = await pair.applied(TEN.replace("value: B", "value: C"))
    assert plan.changes == ['Conditions 2: Value list items 2: Value: "B" -> "C"']
    (first, second), items = before["Conditions"], before["ConditionValueListItems"]
    after = {row["ID"]: row for row in await pair.target.rows("Conditions")}
    touched = {first["ID"], second["ID"]} & {row["condition_ID"] for row in items}
    assert [after[row["ID"]]["version"] - row["version"] for row in (first, second)] == [
        int(row["ID"] in touched) for row in (first, second)
    ]
    assert {row["ID"] for row in await pair.target.rows("ConditionValueListItems")} == {row["ID"] for row in items}
    assert await pair.target.rows("DiscountActions") == before["DiscountActions"]


async def test_changes_are_in_the_audit_trail(pair: Pair) -> None:
    await pair.applied(TEN)
    await pair.applied(TEN.replace("Ten percent", "10 %"))
    logs = await pair.target.rows("AuditLogs", actor="cli", entityType="Promotions")
    assert sorted((row["action"], row["note"]) for row in logs) == [("CREATE", None), ("UPDATE", "name")]
    await pair.applied(TEN.replace("Ten percent", "10 %"))
    assert len(await pair.target.rows("AuditLogs", actor="cli", entityType="Promotions")) == 2


async def test_conditions_of_one_sequence_are_in_the_order_of_the_document(pair: Pair) -> None:
    values = [f"V{number}" for number in range(6)]

    def text(order: list[str]) -> str:
        return "code: X\nname: x\nconditions:\n" + "".join(
            f"  - conditionType: CHANNEL\n    value: {value}\n" for value in order
        )

    for order in (values[:5], [*values[:2], values[5], *values[2:5]], values[::-1], values[2:]):
        await pair.applied(text(order))
        assert (await pair.export(pair.target, "X"))[0] == text(order)
        rows = sorted(await pair.target.rows("Conditions"), key=lambda row: (row["sequence"], row["ID"]))
        assert [row["value"] for row in rows] == order


async def test_long_lists_of_equal_rows_are_in_the_order_of_the_document(pair: Pair) -> None:
    def text(values: list[int]) -> str:
        return "code: X\nname: x\nconditions:\n" + "".join(
            f"  - conditionType: CHANNEL\n    value: V{value}\n" for value in values
        )

    numbers = range(600)
    for values in ([one % 3 for one in numbers], [one % 2 for one in numbers], [one // 300 for one in numbers]):
        await pair.applied(text(values))
        assert await pair.export(pair.target, "X") == [text(values)]


async def test_a_document_is_applied_whole_or_not_at_all(pair: Pair) -> None:
    broken = f"{TEN.replace('TEN', 'BAD')}{COUPONS}status: ACTIVE\n".replace('"0815"', '"0815"\n    minAmount: 5')
    broken = broken.replace("discountValue: 10\n", "discountValue: 200\n")
    plans = await pair.apply(broken, TEN.replace("TEN", "GOOD"))
    assert told(plans)[1] == []
    assert await status(pair, "GOOD") == "DRAFT"
    (line,) = told(plans)[0]
    assert line.startswith("1.yaml, line 15: discountActions/0/discountValue")
    assert await status(pair, "BAD") is None
    assert await pair.target.rows("CouponTypes") == []


async def test_what_is_missing_in_the_tenant_is_named(pair: Pair) -> None:
    text = TEN + (
        "posGroups: [WIEN, LINZ]\ncampaign: SUMMER\nbudgets: [B-1]\ncontrolGroup: ROM\n"
        "pilotConfig:\n  pilotStartAt: '2026-01-01T00:00:00Z'\n  pilotEndAt: '2026-02-01T00:00:00Z'\n"
        "  pilotPosGroups: [ROM]\n"
    )
    missing, imported = "and no document defines it.", "and it is imported, not defined by documents."
    assert sorted(await refused(pair, text)) == [
        f"1.yaml, line 15: posGroups/1: Pos groups of the tenant have none with code LINZ, {imported}",
        f"1.yaml, line 16: campaign: Campaigns of the tenant have none with code SUMMER, {missing}",
        f"1.yaml, line 17: budgets/0: Budgets of the tenant have none with code B-1, {missing}",
        f"1.yaml, line 18: controlGroup: Pos groups of the tenant have none with code ROM, {imported}",
    ]
    assert await status(pair) is None


async def test_definitions_create_what_is_missing_and_change_nothing(pair: Pair) -> None:
    await pair.applied(TEN + COUPONS)
    (made,) = await pair.target.rows("CouponTypes")
    assert (made["code"], made["status"]) == ("VIP", "ACTIVE")
    assert [row["prefix"] for row in await pair.target.rows("CouponCodeConfigurations")] == ["V-"]
    (plan,) = await pair.applied(TEN + COUPONS.replace("For friends", "For all"))
    assert plan.is_needless
    assert plan.notes == ['Coupon types: VIP stays as it is: Name: "For friends" -> "For all"']
    assert (await pair.target.rows("CouponTypes"))[0] == made


async def test_a_row_that_one_document_defines_serves_all(pair: Pair) -> None:
    first = TEN.replace("code: TEN", "code: ONE") + "couponTypes: [VIP]\n"
    plans = await pair.applied(first, TEN + COUPONS)
    assert [list(plan.made) for plan in plans] == [[("CouponTypes", "VIP")], []]
    assert len(await pair.target.rows("CouponTypePromotions")) == 2


async def test_a_secret_of_a_definition_is_written_and_never_exported(pair: Pair) -> None:
    secret = COUPONS.replace(
        "name: For friends", "name: For friends\n      codeType: GENERIC\n      genericCode: HELLO"
    )
    await pair.applied(TEN + secret)
    assert (await pair.target.rows("CouponTypes"))[0]["genericCode"] == "HELLO"
    (text,) = await pair.export(pair.target, "TEN", definitions=True)
    assert "HELLO" not in text
    (plan,) = await pair.applied(TEN + secret)
    assert (plan.is_needless, plan.notes) == (True, [])


# --- states -----------------------------------------------------------------------------------------------------------


async def test_a_document_wishes_for_a_state(pair: Pair) -> None:
    await pair.applied(TEN)
    assert await status(pair) == "DRAFT"
    (plan,) = await pair.applied(TEN + "status: ACTIVE\n")
    assert plan.changes == ["Status: Draft -> Active"]
    assert await status(pair) == "ACTIVE"
    await pair.applied(TEN.replace("10\n", "20\n"))
    assert await status(pair) == "ACTIVE"
    assert (await pair.applied(TEN.replace("10\n", "20\n") + "status: INACTIVE\n", keeps_states=True))[0].is_needless
    await pair.applied(TEN + "status: INACTIVE\n")
    assert await status(pair) == "INACTIVE"
    assert "status: INACTIVE" in (await pair.export(pair.target, "TEN"))[0]
    await pair.applied(TEN.replace("TEN", "NEW") + "status: ACTIVE\n", keeps_states=True)
    assert await status(pair, "NEW") == "DRAFT"


async def test_what_prevents_a_promotion_from_running_is_told(pair: Pair) -> None:
    text = TEN.partition("discountActions")[0]
    await pair.applied(text)
    (line,) = await refused(pair, text + "status: ACTIVE\n")
    assert "action" in line
    assert await status(pair) == "DRAFT"


async def test_the_last_condition_of_a_running_promotion_stays(pair: Pair) -> None:
    await pair.applied(TEN + "status: ACTIVE\n")
    (line,) = await refused(pair, "code: TEN\nname: Ten percent\n" + TEN[TEN.index("discountActions") :])
    assert "ACTIVE promotion cannot be removed" in line
    assert len(await pair.target.rows("Conditions")) == 2


async def test_a_promotion_that_has_expired_was_active_as_wished(pair: Pair) -> None:
    text = TEN + "status: ACTIVE\nvalidTo: '2026-03-03T00:00:00Z'\n"
    await pair.applied(text)
    pair.target.now = NOON + timedelta(days=2)
    (row,) = await pair.target.rows("Promotions")
    await pair.target.unit(lambda authoring: authoring.transition("Promotions", row["ID"], "expire"), by_clock=True)
    assert (await pair.applied(text))[0].is_needless
    (text,) = await pair.export(pair.target, "TEN")
    assert "status" not in text
    longer = text.replace("2026-03-03", "2026-04-03") + "status: ACTIVE\n"
    await pair.applied(longer)
    assert await status(pair) == "ACTIVE"


async def test_binding_approval_binds_documents_too(pair: Pair) -> None:
    target, active = pair.target, TEN + "status: ACTIVE\n"
    await target.unit(lambda authoring: authoring.configure({"approval": "BINDING"}))
    (line,) = await refused(pair, active)
    assert line.startswith("1.yaml, line 15: status: The promotion needs an approval")
    assert await status(pair) is None
    await pair.applied(active, keeps_states=True)
    (row,) = await target.rows("Promotions")
    assert "needs an approval" in (await refused(pair, active))[0]
    await target.transition("Promotions", row["ID"], "submit")
    decision = Decision("approve", None)
    await target.unit(
        lambda authoring: authoring.transition("Promotions", row["ID"], "approve", binding=True, decision=decision),
        user="zoe",
    )
    assert (await pair.applied(active))[0].changes == ["Status: Approved -> Active"]
    (line,) = await refused(pair, active.replace("discountValue: 10", "discountValue: 90"))
    assert "this change of it is not approved" in line
    assert await status(pair) == "ACTIVE"


async def test_a_locked_campaign_locks_its_promotions(pair: Pair) -> None:
    campaign = await pair.target.create("Campaigns", code="SUMMER", name="Summer")
    await pair.applied(TEN + "campaign: SUMMER\n")
    await pair.target.transition("Campaigns", campaign, "lock")
    (line,) = await refused(pair, TEN)
    assert "The campaign SUMMER is locked" in line


# --- which promotion a document is of -------------------------------------------------------------------------------


async def test_a_promotion_without_a_code_is_known_by_its_name(pair: Pair) -> None:
    text = TEN.replace("code: TEN\n", "")
    await pair.applied(text)
    assert (await pair.applied(text))[0].is_needless
    assert await pair.export(pair.target) == [text]
    await pair.target.create("Promotions", name="Ten percent")
    assert await refused(pair, text) == [
        "1.yaml, line 1: name: The tenant has 2 promotions of this name without a code: give them codes first."
    ]


async def test_promotions_without_a_document_are_named_and_kept(pair: Pair) -> None:
    await pair.applied(TEN)
    await pair.target.create("Promotions", code="OLD", name="Old one")
    await pair.target.create("Promotions", name="Nameless")
    assert await others(pair.database, pair.target.tenant, documents_of(TEN)) == ["OLD Old one", "Nameless"]
    await pair.applied(TEN.replace("10\n", "15\n"))
    assert len(await pair.target.rows("Promotions")) == 3


async def test_a_tenant_that_does_not_exist_is_an_error(pair: Pair) -> None:
    author = Author("cli", NOON, lambda: "x")
    with pytest.raises(NotFound, match="nobody"):
        await apply_all(pair.database, "nobody", documents_of(TEN), author)


# --- plans ------------------------------------------------------------------------------------------------------------


async def test_a_dry_run_tells_what_the_rules_say_and_changes_nothing(pair: Pair) -> None:
    good, bad = TEN + COUPONS, TEN.replace("TEN", "BAD").replace("10\n", "200\n") + "status: ACTIVE\n"
    (made, failed) = await pair.apply(good, bad, is_trial=True)
    assert list(made.made) == [("CouponTypes", "VIP")]
    assert "line 14: discountActions/0/discountValue" in lines_of(failed.faults)[0]
    for name in ("Promotions", "Conditions", "CouponTypes", "AuditLogs"):
        rows = await pair.target.rows(name)
        assert [row for row in rows if row.get("actor", "cli") == "cli"] == []


async def test_a_plan_tells_every_change_in_words(pair: Pair) -> None:
    await pair.applied(TEN)
    text = TEN.replace("value: ONLINE", "value: SHOP").replace("PERCENTAGE", "ABSOLUTE").replace("  - value: A\n", "")
    text = text.replace("discountActions:", "posGroups: [WIEN]\nisExperiment: true\ndiscountActions:", 1)
    text += "validFrom: '2026-03-01T08:00:00Z'\ncalculationConfig:\n  precision: 1\n"
    (plan,) = await plan_all(pair.database, pair.target.tenant, documents_of(text), at=NOON)
    assert plan.changes == [
        "Valid from: none -> 2026-03-01 08:00 UTC",
        "Is experiment: no -> yes",
        "Pos groups: new: WIEN",
        "Calculation config: new: Precision 1",
        'Conditions 2: Value: "ONLINE" -> "SHOP"',
        'Conditions 2: Value list items 1: removed: Value "A"',
        "Discount actions 1: Discount type: Percentage -> Absolute",
    ]


async def test_a_plan_takes_as_many_statements_for_many_documents_as_for_two(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [TEN.replace("TEN", f"T{number}") for number in range(20)]
    await pair.applied(*texts)
    counts = []
    for some in (texts[:2], texts):
        count = count_statements(monkeypatch)
        await plan_all(pair.database, pair.target.tenant, documents_of(*some), at=NOON)
        counts.append(count())
    assert counts[0] == counts[1] > 0
