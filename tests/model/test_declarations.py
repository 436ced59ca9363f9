"""The model matches the specification and the assumptions of its projections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from promenade import model
from promenade.model import EntityType
from promenade.model.declare import (
    ADMIN,
    DRAFT,
    DRAFT_NODE,
    NONE,
    PLAIN,
    PUBLIC,
    RO,
    RW,
    RW_RESTRICTED,
    Collection,
    Entity,
    Field,
    Kind,
    Link,
    text,
    wire_name,
)

HERE = Path(__file__).parent
RULE_TYPES = {"ConditionTypes", "ActionTypes", "LoyaltyActionTypes"}
TYPES = {
    Kind.UUID: "UUID",
    Kind.INTEGER: "Integer",
    Kind.LONG: "Long",
    Kind.BOOLEAN: "Boolean",
    Kind.TIMESTAMP: "Timestamp",
    Kind.DATE: "Date",
    Kind.TIME: "Time",
    Kind.TEXTS: "Collection(String)",
    Kind.BLOB: "Blob",
}


def lines(name: str) -> Iterator[str]:
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def expected_members() -> Iterator[tuple[str, str, str]]:
    entity = ""
    for line in lines("entities.txt"):
        if not line.startswith(" "):
            entity = line.strip()
        else:
            wire, _, description = line.strip().partition(" ")
            yield entity, wire, description


def type_of(field: Field) -> str:
    if field.code_list:
        return field.code_list
    if field.kind is Kind.TEXT:
        return "String" if field.length is None else f"String({field.length})"
    if field.kind is Kind.DECIMAL:
        return f"Decimal({field.precision},{field.scale})"
    return TYPES[field.kind]


def describe(member: Field | Link | Collection) -> str:
    if isinstance(member, Collection):
        left, right = ("[", "]") if member.many else ("{", "}")
        return f"{left}{member.target}{right}" if member.composition else f"<{member.target}>"
    flags = "".join(f" {name}" for name in ("virtual", "read_only", "write_only") if getattr(member, name, False))
    flags = flags.replace("read_only", "ro").replace("write_only", "wo")
    if isinstance(member, Link):
        return f"-> {member.target}{'!' if member.required else ''}{flags}"
    default = "" if member.default is None else f"={member.default}"
    return f"{type_of(member)}{'!' if member.required else ''}{default}{flags}"


def members(entity: EntityType) -> dict[str, Field | Link | Collection]:
    every: list[Field | Link | Collection] = [*entity.fields, *entity.links, *entity.collections]
    return {member.wire: member for member in every}


ALL = model.entities()
SERVED = [entity for entity in ALL if entity.public is not NONE or entity.admin is not NONE]


def sets(names: str) -> set[str]:
    """Return entity sets from names separated by spaces."""
    return set(names.split())


# Reporting Service: the table, the further entities, and the audit trail, which other services share.
REPORTS = sets(
    "PromotionPerformance StakeholderCostBreakdown BudgetUtilization CouponAnalytics ABTestResults "
    "PromotionUsageByDay PromotionUsageByHour PromotionUsageByDayOfWeek PromotionDiscountDistribution "
    "PromotionTopPosGroups PromotionTopArticles ThresholdGapROI NearMissROI SavingsSummaryROI ProgressiveNudgesROI "
    "ABTestROI AggregatorRuns DailyThresholdGapAggregates DailyNearMissAggregates DailySavingsSummaryAggregates "
    "DailyNudgesAggregates DailyABTestAggregates DailyFreeItemAggregates PromotionUpliftAnalysis "
    "PromotionPostMortemTopStores PromotionPostMortemTopArticles PromotionHourOfDay PromotionAbComparison "
    "PilotComparisonReports PromotionUpliftByCurrency PromotionPerformanceByCurrency "
    "ABTestResultsByCurrency PromotionUsageByDayAndHour"
)

ADDED = sets("Clients GroupRoles TenantSettings LoyaltyActionArticleListItems People RawPayloads")


def named(entity: EntityType) -> str:
    return entity.set_name


# --- against the specification ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("entity", "wire", "description"), list(expected_members()), ids=str)
def test_every_member_of_the_specification_is_declared(entity: str, wire: str, description: str) -> None:
    assert describe(members(model.entity(entity))[wire]) == description


def test_the_model_has_exactly_the_entities_of_the_specification() -> None:
    listed = {entity for entity, _, _ in expected_members()}
    assert {entity.set_name for entity in ALL} == listed | ADDED | REPORTS


@pytest.mark.parametrize("line", list(lines("code_lists.txt")), ids=lambda line: line.split()[0])
def test_code_lists_have_the_values_of_the_specification(line: str) -> None:
    name, _, values = line.partition(" ")
    specified, codes = values.split(", "), list(model.code_list(name).codes)
    # Rule types may be added to those of the specification; the engine's registry determines them
    # (test_codes_of_the_engine).
    assert codes[: len(specified)] == specified if name in RULE_TYPES else codes == specified


def test_currencies_are_codes_of_three_letters() -> None:
    currencies = model.code_list("Currencies")
    assert {"EUR", "USD", "CHF", "JPY", "KWD"} <= set(currencies.codes)
    assert all(len(code) == 3 and code.isalpha() and code.isupper() for code in currencies.codes)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            RW,
            sets(
                "Promotions DiscountActions BundleComponents Conditions ConditionValueListItems "
                "ConditionArticleListItems "
                "Articles ArticleGroups PosGroups PriorityGroups PromotionPosGroups CouponCodeConfigurations "
                "CouponCodeBatches CouponRefillSchedules CouponTypes CouponTypePromotions Budgets BudgetPromotions "
                "BudgetNotifications Stakeholders BudgetStakeholders StakeholderPromotions RechargeContributions "
                "PriorityGroupPromotions MutualExclusionGroups WebhookSubscriptions Campaigns CampaignPosGroups "
                "PromotionTemplates TemplateConditions TemplateConditionValueListItems "
                "TemplateConditionArticleListItems "
                "TemplateDiscountActions TemplateDiscountActionScaledTiers TemplateDiscountActionQuantityTiers "
                "TemplateDiscountActionBundleComponents TemplateDiscountActionArticleListItems "
                "TemplateDiscountActionExclusions TemplateDiscountActionExclusionArticleListItems "
                "TemplateLoyaltyActions "
                "PromotionPilotConfigs PilotPosGroups ControlPosGroups CalculationConfigs LoyaltyActions "
                "LoyaltyActionArticleListItems ActionScaledTiers ActionQuantityTiers ActionArticleListItems "
                "ActionExclusions ActionExclusionArticleListItems CustomerGroups LoyaltyTiers"
            ),
        ),
        (RW_RESTRICTED, sets("CouponCodes ImportJobs")),
        (
            RO,
            sets(
                "AuditLogs RedemptionLogs BudgetConsumptions CalculationLogs CalculationLogItems "
                "CalculationLogPromotions "
                "NotificationLogs ImportJobErrors LocalDeployments SyncHistory PromotionsCalendar ArticleImportJobs "
                "ArticleImportJobItems LoyaltyTransactions"
            ),
        ),
        (
            NONE,
            sets(
                "Clients GroupRoles People RawPayloads TenantSettings Tenants PromotionForecasts "
                "PromotionForecastAmounts PromotionForecastBudgets PromotionForecastDisplacements "
                "PromotionApprovals BasketTests BudgetRequests"
            )
            | REPORTS,
        ),
    ],
)
def test_the_public_api_serves_each_entity_in_its_mode(mode: object, expected: set[str]) -> None:
    assert {entity.set_name for entity in ALL if entity.public is mode} == expected


def test_the_administration_serves_draft_roots_plain_sets_and_read_only_sets_as_listed() -> None:
    roots = {entity.set_name for entity in ALL if entity.admin is DRAFT}
    assert roots == sets(
        "Promotions Articles ArticleGroups PosGroups PriorityGroups MutualExclusionGroups CouponTypes Budgets "
        "Stakeholders Campaigns PromotionTemplates PromotionPilotConfigs CustomerGroups LoyaltyTiers"
    )
    plain = {entity.set_name for entity in ALL if entity.admin is PLAIN}
    assert plain >= sets(
        "Conditions DiscountActions LoyaltyActions BudgetPromotions BudgetNotifications BudgetStakeholders "
        "RechargeContributions PriorityGroupPromotions CouponTypePromotions WebhookSubscriptions"
    )
    read_only = {entity.set_name for entity in ALL if entity.admin is RO}
    assert read_only >= sets(
        "CouponCodes RedemptionLogs BudgetConsumptions CalculationLogs NotificationLogs ArticleImportJobs"
    )


def test_bulk_import_takes_the_twelve_entities() -> None:
    assert {entity.set_name for entity in ALL if entity.importable} == sets(
        "Articles Promotions Budgets Stakeholders CouponTypes CouponCodeConfigurations CouponCodes Conditions "
        "ArticleGroups PosGroups PriorityGroups MutualExclusionGroups"
    )
    assert {entity.set_name for entity in ALL if entity.admin_importable} == {"Clients"}, "by administrators alone"
    upserts = {entity.set_name for entity in ALL if entity.import_upserts}
    assert upserts == {"Articles", "ArticleGroups", "PosGroups", "Clients"}
    assert all(model.entity(name).natural_key for name in upserts)


def test_each_entity_has_its_natural_key() -> None:
    keys = {entity.set_name: entity.natural_key[0] for entity in ALL if entity.natural_key}
    assert keys == {
        "ArticleGroups": "group_id",
        "Articles": "article_number",
        "LocalDeployments": "store_code",
        "PromotionPilotConfigs": "promotion_id",
        **dict.fromkeys(
            (
                "Budgets",
                "Campaigns",
                "Clients",
                "CouponCodes",
                "CouponTypes",
                "CustomerGroups",
                "LoyaltyTiers",
                "MutualExclusionGroups",
                "PosGroups",
                "PriorityGroups",
                "PromotionTemplates",
                "Promotions",
                "Stakeholders",
            ),
            "code",
        ),
    }


# --- secrets and ownership --------------------------------------------------------------------------------------------


def test_secrets_are_never_shown() -> None:
    shown = {
        (entity.set_name, field.name)
        for entity in ALL
        for field in entity.fields
        if field.shown_in(PUBLIC) and entity.public is not NONE
    }
    assert ("CouponCodes", "code") not in shown
    assert ("CouponTypes", "generic_code") not in shown
    assert ("WebhookSubscriptions", "secret") not in shown
    assert model.entity("CouponCodes").field("code").importable
    assert not model.entity("CouponTypes").field("generic_code").shown_in(ADMIN)
    assert not any(model.entity("Clients").field(f"{one}_digest").shown_in(ADMIN) for one in ("secret", "former"))
    secret = ("invitation_digest", "password_hash", "code_key", "code_step")
    assert not any(model.entity("People").field(one).shown_in(ADMIN) for one in secret)


def test_every_row_has_a_tenant_and_children_of_the_specification_show_none() -> None:
    assert [entity.set_name for entity in ALL if not entity.tenant_owned] == ["TenantSettings", "Tenants"]
    hidden = {entity.set_name for entity in ALL if entity.tenant_owned and not entity.shows_tenant}
    templates = {entity.set_name for entity in ALL if entity.set_name.startswith("Template")}
    assert len(templates) == 11
    assert hidden == templates | {
        "PilotPosGroups",
        "ControlPosGroups",
        "DiscountActions",
        "ActionExclusions",
        "ActionArticleListItems",
    }


def test_administration_alone_shows_its_virtual_fields() -> None:
    virtual = {
        (entity.set_name, field.wire)
        for entity in ALL
        for field in entity.fields
        if field.virtual and not field.shown_in(PUBLIC)
    }
    with_status = sets("""Promotions PromotionsCalendar Campaigns Budgets BudgetRequests CouponTypes CouponCodes
    CouponCodeBatches CalculationLogs ImportJobs ArticleImportJobs ArticleImportJobItems NotificationLogs
    LocalDeployments SyncHistory BasketTests""")
    assert virtual == {(name, "statusCriticality") for name in with_status} | {
        ("ArticleImportJobs", "failedCriticality"),
        ("Budgets", "utilization"),
        ("Conditions", "parameterSummary"),
        ("Stakeholders", "totalShareAcrossBudgets"),
    }


# --- what projections rely on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("entity", ALL, ids=named)
def test_wire_names_are_unique(entity: EntityType) -> None:
    names = [field.wire for field in entity.fields]
    names += [field.text_navigation for field in entity.fields if field.text_navigation]
    names += [name for link in entity.links for name in (link.wire, link.property_wire)]
    names += [collection.wire for collection in entity.collections]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("entity", ALL, ids=named)
def test_columns_are_unique(entity: EntityType) -> None:
    columns = [field.name for field in entity.fields] + [link.column for link in entity.links]
    assert sorted(columns) == sorted(set(columns))


@pytest.mark.parametrize("entity", ALL, ids=named)
def test_every_navigation_property_has_a_target(entity: EntityType) -> None:
    for link in entity.links:
        assert model.entity(link.target)
    for collection in entity.collections:
        link = model.entity(collection.target).link(collection.by)
        assert link.target == entity.set_name
        assert link.owner is collection.composition
    for field in entity.fields:
        if field.code_list:
            codes = model.code_list(field.code_list).codes
            assert field.default is None or field.default in codes
            assert max(map(len, codes)) <= (field.length or 0)
        if field.choices:
            assert field.default is None or field.default in field.choices


@pytest.mark.parametrize("entity", ALL, ids=named)
def test_children_of_a_draft_are_edited_with_it(entity: EntityType) -> None:
    for collection in entity.collections:
        if collection.composition and entity.admin in (DRAFT, DRAFT_NODE):
            assert model.entity(collection.target).admin is DRAFT_NODE
    if entity.admin is DRAFT_NODE:
        assert entity.owner is not None


@pytest.mark.parametrize("entity", ALL, ids=named)
def test_every_entity_and_member_has_a_description(entity: EntityType) -> None:
    assert entity.doc.endswith(".")
    for member in members(entity).values():
        assert len(member.doc) > 5, member.name
        assert member.doc.endswith((".", "...")), member.doc
        assert member.label[0].isupper()


@pytest.mark.parametrize("entity", SERVED, ids=named)
def test_entities_have_managed_fields_unless_the_specification_lists_all_their_fields(entity: EntityType) -> None:
    managed = {"createdAt", "createdBy", "modifiedAt", "modifiedBy"} <= set(members(entity))
    assert managed is (entity.set_name not in {"ActionArticleListItems", "AuditLogs", "PromotionsCalendar"})


def test_restricted_sets_accept_changes_only_to_their_patchable_fields() -> None:
    assert model.entity("CouponCodes").patchable == ("status",)
    assert model.entity("ImportJobs").patchable == ("callback_url",)


def test_the_deprecated_sets_are_those_of_the_specification() -> None:
    assert {entity.set_name for entity in ALL if entity.deprecated} == {
        "StakeholderPromotions",
        "ArticleImportJobs",
        "ArticleImportJobItems",
    }


# --- the language -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wire"),
    [("id", "ID"), ("valid_from", "validFrom"), ("code", "code"), ("max_applications_total", "maxApplicationsTotal")],
)
def test_wire_names_are_derived_from_field_names(name: str, wire: str) -> None:
    assert wire_name(name) == wire


def test_links_have_a_column_a_property_and_a_navigation() -> None:
    link = model.entity("Promotions").link("mutual_exclusion_group")
    assert (link.column, link.property_wire, link.wire) == (
        "mutual_exclusion_group_id",
        "mutualExclusionGroup_ID",
        "mutualExclusionGroup",
    )
    status = model.entity("Promotions").field("status")
    assert status.text_navigation == "statusText"


def test_tables_are_named_for_their_entity_sets() -> None:
    assert model.entity("PromotionPosGroups").table == "promotion_pos_groups"


def test_declaring_an_entity_twice_raises() -> None:
    with pytest.raises(ValueError, match="Articles is declared twice"):
        type("Articles", (Entity,), {"name": text(10, "A name.")})
