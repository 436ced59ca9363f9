"""The bound actions of administration (specification, Admin Service; data model, State machines)."""

from __future__ import annotations

from odata_server.annotations import Annotation
from odata_server.draft import draft_actions
from odata_server.edm import Action, ComplexType, Operation, Parameter, Primitive, Property, ReturnType
from promenade.model.declare import ADMIN, DRAFT, declared

__all__ = ["admin_complex_types", "admin_operations"]


def admin_operations() -> tuple[Operation, ...]:
    """All of them, with those that every root of edit drafts has."""
    roots = [entity.set_name for entity in declared().values() if entity.mode(ADMIN) is DRAFT]
    return (
        *(action for root in roots for action in draft_actions(root)),
        *_of_promotions(),
        *_of_campaigns(),
        *_of_coupon_types(),
        _move("Budgets", "activate", "Opens the budget: ACTIVE, or SCHEDULED while its validity lies ahead."),
        *_of_webhooks(),
    )


def admin_complex_types() -> tuple[ComplexType, ...]:
    """The values that the actions return."""
    return (_FINDING, _ISSUED_COUPON, _REPLAYED_EVENTS)


def _of_promotions() -> tuple[Operation, ...]:
    return (
        _move("Promotions", "activate", "Lets the promotion run. Refused with what is missing while it cannot."),
        _move("Promotions", "deactivate", "Stops the promotion for the time being."),
        _move("Promotions", "submit", "Puts the promotion before whoever approves it."),
        _move("Promotions", "approve", "Approves a submitted promotion."),
        _move("Promotions", "reject", "Rejects a submitted promotion."),
        _move("Promotions", "archive", "Puts away a promotion that does not run."),
        _move("Promotions", "startPilot", "Lets the promotion run in the POS groups of its pilot configuration alone."),
        _move("Promotions", "endPilot", "Ends the pilot without a rollout."),
        _move("Promotions", "promoteToActive", "Ends the pilot by letting the promotion run everywhere."),
        Action(
            name="copy",
            binding="Promotions",
            parameters=(
                Parameter(name="code", type=Primitive.STRING, max_length=50, annotations=_described("Of the copy.")),
                Parameter(name="name", type=Primitive.STRING, max_length=255, annotations=_described("Of the copy.")),
            ),
            returns=ReturnType(entity_type="Promotions", nullable=False),
            annotations=_described("A new promotion, in status DRAFT, with the same conditions and actions."),
        ),
        Action(
            name="check",
            binding="Promotions",
            returns=ReturnType(type=_FINDING, collection=True, nullable=False),
            annotations=_described(
                "What keeps the promotion from running, what it overlaps with, which conditions can never hold and"
                " which exclusions leave it nothing. It changes nothing."
            ),
        ),
        Action(
            name="forecast",
            binding="Promotions",
            parameters=(
                Parameter(name="dateFrom", type=Primitive.DATE, nullable=False, annotations=_described("First day.")),
                Parameter(name="dateTo", type=Primitive.DATE, nullable=False, annotations=_described("Last day.")),
            ),
            returns=ReturnType(entity_type="PromotionForecasts", nullable=False),
            annotations=_described(
                "Prices the confirmed sales of a period again as if the promotion had run, and compares; long periods"
                " in the background, which the forecast shows."
            ),
        ),
    )


def _of_campaigns() -> tuple[Operation, ...]:
    ids = Parameter(name="promotionIds", type=Primitive.GUID, collection=True, nullable=False)
    one = Parameter(name="promotionId", type=Primitive.GUID, nullable=False)
    campaign = ReturnType(entity_type="Campaigns", nullable=False)
    return (
        _move("Campaigns", "lock", "Keeps the campaign, its promotions and what belongs to them from being changed."),
        _move("Campaigns", "unlock", "Lets them be changed again."),
        Action(
            name="addPromotions",
            binding="Campaigns",
            parameters=(ids,),
            returns=campaign,
            annotations=_described("Makes promotions part of the campaign; those that are already stay so."),
        ),
        Action(
            name="removePromotion",
            binding="Campaigns",
            parameters=(one,),
            returns=campaign,
            annotations=_described("Takes a promotion out of the campaign; one that is in none stays so."),
        ),
    )


def _of_coupon_types() -> tuple[Operation, ...]:
    return (
        Action(
            name="generateCodes",
            binding="CouponTypes",
            parameters=(Parameter(name="numberOfCodes", type=Primitive.INT32, nullable=False),),
            returns=ReturnType(entity_type="CouponCodeBatches", nullable=False),
            annotations=_described("Makes codes for the pool; large numbers in the background, which the batch shows."),
        ),
        Action(
            name="issueCoupon",
            binding="CouponTypes",
            parameters=(Parameter(name="customerId", type=Primitive.STRING, max_length=50),),
            returns=ReturnType(type=_ISSUED_COUPON, nullable=False),
            annotations=_described("Issues one code of the pool, to a customer if one is named."),
        ),
        _move("CouponTypes", "activate", "Lets codes of this type be redeemed."),
        _move("CouponTypes", "deactivate", "Lets no code of this type be redeemed."),
    )


def _of_webhooks() -> tuple[Operation, ...]:
    start = "What happened from then on. With the until of an answer as the next from, long periods are walked through."
    return (
        Action(
            name="replay",
            binding="NotificationLogs",
            returns=ReturnType(entity_type="NotificationLogs", nullable=False),
            annotations=_described(
                "Sends the same event again, with the same webhook-id and the same bytes, whatever became of it before."
            ),
        ),
        Action(
            name="replayEvents",
            binding="WebhookSubscriptions",
            parameters=(
                _moment("from", start),
                _moment("to", "What happened then or later is left out."),
            ),
            returns=ReturnType(type=_REPLAYED_EVENTS, nullable=False),
            annotations=_described(
                "Sends what the subscription has missed: dead letters, and what happened before it existed or while it"
                " was off; at most 500 events a call, the oldest first."
            ),
        ),
    )


def _moment(name: str, text: str) -> Parameter:
    return Parameter(
        name=name, type=Primitive.DATE_TIME_OFFSET, precision=6, nullable=False, annotations=_described(text)
    )


def _move(binding: str, verb: str, text: str) -> Action:
    """A move of the state machine of ``binding``; the answer is the entity as it is then."""
    returns = ReturnType(entity_type=binding, nullable=False)
    return Action(name=verb, binding=binding, returns=returns, annotations=_described(text))


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)


def _text(name: str, length: int, text: str, *, nullable: bool = True) -> Property:
    return Property(
        name=name, type=Primitive.STRING, max_length=length, nullable=nullable, annotations=_described(text)
    )


def _id(name: str, text: str) -> Property:
    return Property(name=name, type=Primitive.GUID, annotations=_described(text))


_FINDING = ComplexType(
    name="CheckFinding",
    properties=(
        _text("code", 60, "What was found, for programs.", nullable=False),
        _text("severity", 10, "ERROR: it cannot run or gives nothing; WARNING: look at it; INFO.", nullable=False),
        _text("message", 1000, "What was found, for people.", nullable=False),
        _text("target", 255, "The entity set and property that it is about, such as `Conditions/value`."),
        _id("entity_ID", "The condition, action or other row that it is about."),
        _id("promotion_ID", "The other promotion that it is about."),
    ),
    annotations=_described("One thing that the check of a promotion has found."),
)
_ISSUED_COUPON = ComplexType(
    name="IssuedCoupon",
    properties=(
        _text("code", 50, "The code to be shown to the customer.", nullable=False),
        _id("couponId", "The coupon code's ID."),
        _id("couponTypeId", "Its type."),
        _text("customerId", 50, "Whose it is."),
        Property(name="validUntil", type=Primitive.DATE_TIME_OFFSET, precision=6),
    ),
    annotations=_described("A code that was issued."),
)
_REPLAYED_EVENTS = ComplexType(
    name="ReplayedEvents",
    properties=(
        Property(
            name="events",
            type=Primitive.INT32,
            nullable=False,
            annotations=_described("How many events are sent."),
        ),
        Property(
            name="until",
            type=Primitive.DATE_TIME_OFFSET,
            precision=6,
            nullable=False,
            annotations=_described("What happened before has been looked at. If it is before `to`, go on from here."),
        ),
    ),
    annotations=_described("What a subscription had missed and is sent now."),
)
