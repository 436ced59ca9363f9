"""Rules of single entity sets: coupons, webhooks, jobs, places, pilots; and the errors for violating them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from promenade.errors import Conflict, Forbidden, Invalid, NotAllowed, NotFound, PromenadeError
from tests.workflows.authoring.desk import NOON, OTHER, Desk
from tests.workflows.authoring.test_every_entity import NOBODY, faults, refused

WINDOWS = {
    "Promotions": ("validFrom", "validTo"),
    "Campaigns": ("startAt", "endAt"),
    "PromotionPilotConfigs": ("pilotStartAt", "pilotEndAt"),
    "Budgets": ("validFrom", "validTo"),
    "CouponTypes": ("validFrom", "validTo"),
}


async def test_the_start_of_a_window_must_precede_its_end(desk: Desk) -> None:
    for set_name, (start, end) in WINDOWS.items():
        sample = await desk.sample(set_name)
        for first, last in ((NOON, NOON), (NOON + timedelta(seconds=1), NOON)):
            error = await refused(desk, Invalid, desk.create_row(set_name, sample | {start: first, end: last}))
            assert (error.code, error.target) == ("WINDOW_EMPTY", end)
        made = await desk.create_row(set_name, sample | {start: NOON, end: NOON + timedelta(hours=1)})
        error = await refused(desk, Invalid, desk.update(set_name, made, **{start: NOON + timedelta(hours=1)}))
        assert error.target == end


async def test_only_null_makes_a_window_open_ended(desk: Desk) -> None:
    """Values next to the extremes are kept unchanged; a database treats the extremes themselves as infinities."""
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    moment = timedelta(microseconds=1)
    for set_name, (start, end) in WINDOWS.items():
        sample = await desk.sample(set_name)
        for name, value in ((start, first), (end, last)):
            error = await refused(desk, Invalid, desk.create_row(set_name, sample | {name: value}))
            assert (error.code, error.target) == ("OUT_OF_RANGE", name)
        made = await desk.create_row(set_name, sample | {start: first + moment, end: last - moment})
        row = await desk.row(set_name, made)
        assert (row[start], row[end]) == (first + moment, last - moment)


@pytest.mark.parametrize("set_name", ["PosGroups", "ArticleGroups"])
async def test_a_cycle_in_a_tree_is_refused(desk: Desk, set_name: str) -> None:
    top = await desk.given(set_name)
    middle = await desk.given(set_name, parent_ID=top)
    low = await desk.given(set_name, parent_ID=middle)
    for above in (top, middle, low):
        error = await refused(desk, Invalid, desk.update(set_name, top, parent_ID=above))
        assert (error.code, error.target) == ("CYCLE", "parent_ID")

    async def two(authoring: Any) -> None:
        await authoring.update(set_name, middle, {"parent_ID": None})
        await authoring.update(set_name, top, {"parent_ID": low})
        await authoring.update(set_name, middle, {"parent_ID": top})

    await refused(desk, Invalid, desk.unit(two))
    mine = "11111111-0000-4000-8000-000000000000"
    sample = await desk.sample(set_name)
    error = await refused(desk, Invalid, desk.create_row(set_name, sample | {"ID": mine, "parent_ID": mine}))
    assert error.code == "CYCLE"
    ring = [mine, mine.replace("1", "2"), mine.replace("1", "3")]
    rows = [
        await desk.sample(set_name) | {"ID": key, "parent_ID": above}
        for key, above in zip(ring, ring[1:] + ring[:1], strict=True)
    ]
    error = await refused(desk, Invalid, desk.create_many(set_name, rows))
    assert faults(error) == {("CYCLE", f"{place}/parent_ID") for place in range(3)}
    rows[2]["parent_ID"] = None
    await desk.create_many(set_name, rows)  # the lowest first


async def test_concurrent_changes_cannot_create_a_cycle_in_a_tree(desk: Desk) -> None:
    for _ in range(8):
        left, right = await desk.given("PosGroups"), await desk.given("PosGroups")
        below_left = await desk.given("PosGroups", parent_ID=left)
        below_right = await desk.given("PosGroups", parent_ID=right)
        answers = await asyncio.gather(
            desk.update("PosGroups", left, parent_ID=below_right),
            desk.update("PosGroups", right, parent_ID=below_left),
            return_exceptions=True,
        )
        assert sum(isinstance(one, PromenadeError) for one in answers) == 1


IMPOSSIBLE: tuple[tuple[str, str, Any, str], ...] = (
    ("PosGroups", "timeZone", "Mars/Olympus", "UNKNOWN_TIME_ZONE"),
    ("PosGroups", "timeZone", "../../etc/passwd", "UNKNOWN_TIME_ZONE"),
    ("Conditions", "weekdays", "MON,DAY", "UNKNOWN_WEEKDAY"),
    ("Conditions", "weekdays", "MON,MON", "UNKNOWN_WEEKDAY"),
    ("TemplateConditions", "weekdays", "monday", "UNKNOWN_WEEKDAY"),
    ("Articles", "source", "EXTERNAL", "UNKNOWN_CODE"),
    ("ArticleGroups", "source", "EXTERNAL", "UNKNOWN_CODE"),
    ("Articles", "name", "a\0b", "INVALID_CHARACTER"),
    ("Articles", "name", "\ud800", "INVALID_CHARACTER"),
    ("Articles", "unit", "x" * 11, "TOO_LONG"),
    ("Articles", "nonsense", 1, "UNKNOWN_PROPERTY"),
    ("CouponTypes", "genericCode", "SPRING", "GENERIC_ONLY"),
    ("CouponCodeConfigurations", "length", 7, "TOO_FEW_CODES"),
    ("CouponCodeConfigurations", "alphabet", "0123456789", "TOO_FEW_CODES"),
    ("CouponCodeConfigurations", "alphabet", "AABCDEFGHIJK", "INVALID_ALPHABET"),
    ("CouponCodeConfigurations", "alphabet", "A", "INVALID_ALPHABET"),
    ("WebhookSubscriptions", "callbackUrl", "http://shop.example/hook", "HTTPS_REQUIRED"),
    ("WebhookSubscriptions", "callbackUrl", "ftp://shop.example/hook", "INVALID_URL"),
    ("WebhookSubscriptions", "callbackUrl", "https://a:b@shop.example/hook", "INVALID_URL"),
    ("WebhookSubscriptions", "callbackUrl", "https://[::1", "INVALID_URL"),
    ("WebhookSubscriptions", "eventTypes", ["PROMOTION_ACTIVATED", "NOTHING"], "UNKNOWN_CODE"),
    ("WebhookSubscriptions", "eventTypes", [], "REQUIRED"),
    ("WebhookSubscriptions", "secret", "short", "INVALID_SECRET"),
)


async def test_impossible_values_are_refused_with_their_property(desk: Desk) -> None:
    made: dict[str, str] = {}
    for set_name, property_, value, code in IMPOSSIBLE:
        sample = await desk.sample(set_name)
        error = await refused(desk, Invalid, desk.create_row(set_name, sample | {property_: value}))
        assert faults(error) == {(code, property_)}
        if set_name not in made:
            made[set_name] = await desk.create_row(set_name, sample)
        error = await refused(desk, Invalid, desk.update(set_name, made[set_name], **{property_: value}))
        assert (error.code, error.target) == (code, property_)


async def test_a_configuration_of_codes_too_long_for_tills_is_refused(desk: Desk) -> None:
    sample = await desk.sample("CouponCodeConfigurations")
    long = sample | {"prefix": "P" * 20, "suffix": "S" * 20, "length": 24, "checkCharacter": True}
    error = await refused(desk, Invalid, desk.create_row("CouponCodeConfigurations", long))
    assert error.code == "CODES_TOO_LONG"
    await desk.create_row("CouponCodeConfigurations", long | {"checkCharacter": False})


async def test_a_coupon_code_cannot_be_used_twice(desk: Desk) -> None:
    kind = await desk.given("CouponTypes", codeType="GENERIC", genericCode="SPRING")
    error = await refused(desk, Conflict, desk.given("CouponTypes", codeType="GENERIC", genericCode="SPRING"))
    assert (error.code, error.target) == ("ALREADY_EXISTS", "genericCode")
    await desk.put("CouponCodes", coupon_type_id=kind, code="WINTER", status="ACTIVE", source="MANUAL")
    error = await refused(desk, Conflict, desk.update("CouponTypes", kind, genericCode="WINTER"))
    assert "WINTER" not in error.message
    own = await desk.given("CouponTypes", codeType="INDIVIDUAL")
    rows = [{"couponType_ID": own, "code": "SPRING"}]
    await refused(desk, Conflict, desk.unit(lambda one: one.create_many("CouponCodes", rows), importing=True))


async def test_a_shared_code_is_stored_in_upper_case_and_none_differs_by_case_alone(desk: Desk) -> None:
    kind = await desk.given("CouponTypes", codeType="GENERIC", genericCode="Summer26ß")
    (row,) = await desk.rows("CouponTypes", ID=kind)
    assert row["genericCode"] == "SUMMER26ß"  # its upper case would be two characters
    own = await desk.given("CouponTypes", codeType="INDIVIDUAL")
    await desk.put("CouponCodes", coupon_type_id=own, code="wInter26", status="ACTIVE", source="MANUAL")
    for code in ("SUMMER26ß", "summer26ß", "WINTER26", "winter26"):
        error = await refused(desk, Conflict, desk.given("CouponTypes", codeType="GENERIC", genericCode=code))
        assert (error.code, error.target) == ("ALREADY_EXISTS", "genericCode")
    await desk.given("CouponTypes", codeType="GENERIC", genericCode="winter2")
    rows = [{"couponType_ID": own, "code": code} for code in ("suMMer26ß", "WINTER26")]
    await refused(desk, Conflict, desk.unit(lambda one: one.create_many("CouponCodes", rows[:1]), importing=True))
    await desk.unit(lambda one: one.create_many("CouponCodes", rows[1:]), importing=True)  # individual codes may
    await desk.update("CouponTypes", kind, genericCode="summer27")
    (row,) = await desk.rows("CouponTypes", ID=kind)
    assert row["genericCode"] == "SUMMER27"


async def test_external_codes_are_only_created_by_import(desk: Desk) -> None:
    kind = await desk.given("CouponTypes")
    row = {"couponType_ID": kind, "code": "SECRET-1"}
    error = await refused(desk, NotAllowed, desk.create_row("CouponCodes", row))
    assert isinstance(error, NotAllowed)
    assert error.allow == ("GET",)
    (code,) = await desk.unit(lambda one: one.create_many("CouponCodes", [row]), importing=True)
    stored = await desk.row("CouponCodes", code)
    assert (stored["source"], stored["issuanceChannel"], stored["status"]) == ("EXTERNAL", "EXTERNAL", "ACTIVE")
    await refused(desk, NotAllowed, desk.remove("CouponCodes", code))
    error = await refused(desk, Invalid, desk.update("CouponCodes", code, status="CANCELLED", customerId="c", code="x"))
    assert faults(error) == {("NOT_CHANGEABLE", "customerId"), ("NOT_CHANGEABLE", "code")}
    await desk.update("CouponCodes", code, status="CANCELLED")
    (log,) = await desk.rows("RedemptionLogs")
    assert (log["action"], log["couponCode_ID"]) == ("CANCELLED", code)
    for row in await desk.rows("AuditLogs"):
        assert "SECRET-1" not in str(row)


async def test_a_secret_is_shown_once(desk: Desk) -> None:
    made = await desk.given("WebhookSubscriptions")
    secret = desk.shown["WebhookSubscriptions"][made]["secret"]
    assert secret.startswith("whsec_")
    assert (await desk.row("WebhookSubscriptions", made))["secret"] == secret
    await desk.update("WebhookSubscriptions", made, name="x")
    assert desk.shown == {}
    own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    await desk.given("WebhookSubscriptions", secret=own)
    assert desk.shown == {}
    await desk.update("WebhookSubscriptions", made, secret=own)
    for row in await desk.rows("AuditLogs"):
        assert own not in str(row)
        assert "secret" not in str(row["note"])


async def test_reactivating_a_subscription_resets_its_failures(desk: Desk) -> None:
    made = await desk.put("WebhookSubscriptions", callback_url="https://x.example/", event_types=["*"], is_active=False,
                          failure_count=9, disabled_at=NOON, secret="s" * 24)  # fmt: skip
    await desk.update("WebhookSubscriptions", made, isActive=True, eventTypes=["*", "*"])
    row = await desk.row("WebhookSubscriptions", made)
    assert (row["failureCount"], row["disabledAt"], row["eventTypes"]) == (0, None, ["*"])


async def test_an_experiment_names_its_groups_in_any_case(desk: Desk) -> None:
    place = await desk.given("PosGroups")
    made = await desk.given("Promotions", controlGroupId=place.upper())
    assert (await desk.row("Promotions", made))["controlGroupId"] == place
    error = await refused(desk, Conflict, desk.remove("PosGroups", place))
    assert error.code == "IN_USE"


async def test_a_tree_deeper_than_the_limit_is_refused(desk: Desk) -> None:
    keys = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(101)]
    rows = [
        {"ID": key, "groupId": key[:8], "parent_ID": above} for key, above in zip(keys, [None, *keys], strict=False)
    ]
    await desk.create_many("ArticleGroups", rows)
    error = await refused(desk, Invalid, desk.create("ArticleGroups", groupId="low", parent_ID=keys[-1]))
    assert (error.code, error.target) == ("TOO_DEEP", "parent_ID")


async def test_plain_http_is_allowed_only_for_configured_hosts(desk: Desk) -> None:
    desk.options = {"http_hosts": ("erp.internal", "10.0.0.0/8", "localhost:8080")}
    for url in ("http://erp.internal/x", "http://10.1.2.3:99/", "http://localhost:8080/"):
        await desk.given("WebhookSubscriptions", callbackUrl=url)
    for url in ("http://localhost:8081/", "http://11.1.2.3/", "http://erp.internal.evil.example/"):
        await refused(desk, Invalid, desk.given("WebhookSubscriptions", callbackUrl=url))


async def test_a_job_cannot_be_deleted_while_a_worker_runs_it(desk: Desk) -> None:
    job = {"entity": "Articles", "source": "BULK_IMPORT"}
    running = await desk.put("ImportJobs", **job, status="RUNNING")
    error = await refused(desk, Conflict, desk.remove("ImportJobs", running))
    assert error.code == "JOB_NOT_FINISHED"
    error = await refused(desk, Invalid, desk.update("ImportJobs", running, status="FAILED"))
    assert (error.code, error.target) == ("NOT_CHANGEABLE", "status")
    await refused(desk, Invalid, desk.update("ImportJobs", running, callbackUrl="nowhere"))
    await desk.update("ImportJobs", running, callbackUrl="https://shop.example/done")
    await refused(desk, NotAllowed, desk.create_row("ImportJobs", job))
    for status in ("SUCCEEDED", "FAILED"):
        ended = await desk.put("ImportJobs", **job, status=status)
        await desk.put("ImportJobErrors", job_id=ended, row_number=1, code="X", message="x")
        await desk.remove("ImportJobs", ended)
    assert await desk.rows("ImportJobErrors") == []


async def test_a_second_pilot_config_is_refused_and_a_foreign_promotion_is_unknown(desk: Desk) -> None:
    other = Desk(desk.database, OTHER)
    foreign, bare = await other.given("Promotions"), await other.given("Promotions")
    await other.given("PromotionPilotConfigs", promotion_ID=foreign)
    sample = await desk.sample("PromotionPilotConfigs")
    own = await desk.create_row("PromotionPilotConfigs", sample)
    for key in (foreign, sample["promotion_ID"]):
        error = await refused(desk, Conflict, desk.create_row("PromotionPilotConfigs", sample | {"promotion_ID": key}))
        assert (error.code, error.target) == ("ALREADY_EXISTS", "promotion_ID")
    for key in (bare, NOBODY):
        error = await refused(desk, Invalid, desk.create_row("PromotionPilotConfigs", sample | {"promotion_ID": key}))
        assert (error.code, error.target) == ("UNKNOWN_REFERENCE", "promotion_ID")
    await desk.update("PromotionPilotConfigs", own, controlGroupSize=3)


async def test_a_caller_cannot_choose_another_tenant(desk: Desk) -> None:
    sample = await desk.sample("Promotions")
    error = await refused(desk, Forbidden, desk.create_row("Promotions", sample | {"tenantId": OTHER}))
    assert (error.code, error.target) == ("FOREIGN_TENANT", "tenantId")
    made = await desk.create_row("Promotions", sample | {"tenantId": desk.tenant})
    place = await desk.given("PosGroups")
    part = {"posGroup_ID": place, "tenantId": OTHER}
    error = await refused(desk, Forbidden, desk.update("Promotions", made, posGroups=[part]))
    assert error.target == "posGroups/0/tenantId"


async def test_values_that_the_service_sets_are_ignored_in_requests(desk: Desk) -> None:
    made = await desk.given("Promotions", applicationsCount=9, createdBy="eve", createdAt=NOON + timedelta(days=1))
    row = await desk.row("Promotions", made)
    assert (row["applicationsCount"], row["createdBy"], row["createdAt"]) == (0, "ann", NOON)
    await desk.update("Promotions", made, ID=NOBODY, modifiedBy="eve", applicationsCount=9, minorVersion=13)
    assert await desk.row("Promotions", made) == row


async def test_replacing_a_row_resets_omitted_properties_to_their_defaults(desk: Desk) -> None:
    campaign = await desk.given("Campaigns")
    made = await desk.given("Promotions", description="x", priority=7, campaign_ID=campaign, status="INACTIVE")
    await desk.unit(lambda one: one.update("Promotions", made, {"name": "new"}, replace=True))
    row = await desk.row("Promotions", made)
    assert (row["name"], row["description"], row["priority"], row["campaign_ID"]) == ("new", None, 100, None)
    assert row["status"] == "INACTIVE"
    await refused(desk, Invalid, desk.unit(lambda one: one.update("Promotions", made, {}, replace=True)))


async def test_a_refused_call_changes_nothing(desk: Desk) -> None:
    """Also if the unit continues: an import that keeps its good rows."""
    first = await desk.given("Articles")
    taken = (await desk.row("Articles", first))["articleNumber"]

    async def work(authoring: Any) -> None:
        with pytest.raises(Conflict):
            await authoring.create_many("Articles", [{"articleNumber": "new"}, {"articleNumber": taken}])
        await authoring.create("Articles", {"articleNumber": "good"})

    await desk.unit(work)
    assert {row["articleNumber"] for row in await desk.rows("Articles")} == {taken, "good"}
    assert len(await desk.rows("AuditLogs", entityType="Articles")) == 2


async def test_an_unknown_status_is_reported_as_one_fault(desk: Desk) -> None:
    error = await refused(desk, Invalid, desk.given("Promotions", status="RUNNING"))
    assert faults(error) == {("UNKNOWN_CODE", "status")}


async def test_holding_a_row_returns_its_version_or_not_found(desk: Desk) -> None:
    made = await desk.given("Conditions")
    assert await desk.unit(lambda one: one.hold("Conditions", made)) == 1
    await refused(desk, NotFound, desk.unit(lambda one: one.hold("Conditions", NOBODY)))


async def test_an_action_on_a_missing_row_is_not_found(desk: Desk) -> None:
    await refused(desk, NotFound, desk.transition("Campaigns", NOBODY, "lock"))
