"""All questions: those to OData services derived from their metadata, all others from a list.

A question that names an object of the other tenant is asked twice, the second time about a nonexistent object: both
answers must be the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from odata_server.edm import Edm, EntityType, Function, NavigationProperty, Parameter, Primitive
from promenade import model
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.model.reports.operations import REPORT_TYPES
from promenade.web.services.back_office import file_address
from tests.contract.made_up import identity, seeded_row, subject
from tests.reliability.tenants.canaries import MINE, TILL_TRANSACTION, canary_id

__all__ = ["Question", "everything_else", "of_service"]

ROOTS = {Service.PUBLIC: "/api/v1", Service.ADMIN: "/admin", Service.REPORTING: "/reporting"}
TEXT = "ZQXJKV-1"
LITERALS = {
    Primitive.STRING: f"'{TEXT}'",
    Primitive.INT32: "1987654321",
    Primitive.INT64: "1987654321",
    Primitive.DATE: "2087-06-05",
    Primitive.DATE_TIME_OFFSET: "2087-06-05T04:03:02Z",
    Primitive.DECIMAL: "19876.54",
}
CONDITIONS = 12  # of one filter

# The only information that the specification requires to reveal: a promotion already has a pilot config, of any tenant
# (S2).
_TOLD = ("PromotionPilotConfigs", "promotion_ID")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """One request of the asking tenant; a body is sent as JSON, text and bytes unchanged."""

    method: str
    path: str
    body: Any = None

    @property
    def text(self) -> str | bytes | None:
        if self.body is None or isinstance(self.body, bytes | str):
            return self.body
        return json.dumps(self.body)

    @property
    def whole(self) -> str:
        """Return everything that is sent."""
        return f"{self.path} {self.text!r}"

    def is_read_of(self, root: str) -> bool:
        """Return whether it can be part of a batch to the service at ``root``."""
        path = self.path.removeprefix(f"{root}/")
        return self.method == "GET" and path != self.path and path[:1].isupper()


def of_service(service: Service) -> Iterator[Question]:
    """Return the questions to an OData service."""
    edm, root = edm_for(service), ROOTS[service]
    batch: list[str] = []
    for name, entity_set in edm.entity_sets.items():
        entity = edm.entity_types[entity_set.entity_type]
        for question in _of_set(edm, service, name, entity):
            yield Question(question.method, f"{root}/{question.path}", question.body)
        batch += [f"{name}?$count=true", *(f"{name}({key})" for key in _keys(service, name, entity))]
    yield Question("POST", f"{root}/$batch", {"requests": [{"id": u, "method": "get", "url": u} for u in batch[:40]]})
    yield from (Question("GET", f"{root}/{path}") for path in ("", "$metadata", "Promotions/$count"))
    if service is Service.REPORTING:
        yield from _exports(root)


def _exports(root: str) -> Iterator[Question]:
    """Return exports of every report for all time: of everything, of an object of the other tenant, and of one with
    a twin.
    """
    always = {"dateFrom": "1980-01-01T00:00:00Z", "dateTo": "2100-01-01T00:00:00Z"}
    for report_type in REPORT_TYPES:
        for name, about in (("promotionId", "Promotions"), ("stakeholderId", "Stakeholders")):
            for narrowed in ({}, {name: canary_id(about, 1)}, {name: identity(MINE, about, 1)}):
                yield Question("POST", f"{root}/exportCsv", {"reportType": report_type, **always, **narrowed})


def _of_set(edm: Edm, service: Service, name: str, entity: EntityType) -> Iterator[Question]:
    yield from _lists(edm, name, entity)
    keys = _keys(service, name, entity)
    for key in keys:
        yield Question("GET", f"{name}({key})?$expand=*" if entity.navigations else f"{name}({key})")
    if not _has_rows(entity):
        return
    key = keys[0]
    for navigation in entity.navigations:
        yield Question("GET", f"{name}({key})/{navigation.name}")
    yield Question("GET", f"{name}({key})/{entity.properties[-1].name}")
    for verb in ("PATCH", "PUT", "DELETE"):
        yield Question(verb, f"{name}({key})", None if verb == "DELETE" else {})
    links = {f"{one.name}_ID": canary_id(one.target, 1) for one in entity.navigations if not one.collection}
    for link, foreign in links.items():
        if link in entity.property_by_name and (name, link) != _TOLD:
            yield Question("POST", name, {link: foreign})
    for operation in edm.schema.operations:
        if operation.binding == entity.name and not operation.binding_collection:
            path = f"{name}({key})/{edm.namespace}.{operation.name}"
            if isinstance(operation, Function):
                yield Question("GET", f"{path}()")
            else:
                yield Question("POST", path, {one.name: _given(one) for one in operation.parameters})


def _lists(edm: Edm, name: str, entity: EntityType) -> Iterator[Question]:
    shown = [one.name for one in entity.properties if not one.collection and isinstance(one.type, Primitive)]
    yield Question("GET", f"{name}?$count=true&$top=1000")
    yield Question("GET", f"{name}/$count")
    yield Question("GET", f"{name}?$orderby={','.join(shown[:5])}&$top=50")
    if entity.searched:
        yield Question("GET", f"{name}?$search={TEXT}")
    yield Question("GET", f"{name}?$apply=groupby(({','.join(shown[:4])}),aggregate($count as n))")
    yield Question("GET", f"{name}?$apply=aggregate({shown[0]} with max as most,{shown[0]} with min as least)")
    if entity.navigations:
        yield Question("GET", f"{name}?$expand=*&$top=500")
    for conditions in _conditions(edm, entity):
        yield Question("GET", f"{name}?$count=true&$filter={quote(conditions)}")


def _conditions(edm: Edm, entity: EntityType) -> Iterator[str]:
    """Return filters by values of the other tenant; each property once, several per filter."""
    shown = [one for one in entity.properties if one.filterable and not one.collection and not one.write_only]
    found = [
        f"{one.name} eq {_literal(entity, one.name, one.type)}"
        for one in shown
        if one.type in LITERALS or one.type is Primitive.GUID
    ]
    texts = [one.name for one in shown if one.type is Primitive.STRING]
    found += [f"contains({one},'{TEXT}')" for one in texts[:3]] + [f"startswith({one},'ZQXJKV')" for one in texts[:3]]
    found += [_through(one) for one in entity.navigations if _has_rows(edm.entity_types[one.target])]
    for start in range(0, len(found), CONDITIONS):
        yield " or ".join(found[start : start + CONDITIONS])


def _through(navigation: NavigationProperty) -> str:
    foreign = canary_id(navigation.target, 1)
    if navigation.collection:
        return f"{navigation.name}/any(x:x/ID eq {foreign})"
    return f"{navigation.name}/ID eq {foreign}"


def _literal(entity: EntityType, name: str, kind: Any) -> str:
    if kind is Primitive.GUID:
        return canary_id(entity.name if name == "ID" else _subject(entity, name) or name, 1)
    return LITERALS[kind]


def _subject(entity: EntityType, name: str) -> str | None:
    """Return the entity whose ID a report's property holds; None for additions of OData such as the draft
    administration.
    """
    declared = [one for one in model.entities() if one.set_name == entity.name]
    return next((subject(field.name) for one in declared for field in one.fields if field.wire == name), None)


def _given(parameter: Parameter) -> Any:
    """Return the argument for an operation's parameter."""
    if parameter.type is Primitive.GUID:
        return [canary_id("Promotions", 1)] if parameter.collection else canary_id("Promotions", 1)
    if parameter.type is Primitive.INT32:
        return 1
    if parameter.type is Primitive.BOOLEAN:
        return True
    assert isinstance(parameter.type, Primitive)
    return LITERALS[parameter.type].strip("'")


def _has_rows(entity: EntityType) -> bool:
    """Return whether its rows belong to tenants; code lists are shared by all."""
    return bool(entity.key) and entity.key[0] == "ID"


def _keys(service: Service, name: str, entity: EntityType) -> list[str]:
    """Return the keys of a row of the other tenant, and of a row of the asking tenant that has a twin."""
    if service is Service.REPORTING and not _has_rows(entity) and name not in model.code_lists():
        return [_report_key(entity, twin=twin) for twin in (False, True)]
    if not _has_rows(entity):
        return [f"'{TEXT}'"] if len(entity.key) == 1 else []
    identities = [canary_id(name, 1), identity(MINE, name, 1)]
    if service is Service.PUBLIC or len(entity.key) == 1:
        return identities
    return [f"ID={one},IsActiveEntity={active}" for one in identities for active in ("true", "false")]


def _report_key(entity: EntityType, *, twin: bool) -> str:
    """Return the key of a report row of the other tenant, or of one that both have."""
    own = seeded_row(MINE, model.entity(entity.name), 1) if twin else {}
    parts = []
    for name in entity.key:
        kind = entity.property_by_name[name].type
        given = _literal(entity, name, kind) if name not in own else own[name]
        parts.append(f"{name}='{given}'" if name in own and kind is Primitive.STRING else f"{name}={given}")
    return ",".join(parts)


# ---- tills, jobs, stores --------------------------------------------------------------------------------------------

JOB = canary_id("ImportJobs", 1)
STORE, MY_STORE = canary_id("LocalDeployments", 1), identity(MINE, "LocalDeployments", 1)
_LINE = {"articleNumber": TEXT, "quantity": 1, "unitPrice": 5}
_SALE: dict[str, Any] = {"items": [_LINE], "customer": {"customerId": TEXT}, "coupons": [{"code": TEXT}]}
_HEADER = {"transactionId": TILL_TRANSACTION, "transactionCounter": 1}
_ROW = {"articleNumber": "mine-2", "name": "Mine"}
_COUPON = {
    "customerId": TEXT,
    "code": TEXT,
    "reservationId": canary_id("coupon_reservations.id", 1),
    "transactionId": TILL_TRANSACTION,
}
_ISSUE = {"couponTypeId": canary_id("CouponTypes", 1), "quantity": 1, "customerId": TEXT}
_SALES = [
    _SALE | {"posGroupCode": "BERLIN"},
    _SALE | {"posGroupCode": "BERLIN", "header": {"transactionId": TILL_TRANSACTION}, "includeMissedPromotions": True},
    _SALE | {"posGroupCode": TEXT},
    _SALE | {"posGroupId": canary_id("PosGroups", 1)},
]
_PRICED = {"articleNumber": TEXT, "ean": TEXT}
_PLACES = [{"posGroupCode": "BERLIN"}, {"posGroupCode": TEXT}, {"posGroupId": canary_id("PosGroups", 1)}]
_ARTICLES = {"articles": [{"articleNumber": "mine-1", "name": "Mine"}]}
_SIDE_EFFECTS = f"/pos/v2/transactions/{TILL_TRANSACTION}/1/side-effects"

# Questions by route suffix. A route without a match needs questions of its own.
_ASKED: tuple[tuple[str, str, list[Any]], ...] = (
    ("prices", "POST", [{"request": where | {"items": [_PRICED]}} for where in _PLACES]),
    ("evaluate", "POST", [{"request": sale} for sale in _SALES]),
    ("simulate", "POST", [{"request": sale | {"includeInactive": True}} for sale in _SALES]),
    ("confirm", "POST", [{"request": {"header": _HEADER, "transactionId": TILL_TRANSACTION, "appliedPromotions": []}}]),
    ("validate", "POST", [{"code": TEXT}]),
    ("validateCoupon", "POST", [{"code": TEXT}]),
    ("reserve", "POST", [_COUPON]),
    ("reserveCoupon", "POST", [_COUPON]),
    ("redeem", "POST", [_COUPON]),
    ("redeemCoupon", "POST", [_COUPON]),
    ("cancel", "POST", [_COUPON, _HEADER]),
    ("cancelCoupon", "POST", [_COUPON]),
    ("activate", "POST", [_COUPON]),
    ("activateCoupon", "POST", [_COUPON]),
    ("issue", "POST", [_ISSUE]),
    ("issueCoupons", "POST", [_ISSUE]),
    ("import", "POST", [_ARTICLES]),
    ("importArticles", "POST", [_ARTICLES]),
    ("import-batch", "POST", [_ARTICLES]),
    ("importArticlesBatch", "POST", [_ARTICLES]),
    ("soap", "POST", [b"<a/>"]),
    ("ProductMerchandiseViewReplicationBulkRequest", "POST", [{}]),
    ("bulk-import", "POST", [{"header": {"idempotencyKey": TEXT}, "rows": [_ROW]}]),
    ("bulkImport", "POST", [{"header": {"idempotencyKey": TEXT}, "rows": [_ROW]}]),
    ("customer-erasures", "POST", [{"customerId": TEXT}]),
    ("customer-exports", "POST", [{"customerId": TEXT}]),
    ("heartbeat", "POST", [{"deploymentId": one, "status": "UP", "version": "1"} for one in (STORE, MY_STORE)]),
    ("register", "POST", [{"storeCode": "Store code 1é", "version": "1", "posGroupCode": TEXT}]),
    (
        "budget-grants",
        "POST",
        [{"deploymentId": one, "budgetId": canary_id("Budgets", 1)} for one in (STORE, MY_STORE)],
    ),
    ("coupon-leases", "POST", [{"deploymentId": one, "codes": [TEXT]} for one in (STORE, MY_STORE)]),
    ("coupon-leases", "POST", [{"deploymentId": MY_STORE, "release": [TEXT]}]),
    ("coupon-leases", "POST", [{"deploymentId": MY_STORE, "couponTypeId": canary_id("CouponTypes", 1), "quantity": 1}]),
    ("coupon-leases", "POST", [{"deploymentId": MY_STORE, "promotionId": canary_id("Promotions", 1), "quantity": 1}]),
    ("transactions", "POST", [{"deploymentId": one, "transactions": [], "coupons": []} for one in (STORE, MY_STORE)]),
    ("token", "POST", [{}]),
)
_PATHS = {
    "/pos/v2/transactions/{transaction_id:path}/{transaction_counter:counter}": [f"/pos/v2/transactions/{TEXT}/1"],
    "/pos/v2/transactions/{transaction_id:path}": [f"/pos/v2/transactions/{TEXT}"],
    "/pos/v2/customers/{customer_id:path}/loyalty": [f"/pos/v2/customers/{TEXT}/loyalty"],
    "/pos/v2/transactions/{transaction_id:path}/{transaction_counter}/side-effects": [_SIDE_EFFECTS],
    "/pos/v2/transactions/{transaction_id:path}/{transaction_counter}/side-effects/requeue": [
        f"{_SIDE_EFFECTS}/requeue"
    ],
    "/api/v1/jobs/{job_id}": [f"/api/v1/jobs/{JOB}", f"/api/v1/jobs/{identity(MINE, 'ImportJobs', 1)}"],
    "/sync/erasures": [f"/sync/erasures?deploymentId={one}" for one in (STORE, MY_STORE)],
    "/sync/promotions": [f"/sync/promotions?deploymentId={one}" for one in (STORE, MY_STORE)],
    "/ui/{version}/{name:path}": [file_address("app/Component-preload.js"), file_address(f"app/{TEXT}.js")],
}


def everything_else(routes: list[str]) -> Iterator[Question]:
    """Return the questions to all routes outside OData services; raise LookupError for a route without questions."""
    for route in routes:
        asked = [(method, body) for end, method, bodies in _ASKED if _last(route) == end for body in bodies]
        paths = _PATHS.get(route) or [route.replace("{entity}", "Articles")]
        if any("{" in path for path in paths):
            raise LookupError(f"{route}: say in tests/reliability/tenants/asking.py what a tenant may ask there")
        for path in paths:
            yield Question("GET", path)
            for method, body in asked or [("POST", {})]:
                yield Question(method, path, body)


def _last(route: str) -> str:
    return route.replace(":", "/").replace(".", "/").rpartition("/")[2]
