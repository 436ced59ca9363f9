"""Hints for `promenade.model.ui`: exceptions for single entities and actions that no rule can derive."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Conditions": ("sequence", "logicalConnector", "parameterSummary", "conditionType"),
        "CouponCodes": (
            "code",
            "status",
            "source",
            "issuanceChannel",
            "validFrom",
            "validUntil",
            "couponType_ID",
            "redemptionCount",
            "customerId",
        ),
        "DiscountActions": (
            "sequence", "actionType", "discountType", "discountValue", "targetArticleNumber", "targetArticleGroupId",
            "freeItemArticleNumber", "targetCouponType_ID",
        ),
        "LoyaltyActions": ("actionType", "points", "multiplier", "currencyAmount", "targetScope", "maxPoints"),
        "TemplateConditions": (
            "sequence", "logicalConnector", "conditionType", "operator", "value", "valueTo", "articleNumber",
            "articleGroupId",
        ),
        "TemplateDiscountActions": (
            "sequence", "actionType", "discountType", "discountValue", "targetArticleNumber", "targetArticleGroupId",
        ),
        "ArticleImportJobs": ("name", "status", "totalArticles", "processedArticles", "failedArticles", "startedAt"),
        "Articles": (
            "articleNumber", "name", "ean", "manufacturer", "articleGroup_ID", "basePrice", "source", "isActive",
        ),
        "PosGroups": ("code", "name", "parent_ID", "country", "currency", "timeZone", "isActive"),
        "Budgets": (
            "code", "name", "status", "totalAmount", "remainingAmount", "utilization", "validFrom", "validTo",
        ),
        "BudgetRequests": ("promotionName", "status", "amount", "askedBy", "askedAt", "budget_ID", "answeredBy"),
        "CalculationLogs": (
            "transactionId", "status", "confirmedAt", "posGroup_ID", "customerId", "discount", "grandTotal",
            "loyaltyPoints", "discrepancy",
        ),
        "AuditLogs": ("timestamp", "actor", "agent"),
        "NotificationLogs": (
            "createdAt", "eventType", "status", "subscription_ID", "attempts", "httpStatus", "lastError",
            "lastAttemptAt", "nextAttemptAt",
        ),
        "WebhookSubscriptions": (
            "name", "callbackUrl", "isActive", "failureCount", "disabledAt", "previousSecretUntil",
        ),
        "BasketTests": (
            "name", "status", "promotion_ID", "expectedTotal", "actualTotal", "difference", "pricedAt", "lastRunAt",
        ),
        "People": ("userName", "name", "scopes", "isActive", "lastSignInAt", "codeSince", "invitedUntil"),
        "GroupRoles": ("groupName", "description", "scopes", "issuer"),
        "Clients": (
            "name", "code", "clientId", "scopes", "isActive", "lastUsedAt", "rotatedAt", "formerUntil",
            "enrolmentUntil",
        ),
    }
)  # fmt: skip
"""The columns of lists, where the general choice is not the best; by wire names."""

FILTERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "CouponCodes": ("status", "source", "issuanceChannel", "couponType_ID", "validFrom", "validUntil"),
        "BudgetConsumptions": ("budget_ID", "promotion_ID", "consumedAt", "transactionId"),
        "BudgetRequests": ("status", "askedBy", "budget_ID", "askedAt"),
        "NotificationLogs": ("status", "eventType", "subscription_ID", "createdAt"),
        "AuditLogs": ("actor", "ownerType", "timestamp", "action"),
    }
)
"""What lists are filtered by at hand, where the general choice is not the best: by what has an index."""

HIDDEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"AuditLogs": ("entityId", "ownerId", "changes"), "BudgetRequests": ("promotion_ID",)}
)
"""Properties that are for programs, and for pages that say them in words."""

GROUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "TenantSettings": {
            "Prices": (
                "combinationStrategy",
                "countsTowardsThreshold",
                "excludedCountsTowardsThreshold",
                "enableProductionNudges",
                "pointsPerCurrencyUnit",
                "defaultCurrency",
            ),
            "Returns": ("unmatchedReturns",),
            "Approval": ("approval", "approvalFromAmount", "approvalCurrency", "approverScope", "agentsMayActivate"),
            "Reports": ("significanceLevel",),
            "Interfaces": ("masterDataCallbackUrl", "basicForReaders"),
            "People": ("codeRequired",),
            "Secrets": ("secretDays", "secretOverlapHours", "secretGraceDays"),
            "Customers": ("idleCustomerDays", "idlePointsLapse"),
            "Logs": (
                "salesLogDays",
                "salesLogsUnarchived",
                "salesLogsSince",
                "auditLogDays",
                "auditLogsSince",
                "redemptionLogDays",
                "redemptionLogsSince",
            ),
        },
        "BasketTests": {
            "Basket": ("request", "pricedAt"),
            "Expected": ("expectedTotal", "currency"),
            "Result": ("status", "lastRunAt", "actualTotal", "difference"),
        },
    }
)
"""The groups of fields of an entity that has groups of its own, by their labels; the rest is general information."""

LATEST_BY: Mapping[str, str] = MappingProxyType({"BudgetRequests": "askedAt", "NotificationLogs": "createdAt"})
"""The moment by which a list comes from the last to the first, where it is no log, or not the first of a log."""

DEPENDENT: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("Budgets", "remainingAmount"): ("totalAmount",),
        ("Budgets", "utilization"): ("totalAmount",),
    }
)
"""Computed properties and what is typed in that changes them; colours follow what they colour without being here."""

AVAILABLE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("Promotions", "submit"): "DRAFT REJECTED",
        ("Promotions", "approve"): "PENDING_APPROVAL",
        ("Promotions", "reject"): "PENDING_APPROVAL",
        ("Promotions", "startPilot"): "DRAFT APPROVED INACTIVE",
        ("Promotions", "promoteToActive"): "PILOT",
        ("Promotions", "endPilot"): "PILOT",
        ("Promotions", "archive"): "DRAFT REJECTED INACTIVE EXPIRED",
        ("Budgets", "activate"): "DRAFT",
        ("BudgetRequests", "grant"): "OPEN",
        ("BudgetRequests", "decline"): "OPEN",
        ("BudgetRequests", "withdraw"): "OPEN",
    }
)
"""The states in which an action is offered: those that the state machine lets it leave; others are offered in all."""

LOCKED_BY: Mapping[str, str] = MappingProxyType({"Campaigns": "locked", "Promotions": "campaign/locked"})
"""What says, of an entity, that no action may change it; by a path from the entity."""

FOR_PROGRAMS = frozenset({"document"})
"""Bound operations that are no buttons."""

CRITICAL_ACTIONS = frozenset({"archive", "deactivate", "endPilot", "withdrawTokens"})
"""Actions that a user is asked to confirm: something stops running."""
