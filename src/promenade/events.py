"""The events sent to subscribers: one frozen class per kind of event, registered under ``@event``.

The class is the whole definition: its wire name, the minor version of the public API that introduced it, a sentence in
every language for the back office, its docstring for the reference, and its fields, which become the ``data`` of the
envelope in camelCase::

    {"type": "BUDGET_EXHAUSTED", "timestamp": "...", "minorVersion": 13, "tenantId": "...", "data": {...}}

Amounts are in major units of ``currency``. No event ever contains a coupon's code or another secret.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, ClassVar, TypeVar

import msgspec
from msgspec import Meta

E = TypeVar("E", bound="Event")


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """Base class of every event; its class variables but ``about`` are set by `event`."""

    about: ClassVar[tuple[str, ...]] = ()  # fields with the ID of what it tells of: the first that is not null
    kind: ClassVar[str]
    since: ClassVar[int]
    subscribable: ClassVar[bool]  # False: it is sent to one subscription, whatever that has chosen
    sentences: ClassVar[Mapping[str, str]]  # by language: the sentence that the back office shows


class Envelope(msgspec.Struct, frozen=True, rename="camel"):
    """The body of every delivery. ``timestamp`` is the time of the event, in UTC."""

    type: str
    timestamp: datetime
    minor_version: int
    tenant_id: str
    data: Event


_REGISTRY: dict[str, type[Event]] = {}


def event(kind: str, *, since: int, de: str, en: str = "", subscribable: bool = True) -> Callable[[type[E]], type[E]]:
    """Register a class as the event ``kind``, sent since minor version ``since``.

    ``de`` and ``en`` are the sentences for the back office; ``en`` defaults to the docstring. Raises ValueError for a
    known kind.
    """

    def register(cls: type[E]) -> type[E]:
        if kind in _REGISTRY:
            raise ValueError(f"event {kind} is defined twice")
        cls.kind = kind
        cls.since = since
        cls.subscribable = subscribable
        cls.sentences = {"en": en or inspect.cleandoc(cls.__doc__ or ""), "de": de}
        _REGISTRY[kind] = cls
        return cls

    return register


def events() -> Mapping[str, type[Event]]:
    """Return all kinds of events, in the order of this module."""
    return MappingProxyType(_REGISTRY)


def subscribable_kinds() -> list[str]:
    """Return the kinds that a subscription may name, in the order of this module; ``*`` stands for all of them."""
    return [kind for kind, cls in _REGISTRY.items() if cls.subscribable]


# --- the words that payloads are made of ------------------------------------------------------------------------------

Actor = Annotated[str, Meta(description="The user or client that did it; the service itself: system.")]
BudgetId = Annotated[str, Meta(description="ID of the budget.")]
BudgetName = Annotated[str, Meta(description="What the budget is called.")]
CampaignCode = Annotated[str, Meta(description="Code of the campaign.")]
CampaignId = Annotated[str, Meta(description="ID of the campaign.")]
CampaignName = Annotated[str, Meta(description="What the campaign is called.")]
CouponId = Annotated[
    str | None, Meta(description="ID of the coupon code, never the code itself; null for the shared code of a type.")
]
CouponTypeId = Annotated[str, Meta(description="ID of the coupon type.")]
Currency = Annotated[str, Meta(description="ISO 4217 code of the amounts.")]
CustomerId = Annotated[str, Meta(description="The customer.")]
JobId = Annotated[str, Meta(description="ID of the job.")]
Message = Annotated[str, Meta(description="What went wrong, in a sentence.")]
PromotionCode = Annotated[str | None, Meta(description="Code of the promotion.")]
PromotionId = Annotated[str, Meta(description="ID of the promotion.")]
PromotionName = Annotated[str, Meta(description="What the promotion is called.")]
TransactionCounter = Annotated[int, Meta(description="The confirmed iteration of the transaction.")]
TransactionId = Annotated[str, Meta(description="The till's transaction.")]
WindowEnd = Annotated[datetime | None, Meta(description="When the campaign's window closes.")]
WindowStart = Annotated[datetime | None, Meta(description="When the campaign's window opens.")]


# --- promotions -------------------------------------------------------------------------------------------------------


class _PromotionEvent(Event, frozen=True):
    about: ClassVar[tuple[str, ...]] = ("promotion_id",)

    promotion_id: PromotionId
    promotion_name: PromotionName
    promotion_code: PromotionCode
    status: Annotated[str, Meta(description="The promotion's status afterwards.")]
    actor: Actor


@event("PROMOTION_SUBMITTED", since=10, de="Eine Aktion wartet auf Genehmigung.")
class PromotionSubmitted(_PromotionEvent, frozen=True):
    """A promotion waits for approval."""


@event("PROMOTION_APPROVED", since=1, de="Eine Aktion wurde genehmigt.")
class PromotionApproved(_PromotionEvent, frozen=True):
    """A promotion was approved."""


@event("PROMOTION_REJECTED", since=1, de="Eine Aktion wurde abgelehnt.")
class PromotionRejected(_PromotionEvent, frozen=True):
    """A promotion was rejected."""


@event("PROMOTION_ACTIVATED", since=1, de="Eine Aktion läuft von jetzt an, soweit sie gilt.")
class PromotionActivated(_PromotionEvent, frozen=True):
    """A promotion runs from now on, within its validity."""


@event("PROMOTION_DEACTIVATED", since=1, de="Eine Aktion wurde abgeschaltet.")
class PromotionDeactivated(_PromotionEvent, frozen=True):
    """A promotion was switched off."""


@event("PROMOTION_UPDATED", since=11, de="Eine Aktion, ihre Bedingungen oder ihre Vorteile wurden geändert.")
class PromotionUpdated(_PromotionEvent, frozen=True):
    """A promotion, its conditions or its actions were changed."""

    changed: Annotated[tuple[str, ...], Meta(description="Properties, and entity sets of children, that changed.")] = ()


@event("PROMOTION_EXPIRED", since=9, de="Die Gültigkeit einer Aktion ist vorbei.")
class PromotionExpired(_PromotionEvent, frozen=True):
    """A promotion's validity is over."""


@event("PROMOTION_ARCHIVED", since=10, de="Eine Aktion wurde archiviert.")
class PromotionArchived(_PromotionEvent, frozen=True):
    """A promotion was archived."""


# --- campaigns --------------------------------------------------------------------------------------------------------


class _CampaignEvent(Event, frozen=True):
    about: ClassVar[tuple[str, ...]] = ("campaign_id",)

    campaign_id: CampaignId
    campaign_code: CampaignCode
    campaign_name: CampaignName
    start_at: WindowStart
    end_at: WindowEnd
    actor: Actor


@event("CAMPAIGN_CREATED", since=10, de="Eine Kampagne wurde angelegt.")
class CampaignCreated(_CampaignEvent, frozen=True):
    """A campaign was created."""


@event("CAMPAIGN_STARTED", since=10, de="Der Zeitraum einer Kampagne hat begonnen.")
class CampaignStarted(_CampaignEvent, frozen=True):
    """A campaign's window has opened."""


@event("CAMPAIGN_ENDED", since=10, de="Der Zeitraum einer Kampagne ist zu Ende.")
class CampaignEnded(_CampaignEvent, frozen=True):
    """A campaign's window has closed."""


@event("CAMPAIGN_LOCKED", since=10, de="Eine Kampagne und ihre Aktionen wurden gegen Änderungen gesperrt.")
class CampaignLocked(_CampaignEvent, frozen=True):
    """A campaign and its promotions were locked against changes."""


@event("CAMPAIGN_UNLOCKED", since=10, de="Eine Kampagne und ihre Aktionen können wieder geändert werden.")
class CampaignUnlocked(_CampaignEvent, frozen=True):
    """A campaign and its promotions can be changed again."""


# --- budgets ----------------------------------------------------------------------------------------------------------


class _BudgetEvent(Event, frozen=True):
    about: ClassVar[tuple[str, ...]] = ("budget_id",)

    budget_id: BudgetId
    budget_name: BudgetName
    total_amount: Annotated[Decimal, Meta(description="What may be spent altogether.")]
    consumed_amount: Annotated[Decimal, Meta(description="What was spent so far.")]
    currency: Currency


@event("BUDGET_THRESHOLD_REACHED", since=1, de="Ein Budget ist bis zu einer seiner Meldeschwellen verbraucht.")
class BudgetThresholdReached(_BudgetEvent, frozen=True):
    """A budget has reached one of its notification thresholds."""

    threshold_percentage: Annotated[Decimal, Meta(description="The threshold in percent of the total.")]


@event("BUDGET_EXHAUSTED", since=10, de="Von einem Budget ist nichts mehr übrig; seine Aktionen enden.")
class BudgetExhausted(_BudgetEvent, frozen=True):
    """A budget is exhausted; its promotions stop."""


# --- coupons ----------------------------------------------------------------------------------------------------------


@event("COUPON_ISSUED", since=1, de="Ein Coupon wurde ausgegeben.")
class CouponIssued(Event, frozen=True):
    """A coupon was issued."""

    about: ClassVar[tuple[str, ...]] = ("coupon_id", "coupon_type_id")

    coupon_id: CouponId
    coupon_type_id: CouponTypeId
    issuance_channel: Annotated[str, Meta(description="POST_PURCHASE, BATCH, MANUAL or EXTERNAL.")]
    customer_id: CustomerId | None = None
    promotion_id: Annotated[str | None, Meta(description="The promotion that issued it after a purchase.")] = None
    transaction_id: Annotated[str | None, Meta(description="The purchase that it was issued for.")] = None
    valid_until: Annotated[datetime | None, Meta(description="Until when it is accepted.")] = None


@event("COUPON_REDEEMED", since=1, de="Ein Coupon wurde eingelöst.")
class CouponRedeemed(Event, frozen=True):
    """A coupon was redeemed."""

    about: ClassVar[tuple[str, ...]] = ("coupon_id", "coupon_type_id")

    coupon_id: CouponId
    coupon_type_id: CouponTypeId
    transaction_id: TransactionId
    transaction_counter: Annotated[int | None, Meta(description="The confirmed iteration, if one spent it.")] = None
    promotion_id: Annotated[str | None, Meta(description="The promotion that it triggered.")] = None
    customer_id: CustomerId | None = None


@event("COUPON_EXPIRED", since=9, de="Ein Coupon ist abgelaufen, bevor er eingelöst wurde.")
class CouponExpired(Event, frozen=True):
    """A coupon expired before it was redeemed."""

    about: ClassVar[tuple[str, ...]] = ("coupon_id", "coupon_type_id")

    coupon_id: CouponId
    coupon_type_id: CouponTypeId
    valid_until: Annotated[datetime, Meta(description="Until when it was accepted.")]
    customer_id: CustomerId | None = None


class _BatchEvent(Event, frozen=True):
    about: ClassVar[tuple[str, ...]] = ("batch_id",)

    batch_id: JobId
    coupon_type_id: CouponTypeId
    quantity: Annotated[int, Meta(description="How many codes were ordered.")]
    generated_count: Annotated[int, Meta(description="How many codes were generated.")]


@event("COUPON_BATCH_COMPLETED", since=10, de="Alle Codes einer Charge sind erzeugt.")
class CouponBatchCompleted(_BatchEvent, frozen=True):
    """All codes of a batch were generated."""


@event("COUPON_BATCH_FAILED", since=10, de="Das Erzeugen einer Charge von Codes brach ab.")
class CouponBatchFailed(_BatchEvent, frozen=True):
    """Generating a batch of codes failed before all were generated."""

    message: Message


# --- jobs -------------------------------------------------------------------------------------------------------------


class _ArticleJobEvent(Event, frozen=True):
    about: ClassVar[tuple[str, ...]] = ("job_id",)

    job_id: JobId
    total_articles: Annotated[int, Meta(description="Articles received.")]
    processed_articles: Annotated[int, Meta(description="Articles dealt with: stored or refused.")]
    failed_articles: Annotated[int, Meta(description="Articles refused.")]


@event(
    "ArticleImportJobs.Completed",
    since=9,
    de="Ein Artikelstapel einer Kasse wurde importiert.",
    en="An article batch from a till was imported.",
)
class ArticleImportJobCompleted(_ArticleJobEvent, frozen=True):
    """An article batch from a POS was imported."""


@event(
    "ArticleImportJobs.Failed",
    since=9,
    de="Ein Artikelstapel einer Kasse ist gescheitert.",
    en="An article batch from a till failed.",
)
class ArticleImportJobFailed(_ArticleJobEvent, frozen=True):
    """An article batch from a POS failed."""

    message: Message


class _JobEvent(Event, frozen=True):
    about: ClassVar[tuple[str, ...]] = ("job_id",)

    job_id: JobId
    entity: Annotated[str, Meta(description="The entity set that rows are imported into.")]
    source: Annotated[str, Meta(description="BULK_IMPORT, POS_BATCH, MASTER_DATA_SOAP or MASTER_DATA_REST.")]
    total_rows: Annotated[int, Meta(description="Rows received.")]
    rows_succeeded: Annotated[int, Meta(description="Rows stored.")]
    rows_failed: Annotated[int, Meta(description="Rows refused.")]
    rows_skipped: Annotated[int, Meta(description="Rows that were not to be stored.")]


@event(
    "ImportJobs.Completed",
    since=1,
    de="Ein Import ist gelungen, vielleicht bis auf einige Zeilen.",
    en="An import has succeeded, perhaps but for some rows.",
)
class ImportJobCompleted(_JobEvent, frozen=True):
    """An import job has succeeded; single rows may have failed."""


@event("ImportJobs.Failed", since=1, de="Ein Import ist gescheitert.", en="An import has failed.")
class ImportJobFailed(_JobEvent, frozen=True):
    """An import job has failed; nothing of it was stored unless it was set to continue on errors."""

    message: Message


# --- sales ------------------------------------------------------------------------------------------------------------


@event("TRANSACTION_CONFIRMED", since=1, de="Ein Verkauf wurde bestätigt.")
class TransactionConfirmed(Event, frozen=True):
    """A sale was confirmed."""

    about: ClassVar[tuple[str, ...]] = ("transaction_id",)

    transaction_id: TransactionId
    transaction_counter: TransactionCounter
    pos_group_id: Annotated[str, Meta(description="ID of the POS group where it was sold.")]
    subtotal: Annotated[Decimal, Meta(description="Sum of all lines before discounts.")]
    discount: Annotated[Decimal, Meta(description="Sum of all discounts.")]
    grand_total: Annotated[Decimal, Meta(description="What was paid.")]
    currency: Currency
    promotion_ids: Annotated[tuple[str, ...], Meta(description="IDs of the promotions that applied.")] = ()
    customer_id: CustomerId | None = None
    receipt_id: Annotated[str | None, Meta(description="The till's receipt.")] = None


@event(
    "TRANSACTION_RETURNED",
    since=11,
    de="Ein Verkauf mit zurückgegebener Ware wurde bestätigt.",
    en="A sale with returned goods was confirmed.",
)
class TransactionReturned(Event, frozen=True):
    """A sale with returned lines was confirmed."""

    about: ClassVar[tuple[str, ...]] = ("transaction_id",)

    transaction_id: TransactionId
    transaction_counter: TransactionCounter
    return_subtotal: Annotated[Decimal, Meta(description="Sum of the returned lines; not above zero.")]
    currency: Currency
    original_transaction_ids: Annotated[
        tuple[str, ...], Meta(description="The sales that the returned lines name.")
    ] = ()
    points_returned: Annotated[int, Meta(description="Points that were taken back.")] = 0
    budget_returned: Annotated[Decimal, Meta(description="What was given back to budgets.")] = Decimal(0)
    customer_id: CustomerId | None = None


@event("TRANSACTION_CANCELLED", since=13, de="Ein Verkauf wurde storniert.")
class TransactionCancelled(Event, frozen=True):
    """A confirmed sale was cancelled."""

    about: ClassVar[tuple[str, ...]] = ("transaction_id",)

    transaction_id: TransactionId
    transaction_counter: TransactionCounter
    reason: Annotated[str | None, Meta(description="Why, as the till said.")]
    grand_total: Annotated[Decimal | None, Meta(description="What was paid; null: its log is no longer kept.")]
    currency: Annotated[str | None, Meta(description="ISO 4217 code of the amounts; null: as above.")]
    points_returned: Annotated[int, Meta(description="Points that no earlier return had taken back.")] = 0
    budget_returned: Annotated[
        Decimal, Meta(description="What was given back to budgets that no earlier return had given back.")
    ] = Decimal(0)
    coupons_reactivated: Annotated[int, Meta(description="Coupons spent in the sale that are valid again.")] = 0
    coupons_cancelled: Annotated[int, Meta(description="Coupons that the sale had earned, and are not any more.")] = 0
    customer_id: CustomerId | None = None


@event("LOYALTY_POINTS_AWARDED", since=11, de="Jemand hat Treuepunkte bekommen.")
class LoyaltyPointsAwarded(Event, frozen=True):
    """A customer earned points."""

    about: ClassVar[tuple[str, ...]] = ("transaction_id",)

    customer_id: CustomerId
    transaction_id: TransactionId
    transaction_counter: TransactionCounter
    points: Annotated[int, Meta(description="The points earned.")]
    balance_after: Annotated[int, Meta(description="The customer's points afterwards.")]


# --- stores ----------------------------------------------------------------------------------------------------------


@event("STORE_CLONED", since=13, de="Zwei Rechner geben sich als dieselbe Filiale aus.")
class StoreCloned(Event, frozen=True):
    """Two machines say that they are the same store; one of them was stopped from spending budgets."""

    about: ClassVar[tuple[str, ...]] = ("deployment_id",)

    deployment_id: Annotated[str, Meta(description="ID of the store in `LocalDeployments`.")]
    store_code: Annotated[str, Meta(description="Code of the store.")]
    store_name: Annotated[str | None, Meta(description="Name of the store.")]


# --- deliveries -------------------------------------------------------------------------------------------------------


@event(
    "WEBHOOK_DELIVERY_DEAD_LETTER",
    since=11,
    de="Ein Ereignis konnte nicht zugestellt werden und wird nicht noch einmal versucht.",
    en="An event could not be delivered and is not tried again.",
)
class WebhookDeliveryDeadLetter(Event, frozen=True):
    """An event could not be delivered to a subscription; it is not retried."""

    about: ClassVar[tuple[str, ...]] = ("event_id",)

    subscription_id: Annotated[
        str | None, Meta(description="ID of the subscription; null where it went to the callbackUrl of a job.")
    ]
    event_id: Annotated[str, Meta(description="webhook-id of the event.")]
    event_type: Annotated[str, Meta(description="Kind of the event.")]
    callback_url: Annotated[str, Meta(description="Where it was sent.")]
    attempts: Annotated[int, Meta(description="How often it was tried.")]
    last_error: Annotated[str, Meta(description="Why the last attempt failed.")]
    subscription_disabled: Annotated[
        bool, Meta(description="Whether the subscription was switched off with it: nothing is sent to it any more.")
    ] = False


@event(
    "WEBHOOK_TEST",
    since=13,
    de="Ein Test: Jemand hat ihn an diesen einen Webhook gesendet.",
    en="A test: somebody has sent it to this one subscription.",
    subscribable=False,
)
class WebhookTest(Event, frozen=True):
    """A test that somebody has sent to this one subscription, whatever events it has chosen; nothing has happened."""

    about: ClassVar[tuple[str, ...]] = ("subscription_id",)

    subscription_id: Annotated[str, Meta(description="ID of the subscription.")]
    subscription_name: Annotated[str | None, Meta(description="What the subscription is called.")]
    actor: Actor
    is_test: Annotated[bool, Meta(description="Always true.")] = True
