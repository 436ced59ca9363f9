"""History: calculation logs, the audit trail and loyalty points."""

from __future__ import annotations

from promenade.model.declare import (
    ADMIN,
    NONE,
    PUBLIC,
    REPORTING,
    RO,
    Entity,
    boolean,
    children,
    choice,
    code_of,
    computed_amount,
    currency_code,
    decimal,
    integer,
    long_integer,
    parent,
    pieces,
    text,
    timestamp,
    to_one,
)
from promenade.model.ui.criticality import status_criticality

__all__ = ["AuditLogs", "CalculationLogItems", "CalculationLogPromotions", "CalculationLogs", "LoyaltyTransactions"]

_EVERYWHERE = frozenset({PUBLIC, ADMIN, REPORTING})


class CalculationLogs(
    Entity,
    public=RO,
    admin=RO,
    reporting=RO,
    indexes=(("origin", "transaction_id", "transaction_counter"), ("confirmed_at",), ("customer_id", "confirmed_at")),
):
    """A confirmed sale as it was calculated, or a confirm that was refused (status FAILED)."""

    transaction_id = text(50, "The till's transaction.", required=True, read_only=True, searchable=True)
    transaction_counter = integer("Its confirmed iteration.", required=True, read_only=True)
    receipt_id = text(50, "The till's receipt.", read_only=True, searchable=True)
    header_reference = text(100, "The till's own reference.", read_only=True, searchable=True)
    pos_group = to_one("PosGroups", "Where it was sold.", soft=True, read_only=True)
    customer_id = text(50, "The customer.", read_only=True, searchable=True)
    channel = text(50, "The channel.", read_only=True)
    status = code_of("CalculationLogStatuses", "How it ended.", required=True, read_only=True)
    status_criticality = status_criticality()
    pilot_arm = choice("PILOT", "CONTROL", "EXPERIMENT", doc="The arm of a pilot or experiment that the sale belongs "
                       "to; see the promotions of the log for which.", read_only=True)  # fmt: skip
    subtotal = computed_amount("Sum of all lines before discounts.", required=True)
    discount = computed_amount("Sum of all discounts.", required=True)
    grand_total = computed_amount("What was paid.", required=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    loyalty_points = long_integer("Points that it earned.", default=0, read_only=True)
    discrepancy = boolean("Whether the till confirmed other amounts than were evaluated.", read_only=True)
    evaluated_at = timestamp("The time that validity was judged at.", required=True, read_only=True)
    confirmed_at = timestamp("When it was confirmed or refused.", required=True, read_only=True)
    source = text(20, "Who priced it: btp or local-store.", required=True, read_only=True)
    instance_id = text(36, "The instance that priced it.", read_only=True)
    message = text(1000, "Why a confirm was refused.", read_only=True)
    origin = text(36, "Who priced it, as in every key of a transaction.", default="cloud", read_only=True,
                  hidden_from=_EVERYWHERE)  # fmt: skip
    items = children("CalculationLogItems", "Its lines.", by="log")
    promotions = children("CalculationLogPromotions", "The promotions that applied.", by="log")


class CalculationLogItems(Entity, public=RO, admin=RO, reporting=RO, unique=(("log_id", "line_reference"),)):
    """A line of a confirmed sale."""

    log = parent("CalculationLogs", "The log.")
    line_reference = text(50, "The till's name of the line.", required=True, read_only=True)
    article_number = text(50, "Number of the article.", required=True, read_only=True, searchable=True)
    article_group_key = text(20, "groupId of its article group.", wire="articleGroupId", label="Article group ID",
                             read_only=True)  # fmt: skip
    quantity = pieces("The quantity; below zero: returned.", required=True, minimum=None, read_only=True)
    unit_price = decimal(15, 2, "The price of one.", required=True, read_only=True)
    line_total = computed_amount("Unit price times quantity.", required=True)
    line_discount = computed_amount("Sum of its discounts.", required=True)
    line_net = computed_amount("What is left to pay.", required=True)
    confirmed_discount = computed_amount("The discount that the till confirmed, where it says so.")


class CalculationLogPromotions(
    Entity, public=RO, admin=RO, reporting=RO, indexes=(("log_id",), ("promotion_id", "log_id"))
):
    """A promotion that applied to a confirmed sale, or that has the sale in its control arm."""

    log = parent("CalculationLogs", "The log.")
    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, read_only=True)
    promotion_name = text(255, "What it was called.", required=True, read_only=True, searchable=True)
    promotion_version = integer("Its version then.", required=True, read_only=True)
    total_discount = computed_amount("What it gave, as charged.", required=True)
    evaluated_discount = computed_amount("What it gave when it was evaluated.")
    confirmed_discount = computed_amount("What the till confirmed, where it says so.")
    points = long_integer("Points that it gave.", default=0, read_only=True)
    pilot_arm = choice("PILOT", "CONTROL", "EXPERIMENT", doc="The arm that the sale belongs to.", read_only=True)
    coupon_code = to_one("CouponCodes", "The code that triggered it.", soft=True, indexed=False, read_only=True)


class AuditLogs(
    Entity, public=RO, admin=RO, managed=False, indexes=(("timestamp",), ("entity_type", "entity_id", "timestamp"))
):
    """Who changed what, and when; for budgets also which field, from which value to which."""

    timestamp = timestamp("When it happened.", required=True, read_only=True)
    actor = text(255, "The user or client.", required=True, read_only=True, searchable=True)
    action = text(50, "The verb in capitals: CREATE, UPDATE, DELETE, ACTIVATE, LOCK ...", required=True,
                  read_only=True, searchable=True)  # fmt: skip
    entity_type = text(50, "The entity set, such as Promotions.", required=True, read_only=True, searchable=True)
    entity_id = text(50, "ID of the row.", required=True, read_only=True)
    entity_name = text(255, "Name of the row, else its ID.", required=True, read_only=True, searchable=True)
    note = text(2000, "Of budgets: the field, its old and its new value.", read_only=True, searchable=True)


class LoyaltyTransactions(
    Entity,
    public=NONE,
    admin=RO,
    unique=(("origin", "transaction_id", "transaction_counter", "promotion_id"),),
    indexes=(("customer_id", "awarded_at"),),
):
    """Points that a sale granted to a customer or deducted."""

    customer_id = text(50, "The customer.", required=True, read_only=True, searchable=True)
    transaction_id = text(50, "The till's transaction.", required=True, read_only=True, searchable=True)
    transaction_counter = integer("Its confirmed iteration.", required=True, read_only=True)
    promotion = to_one("Promotions", "The promotion that gave them; null: the tenant's base points.", soft=True,
                       indexed=False, read_only=True)  # fmt: skip
    points = long_integer("The points; below zero when taken.", required=True, read_only=True)
    balance_after = long_integer("The customer's points afterwards.", required=True, read_only=True)
    awarded_at = timestamp("When they were booked.", required=True, read_only=True)
    origin = text(36, "Who priced the sale.", default="cloud", read_only=True, hidden_from=_EVERYWHERE)
