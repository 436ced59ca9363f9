"""Everything that promotions refer to: campaigns, groups, budgets, stakeholders and coupon types."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from promenade.demo.leaflet import Leaflet

# code -> first and last day, relative to today
_CAMPAIGNS = {"AUTUMN": (-40, 40), "WINTER": (-10, 80), "BIRTHDAY": (-14, 14), "SPRING": (120, 180)}

_STAKEHOLDERS = (
    ("MARKETING", "Promenade marketing", "INTERNAL"),
    ("KAFFEEWERK", "Kaffeewerk AG", "SUPPLIER"),
    ("LAVIDA", "Lavida Beauty", "BRAND"),
    ("AGENCY", "Leaflet agency", "EXTERNAL_SUPPLIER"),
)

# code, total, currency, percentage paid by marketing
_BUDGETS = (
    ("LEAFLET-EUR", "2500.00", "EUR", "60.00"),
    ("COFFEE-EUR", "400.00", "EUR", "50.00"),
    ("BEAUTY-EUR", "250.00", "EUR", "40.00"),
    ("SWISS-CHF", "2000.00", "CHF", "70.00"),
    ("GINZA-JPY", "120000", "JPY", "100.00"),
    ("LAST-ROUND-EUR", "20.00", "EUR", "100.00"),  # nearly used up by now
)

CUSTOMER_GROUPS = {"STAFF": "Staff", "SENIOR": "Seniors", "STUDENT": "Students", "FAMILY": "Families"}
LOYALTY_TIERS = {"BASIC": "Basic", "SILVER": "Silver", "GOLD": "Gold", "PLATINUM": "Platinum"}


def groups(leaflet: Leaflet) -> None:
    """Campaigns with their windows and stores, priority groups and exclusion groups."""
    book, now = leaflet.book, leaflet.now
    for code, (start, end) in _CAMPAIGNS.items():
        leaflet.campaigns[code] = book.add(
            "Campaigns",
            code=code,
            name=f"{code.title()} weeks",
            description=f"Everything that runs under the {code.lower()} banner.",
            startAt=now + timedelta(days=start),
            endAt=now + timedelta(days=end),
            status="ACTIVE" if start < 0 else "SCHEDULED",
            mergePromotionPosGroups=code == "WINTER",
        )
    for code in ("DE", "DE-HAM", "DE-BER"):
        book.add("CampaignPosGroups", campaign_ID=leaflet.campaigns["BIRTHDAY"], posGroup_ID=leaflet.store(code).id)
    for priority, code in enumerate(("PRICE", "LEAFLET", "CHECKOUT", "SERVICE"), start=1):
        leaflet.priority_groups[code] = book.add(
            "PriorityGroups", code=code, name=f"{code.title()} promotions", priority=priority * 10
        )
    for code, strategy in (("HAIRCARE", "HIGHEST_DISCOUNT"), ("COFFEE", "LOWEST_DISCOUNT")):
        leaflet.exclusion_groups[code] = book.add(
            "MutualExclusionGroups", code=code, name=f"One of the {code.lower()} offers", resolutionStrategy=strategy
        )


def budgets(leaflet: Leaflet) -> None:
    """Budgets in three currencies, their stakeholders, and a supplier's contribution."""
    book = leaflet.book
    stakeholders = [
        book.add("Stakeholders", code=code, name=name, type=kind, isActive=True) for code, name, kind in _STAKEHOLDERS
    ]
    for code, total, currency, share in _BUDGETS:
        budget = leaflet.budgets[code] = book.add(
            "Budgets",
            code=code,
            name=f"{code.rsplit('-', 1)[0].replace('-', ' ').title()} budget",
            status="ACTIVE",
            totalAmount=Decimal(total),
            currency=currency,
            validFrom=book.valid_from,
            validTo=book.valid_to,
        )
        for stakeholder, percentage in zip(stakeholders, (Decimal(share), 100 - Decimal(share)), strict=False):
            if percentage:
                book.add("BudgetStakeholders", budget_ID=budget, stakeholder_ID=stakeholder, sharePercentage=percentage)
        book.add("BudgetNotifications", budget_ID=budget, thresholdPercentage=Decimal("80.00"))
    book.add(
        "RechargeContributions",
        budget_ID=leaflet.budgets["COFFEE-EUR"],
        stakeholder_ID=stakeholders[1],
        amount=Decimal("150.00"),
        currency="EUR",
        contributedAt=book.valid_from,
        reference="Joint business plan, first half",
    )


def coupon_types(leaflet: Leaflet) -> None:
    """Printed codes for everybody, codes for one person, and codes issued after a purchase."""
    book = leaflet.book
    for code, limit in (("WELCOME10", None), ("COFFEE5", 500), ("BREAKFAST", None), ("GINZA500", None)):
        leaflet.generic_codes.append(code)
        leaflet.coupon_types[code] = book.add(
            "CouponTypes",
            code=code,
            name=f"{code.title()} leaflet coupon",
            status="ACTIVE",
            codeType="GENERIC",
            genericCode=code,
            maxRedemptions=limit,
            validFrom=book.valid_from,
            validTo=book.valid_to,
        )
    for code in ("BIRTHDAY", "SORRY", "COME-BACK", "NEXT-COFFEE"):
        coupon_type = leaflet.coupon_types[code] = book.add(
            "CouponTypes",
            code=code,
            name=f"{code.replace('-', ' ').title()} coupon",
            status="ACTIVE",
            codeType="INDIVIDUAL",
            validityDays=60,
            maxRedemptionsPerCustomer=3 if code == "SORRY" else None,
        )
        book.add("CouponCodeConfigurations", couponType_ID=coupon_type, prefix=code[:3], length=12)
        for number in range(1, 121):
            letters = "".join(book.rng.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(12))
            secret = f"{code[:3]}{letters}"
            if number <= 60:
                leaflet.individual_codes.append(secret)
            book.add(
                "CouponCodes",
                couponType_ID=coupon_type,
                code=secret,
                status="ACTIVE",
                source="MANUAL",
                issuanceChannel="BATCH",
            )
    leaflet.rewards = {code: leaflet.coupon_types[code] for code in ("COME-BACK", "NEXT-COFFEE")}


def customers(leaflet: Leaflet) -> None:
    """The groups and tiers of customers that tills send."""
    for set_name, names in (("CustomerGroups", CUSTOMER_GROUPS), ("LoyaltyTiers", LOYALTY_TIERS)):
        for code, name in names.items():
            leaflet.book.add(set_name, code=code, name=name)
