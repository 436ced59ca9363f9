"""docs/reference/admin.md: how `/admin` is called, its drafts, actions and collections, from the model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from docs import public_reference as reference
from docs.markdown import table
from odata_server.draft import ACTIVATE, ADMINISTRATIVE_DATA, EDIT, PREPARE
from odata_server.edm import Function, Operation, Parameter, Primitive
from promenade import model
from promenade.model import EntityType
from promenade.model.declare import DRAFT, DRAFT_NODE, NONE, PLAIN, RO, RW_RESTRICTED, Service
from promenade.model.edm import edm_for

__all__ = ["ACTION_FAULTS", "admin_page"]

_EDM = edm_for(Service.ADMIN)
_MODES = {
    DRAFT: "drafts",
    DRAFT_NODE: "in the draft of its root",
    PLAIN: "direct",
    RO: "read only",
    RW_RESTRICTED: "read, and some changes",
}
_OF_DRAFTS = frozenset({ACTIVATE, EDIT, PREPARE})

_INTRO = inspect.cleandoc(
    """
    What a back office runs on: OData V4 with edit drafts. To begin with it:
    [Plan promotions in the back office](../how-to/back-office.md). The metadata at `/admin/$metadata` carries what
    annotation-driven user interfaces need: labels, value helps, list columns, field groups, criticality.

    Addresses, query options, writing, batches, headers and limits are those of the [public API](public-api.md); the
    rules of what may be written are the same, for it is the same code. What is different:

    - Answers have the forms of OData 4.0 (`@odata.count`) unless `OData-MaxVersion: 4.01` is sent.
    - Errors are always `{"error": {"code", "message", "target", "details"}}`, as `application/json`.
    - PATCH and PUT answer 200 with the entity, unless `Prefer: return=minimal` is sent.
    - There is no `minorVersion`.
    - `locked` in a PATCH of a campaign is passed over, like all that is computed; `lock` and `unlock` change it.
    - Lists are files by `$format=csv` and `$format=xlsx`, as [in the public API](public-api.md#files).
    - `POST /admin/exportList` streams a list as a file. Its body: `url` (`Articles?$filter=...`, relative to the
      service), `columns` (`path`, such as `campaign/name`, and `label`), `format` (`csv`, with a byte order mark, or
      `xlsx`), `separator`, `decimal`, `language` (`en`, `de`) and `timeZone`. No text becomes a formula. At most 4
      exports of a tenant are sent at a time (429 `TOO_MANY_EXPORTS`); one of coupon codes is in the audit trail, one of
      `CouponCodeBatches(<ID>)/codes` as an entry of the batch, and 409 `BATCH_UNFINISHED` while it is being generated.
    - `POST /admin/Clients:bulk-import` imports clients, as [the public API](public-api.md#bulkimport) imports other
      rows; for administrators alone, and for their own tenant. Rows have the form of a single create with a `code`,
      by which an existing client is found; `secret` is refused. `statusUrl` is the job in `ImportJobs`
      ([how](../how-to/credentials-for-many-stores.md)).
    - Messages of a request that went well are in the header `sap-messages`: a JSON array of `code`, `message`, `target`
      and `numericSeverity`.
    - A caller who comes by a session cookie sends `X-CSRF-Token` with every write; `HEAD /admin/` with
      `X-CSRF-Token: Fetch` answers it. Bearer tokens need none.
    """
)
_ROLES = (
    ("`svc.Admin`", "Everything."),
    (
        "`svc.PromotionManager`",
        (
            "Reads everything. Writes promotions with all that belongs to them, campaigns, templates, pilots, groups"
            " (article, POS, priority, exclusion) and coupon types, and their actions."
        ),
    ),
    (
        "`svc.BudgetManager`",
        "Reads everything. Changes budgets and what belongs to them, and answers who asks for one.",
    ),
)
_DRAFTS = inspect.cleandoc(
    """
    An entity with drafts has the key `(ID=...,IsActiveEntity=...)`: the active one is what everybody sees, its draft is
    one user's unfinished change. `(<ID>)` alone is the active one. A draft has all properties and parts of its entity;
    anything may be missing in it until it is activated. Nobody but its author sees a draft, evaluation and the public
    API never do. The status DRAFT of a promotion is something else: that promotion is active in this sense, it only
    does not run. Why it is so, and how activation merges: [decision 13](../decisions/0013-edit-drafts.md).
    """
)
_STEPS = (
    ("Begin a new one", "`POST .../Promotions`, without `IsActiveEntity` or with `false`; deep or empty", "201"),
    ("Create without a draft", "the same with `IsActiveEntity: true`", "201, checked like any create"),
    (
        "Change",
        "`PATCH .../Promotions(ID=...,IsActiveEntity=false)`; POST, PATCH, DELETE of its parts",
        "200, 201, 204; a wrong type or a text too long is 400",
    ),
    ("Look it over", "`POST .../draftPrepare`", "200; what activation would refuse is in `sap-messages`"),
    (
        "Activate",
        "`POST .../draftActivate`",
        (
            "201 when new, 200 when it replaces; 400 with targets `in/<property>`, or `/Conditions(<ID>)/<property>` "
            "for a rule that the same change set wrote; IDs of parts stay"
        ),
    ),
    (
        "Take up an active one",
        '`POST .../Promotions(ID=...,IsActiveEntity=true)/draftEdit` with `{"PreserveChanges": true}`',
        (
            "201; 409 `DRAFT_ALREADY_EXISTS` while there is a draft whose lock holds: 15 minutes from its last change."
            " After that `false` replaces it"
        ),
    ),
    ("Discard", "`DELETE` of the draft", "204; drafts that nobody touched go after 30 days"),
    ("Another's draft", "reading it, changing it", "404; 403 `DRAFT_LOCKED_BY_ANOTHER_USER`"),
    ("The active one, while there is a draft", "`PATCH`, `DELETE`", "409 `DRAFT_ALREADY_EXISTS`, 403"),
    ("Moves of its life, while there is a draft", "`POST .../activate`, `.../deactivate` ...", "as without"),
)
_LISTS = (
    ("nothing about drafts", "active ones"),
    ("`IsActiveEntity eq false`", "own drafts"),
    (
        "`IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null`",
        "own drafts, and active ones of which the caller has none",
    ),
    ("`IsActiveEntity eq true and HasDraftEntity eq false`", "active ones that nobody is editing"),
    (
        (
            "`IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null and "
            "DraftAdministrativeData/InProcessByUser ne ''`"
        ),
        "those that another user is editing",
    ),
    (
        (
            "`IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null and "
            "DraftAdministrativeData/InProcessByUser eq ''`"
        ),
        "those with changes of another user that were left",
    ),
)
_BOUND = inspect.cleandoc(
    """
    All are bound to an active entity, and POST unless they only read; on the key of a draft they are 409 `IS_A_DRAFT`,
    except `askForBudget`, which a draft of one's own takes as well.
    Every move of a state is in AuditLogs with its verb, an event goes to subscribers, and the next basket is priced by
    it.
    """
)
_BESIDE = inspect.cleandoc(
    """
    Fields and rules of each collection are in the [public API](public-api.md#collections). Administration has besides:
    `IsActiveEntity`, `HasActiveEntity`, `HasDraftEntity`, `SiblingEntity` and `DraftAdministrativeData` on all that has
    drafts, and the computed fields of the second table.
    """
)

_GONE = "404 `NOT_FOUND`: there is none"
_LOCKED = "409 `LOCKED`: its campaign is locked"
_MOVED = "409 `INVALID_TRANSITION`: not from the state it is in"
_UNFIT = "400 `ACTION_MISSING`, `REQUIRED`, `VALIDITY_OVER` ...: what is missing for it to run, all of it in `details`"
_CAMPAIGN = "404 `NOT_FOUND`: no such campaign"
_DOCUMENT = (
    "400 `MALFORMED_DOCUMENT`, `INVALID_DOCUMENT`: it is wrong; the messages name lines, the targets members",
    "400 `ONE_DOCUMENT`, `TOO_LONG`: several, none, or more than 262 144 characters",
)
ACTION_FAULTS: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("Promotions", "activate"): (_UNFIT, _LOCKED),
        ("Promotions", "deactivate"): (_LOCKED,),
        ("Promotions", "submit"): (_MOVED, _LOCKED),
        ("Promotions", "approve"): (_MOVED, _LOCKED),
        ("Promotions", "reject"): (_MOVED, _LOCKED),
        ("Promotions", "archive"): (_MOVED, _LOCKED),
        ("Promotions", "startPilot"): (_UNFIT, "400 `PILOT_CONFIG_MISSING`: it has none", _MOVED, _LOCKED),
        ("Promotions", "endPilot"): (_MOVED, _LOCKED),
        ("Promotions", "promoteToActive"): (_UNFIT, _MOVED, _LOCKED),
        ("Promotions", "copy"): (
            "409 `ALREADY_EXISTS`: the code is taken",
            "400 `PROMOTION_TOO_LARGE`: more than 10 000 parts",
        ),
        ("Clients", "createEnrolmentCodes"): (
            "400 `UNKNOWN_REFERENCE`: no client has one of the codes; all such are named, and no code is made",
            "400 `REQUIRED`, `TOO_MANY_ROWS`: none, or more than 1000",
        ),
        ("Promotions", "check"): (_GONE,),
        ("Promotions", "compareDocument"): _DOCUMENT,
        ("Promotions", "applyDocument"): (
            *_DOCUMENT,
            "403 `MISSING_SCOPE`: it defines or links what the caller may not write, such as a budget",
            "403 `DRAFT_LOCKED_BY_ANOTHER_USER`: somebody edits the promotion",
            "all that [writing a promotion](public-api.md#promotions) and `activate` answer",
        ),
        ("Promotions", "document"): (
            _GONE,
            "404 `DANGLING_REFERENCE`: it refers to a row that is gone",
        ),
        ("Promotions", "forecast"): (
            "400 `OUT_OF_RANGE`, `PERIOD_EMPTY`, `PERIOD_TOO_LONG`: a period that is none, or too long",
            "409 `PROMOTION_CANNOT_RUN`: it does not compile",
            "429 `TOO_MANY_FORECASTS`: too many are unfinished",
        ),
        ("Campaigns", "lock"): (_CAMPAIGN,),
        ("Campaigns", "unlock"): (_CAMPAIGN,),
        ("Campaigns", "addPromotions"): reference.FAULTS["addPromotions"],
        ("Campaigns", "removePromotion"): reference.FAULTS["removePromotion"],
        ("CouponTypes", "generateCodes"): (
            "400 `OUT_OF_RANGE`: not from 1 to 1 000 000",
            "400 `INDIVIDUAL_ONLY`: a GENERIC type has one code",
            "409 `CODES_EXHAUSTED`: the configuration gives too few codes; a large batch FAILS with the same words",
        ),
        ("CouponTypes", "issueCoupon"): (
            "400 `INVALID_CHARACTER`: a customerId that cannot be stored",
            "409 `COUPON_TYPE_INACTIVE`, `COUPON_TYPE_ENDED`: it issues none",
            "409 `NO_GENERIC_CODE`: a GENERIC type without a code",
            "409 `CODES_EXHAUSTED`: no free code, and none can be made",
        ),
        ("CouponTypes", "activate"): (_GONE,),
        ("CouponTypes", "deactivate"): (_GONE,),
        ("Budgets", "activate"): (_MOVED,),
        ("BasketTests", "run"): ("409 `CHANGED_MEANWHILE`: the test has changed while it ran",),
        ("BasketTests", "runAll"): ("503: promotions kept changing while it ran",),
        ("Promotions", "askForBudget"): (
            "400 `REQUIRED`, `OUT_OF_RANGE`, `UNKNOWN_CODE`: an amount or a currency that is none",
            "409 `ALREADY_ASKED`: a request for this promotion still waits",
            "409 `TOO_MANY_REQUESTS`: 500 requests of the tenant wait",
            "404 `NOT_FOUND`, 403 `DRAFT_LOCKED_BY_ANOTHER_USER`: no such promotion, or not one's own draft of it",
        ),
        ("BudgetRequests", "grant"): (
            _MOVED,
            "403 `MISSING_SCOPE`: without `budgetId`, only who may create budgets grants",
            "400 `UNKNOWN_REFERENCE`, `CURRENCY_MISMATCH`: a budget that is none, or in another currency",
            "409 `PROMOTION_GONE`: neither the promotion nor a draft of it is there any more",
            "409 `LOCKED`, `APPROVAL_REQUIRED`: the promotion may not be changed now",
        ),
        ("BudgetRequests", "decline"): (_MOVED, "400 `REQUIRED`: without a reason"),
        ("BudgetRequests", "withdraw"): (_MOVED, "403 `OTHERS_REQUEST`: somebody else asked"),
        ("NotificationLogs", "replay"): (
            "409 `EVENT_GONE`: the event is no longer kept",
            "409 `SUBSCRIPTION_GONE`, `SUBSCRIPTION_INACTIVE`: whom it was for was deleted, or is switched off",
        ),
        ("NotificationLogs", "payload"): (_GONE,),
        ("TenantSettings", "rateLimits"): (_GONE,),
        ("TenantSettings", "certificates"): (_GONE, "403 `MISSING_SCOPE`: without `svc.Admin`"),
        ("WebhookSubscriptions", "sendTest"): (
            "409 `EVENT_GONE`: a test still waits, but its event is no longer kept",
        ),
        ("WebhookSubscriptions", "replayEvents"): (
            "400 `PERIOD_EMPTY`: `to` is not after `from`",
            "409 `SUBSCRIPTION_INACTIVE`: it is switched off",
        ),
        ("Clients", "withdrawTokens"): (_GONE,),
        ("People", "withdrawTokens"): (_GONE,),
    }
)
"""What each action may refuse, by binding and name, beside what every request may meet."""


def admin_page() -> str:
    """Return the whole page."""
    parts = ["# Administration", _INTRO, "## Roles", table(("Scope", "What it opens"), _ROLES)]
    parts += ["## Edit drafts", _DRAFTS, table(("Step", "Request", "Answer"), _STEPS)]
    parts += ["What a list holds follows from its `$filter`, merged, sorted and counted together:"]
    parts += [table(("`$filter` says", "The list holds"), _LISTS)]
    parts += ["### DraftAdministrativeData", "Read only; one row for each draft.", _fields(ADMINISTRATIVE_DATA)]
    parts += ["## Actions", _BOUND, *_actions()]
    parts += ["## Collections", _BESIDE, table(("Collection", "Written", "What a row is"), list(_index()))]
    parts += [table(("Collection", "Field", "Type", "Meaning"), list(_computed()))]
    parts += [_own_section(entity) for entity in model.entities() if _is_only_here(entity)]
    return "\n\n".join(parts)


# ---- actions ------------------------------------------------------------------------------------------------------


def _actions() -> Iterator[str]:
    for several in _EDM.operations.values():
        for one in several:
            if one.name not in _OF_DRAFTS:
                yield _action(one)


def _action(one: Operation) -> str:
    faults = ACTION_FAULTS[one.binding or "", one.name]
    rows = [
        ("Address", f"`{_call(one)}`"),
        ("Parameters", "<br>".join(_parameter(one, given) for given in one.parameters) or "none"),
        ("Answer", _answer(one)),
        ("Errors", "<br>".join(faults)),
    ]
    return f"### {one.binding}: {one.name}\n\n{reference.description_of(one)}\n\n{table(('', ''), rows)}"


def _call(one: Operation) -> str:
    row = "" if one.binding_collection else "(<ID>)"
    path = f"/admin/{one.binding}{row}/{one.name}"
    if not isinstance(one, Function):
        return f"POST {path}"
    return f"GET {path}({','.join(f'{given.name}=<value>' for given in one.parameters)})"


def _parameter(one: Operation, given: Parameter) -> str:
    need = "optional" if given.nullable else "required"
    place = "in the address" if isinstance(one, Function) else "in the body"
    return f"`{given.name}`: {reference.type_of(given)}, {need}, {place}"


def _answer(one: Operation) -> str:
    returns = one.returns
    if returns is None:
        return "204"
    if returns.entity_type is not None:
        return f"the row of {_place(returns.entity_type)}"
    if isinstance(returns.type, Primitive):
        return "a text `value`, or 204"
    properties = getattr(returns.type, "properties", ())
    shown = "<br>".join(f"`{prop.name}`: {reference.description_of(prop)}" for prop in properties)
    return f"{'a list `value` of' if returns.collection else 'one of'}:<br>{shown}"


# ---- collections --------------------------------------------------------------------------------------------------


def _index() -> Iterator[tuple[str, str, str]]:
    for entity in sorted(model.entities(), key=lambda one: one.set_name):
        if entity.admin is not NONE:
            yield _place(entity.set_name), _MODES[entity.admin], reference.first_of(entity.doc)


def _place(set_name: str) -> str:
    page = "" if _is_only_here(model.entity(set_name)) else "public-api.md"
    return f"[{set_name}]({page}#{set_name.lower()})"


def _is_only_here(entity: EntityType) -> bool:
    return entity.public is NONE and entity.admin is not NONE


def _computed() -> Iterator[tuple[str, str, str, str]]:
    for entity in model.entities():
        if entity.admin is NONE or _is_only_here(entity):
            continue
        shown = {one.name for one in _EDM.entity_types[entity.set_name].properties}
        for field in entity.fields:
            if Service.PUBLIC in field.hidden_from and field.wire in shown:
                prop = _EDM.entity_types[entity.set_name].property_by_name[field.wire]
                yield _place(entity.set_name), f"`{field.wire}`", reference.type_of(prop), field.doc


def _own_section(entity: EntityType) -> str:
    """Return the section of a collection that the public API lacks."""
    prose = reference.prose_of(entity.doc)
    return f"### {entity.set_name}\n\n{prose}\n\n{_fields(entity.set_name)}"


def _fields(set_name: str) -> str:
    type_ = _EDM.entity_types[set_name]
    rows = [
        (f"`{prop.name}`", reference.type_of(prop), reference.description_of(prop))
        for prop in type_.properties
        if prop.name not in reference.MANAGED
    ]
    rows += [
        (f"`{one.name}`", _target(one.target, many=one.collection), reference.description_of(one))
        for one in type_.navigations
        if one.target not in model.code_lists()
    ]
    return table(("Field", "Type", "Meaning"), rows)


def _target(set_name: str, *, many: bool) -> str:
    return f"{'many of' if many else 'one of'} {_place(set_name)}"
