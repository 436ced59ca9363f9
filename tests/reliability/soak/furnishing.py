"""The initial data of each tenant: places, articles, promotions, budgets, coupons, and clients."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET

__all__ = ["ARTICLES", "CLIENTS", "DISCOUNTED", "GROUPS", "TENANTS", "codes_of", "furnish", "identity", "limit_of"]

TENANTS = ("north", "south", "west")
SETTINGS = {"north": {}, "south": {"pointsPerCurrencyUnit": "1"}, "west": {"combinationStrategy": "BEST_DEAL"}}
CLIENTS = {
    "till": ("svc.POSReader",),
    "integrator": ("PublicApi.Read", "PublicApi.Write"),
    "administrator": ("svc.Admin",),
    "planner": ("svc.Admin",),
    "store": ("svc.Sync",),
}
GROUPS = {"BERLIN": "EUR", "TOKYO": "JPY", "KUWAIT": "KWD"}
ARTICLES = tuple(f"A-{number:03}" for number in range(120))
DISCOUNTED = ("off", "saver", "bundle", "receipt", "points", "gift", "once", "all", "late", "limited")
"""Names of the promotions there are at the beginning."""
MADE = datetime(2026, 1, 1, tzinfo=UTC)
GENERIC_LIMIT_SHARE = 200


def identity(tenant: str, name: str) -> str:
    """Return an ID that is the same in every run and unique per tenant."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{tenant} {name}"))


def codes_of(operations: int) -> int:
    """Return the number of individual codes per tenant: few enough to be contested, enough to last."""
    return max(60, operations // 30)


def limit_of(operations: int) -> int:
    """Return the usage limit of the shared code: it is reached in the second half of the load."""
    return max(5, operations // GENERIC_LIMIT_SHARE)


async def furnish(database_url: str, operations: int, receiver_url: str) -> None:
    """Create the tenants. ``receiver_url`` gets all events at `/all/<tenant>`, and few at two other paths."""
    database = await open_database(database_url)
    now = datetime.now(UTC)
    try:
        for tenant in TENANTS:
            await create_tenant(database, tenant, settings=SETTINGS[tenant], at=MADE, user="soak")
            for name, scopes in CLIENTS.items():
                client = f"{tenant}-{name}"
                await create_client(database, client_id=client, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)

            async def work(session: Session, tenant: str = tenant) -> None:
                for set_name, rows in _rows(tenant, operations, receiver_url, now):
                    await insert_rows(session, set_name, rows, at=MADE, by="soak")
                await record_change(session, "Promotions", at=MADE)

            await database.write(work, tenant=tenant)
    finally:
        await database.close()


Rows = Iterator[tuple[str, list[dict[str, Any]]]]


def _rows(tenant: str, operations: int, receiver_url: str, now: datetime) -> Rows:
    yield (
        "PosGroups",
        [
            {"ID": identity(tenant, code), "code": code, "name": code, "currency": currency}
            for code, currency in GROUPS.items()
        ],
    )
    yield (
        "Articles",
        [
            {"ID": identity(tenant, number), "articleNumber": number, "name": f"Article {number}", "unit": "PCE"}
            for number in ARTICLES
        ],
    )
    yield from _coupons(tenant, operations, now)
    yield from _offers(tenant)
    yield from _budgets(tenant, operations)
    yield from _limits(tenant)
    kinds = {"all": ["*"], "flaky": ["PROMOTION_UPDATED", "BUDGET_EXHAUSTED"], "dead": ["CAMPAIGN_CREATED"]}
    yield (
        "WebhookSubscriptions",
        [
            {
                "ID": identity(tenant, f"subscription {name}"),
                "name": name,
                "callbackUrl": f"{receiver_url}/{name}/{tenant}",
                "eventTypes": wanted,
                "secret": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
                "isActive": True,
            }
            for name, wanted in kinds.items()
        ],
    )


def _coupons(tenant: str, operations: int, now: datetime) -> Rows:
    def kind(name: str, **values: Any) -> dict[str, Any]:
        return {"ID": identity(tenant, f"type {name}"), "code": name, "name": name, "status": "ACTIVE", **values}

    generic = {"codeType": "GENERIC", "genericCode": f"ALL-{tenant}", "maxRedemptions": limit_of(operations)}
    yield (
        "CouponTypes",
        [
            kind("once"),
            kind("all", **generic),
            kind("late"),
            kind("digital", requiresActivation=True),
            kind("gift", validityDays=30),
        ],
    )
    number = codes_of(operations)
    late = now + timedelta(seconds=15 + operations / 400)  # while the load is running

    def code(name: str, prefix: str, place: int, **values: Any) -> dict[str, Any]:
        said = f"{prefix}-{place:06}"
        row = {"ID": identity(tenant, said), "code": said, "couponType_ID": identity(tenant, f"type {name}")}
        return row | {"status": "ACTIVE", "issuedAt": MADE} | values

    yield (
        "CouponCodes",
        [
            *(code("once", "ONCE", place) for place in range(number)),
            *(code("late", "LATE", place, validUntil=late) for place in range(number // 4)),
            *(code("digital", "DIGI", place, status="CREATED") for place in range(number // 4)),
        ],
    )


def _promotion(tenant: str, name: str, article: str | None, action: dict[str, Any], **values: Any) -> Rows:
    promotion_id = identity(tenant, name)
    about = {"promotion_ID": promotion_id}
    row = {"ID": promotion_id, "code": name, "name": name, "status": "ACTIVE", "type": "ARTICLE", **values}
    yield "Promotions", [row]
    if article is not None:
        condition = {"sequence": 1, "conditionType": "ARTICLE", "articleNumber": article}
        yield "Conditions", [{"ID": identity(tenant, f"condition {name}"), **about, **condition}]
    yield "DiscountActions", [{"ID": identity(tenant, f"action {name}"), **about, **action}]


def _offers(tenant: str) -> Rows:
    def percent(number: int, article: str) -> dict[str, Any]:
        target = {"actionType": "ARTICLE", "targetArticleNumber": article}
        return {**target, "discountType": "PERCENTAGE", "discountValue": number}

    yield from _promotion(tenant, "off", "A-000", percent(10, "A-000"))
    yield from _promotion(tenant, "saver", "A-001", percent(15, "A-001"))
    tight = {"actionType": "ARTICLE", "targetArticleNumber": "A-002"}
    yield from _promotion(tenant, "bundle", "A-002", {**tight, "discountType": "ABSOLUTE", "discountValue": 3})
    receipt = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 7}
    yield from _promotion(tenant, "receipt", "A-003", receipt, type="RECEIPT")
    yield from _promotion(tenant, "points", "A-004", percent(5, "A-004"))
    earned = {"ID": identity(tenant, "points of points"), "promotion_ID": identity(tenant, "points")}
    yield "LoyaltyActions", [{**earned, "actionType": "ADD_FIXED", "points": 7}]
    gift = {"actionType": "POST_PURCHASE_COUPON", "targetCouponType_ID": identity(tenant, "type gift")}
    yield from _promotion(tenant, "gift", "A-005", gift, type="COUPON")
    for name, article in (("once", "A-006"), ("all", "A-007"), ("late", "A-008"), ("digital", "A-010")):
        yield from _promotion(tenant, name, article, percent(20, article), type="COUPON")
        link = {"ID": identity(tenant, f"link {name}"), "promotion_ID": identity(tenant, name)}
        yield "CouponTypePromotions", [{**link, "couponType_ID": identity(tenant, f"type {name}")}]
    yield from _promotion(tenant, "limited", "A-009", percent(30, "A-009"), maxApplicationsPerCustomer=3)


def _limits(tenant: str) -> Rows:
    """Return notifications at half and at nine tenths of the small budget."""
    budget = {"budget_ID": identity(tenant, "budget small")}
    yield (
        "BudgetNotifications",
        [{"ID": identity(tenant, f"told at {at}"), **budget, "thresholdPercentage": at} for at in (50, 90)],
    )


def _budgets(tenant: str, operations: int) -> Rows:
    """Return three budgets: one is never exhausted, one is and is recharged, one is and is not; two promotions share
    one.
    """
    budgets = {
        "wide": (1_000_000_000, ("off", "saver")),
        "small": (max(3, operations // 500), ("saver", "bundle")),
        "spent": (max(1, operations // 2_000), ("receipt",)),
    }
    for name, (total, promotions) in budgets.items():
        row = {"ID": identity(tenant, f"budget {name}"), "code": name, "name": name, "status": "ACTIVE"}
        yield "Budgets", [{**row, "currency": "EUR", "totalAmount": total}]
        yield (
            "BudgetPromotions",
            [
                {
                    "ID": identity(tenant, f"{name} pays {promotion}"),
                    "budget_ID": identity(tenant, f"budget {name}"),
                    "promotion_ID": identity(tenant, promotion),
                }
                for promotion in promotions
            ],
        )
