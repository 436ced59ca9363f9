"""What a service exposes of the model in its metadata."""

from __future__ import annotations

import pytest

from odata_server.edm import Primitive
from promenade import model
from promenade.model.declare import ADMIN, NONE, PUBLIC, RO, RW, Service
from promenade.model.edm import edm_for, served_entities


def words(text: str) -> list[str]:
    return text.split()


READ_WRITE = words("""
Promotions DiscountActions BundleComponents Conditions ConditionValueListItems ConditionArticleListItems Articles
ArticleGroups PosGroups PriorityGroups PromotionPosGroups CouponCodeConfigurations CouponCodeBatches
CouponRefillSchedules CouponTypes CouponTypePromotions Budgets BudgetPromotions BudgetNotifications Stakeholders
BudgetStakeholders StakeholderPromotions RechargeContributions PriorityGroupPromotions MutualExclusionGroups
WebhookSubscriptions Campaigns CampaignPosGroups PromotionTemplates TemplateConditions TemplateConditionValueListItems
TemplateConditionArticleListItems TemplateDiscountActions TemplateDiscountActionScaledTiers
TemplateDiscountActionQuantityTiers TemplateDiscountActionBundleComponents TemplateDiscountActionArticleListItems
TemplateDiscountActionExclusions TemplateDiscountActionExclusionArticleListItems TemplateLoyaltyActions
PromotionPilotConfigs PilotPosGroups ControlPosGroups CalculationConfigs LoyaltyActions ActionScaledTiers
ActionQuantityTiers ActionArticleListItems ActionExclusions ActionExclusionArticleListItems
LoyaltyActionArticleListItems CustomerGroups LoyaltyTiers
""")
READ_ONLY = words("""
AuditLogs RedemptionLogs BudgetConsumptions CalculationLogs CalculationLogItems CalculationLogPromotions
NotificationLogs ImportJobErrors LocalDeployments SyncHistory PromotionsCalendar ArticleImportJobs
LoyaltyTransactions ArticleImportJobItems PromotionStatuses PromotionTypes ExclusivityLevels DiscountTypes
ApplicationQuantityModes CalculationModes RoundingModes SelectionTypes ArticleSources GroupTypes
LogicalConnectors ComparisonOperators ConditionTypes ConditionValueCategories ActionTypes DistributionModes
ExclusionTypes ResolutionStrategies BudgetStatuses CouponCodeTypes CouponStatuses CouponCodeStatuses
CouponReturnPolicies EarnedCouponPolicies StakeholderTypes CalculationLogStatuses LoyaltyActionTypes
LoyaltyTargetScopes CampaignStatuses Currencies UseCases ReturnPolicies NeverDiscountedReasons
BasketTestStatuses
""")


def names(set_name: str, service: Service = PUBLIC) -> set[str]:
    return {one.name for one in edm_for(service).entity_types[set_name].properties}


def test_every_collection_that_is_read_and_written_is_a_set_of_its_own() -> None:
    """The catalogue of the specification, and the composition children that it does not list."""
    for name in READ_WRITE:
        entity_set = edm_for(PUBLIC).entity_sets[name]
        assert entity_set.insertable, name
        assert entity_set.updatable, name


def test_logs_calendars_and_code_lists_are_read_only() -> None:
    for name in READ_ONLY:
        assert edm_for(PUBLIC).entity_sets[name].read_only, name


def test_the_public_api_has_the_sets_of_the_catalogue_and_no_others() -> None:
    assert set(edm_for(PUBLIC).entity_sets) == {*READ_WRITE, *READ_ONLY, "CouponCodes", "ImportJobs"}
    assert edm_for(PUBLIC).namespace == "PublicAPI"


def test_coupon_codes_are_only_changed_and_import_jobs_only_changed_and_deleted() -> None:
    codes, jobs = (edm_for(PUBLIC).entity_sets[name] for name in ("CouponCodes", "ImportJobs"))
    assert (codes.insertable, codes.updatable, codes.deletable) == (False, True, False)
    assert (jobs.insertable, jobs.updatable, jobs.deletable) == (False, True, True)


def test_sets_with_patchable_fields_declare_all_other_properties_as_fixed() -> None:
    for name, patchable in (("CouponCodes", {"status"}), ("ImportJobs", {"callbackUrl"})):
        properties = edm_for(PUBLIC).entity_types[name].properties
        assert {one.name for one in properties if not (one.computed or one.immutable)} == patchable


def test_the_public_api_does_not_expose_the_code_of_a_coupon() -> None:
    assert "code" not in names("CouponCodes")
    assert "code" in names("CouponCodes", ADMIN)


def test_secrets_are_accepted_and_not_shown() -> None:
    properties = edm_for(PUBLIC).entity_types
    assert properties["CouponTypes"].property_by_name["genericCode"].write_only
    assert properties["WebhookSubscriptions"].property_by_name["secret"].write_only


def test_campaigns_have_the_fields_of_the_specification() -> None:
    campaigns = edm_for(PUBLIC).entity_types["Campaigns"]
    facets = {name: (one.type, one.max_length, one.nullable) for name, one in campaigns.property_by_name.items()}
    assert facets["code"] == (Primitive.STRING, 50, False)
    assert facets["name"] == (Primitive.STRING, 255, False)
    assert facets["notes"] == (Primitive.STRING, 2000, True)
    assert facets["startAt"] == (Primitive.DATE_TIME_OFFSET, None, True)
    assert facets["ownerStakeholder_ID"] == (Primitive.GUID, None, True)
    assert facets["tenantId"] == (Primitive.STRING, 36, False)
    assert campaigns.property_by_name["locked"].computed
    assert campaigns.property_by_name["tenantId"].computed
    assert campaigns.property_by_name["minorVersion"].computed
    assert campaigns.navigation_by_name["posGroups"].composition
    assert not campaigns.navigation_by_name["promotions"].writable
    assert campaigns.navigation_by_name["statusText"].on == (("status", "code"),)


def test_discount_actions_have_the_fields_and_navigations_of_the_specification() -> None:
    fields = words("""ID createdAt createdBy modifiedAt modifiedBy promotion_ID actionType discountType discountValue
    maxDiscountAmount targetArticle_ID targetArticleGroup_ID targetArticleNumber targetArticleGroupId includeSubGroups
    targetArticleList selectionType applicationQuantityMode applicationQuantity targetCouponType_ID distributionMode
    maxBundles freeItemArticleNumber freeItemQuantity restrictToOnePerBasket freeItemReferencePrice maxFreeUnits
    minorVersion""")
    navigations = words("""promotion actionTypeText discountTypeText targetArticle targetArticleGroup targetCouponType
    scaledTiers quantityTiers bundleComponents articleListItems exclusions""")
    assert set(fields) <= names("DiscountActions")
    assert set(navigations) <= set(edm_for(PUBLIC).entity_types["DiscountActions"].navigation_by_name)


def test_an_item_of_an_article_list_has_only_the_fields_of_the_specification() -> None:
    assert names("ActionArticleListItems") == {"ID", "action_ID", "articleNumber", "ean", "fixedPrice", "minorVersion"}
    assert set(edm_for(PUBLIC).entity_types["ActionArticleListItems"].navigation_by_name) == {"action"}


def test_the_parts_of_a_template_do_not_show_a_tenant() -> None:
    children = [name for name in READ_WRITE if name.startswith("Template")]
    assert len(children) == 11
    for name in [*children, "PilotPosGroups", "ControlPosGroups"]:
        assert "tenantId" not in names(name), name
    assert "tenantId" in names("PromotionTemplates")


def test_conditions_and_actions_cannot_be_reached_from_their_promotion() -> None:
    navigations = set(edm_for(PUBLIC).entity_types["Promotions"].navigation_by_name)
    assert {"posGroups", "calculationConfig", "campaign"} <= navigations
    assert not navigations & {"conditions", "discountActions", "loyaltyActions", "conditionGroups"}


def test_deprecated_sets_are_annotated_as_deprecated() -> None:
    deprecated = {
        name
        for name, entity_set in edm_for(PUBLIC).entity_sets.items()
        if any(annotation.term == "Core.Revisions" for annotation in entity_set.annotations)
    }
    assert deprecated == {"StakeholderPromotions", "ArticleImportJobs", "ArticleImportJobItems"}


def test_operations_are_those_of_the_specification() -> None:
    edm = edm_for(PUBLIC)
    named = {"addPromotions", "removePromotion", "exportICS", "createPromotionFromTemplate", "bulkImport"}
    assert set(edm.operations) == named
    assert set(edm.action_imports) == {"createPromotionFromTemplate"}
    assert edm.bound_operation("addPromotions", "Campaigns", collection=False)
    assert {one.binding for one in edm.operations["bulkImport"]} == {
        "Articles", "Promotions", "Budgets", "Stakeholders", "CouponTypes", "CouponCodeConfigurations", "CouponCodes",
        "Conditions", "ArticleGroups", "PosGroups", "PriorityGroups", "MutualExclusionGroups",
    }  # fmt: skip
    assert all(one.binding_collection for one in edm.operations["bulkImport"])


@pytest.mark.parametrize("service", list(Service))
def test_each_service_exposes_exactly_the_members_that_the_model_declares_for_it(service: Service) -> None:
    """Sets match the modes, every member has a description, and hidden members are absent."""
    edm = edm_for(service)
    for entity in model.entities():
        mode = entity.mode(service)
        assert (entity.set_name in edm.entity_sets) == (mode is not NONE), entity.set_name
        if mode in {RO, RW}:
            assert edm.entity_sets[entity.set_name].read_only == (mode is RO)
    for entity in served_entities(service):
        shown = {one.name: one for one in edm.entity_types[entity.set_name].properties}
        for field in entity.fields:
            assert (field.wire in shown) == (service not in field.hidden_from), (entity.set_name, field.wire)
        for one in shown.values():
            assert {"Core.Description", "Common.Label"} <= {annotation.term for annotation in one.annotations}


def test_partner_navigations_point_back_to_each_other() -> None:
    edm = edm_for(PUBLIC)
    for entity_type in edm.entity_types.values():
        for navigation in entity_type.navigations:
            if navigation.partner is not None:
                back = edm.entity_types[navigation.target].navigation_by_name[navigation.partner]
                assert (back.target, back.partner) == (entity_type.name, navigation.name)
                assert back.on == tuple((other, own) for own, other in navigation.on)
