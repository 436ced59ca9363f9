"""Events are named and shaped as the specification and the data model page say."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from decimal import Decimal

import msgspec
import pytest

from promenade.events import MINOR_VERSION, BudgetExhausted, Envelope, Event, event, events

KINDS = """
PROMOTION_SUBMITTED PROMOTION_APPROVED PROMOTION_REJECTED PROMOTION_ACTIVATED PROMOTION_DEACTIVATED PROMOTION_UPDATED
PROMOTION_EXPIRED PROMOTION_ARCHIVED CAMPAIGN_CREATED CAMPAIGN_STARTED CAMPAIGN_ENDED CAMPAIGN_LOCKED CAMPAIGN_UNLOCKED
BUDGET_THRESHOLD_REACHED BUDGET_EXHAUSTED COUPON_ISSUED COUPON_REDEEMED COUPON_EXPIRED COUPON_BATCH_COMPLETED
COUPON_BATCH_FAILED ArticleImportJobs.Completed ArticleImportJobs.Failed ImportJobs.Completed ImportJobs.Failed
TRANSACTION_CONFIRMED TRANSACTION_RETURNED LOYALTY_POINTS_AWARDED WEBHOOK_DELIVERY_DEAD_LETTER
"""
SINCE = {  # the specification's history of minor versions
    9: "PROMOTION_EXPIRED COUPON_EXPIRED ArticleImportJobs.Completed ArticleImportJobs.Failed",
    10: "PROMOTION_SUBMITTED PROMOTION_ARCHIVED CAMPAIGN_CREATED CAMPAIGN_STARTED CAMPAIGN_ENDED CAMPAIGN_LOCKED "
    "CAMPAIGN_UNLOCKED BUDGET_EXHAUSTED COUPON_BATCH_COMPLETED COUPON_BATCH_FAILED",
    11: "LOYALTY_POINTS_AWARDED TRANSACTION_RETURNED PROMOTION_UPDATED WEBHOOK_DELIVERY_DEAD_LETTER",
}


def test_every_kind_is_defined() -> None:
    assert set(events()) == set(KINDS.split())


@pytest.mark.parametrize("since", SINCE)
def test_kinds_are_sent_since_the_version_that_brought_them(since: int) -> None:
    assert {kind for kind, cls in events().items() if cls.since == since} == set(SINCE[since].split())


def test_a_kind_is_defined_once() -> None:
    with pytest.raises(ValueError, match="BUDGET_EXHAUSTED is defined twice"):
        event("BUDGET_EXHAUSTED", since=13)(Event)


def test_the_body_of_a_delivery() -> None:
    exhausted = BudgetExhausted(
        budget_id="6f1c9a52-0b6f-4d2c-9a57-0f6d3a1f2b11",
        budget_name="Spring",
        total_amount=Decimal("1000.00"),
        consumed_amount=Decimal("1000.00"),
        currency="EUR",
    )
    body = Envelope(exhausted.kind, datetime(2026, 3, 1, 12, tzinfo=UTC), MINOR_VERSION, "t1", exhausted)
    assert msgspec.json.Encoder(decimal_format="number").encode(body) == (
        b'{"type":"BUDGET_EXHAUSTED","timestamp":"2026-03-01T12:00:00Z","minorVersion":13,"tenantId":"t1","data":'
        b'{"budgetId":"6f1c9a52-0b6f-4d2c-9a57-0f6d3a1f2b11","budgetName":"Spring","totalAmount":1000.00,'
        b'"consumedAmount":1000.00,"currency":"EUR"}}'
    )


@pytest.mark.parametrize("kind", events())
def test_events_explain_themselves_and_are_frozen(kind: str) -> None:
    cls = events()[kind]
    assert inspect.getdoc(cls)
    assert not {"code", "secret", "payload"} & set(cls.__struct_fields__)
    assert cls.__struct_config__.frozen
