"""Tests of prices: baskets that planners keep, with what they must cost."""

from __future__ import annotations

from promenade.model.declare import PLAIN, Entity, code_of, currency_code, decimal, text, texts, timestamp, to_one
from promenade.model.ui.criticality import status_criticality

__all__ = ["REQUEST_MAX", "BasketTests"]

REQUEST_MAX = 65_536
"""Characters of a test's request."""


class BasketTests(Entity, admin=PLAIN):
    """A basket with its expected price and promotions: it passes as long as the present promotions give both."""

    name = text(255, "What the test makes sure of.", required=True, searchable=True)
    description = text(1000, "Description of the test.", searchable=True)
    status = code_of("BasketTestStatuses", "Result of the last run.", default="NEVER_RUN", read_only=True)
    status_criticality = status_criticality()
    promotion = to_one("Promotions", "The promotion that it guards; null: it guards all of them.")
    request = text(
        REQUEST_MAX, "The basket and its circumstances as JSON: what `simulate` takes as `request`. With a `timestamp` "
        "it is priced at that time, without one at the time of each run.", required=True, filterable=False,
    )  # fmt: skip
    priced_at = timestamp("Time at which it is priced, by its request; null: the time of each run.", read_only=True)
    expected_total = decimal(18, 3, "The grand total that it must have.", required=True)
    currency = currency_code("Currency of the totals; if not given, that of the basket's POS group.")
    expected_promotions = texts("Codes of the promotions that must apply, and no others that change the price or take "
                                "a coupon; IDs of those without a code.")  # fmt: skip
    last_run_at = timestamp("Time of the last run.", read_only=True)
    actual_total = decimal(18, 3, "The grand total in the last run; null: it could not be priced.", read_only=True)
    actual_promotions = texts("Codes of the promotions that applied in the last run.", read_only=True)
    difference = text(1000, "What differed in the last run, as a sentence; null: nothing.", read_only=True)
