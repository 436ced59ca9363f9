"""History: calculation logs, the audit trail and loyalty points."""

from __future__ import annotations

from promenade.model.declare import (
    ADMIN,
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
    indexes=(("transaction_id", "origin", "transaction_counter"), ("confirmed_at",), ("customer_id", "confirmed_at")),
):
    """The calculation of a confirmed sale (CANCELLED: undone later), or a refused confirm (status FAILED)."""

    transaction_id = text(50, "ID of the till's transaction.", required=True, read_only=True, searchable=True)
    transaction_counter = integer(
        "Counter of the confirmed iteration of the transaction.", required=True, read_only=True
    )
    receipt_id = text(50, "The till's receipt number.", read_only=True, searchable=True)
    header_reference = text(100, "The till's own reference.", read_only=True, searchable=True)
    pos_group = to_one("PosGroups", "The POS group of the sale.", soft=True, read_only=True)
    customer_id = text(50, "ID of the customer.", read_only=True, searchable=True)
    channel = text(50, "The sales channel.", read_only=True)
    status = code_of("CalculationLogStatuses", "Result of the confirm.", required=True, read_only=True)
    status_criticality = status_criticality()
    pilot_arm = choice("PILOT", "CONTROL", "EXPERIMENT", doc="The arm of a pilot or experiment that the sale belongs "
                       "to; the promotions of the log show which one.", read_only=True)  # fmt: skip
    subtotal = computed_amount("Sum of all lines before discounts.", required=True)
    discount = computed_amount("Sum of all discounts.", required=True)
    grand_total = computed_amount("The amount paid.", required=True)
    currency = currency_code("The currency of its amounts.", required=True, read_only=True)
    loyalty_points = long_integer("Points earned.", default=0, read_only=True)
    discrepancy = boolean("Whether the amounts confirmed by the till differ from those evaluated.", read_only=True)
    evaluated_at = timestamp(
        "The time for which the validity of promotions was checked.", required=True, read_only=True
    )
    confirmed_at = timestamp("Time at which it was confirmed or refused.", required=True, read_only=True)
    source = text(20, "Kind of instance that priced it: btp or local-store.", required=True, read_only=True)
    instance_id = text(36, "ID of the instance that priced it.", read_only=True)
    message = text(1000, "Reason why the confirm was refused, or the sale cancelled.", read_only=True)
    origin = text(36, "The instance that priced it, which is part of every key of a transaction.",
                  default="cloud", read_only=True, hidden_from=_EVERYWHERE)  # fmt: skip
    items = children("CalculationLogItems", "Its lines.", by="log")
    promotions = children("CalculationLogPromotions", "The promotions that applied.", by="log")


class CalculationLogItems(
    Entity, public=RO, admin=RO, reporting=RO, packed=True, unique=(("log_id", "line_reference"),)
):
    """A line of a confirmed sale."""

    log = parent("CalculationLogs", "The log.")
    line_reference = text(50, "The till's reference of the line.", required=True, read_only=True)
    article_number = text(50, "Number of the article.", required=True, read_only=True, searchable=True)
    article_group_key = text(20, "groupId of its article group.", wire="articleGroupId", label="Article group ID",
                             read_only=True)  # fmt: skip
    quantity = pieces("The quantity; negative for a return.", required=True, minimum=None, read_only=True)
    unit_price = decimal(15, 2, "Price per unit.", required=True, read_only=True)
    line_total = computed_amount("Unit price times quantity.", required=True)
    line_discount = computed_amount("Sum of its discounts.", required=True)
    line_net = computed_amount("The amount left to pay.", required=True)
    confirmed_discount = computed_amount("The discount that the till confirmed, if it sent one.")


class CalculationLogPromotions(Entity, public=RO, admin=RO, reporting=RO, packed=True):
    """A promotion that applied to a confirmed sale, or whose control arm includes the sale."""

    log = parent("CalculationLogs", "The log.")
    promotion = to_one("Promotions", "The promotion.", required=True, soft=True, read_only=True)
    promotion_name = text(
        255, "Name of the promotion at the time of the sale.", required=True, read_only=True, searchable=True
    )
    promotion_version = integer("Version of the promotion at the time of the sale.", required=True, read_only=True)
    total_discount = computed_amount("The discount charged.", required=True)
    evaluated_discount = computed_amount("The discount as evaluated.")
    confirmed_discount = computed_amount("The discount that the till confirmed, if it sent one.")
    points = long_integer("Points that it granted.", default=0, read_only=True)
    pilot_arm = choice("PILOT", "CONTROL", "EXPERIMENT", doc="The arm that the sale belongs to.", read_only=True)
    coupon_code = to_one("CouponCodes", "The coupon code that triggered it.", soft=True, indexed=False, read_only=True)
    exceeded_limit = choice("TOTAL", "CUSTOMER", "BOTH", doc="The limit of use that other sales had used up between "
                            "the evaluation and the confirm, so that this sale is not counted towards it; null: none.",
                            read_only=True)  # fmt: skip


class AuditLogs(
    Entity,
    public=RO,
    admin=RO,
    managed=False,
    indexes=(("timestamp",), ("entity_type", "entity_id", "timestamp"), ("owner_type", "owner_id", "timestamp")),
):
    """A change to a row: time, user and action; for budgets also the field with its old and new value.

    Entries are kept for ever, or for as many days as the tenant has set.
    """

    timestamp = timestamp("Time of the change.", required=True, read_only=True)
    actor = text(255, "The user or client that made the change.", required=True, read_only=True, searchable=True)
    agent = text(100, "The agent that made it for that user or client, by the name that it gave; null: none did.",
                 read_only=True, searchable=True, hidden_from=PUBLIC)  # fmt: skip
    action = text(50, "Code of the action: CREATE, UPDATE, DELETE, ACTIVATE, LOCK ...", required=True,
                  read_only=True, searchable=True)  # fmt: skip
    entity_type = text(50, "The entity set, such as Promotions.", required=True, read_only=True, searchable=True)
    entity_id = text(50, "ID of the row.", required=True, read_only=True)
    entity_name = text(
        255, "Name of the row, or its ID if it has no name.", required=True, read_only=True, searchable=True
    )
    note = text(2000, "For budgets: the field with its old and new value.", read_only=True, searchable=True)
    owner_type = text(50, "The entity set of the row on whose page it is shown: Promotions for a condition; else "
                      "entityType.", required=True, read_only=True, hidden_from=PUBLIC, label="Kind")  # fmt: skip
    owner_id = text(50, "ID of that row.", required=True, read_only=True, hidden_from=PUBLIC)
    owner_name = text(255, "Name of that row.", required=True, read_only=True, searchable=True, hidden_from=PUBLIC,
                      label="Of")  # fmt: skip
    changes = text(None, "Old and new values as a JSON list: `property`, `from` and `to`, with `fromId`, `toId` and "
                   "`target` of a link; for a row that it consists of also `part`, `act`, `name` and `id`; `more`: so "
                   "many further ones.", read_only=True, searchable=True, hidden_from=PUBLIC)  # fmt: skip


class LoyaltyTransactions(
    Entity,
    public=RO,
    admin=RO,
    unique=(("origin", "transaction_id", "transaction_counter", "promotion_id"),),
    indexes=(("customer_id", "awarded_at"),),
):
    """Points that a sale granted to or deducted from a customer."""

    customer_id = text(50, "ID of the customer.", required=True, read_only=True, searchable=True)
    transaction_id = text(50, "ID of the till's transaction.", required=True, read_only=True, searchable=True)
    transaction_counter = integer(
        "Counter of the confirmed iteration of the transaction.", required=True, read_only=True
    )
    promotion = to_one("Promotions", "The promotion that granted them; null: the tenant's base points.", soft=True,
                       indexed=False, read_only=True)  # fmt: skip
    points = long_integer("The points; negative if deducted.", required=True, read_only=True)
    balance_after = long_integer("The customer's balance afterwards.", required=True, read_only=True)
    awarded_at = timestamp("Time at which the points were booked.", required=True, read_only=True)
    origin = text(36, "The instance that priced the sale.", default="cloud", read_only=True, hidden_from=_EVERYWHERE)
