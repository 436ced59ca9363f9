"""The OData actions and functions of a service."""

from __future__ import annotations

from odata_server.draft import draft_actions
from odata_server.edm import (
    Action,
    Annotation,
    ComplexType,
    Function,
    Operation,
    Parameter,
    Primitive,
    Property,
    ReturnType,
)
from promenade.model.declare import ADMIN, DRAFT, PUBLIC, Service, declared
from promenade.model.reports.operations import reporting_complex_types, reporting_operations

BULK_IMPORT = "bulkImport"
IMPORT_ACCEPTED = "ImportAccepted"


def operations_of(service: Service) -> tuple[Operation, ...]:
    """Return the operations of a service, in the order of the specification."""
    if service is ADMIN:
        return admin_operations()
    return _of_public_api() if service is PUBLIC else reporting_operations()


def complex_types_of(service: Service) -> tuple[ComplexType, ...]:
    """Return the complex types that the service's operations return."""
    if service is ADMIN:
        return _admin_complex_types()
    return (_BULK_HEADER, _IMPORT_ACCEPTED) if service is PUBLIC else reporting_complex_types()


def _of_public_api() -> tuple[Operation, ...]:
    campaign = ReturnType(entity_type="Campaigns", nullable=False)
    return (
        Action(
            name="addPromotions",
            binding="Campaigns",
            parameters=(Parameter(name="promotionIds", type=Primitive.GUID, collection=True, nullable=False),),
            returns=campaign,
            annotations=_described("Makes promotions part of the campaign; those that are already stay so."),
        ),
        Action(
            name="removePromotion",
            binding="Campaigns",
            parameters=(Parameter(name="promotionId", type=Primitive.GUID, nullable=False),),
            returns=campaign,
            annotations=_described("Takes a promotion out of the campaign; one that is in none stays so."),
        ),
        Function(
            name="exportICS",
            binding="Campaigns",
            returns=ReturnType(type=Primitive.STRING, nullable=False, media_type="text/calendar"),
            annotations=_described("The campaign's window as an iCalendar object (RFC 5545) with one event."),
        ),
        Action(
            name="createPromotionFromTemplate",
            parameters=(Parameter(name="templateId", type=Primitive.GUID, nullable=False),),
            returns=ReturnType(type=Primitive.GUID, nullable=False),
            annotations=_described("Makes a promotion, in status DRAFT, from a template; a new one with every call."),
        ),
        *(_bulk_import(entity.set_name) for entity in declared().values() if entity.importable),
    )


def _bulk_import(set_name: str) -> Action:
    return Action(
        name=BULK_IMPORT,
        binding=set_name,
        binding_collection=True,
        parameters=(
            Parameter(name="header", type=_BULK_HEADER, annotations=_described("What holds for all rows.")),
            Parameter(
                name="rows",
                entity_type=set_name,
                collection=True,
                nullable=False,
                annotations=_described("At least one row and at most 10 000, each as a single create has it."),
            ),
        ),
        returns=ReturnType(type=_IMPORT_ACCEPTED, nullable=False),
        annotations=_described(
            "Accepts many rows at once, which are stored in the background: 202, and 200 for a request that was"
            " accepted before under the same Idempotency-Key. A request of its own, not a part of a $batch."
        ),
    )


def _member(name: str, kind: Primitive, text: str, *, length: int | None = None, nullable: bool = True) -> Property:
    return Property(name=name, type=kind, max_length=length, nullable=nullable, annotations=_described(text))


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)


_BULK_HEADER = ComplexType(
    name="BulkImportHeader",
    properties=(
        _member("tenantId", Primitive.STRING, "Another tenant; for administrators of an operator.", length=36),
        _member("minorVersion", Primitive.INT32, "The minor version that the rows are written for."),
        _member(
            "continueOnError",
            Primitive.BOOLEAN,
            "Whether good rows are stored when others fail. If not, which is the default, the first faulty row undoes"
            " all.",
        ),
        _member(
            "idempotencyKey", Primitive.STRING, "In place of the header Idempotency-Key, for 24 hours.", length=255
        ),
    ),
    annotations=_described("What a bulk import says of all its rows."),
)
_IMPORT_ACCEPTED = ComplexType(
    name=IMPORT_ACCEPTED,
    properties=(
        _member("jobId", Primitive.GUID, "The row of ImportJobs.", nullable=False),
        _member(
            "statusUrl",
            Primitive.STRING,
            "Where to ask for the status until it is SUCCEEDED or FAILED.",
            nullable=False,
        ),
    ),
    annotations=_described("An import that was accepted."),
)


# ---- the bound actions of administration (specification, Admin Service; data model, State machines) -----------------


def admin_operations() -> tuple[Operation, ...]:
    """Return all actions, including those that every root entity with edit drafts has."""
    roots = [entity.set_name for entity in declared().values() if entity.mode(ADMIN) is DRAFT]
    return (
        *(action for root in roots for action in draft_actions(root)),
        *_of_promotions(),
        *_of_campaigns(),
        *_of_coupon_types(),
        _move("Budgets", "activate", "Opens the budget: ACTIVE, or SCHEDULED while its validity lies ahead."),
        *_of_webhooks(),
    )


def _admin_complex_types() -> tuple[ComplexType, ...]:
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
    """Return an action for a transition of the state machine of ``binding``; it returns the entity after it."""
    returns = ReturnType(entity_type=binding, nullable=False)
    return Action(name=verb, binding=binding, returns=returns, annotations=_described(text))


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
