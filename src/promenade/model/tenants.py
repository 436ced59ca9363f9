"""Tenants and their settings for pricing."""

from __future__ import annotations

from promenade.model.declare import Entity, boolean, choice, currency_code, decimal, text

__all__ = ["Tenants"]


class Tenants(Entity, key=("tenant_id",), tenant_owned=False):
    """A retailer, or the operator of the service, with the settings that pricing uses."""

    tenant_id = text(36, "Its identifier, as tokens carry it.", required=True)
    name = text(255, "What it is called.", required=True)
    is_operator = boolean("Whether its administrators may import for other tenants.")
    master_data_callback_url = text(2000, "Told when a master-data import has ended.")
    enable_production_nudges = boolean("Whether evaluations carry nudges and threshold gaps.")
    combination_strategy = choice(
        "SEQUENTIAL", "BEST_DEAL", doc="How promotions are combined: in their order, or for the customer's best.",
        default="SEQUENTIAL",
    )  # fmt: skip
    points_per_currency_unit = decimal(
        15, 3, "Base points per unit of currency of the net total.", default="0", minimum="0"
    )
    default_currency = currency_code("The currency proposed for new rows.")
