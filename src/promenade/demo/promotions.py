"""The demo retailer's promotions: over 300, every condition and action type, with all that goes around them.

Each family is one kind of offer, written for as many article groups or articles as a leaflet would hold. Amounts
belong to a currency, so offers in money are limited to the country they were made for.
"""

from __future__ import annotations

from datetime import datetime

from promenade.demo import checkout_offers, shelf_offers, special_offers, surroundings, templates
from promenade.demo.assortment import Assortment
from promenade.demo.authoring import Notebook
from promenade.demo.leaflet import Leaflet

__all__ = ["write_promotions"]


def write_promotions(book: Notebook, assortment: Assortment, now: datetime) -> Leaflet:
    """Writes every family into the notebook; families that later ones refer to come first."""
    leaflet = Leaflet(book, assortment, now)
    for family in (
        surroundings.groups,
        surroundings.budgets,
        surroundings.coupon_types,
        checkout_offers.tour,
        shelf_offers.group_percentages,
        shelf_offers.brand_percentages,
        shelf_offers.price_cuts,
        shelf_offers.money_off,
        shelf_offers.three_for_two,
        shelf_offers.meal_deals,
        shelf_offers.quantity_tiers,
        shelf_offers.free_items,
        shelf_offers.flyers,
        checkout_offers.receipts,
        checkout_offers.loyalty,
        checkout_offers.post_purchase,
        checkout_offers.customers,
        checkout_offers.payments,
        special_offers.channels_and_times,
        special_offers.fields_and_discretion,
        checkout_offers.coupons,
        special_offers.rivals,
        special_offers.pilots_and_experiments,
        special_offers.launch,
        special_offers.not_running,
        templates.templates,
    ):
        family(leaflet)
    return leaflet
