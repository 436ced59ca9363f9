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

    code = text(50, "Short unique code of the coupon type; not what customers present.", required=True,
                searchable=True)  # fmt: skip
    name = text(255, "What the coupon is called.", required=True, searchable=True)
    description = text(1000, "What the coupon is good for.", searchable=True)
    status = code_of("CouponStatuses", "Whether its codes are accepted.", default="INACTIVE")
    status_criticality = status_criticality()
    code_type = code_of("CouponCodeTypes", "Whether its code is shared by all.", default="INDIVIDUAL")
    generic_code = text(64, "The code that all present; of GENERIC types only.", write_only=True)
    valid_from = timestamp("From when on its codes are accepted; null: from ever.")
    valid_to = timestamp("Until when its codes are accepted, this moment not included; null: for ever.")
    validity_days = integer("How many days a code is good after it was issued; null: as long as the type.", minimum=0)
    max_redemptions = integer("How often its codes may be spent altogether; null: no bound.", minimum=0)
    max_redemptions_per_customer = integer("How often one customer may spend them; null: no bound.", minimum=0)
    reservation_minutes = integer("How long a till may hold a code before it redeems it.", default=15, minimum=1)
    requires_activation = boolean("Whether customers must activate a code before they use it.")
    promotions = back("CouponTypePromotions", "The promotions that its codes trigger.", by="coupon_type")
    codes = back("CouponCodes", "Its codes.", by="coupon_type")


class CouponTypePromotions(Entity, public=RW, admin=PLAIN, unique=(("promotion_id", "coupon_type_id"),)):
    """A promotion that codes of a coupon type trigger."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    promotion = to_one("Promotions", "The promotion.", required=True)


class CouponCodeConfigurations(Entity, public=RW, admin=PLAIN, importable=True, unique=(("coupon_type_id",),)):
    """The format of generated codes of a coupon type; it must allow too many codes to guess one."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    prefix = text(20, "What every code starts with.")
    suffix = text(20, "What every code ends with.")
    length = integer("Random characters in each code.", default=12, minimum=1, maximum=40)
    alphabet = text(64, "The characters to draw from; the default has no look-alikes.",
                    default="23456789ABCDEFGHJKLMNPQRSTUVWXYZ")  # fmt: skip
    check_character = boolean("Whether a last character guards against mistyping.")


class CouponCodeBatches(Entity, public=RW, admin=PLAIN, indexes=(("status", "modified_at"),)):
    """An order to generate many codes."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    name = text(255, "What the batch is called.", searchable=True)
    quantity = integer("How many codes to generate.", required=True, minimum=1)
    generated_count = integer("How many there are so far.", default=0, read_only=True)
    status = choice("QUEUED", "RUNNING", "COMPLETED", "FAILED", doc="Where the batch stands.", default="QUEUED",
                    read_only=True)  # fmt: skip
    status_criticality = status_criticality()
    started_at = timestamp("When generating began.", read_only=True)
    completed_at = timestamp("When it ended.", read_only=True)


class CouponRefillSchedules(Entity, public=RW, admin=PLAIN):
    """When the pool of unissued codes of a coupon type is refilled automatically."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    minimum_pool_size = integer("Below this many unissued codes it is filled up.", required=True, minimum=0)
    refill_quantity = integer("How many codes to add.", required=True, minimum=1)
    interval_minutes = integer("How often to look.", required=True, minimum=1)
    is_active = boolean("Whether to look at all.", default=True)
    last_run_at = timestamp("When it was last looked at.", read_only=True)


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
    ),
):
    """One coupon code, from the pool to its redemption."""

    coupon_type = to_one("CouponTypes", "The coupon type.", required=True)
    code = text(64, "The secret that is presented at the till.", required=True, hidden_from=PUBLIC,
                importable=True)  # fmt: skip
    status = code_of("CouponCodeStatuses", "Where the code stands in its life.", default="ACTIVE")
    status_criticality = status_criticality()
    customer_id = text(50, "The only customer who may spend it; null: whoever bears it.",
                       searchable=True)  # fmt: skip
    reservation_ref = uuid("Its current reservation; new each time.", read_only=True)
    source = code_of("ArticleSources", "Where the code came from; EXTERNAL: from outside.", default="MANUAL",
                     read_only=True)  # fmt: skip
    issued_at = timestamp("When it was issued; null: it is still in the pool.", read_only=True)
    issuing_promotion_id = text(36, "The promotion that issued it after a purchase.", read_only=True)
    issuing_transaction_id = text(50, "The transaction that it was issued for.", read_only=True, searchable=True)
    issuance_channel = choice(
        "POST_PURCHASE", "BATCH", "MANUAL", "EXTERNAL", doc="How it came about; null: before this was recorded.",
        read_only=True,
    )  # fmt: skip
    valid_from = timestamp("From when on it is accepted; null: as its type.")
    valid_until = timestamp("Until when it is accepted, this moment not included; null: as its type.")
    reserved_until = timestamp("When its reservation runs out.", read_only=True)
    reserved_by_transaction_id = text(50, "The transaction that holds it.", read_only=True)
    issue_reason = text(255, "Why it was issued.", read_only=True)
    issue_metadata = text(None, "What the issuer wanted remembered, as JSON.", read_only=True)
    redeemed_at = timestamp("When it was last spent.", read_only=True)
    redeemed_transaction_id = text(50, "The transaction that last spent it.", read_only=True, searchable=True)
    redemption_count = integer("How often it was spent.", default=0, minimum=0, read_only=True)


class RedemptionLogs(
    Entity,
    public=RO,
    admin=RO,
    indexes=(("coupon_code_id", "occurred_at"), ("coupon_type_id", "action"), ("transaction_id",)),
):
    """What happened to a coupon code, and when."""

    coupon_code = to_one("CouponCodes", "The code.", soft=True, read_only=True)
    coupon_type = to_one("CouponTypes", "The type of the code.", soft=True, read_only=True)
    promotion = to_one("Promotions", "The promotion that it triggered or that issued it.", soft=True, indexed=False,
                       read_only=True)  # fmt: skip
    action = choice(
        "ISSUED", "ACTIVATED", "RESERVED", "REDEEMED", "CANCELLED", "EXPIRED", doc="What happened.", required=True,
        read_only=True,
    )  # fmt: skip
    transaction_id = text(50, "The till's transaction.", read_only=True, searchable=True)
    customer_id = text(50, "The customer.", read_only=True, searchable=True)
    occurred_at = timestamp("When it happened.", required=True, read_only=True)
