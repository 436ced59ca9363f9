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
from promenade.model import entities
from promenade.model.declare import ADMIN, DRAFT, PUBLIC, Service
from promenade.model.reports.operations import reporting_complex_types, reporting_operations

BULK_IMPORT = "bulkImport"
IMPORT_ACCEPTED = "ImportAccepted"
DOCUMENT_LENGTH_MAX = 262_144
"""Characters of a promotion as a document in a request."""


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
            annotations=_described(
                "Adds promotions to the campaign; promotions that already belong to it are unchanged."
            ),
        ),
        Action(
            name="removePromotion",
            binding="Campaigns",
            parameters=(Parameter(name="promotionId", type=Primitive.GUID, nullable=False),),
            returns=campaign,
            annotations=_described(
                "Removes a promotion from the campaign; a promotion without a campaign is unchanged."
            ),
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
            annotations=_described(
                "Creates a promotion in status DRAFT from a template; every call creates a new one."
            ),
        ),
        *(_bulk_import(entity.set_name) for entity in entities() if entity.importable),
    )


def _bulk_import(set_name: str) -> Action:
    return Action(
        name=BULK_IMPORT,
        binding=set_name,
        binding_collection=True,
        parameters=(
            Parameter(name="header", type=_BULK_HEADER, annotations=_described("Settings for all rows.")),
            Parameter(
                name="rows",
                entity_type=set_name,
                collection=True,
                nullable=False,
                annotations=_described("From 1 to 10 000 rows, each in the format of a single create."),
            ),
        ),
        returns=ReturnType(type=_IMPORT_ACCEPTED, nullable=False),
        annotations=_described(
            "Accepts many rows at once and stores them in the background: 202, or 200 if a request with the same"
            " Idempotency-Key was accepted before. Must be a separate request, not part of a $batch."
        ),
    )


def _member(name: str, kind: Primitive, text: str, *, length: int | None = None, nullable: bool = True) -> Property:
    precision = 6 if kind is Primitive.DATE_TIME_OFFSET else None
    return Property(
        name=name, type=kind, max_length=length, precision=precision, nullable=nullable, annotations=_described(text)
    )


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)


_BULK_HEADER = ComplexType(
    name="BulkImportHeader",
    properties=(
        _member(
            "tenantId",
            Primitive.STRING,
            "The tenant to import for, if not the caller's; only for administrators of an operator.",
            length=36,
        ),
        _member("minorVersion", Primitive.INT32, "The minor version of the interface that the rows follow."),
        _member(
            "continueOnError",
            Primitive.BOOLEAN,
            "Whether valid rows are stored when others fail. Default: false; the first invalid row rolls back the whole"
            " import.",
        ),
        _member(
            "idempotencyKey",
            Primitive.STRING,
            "Used instead of the header Idempotency-Key; kept for 24 hours.",
            length=255,
        ),
        _member(
            "callbackUrl",
            Primitive.STRING,
            "URL that is notified when the job has ended: https, or another URL that the operator allows.",
            length=2000,
        ),
    ),
    annotations=_described("Settings of a bulk import for all its rows."),
)
_IMPORT_ACCEPTED = ComplexType(
    name=IMPORT_ACCEPTED,
    properties=(
        _member("jobId", Primitive.GUID, "ID of the job in ImportJobs.", nullable=False),
        _member(
            "statusUrl",
            Primitive.STRING,
            "URL to poll for the status until it is SUCCEEDED or FAILED.",
            nullable=False,
        ),
    ),
    annotations=_described("The response to an accepted import."),
)


# ---- the bound actions of administration (specification, Admin Service; data model, State machines) -----------------


def admin_operations() -> tuple[Operation, ...]:
    """Return all actions, including those that every root entity with edit drafts has."""
    roots = [entity.set_name for entity in entities() if entity.mode(ADMIN) is DRAFT]
    return (
        *(action for root in roots for action in draft_actions(root)),
        *_of_promotions(),
        *_of_documents(),
        *_of_campaigns(),
        *_of_coupon_types(),
        _move(
            "Budgets",
            "activate",
            "Activates the budget: its status becomes ACTIVE, or SCHEDULED if its validity has not started.",
        ),
        *_of_budget_requests(),
        *_of_settings(),
        *_of_webhooks(),
        *_of_basket_tests(),
        _move(
            "Clients",
            "withdrawTokens",
            "Refuses its former secret at once, and the tokens that it has within half a minute, because a secret has"
            " leaked: replace the present one first. It may request new tokens.",
        ),
        _ENROL,
        _move(
            "People",
            "withdrawTokens",
            "Ends the sessions of the person, whose tokens are refused within half a minute; the person may sign in"
            " again.",
        ),
    )


def _admin_complex_types() -> tuple[ComplexType, ...]:
    """The values that the actions return."""
    return (
        _FINDING,
        _DOCUMENT_CHANGES,
        _ISSUED_COUPON,
        _REPLAYED_EVENTS,
        _TEST_RUN,
        _RATE_LIMIT_USE,
        _TRUSTED,
        _ENROLMENT,
    )


def _of_promotions() -> tuple[Operation, ...]:
    return (
        _move("Promotions", "activate", "Activates the promotion; refused with a list of problems if it cannot run."),
        _move("Promotions", "deactivate", "Stops the promotion temporarily."),
        _move("Promotions", "submit", "Submits the promotion for approval."),
        *_decisions(),
        _move("Promotions", "archive", "Archives a promotion that is not running."),
        _move("Promotions", "startPilot", "Starts the pilot: the promotion runs in its pilot POS groups only."),
        _move("Promotions", "endPilot", "Ends the pilot without a rollout."),
        _move("Promotions", "promoteToActive", "Ends the pilot and activates the promotion everywhere."),
        Action(
            name="copy",
            binding="Promotions",
            parameters=(
                Parameter(name="code", type=Primitive.STRING, max_length=50, annotations=_described("New code.")),
                Parameter(name="name", type=Primitive.STRING, max_length=255, annotations=_described("New name.")),
            ),
            returns=ReturnType(entity_type="Promotions", nullable=False),
            annotations=_described("Creates a promotion in status DRAFT with the same conditions and actions."),
        ),
        Action(
            name="check",
            binding="Promotions",
            returns=ReturnType(type=_FINDING, collection=True, nullable=False),
            annotations=_described(
                "Checks the promotion and changes nothing. Reports problems that prevent it from running, overlaps with"
                " other promotions, conditions that can never hold, and exclusions that leave no articles to discount."
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
                "Prices the confirmed sales of a period again as if the promotion had run, and compares the results."
                " Long periods are processed in the background; the forecast shows the progress."
            ),
        ),
    )


def _decisions() -> tuple[Operation, ...]:
    return (
        _move("Promotions", "approve", "Approves a submitted promotion; where approval is binding, somebody else's."),
        _move(
            "Promotions",
            "reject",
            "Rejects a submitted promotion.",
            Parameter(
                name="reason",
                type=Primitive.STRING,
                max_length=1000,
                annotations=_described("Reason, for its author; required where approval is binding."),
            ),
        ),
    )


def _of_documents() -> tuple[Operation, ...]:
    return (
        Function(
            name="document",
            binding="Promotions",
            parameters=(
                Parameter(
                    name="withDefinitions",
                    type=Primitive.BOOLEAN,
                    annotations=_described(
                        "Also define the coupon types, budgets, campaigns and groups that it names."
                    ),
                ),
            ),
            returns=ReturnType(type=Primitive.STRING, nullable=False, media_type="application/yaml"),
            annotations=_described(
                "The promotion with all that belongs to it as a YAML document, as `promenade export` writes it."
            ),
        ),
        Action(
            name="compareDocument",
            binding="Promotions",
            binding_collection=True,
            parameters=(
                _document("document", "A document of a promotion."),
                _document("before", "The document to compare it with; null: the promotion as the tenant has it.", True),
            ),
            returns=ReturnType(type=_DOCUMENT_CHANGES, nullable=False),
            annotations=_described("Says in words what a document would change, and changes nothing."),
        ),
        Action(
            name="applyDocument",
            binding="Promotions",
            binding_collection=True,
            parameters=(
                _document("document", "A document of a promotion."),
                Parameter(
                    name="withoutStatus",
                    type=Primitive.BOOLEAN,
                    annotations=_described("Leave the state of the promotion as it is; a new one is a draft."),
                ),
            ),
            returns=ReturnType(type=_DOCUMENT_CHANGES, nullable=False),
            annotations=_described(
                "Makes the promotion what a document says, or creates it, as `promenade apply` does: all or nothing."
            ),
        ),
    )


def _document(name: str, text: str, is_optional: bool = False) -> Parameter:
    return Parameter(
        name=name,
        type=Primitive.STRING,
        max_length=DOCUMENT_LENGTH_MAX,
        nullable=is_optional,
        annotations=_described(text),
    )


def _of_campaigns() -> tuple[Operation, ...]:
    ids = Parameter(name="promotionIds", type=Primitive.GUID, collection=True, nullable=False)
    one = Parameter(name="promotionId", type=Primitive.GUID, nullable=False)
    campaign = ReturnType(entity_type="Campaigns", nullable=False)
    return (
        _move("Campaigns", "lock", "Locks the campaign: it, its promotions and their parts can no longer be changed."),
        _move("Campaigns", "unlock", "Unlocks the campaign: it and its promotions can be changed again."),
        Action(
            name="addPromotions",
            binding="Campaigns",
            parameters=(ids,),
            returns=campaign,
            annotations=_described(
                "Adds promotions to the campaign; promotions that already belong to it are unchanged."
            ),
        ),
        Action(
            name="removePromotion",
            binding="Campaigns",
            parameters=(one,),
            returns=campaign,
            annotations=_described(
                "Removes a promotion from the campaign; a promotion without a campaign is unchanged."
            ),
        ),
    )


def _of_budget_requests() -> tuple[Operation, ...]:
    name = "BudgetRequests"
    return (
        Action(
            name="askForBudget",
            binding="Promotions",
            parameters=(
                Parameter(name="amount", type=Primitive.DECIMAL, precision=15, scale=2, nullable=False,
                          annotations=_described("Amount.")),
                Parameter(name="currency", type=Primitive.STRING, max_length=3, nullable=False,
                          annotations=_described("Currency.")),
                Parameter(name="reason", type=Primitive.STRING, max_length=1000,
                          annotations=_described("What it is needed for.")),
            ),
            returns=ReturnType(entity_type=name, nullable=False),
            annotations=_described(
                "Asks those who give budgets for one, for a promotion or the caller's own draft of one."
            ),
        ),
        _move(
            name,
            "grant",
            "Gives a budget, to which the promotion is charged from now on, or as soon as it is saved.",
            Parameter(
                name="budgetId",
                type=Primitive.GUID,
                annotations=_described("The budget; without it, a new one is made of the amount asked for."),
            ),
        ),
        _move(
            name,
            "decline",
            "Gives no budget.",
            Parameter(
                name="reason",
                type=Primitive.STRING,
                max_length=1000,
                annotations=_described("Reason, for the one who asked; required."),
            ),
        ),
        _move(name, "withdraw", "Takes the request back; only the one who asked may."),
    )  # fmt: skip


def _of_coupon_types() -> tuple[Operation, ...]:
    return (
        Action(
            name="generateCodes",
            binding="CouponTypes",
            parameters=(Parameter(name="numberOfCodes", type=Primitive.INT32, nullable=False),),
            returns=ReturnType(entity_type="CouponCodeBatches", nullable=False),
            annotations=_described(
                "Generates codes for the pool; large numbers in the background, with the progress in the batch."
            ),
        ),
        Action(
            name="issueCoupon",
            binding="CouponTypes",
            parameters=(Parameter(name="customerId", type=Primitive.STRING, max_length=50),),
            returns=ReturnType(type=_ISSUED_COUPON, nullable=False),
            annotations=_described("Issues one code from the pool, to a customer if one is given."),
        ),
        _move("CouponTypes", "activate", "Activates the type: its codes can be redeemed."),
        _move("CouponTypes", "deactivate", "Deactivates the type: its codes can no longer be redeemed."),
    )


def _of_settings() -> tuple[Operation, ...]:
    return (
        Function(
            name="rateLimits",
            binding="TenantSettings",
            returns=ReturnType(type=_RATE_LIMIT_USE, collection=True, nullable=False),
            annotations=_described(
                "The rate limits that the operator has set, and how much of them is used, as the server process that"
                " answers knows it: by the tenant, then by up to 100 of its clients that have called it, the busiest"
                " first."
            ),
        ),
        Function(
            name="certificates",
            binding="TenantSettings",
            returns=ReturnType(type=_TRUSTED, collection=True, nullable=False),
            annotations=_described(
                "What the server process that answers shows of itself and trusts, each with its end: its certificate,"
                " the authorities of client certificates with their revocation lists, up to 100 names of client"
                " certificates that speak for the tenant, the issuer of tokens, and its keys if this service is the"
                " issuer. For administrators only."
            ),
        ),
    )


def _of_webhooks() -> tuple[Operation, ...]:
    start = "Start of the period, inclusive. For long periods, use the `until` of a response as the next `from`."
    return (
        Action(
            name="replay",
            binding="NotificationLogs",
            returns=ReturnType(entity_type="NotificationLogs", nullable=False),
            annotations=_described(
                "Sends the same event again, with the same webhook-id and the same body, whatever its delivery status."
            ),
        ),
        Function(
            name="payload",
            binding="NotificationLogs",
            returns=ReturnType(type=Primitive.STRING, nullable=True),
            annotations=_described(
                "The body that is sent, the same in every attempt; nothing once the event is no longer kept."
            ),
        ),
        Action(
            name="sendTest",
            binding="WebhookSubscriptions",
            returns=ReturnType(entity_type="NotificationLogs", nullable=False),
            annotations=_described(
                "Sends an event WEBHOOK_TEST to this subscription alone, also while it is disabled, and returns the"
                " delivery. While a test still waits, that one is sent at once instead of another."
            ),
        ),
        Action(
            name="replayEvents",
            binding="WebhookSubscriptions",
            parameters=(
                _moment("from", start),
                _moment("to", "End of the period, exclusive."),
            ),
            returns=ReturnType(type=_REPLAYED_EVENTS, nullable=False),
            annotations=_described(
                "Sends the events that the subscription has missed: dead letters, and events from before it existed or"
                " while it was disabled; at most 500 events per call, oldest first."
            ),
        ),
    )


def _of_basket_tests() -> tuple[Operation, ...]:
    return (
        _move("BasketTests", "run", "Prices the basket by the present promotions and keeps whether the test passes."),
        Action(
            name="runAll",
            binding="BasketTests",
            binding_collection=True,
            parameters=(
                Parameter(
                    name="promotionId",
                    type=Primitive.GUID,
                    annotations=_described("The promotion whose tests are run; without one all tests are."),
                ),
            ),
            returns=ReturnType(type=_TEST_RUN, nullable=False),
            annotations=_described(
                "Runs tests, those first whose last run is the longest ago: at most 100 in at most 10 seconds. If some"
                " are left, another call runs them."
            ),
        ),
    )


def _moment(name: str, text: str) -> Parameter:
    return Parameter(
        name=name, type=Primitive.DATE_TIME_OFFSET, precision=6, nullable=False, annotations=_described(text)
    )


def _move(binding: str, verb: str, text: str, *parameters: Parameter) -> Action:
    """Return an action for a transition of the state machine of ``binding``; it returns the entity after it."""
    returns = ReturnType(entity_type=binding, nullable=False)
    return Action(name=verb, binding=binding, parameters=parameters, returns=returns, annotations=_described(text))


def _text(name: str, length: int, text: str, *, nullable: bool = True) -> Property:
    return Property(
        name=name, type=Primitive.STRING, max_length=length, nullable=nullable, annotations=_described(text)
    )


def _number(name: str, text: str) -> Property:
    return Property(name=name, type=Primitive.INT32, nullable=False, annotations=_described(text))


def _id(name: str, text: str) -> Property:
    return Property(name=name, type=Primitive.GUID, annotations=_described(text))


_FINDING = ComplexType(
    name="CheckFinding",
    properties=(
        _text("code", 60, "Stable code of the finding.", nullable=False),
        _text(
            "severity",
            10,
            "ERROR: it cannot run or has no effect; WARNING: to be reviewed; INFO: for information.",
            nullable=False,
        ),
        _text("message", 1000, "The finding as a sentence.", nullable=False),
        _text("target", 255, "The entity set and property concerned, such as `Conditions/value`."),
        _id("entity_ID", "ID of the condition, action or other row concerned."),
        _id("promotion_ID", "ID of the other promotion concerned."),
    ),
    annotations=_described("A finding of the check of a promotion."),
)
_DOCUMENT_CHANGES = ComplexType(
    name="DocumentChanges",
    properties=(
        _id("promotion_ID", "ID of the promotion; null: the tenant does not have it, or two documents were compared."),
        _text("promotion", 255, "Its code, or its name.", nullable=False),
        _text("status", 20, "Its status; null: the tenant does not have it, or two documents were compared."),
        Property(
            name="isNew", type=Primitive.BOOLEAN, nullable=False,
            annotations=_described("Whether the tenant does not have, or did not have it."),
        ),
        Property(
            name="changes", type=Primitive.STRING, collection=True, nullable=False,
            annotations=_described("What changes, a line for each member, and what is created besides."),
        ),
        Property(
            name="notes", type=Primitive.STRING, collection=True, nullable=False,
            annotations=_described("What the document says in vain: the tenant has it otherwise."),
        ),
    ),
    annotations=_described("What a document changes."),
)  # fmt: skip
_ISSUED_COUPON = ComplexType(
    name="IssuedCoupon",
    properties=(
        _text("code", 50, "The code to give to the customer.", nullable=False),
        _id("couponId", "ID of the coupon code."),
        _id("couponTypeId", "ID of its coupon type."),
        _text("customerId", 50, "The customer to whom it was issued."),
        Property(name="validUntil", type=Primitive.DATE_TIME_OFFSET, precision=6),
    ),
    annotations=_described("An issued coupon code."),
)
_RATE_LIMIT_USE = ComplexType(
    name="RateLimitUse",
    properties=(
        _member("clientId", Primitive.STRING, "The client, or person; null: all of the tenant together.", length=255),
        _member(
            "perMinute",
            Primitive.INT64,
            "Requests a minute that are admitted, by all processes that share a cache; null: any number.",
        ),
        _member(
            "inUse",
            Primitive.INT64,
            "How many of them are taken at the moment; as many are free again each minute.",
            nullable=False,
        ),
        _member("refused", Primitive.INT64, "For the tenant: requests that this process has refused since it began."),
    ),
    annotations=_described("How much of a rate limit is used."),
)
_TRUSTED = ComplexType(
    name="TrustedItem",
    properties=(
        _member(
            "use",
            Primitive.STRING,
            "`SERVER_CERTIFICATE`, `CLIENT_AUTHORITY`, `REVOCATION_LIST` (its name is that of the authority),"
            " `CLIENT_NAME` (a common name), `OWN_ISSUER`, `OUTSIDE_ISSUER` (an address) or `SIGNING_KEY` (a key ID).",
            length=20,
            nullable=False,
        ),
        _member("name", Primitive.STRING, "The subject of a certificate, or what else `use` says.", nullable=False),
        _member("fingerprint", Primitive.STRING, "SHA-256 of a certificate, as OpenSSL shows it.", length=95),
        _member("since", Primitive.DATE_TIME_OFFSET, "Since when it is valid, or trusted."),
        _member("until", Primitive.DATE_TIME_OFFSET, "Until when; null: without end."),
        _member(
            "state",
            Primitive.STRING,
            "`VALID`; `EXPIRES_SOON`: within 30 days, a revocation list within a quarter of its time if that is less;"
            " `EXPIRED`; `MISSING`: an authority without a revocation list, whose clients are not let in.",
            length=20,
            nullable=False,
        ),
    ),
    annotations=_described("What the service shows of itself, or trusts."),
)
_ENROLMENT = ComplexType(
    name="Enrolment",
    properties=(
        _text("code", 50, "Code of the client.", nullable=False),
        _text("clientId", 100, "Its ID, which it sends with the enrolment code.", nullable=False),
        _text("enrolmentCode", 43, "The enrolment code: a secret for one use.", nullable=False),
        _member("enrolmentUntil", Primitive.DATE_TIME_OFFSET, "Until when it is accepted.", nullable=False),
    ),
    annotations=_described("What a client needs to make a secret of its own."),
)
_ENROL = Action(
    name="createEnrolmentCodes",
    binding="Clients",
    binding_collection=True,
    parameters=(
        Parameter(
            name="codes",
            type=Primitive.STRING,
            max_length=50,
            collection=True,
            nullable=False,
            annotations=_described("From 1 to 1000 codes of clients."),
        ),
    ),
    returns=ReturnType(type=_ENROLMENT, collection=True, nullable=False),
    annotations=_described(
        "Makes an enrolment code for each of the clients, which is returned only in this response, and refuses"
        " the one that it had. The client replaces it by a secret of its own at `/oauth/secret` within 14 days;"
        " until then its present secret is accepted, from then on it and its tokens are refused."
    ),
)
_REPLAYED_EVENTS = ComplexType(
    name="ReplayedEvents",
    properties=(
        _number("events", "Number of events to be sent."),
        _member(
            "until",
            Primitive.DATE_TIME_OFFSET,
            "End of the part of the period that was processed. If it is before `to`, continue from here.",
            nullable=False,
        ),
    ),
    annotations=_described("The result of replaying missed events."),
)
_TEST_RUN = ComplexType(
    name="BasketTestRun",
    properties=(
        _number("passed", "Number of tests that passed."),
        _number("failed", "Number of tests that failed."),
        _number("left", "Number of tests that were not run, because there are too many or they take too long."),
    ),
    annotations=_described("The result of running many tests."),
)
