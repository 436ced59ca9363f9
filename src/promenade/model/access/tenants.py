"""Tenants and their settings for pricing and approval."""

from __future__ import annotations

from promenade.model.declare import (
    RW_RESTRICTED,
    Entity,
    boolean,
    choice,
    currency_code,
    decimal,
    integer,
    text,
    timestamp,
)

__all__ = ["SETTINGS_ID", "TenantSettings", "Tenants"]

SETTINGS_ID = "00000000-0000-0000-0000-000000000000"
"""The ID of the only row of TenantSettings, which every tenant has."""


class Tenants(Entity, key=("tenant_id",), tenant_owned=False):
    """A retailer, or the operator of the service, with the settings that pricing and approval use."""

    tenant_id = text(36, "ID of the tenant, as in tokens.", required=True)
    name = text(255, "Name of the tenant.", required=True)
    is_operator = boolean("Whether its administrators may import data for other tenants.")
    master_data_callback_url = text(2000, "URL that is notified when a master data import has ended.")
    basic_for_readers = boolean(
        "Whether clients that may only read may send their ID and secret with each GET (HTTP Basic), without a token.",
        label="HTTP Basic for readers",
    )
    code_required = boolean(
        "Whether everybody who signs in with a password of this service needs an app that shows codes; null: no.",
        default=None, label="Codes of an app are required",
    )  # fmt: skip
    secret_days = integer(
        "Days after which the secret of a client is due to be replaced, by itself or by an administrator; null: never.",
        minimum=7, maximum=3650, label="Secrets are due after days",
    )  # fmt: skip
    secret_overlap_hours = integer(
        "Hours for which the former secret is accepted after it was replaced; null: 24.",
        minimum=1, maximum=720, label="Former secrets are accepted for hours",
    )  # fmt: skip
    secret_grace_days = integer(
        "Days after which a secret that is due gets no more tokens; null: it is accepted for ever, so that tills go on"
        " selling.",
        minimum=1, maximum=3650, label="Secrets that are due are refused after days",
    )  # fmt: skip
    enable_production_nudges = boolean("Whether evaluations return nudges and threshold gaps.")
    combination_strategy = choice(
        "SEQUENTIAL", "BEST_DEAL", default="SEQUENTIAL",
        doc="How promotions are combined: in their order, or so that the customer gets the largest discount.",
    )  # fmt: skip
    points_per_currency_unit = decimal(
        15, 3, "Base points per currency unit of the net total.", default="0", minimum="0"
    )
    unmatched_returns = choice(
        "WARN", "REFUSE", default="WARN",
        doc="Whether a confirm is refused if a return line names a sale that is unknown, or more than is left of it.",
    )  # fmt: skip
    counts_towards_threshold = boolean(
        "Whether goods that are never discounted count for conditions of promotions that do not say so themselves;"
        " null: yes.",
        label="Never discounted goods count",
        default=None,
    )
    excluded_counts_towards_threshold = boolean(
        "Whether goods that all actions of a promotion exclude count for its conditions, if it does not say so itself;"
        " null: yes.",
        label="Excluded goods count",
        default=None,
    )
    significance_level = decimal(
        4, 3, "The level of significance: a p-value below it counts as significant.", default="0.050",
        minimum="0.001", maximum="0.500",
    )  # fmt: skip
    default_currency = currency_code("The currency proposed for new rows.")
    approval = choice(
        "OFF", "BINDING", default="OFF",
        doc="Whether promotions run only with an approval of their content by somebody else than their authors.",
    )  # fmt: skip
    approval_from_amount = decimal(
        15, 2, "Promotions whose forecast costs at least this need the approval; null: all do.", minimum="0"
    )
    approval_currency = currency_code("The currency of `approvalFromAmount`.")
    approver_scope = choice(
        "svc.Admin", "svc.PromotionManager", "svc.BudgetManager", default="svc.Admin",
        doc="The scope of those who may approve; administrators always may.",
    )  # fmt: skip
    agents_may_activate = boolean(
        "Whether agents may activate promotions and change those that run; binding approval holds for them, too.",
        label="Agents may activate",
    )
    sales_log_days = integer(
        "Days after which logs of sales, with their lines and promotions, are deleted, once a check of the archive has"
        " found them there; null: never. Sums in reports stay.",
        minimum=30, maximum=36500, label="Logs of sales are deleted after days",
    )  # fmt: skip
    sales_logs_unarchived = boolean(
        "Whether logs of sales are deleted although no archive has them; null: no.",
        default=None, label="Logs of sales are deleted without an archive",
    )  # fmt: skip
    audit_log_days = integer(
        "Days after which entries of the audit trail are deleted, but for those that say when a promotion ran; null:"
        " never.",
        minimum=365, maximum=36500, label="Entries of the audit trail are deleted after days",
    )  # fmt: skip
    redemption_log_days = integer(
        "Days after which events of coupon codes are deleted, once the code is redeemed, expired or cancelled, by whole"
        " months; null: never.",
        minimum=365, maximum=36500, label="Events of coupon codes are deleted after days",
    )  # fmt: skip
    idle_customer_days = integer(
        "Days without a sale, a coupon or a booking of points after which a random ID replaces a customer's; null:"
        " never. Customers with points, or with a coupon that may still be redeemed, stay.",
        minimum=30, maximum=36500, label="Idle customers are forgotten after days",
    )  # fmt: skip
    idle_points_lapse = boolean(
        "Whether idle customers are forgotten although they have points, which they lose; null: no.",
        default=None, label="Points of idle customers lapse",
    )  # fmt: skip


_OF_OPERATOR = frozenset({"tenant_id", "is_operator", "created_at", "created_by", "modified_at", "modified_by"})


class TenantSettings(
    Tenants,
    admin=RW_RESTRICTED,
    patchable=tuple(field.name for field in Tenants.declaration.fields if field.name not in _OF_OPERATOR),
    deletable=False,
    tenant_owned=False,
    stored=False,
):
    """The settings of the tenant: one row, whose ID is the same in every tenant."""

    sales_logs_since = timestamp(
        "The time before which logs of sales may have been deleted; null: none was.", virtual=True,
        label="Logs of sales are kept since",
    )  # fmt: skip
    audit_logs_since = timestamp(
        "The time before which entries of the audit trail may have been deleted; null: none was.", virtual=True,
        label="Entries of the audit trail are kept since",
    )  # fmt: skip
    redemption_logs_since = timestamp(
        "The time before which events of coupon codes may have been deleted; null: none was.", virtual=True,
        label="Events of coupon codes are kept since",
    )  # fmt: skip
