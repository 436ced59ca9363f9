"""Coupon types, their codes, and how codes are generated and redeemed."""

from __future__ import annotations

from promenade.model.declare import (
    ADMIN,
    DRAFT,
    PLAIN,
    PUBLIC,
    REPORTING,
    RO,
    RW,
    RW_RESTRICTED,
    Entity,
    back,
    boolean,
    choice,
    code_of,
    integer,
    text,
    timestamp,
    to_one,
    uuid,
)
from promenade.model.ui.criticality import status_criticality

__all__ = [
    "CouponCodeBatches",
    "CouponCodeConfigurations",
    "CouponCodes",
    "CouponRefillSchedules",
    "CouponTypePromotions",
    "CouponTypes",
    "RedemptionLogs",
]

_EVERYWHERE = frozenset({PUBLIC, ADMIN, REPORTING})


class CouponTypes(
    Entity,
    public=RW,
    admin=DRAFT,
    importable=True,
    natural_key=("code",),
    unique=(("generic_code",),),
    windows=(("valid_from", "valid_to"),),
):
    """A kind of coupon: how long its codes are valid and how often they may be redeemed.

    A promotion linked to coupon types applies only when a code of one of them is presented.
    """

    code = text(50, "Short unique code of the coupon type; not the code that customers present.", required=True,
                searchable=True)  # fmt: skip
    name = text(255, "Name of the coupon type.", required=True, searchable=True)
    description = text(1000, "Description of the coupon type.", searchable=True)
    status = code_of("CouponStatuses", "Whether its codes are accepted.", default="INACTIVE")
    status_criticality = status_criticality()
    code_type = code_of(
        "CouponCodeTypes", "Whether each coupon has its own code or all share one.", default="INDIVIDUAL"
    )
    generic_code = text(
        64,
        "The code that all customers present, in upper or lower case; stored in upper case. For GENERIC types only.",
        write_only=True,
    )
    valid_from = timestamp("Start of its validity, inclusive; null: no start date.")
    valid_to = timestamp("End of its validity, exclusive; null: no end date.")
    validity_days = integer("Number of days a code is valid after it is issued; null: as long as the type.", minimum=0)
    max_redemptions = integer("Maximum number of redemptions of all its codes together; null: unlimited.", minimum=0)
    max_redemptions_per_customer = integer("Maximum number of redemptions per customer; null: unlimited.", minimum=0)
    reservation_minutes = integer("Duration of a till's reservation of a code, in minutes.", default=15, minimum=1)
    requires_activation = boolean("Whether customers must activate a code before they can use it.")
    on_return = code_of(
        "CouponReturnPolicies", "What becomes of a redeemed code when its sale is returned as a whole or cancelled.",
        default="KEEP_REDEEMED",
    )  # fmt: skip
    earned_on_return = code_of(
        "EarnedCouponPolicies", "What becomes of an unspent code when the sale that earned it is returned as a whole.",
        default="KEEP",
    )  # fmt: skip
    promotions = back("CouponTypePromotions", "The promotions that its codes trigger.", by="coupon_type")
    codes = back("CouponCodes", "Its codes.", by="coupon_type")


class CouponTypePromotions(Entity, public=RW, admin=PLAIN, unique=(("promotion_id", "coupon_type_id"),)):
    """A promotion that codes of a coupon type trigger."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)


class CouponCodeConfigurations(Entity, public=RW, admin=PLAIN, importable=True, unique=(("coupon_type_id",),)):
    """The format of generated codes of a coupon type; it must allow enough codes that none can be guessed."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    prefix = text(20, "Text at the start of every code.")
    suffix = text(20, "Text at the end of every code.")
    length = integer("Number of random characters in each code.", default=12, minimum=1, maximum=40)
    alphabet = text(64, "The characters to draw from; the default excludes characters that look alike.",
                    default="23456789ABCDEFGHJKLMNPQRSTUVWXYZ")  # fmt: skip
    check_character = boolean("Whether codes include a check character that detects typing errors.")


class CouponCodeBatches(Entity, public=RW, admin=PLAIN, indexes=(("status", "modified_at"),)):
    """A request to generate many codes."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    name = text(255, "Name of the batch.", searchable=True)
    quantity = integer("Number of codes to generate.", required=True, minimum=1)
    generated_count = integer("Number of codes generated so far.", default=0, read_only=True)
    status = choice("QUEUED", "RUNNING", "COMPLETED", "FAILED", doc="Status of the batch.", default="QUEUED",
                    read_only=True)  # fmt: skip
    status_criticality = status_criticality()
    started_at = timestamp("Time at which generation started.", read_only=True)
    completed_at = timestamp("Time at which generation ended.", read_only=True)
    codes = back("CouponCodes", "Its codes.", by="batch")


class CouponRefillSchedules(Entity, public=RW, admin=PLAIN):
    """A schedule that automatically refills a coupon type's pool of unissued codes."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    minimum_pool_size = integer(
        "The pool is refilled when it has fewer unissued codes than this.", required=True, minimum=0
    )
    refill_quantity = integer("Number of codes to add.", required=True, minimum=1)
    interval_minutes = integer("Minutes between checks of the pool.", required=True, minimum=1)
    is_active = boolean("Whether the schedule is active.", default=True)
    last_run_at = timestamp("Time of the last check.", read_only=True)


class CouponCodes(
    Entity,
    public=RW_RESTRICTED,
    admin=RO,
    importable=True,
    natural_key=("code",),
    patchable=("status",),
    deletable=False,
    windows=(("valid_from", "valid_until"),),
    # One code is issued per basket, promotion and type; rows without an issuing transaction are exempt.
    unique=(("issuing_transaction_id", "issuing_promotion_id", "coupon_type_id"),),
    indexes=(
        ("coupon_type_id", "status", "issued_at"),
        ("customer_id",),
        ("status", "valid_until"),
        ("status", "reserved_until"),
        ("reservation_ref",),
        ("batch_id", "id"),  # a batch is read page by page, in the order of IDs
    ),
):
    """One coupon code, from the pool to its redemption."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    code = text(64, "The secret code that is presented at the till.", required=True, hidden_from=PUBLIC,
                importable=True)  # fmt: skip
    status = code_of("CouponCodeStatuses", "Status of the code.", default="ACTIVE")
    status_criticality = status_criticality()
    customer_id = text(50, "The only customer who may redeem it; null: anyone who presents it.",
                       searchable=True)  # fmt: skip
    reservation_ref = uuid("ID of its current reservation; new for each reservation.", read_only=True)
    source = code_of("ArticleSources", "Origin of the code; EXTERNAL: imported from an external pool.",
                     default="MANUAL", read_only=True)  # fmt: skip
    issued_at = timestamp("Time of issue; null: still in the pool.", read_only=True)
    issuing_promotion_id = text(36, "The promotion that issued it after a purchase.", read_only=True)
    issuing_transaction_id = text(50, "The transaction after which it was issued.", read_only=True, searchable=True)
    issuance_channel = choice(
        "POST_PURCHASE", "BATCH", "MANUAL", "EXTERNAL", doc="How it was issued; null: before this was recorded.",
        read_only=True,
    )  # fmt: skip
    valid_from = timestamp("Start of its validity, inclusive; null: as its type.")
    valid_until = timestamp("End of its validity, exclusive; null: as its type.")
    reserved_until = timestamp("Time at which its reservation expires.", read_only=True)
    reserved_by_transaction_id = text(50, "The transaction that reserved it.", read_only=True)
    issue_reason = text(255, "Reason for issuing it.", read_only=True)
    issue_metadata = text(None, "The issuer's own metadata, as JSON.", read_only=True)
    redeemed_at = timestamp("Time of its last redemption.", read_only=True)
    redeemed_transaction_id = text(50, "The transaction that last redeemed it.", read_only=True, searchable=True)
    redemption_count = integer("Number of redemptions.", default=0, minimum=0, read_only=True)
    batch = to_one("CouponCodeBatches", "The batch that it was generated in; null: not in a batch.", soft=True,
                   read_only=True)  # fmt: skip


class RedemptionLogs(
    Entity,
    public=RO,
    admin=RO,
    indexes=(
        ("coupon_code_id", "occurred_at"),
        ("coupon_type_id", "action"),
        ("transaction_id",),
        ("customer_id", "occurred_at"),
    ),
):
    """An event in the life of a coupon code, such as its issue or redemption.

    Events of codes that have ended are kept for ever, or for as many days as the tenant has set.
    """

    coupon_code = to_one("CouponCodes", "The code.", soft=True, read_only=True)
    coupon_type = to_one("CouponTypes", "The type of the code.", soft=True, read_only=True)
    promotion = to_one("Promotions", "The promotion that it triggered or that issued it.", soft=True, indexed=False,
                       read_only=True)  # fmt: skip
    action = choice(
        "ISSUED", "ACTIVATED", "RESERVED", "REDEEMED", "REACTIVATED", "CANCELLED", "EXPIRED", doc="The event.",
        required=True, read_only=True,
    )  # fmt: skip
    transaction_id = text(50, "ID of the till's transaction.", read_only=True, searchable=True)
    customer_id = text(50, "The customer.", read_only=True, searchable=True)
    occurred_at = timestamp("Time of the event.", required=True, read_only=True)
