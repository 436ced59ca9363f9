"""The bound actions of administration that change an entity's status, copy it or create coupon codes.

Each is one workflow (specification, Admin Service, Bound actions). Actions of several types share a name; the binding
distinguishes them.
"""

from __future__ import annotations

import secrets

from odata_server.source import OperationCall, Result
from promenade.errors import PromenadeError
from promenade.web.access.roles import deciders
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.draft_faults import place_at_binding
from promenade.workflows.authoring.approvals import DECISIONS, read_policy
from promenade.workflows.coupons.generation import generate_codes, issue_coupon
from promenade.workflows.promotions.campaigns import add_promotions, remove_promotion
from promenade.workflows.promotions.copying import copy_promotion
from promenade.workflows.promotions.lifecycle import move, move_promotion


async def _move(unit: AdminUnit, call: OperationCall) -> Result:
    key, verb = _bound_to(call), call.operation.name
    unit.has_activated = True  # errors found at the end of the unit of work concern the bound entity
    try:
        if call.operation.binding == "Promotions":
            policy = await read_policy(unit.session)
            if verb in DECISIONS:
                unit.caller.require_scope(*deciders(policy.approver_scope if policy.is_binding else None))
            reason = call.parameters.get("reason")
            await move_promotion(unit.authoring, unit.session, key, verb, unit.at, policy=policy, reason=reason)
        else:
            await move(unit.authoring, str(call.operation.binding), key, verb)
    except PromenadeError as error:
        place_at_binding(error)
        raise
    return _same_row(call)


async def _copy(unit: AdminUnit, call: OperationCall) -> Result:
    given = call.parameters
    copy_id = await copy_promotion(
        unit.authoring, unit.session, _bound_to(call), code=given.get("code"), name=given.get("name")
    )
    return Result(key={**(call.binding or {}), "ID": copy_id}, entity_set=call.entity_set, status=201)


async def _add_promotions(unit: AdminUnit, call: OperationCall) -> Result:
    await add_promotions(unit.authoring, unit.session, _bound_to(call), call.parameters.get("promotionIds"))
    return _same_row(call)


async def _remove_promotion(unit: AdminUnit, call: OperationCall) -> Result:
    await remove_promotion(unit.authoring, unit.session, _bound_to(call), call.parameters.get("promotionId"))
    return _same_row(call)


async def _generate_codes(unit: AdminUnit, call: OperationCall) -> Result:
    number = call.parameters.get("numberOfCodes")
    key = _bound_to(call)
    batch_id = await generate_codes(unit.authoring, unit.session, key, number, at=unit.at, draw=secrets.choice)
    return Result(key={"ID": batch_id})


async def _issue_coupon(unit: AdminUnit, call: OperationCall) -> Result:
    customer_id = call.parameters.get("customerId")
    key = _bound_to(call)
    coupon = await issue_coupon(unit.authoring, unit.session, key, customer_id, at=unit.at, draw=secrets.choice)
    shown = {
        "code": coupon.code,
        "couponId": coupon.id,
        "couponTypeId": coupon.coupon_type_id,
        "customerId": coupon.customer_id,
        "validUntil": coupon.valid_until,
    }
    return Result(value=shown)


def _bound_to(call: OperationCall) -> str:
    """Return the ID of the active entity that an action is bound to; calls on edit drafts do not get here."""
    return str((call.binding or {})["ID"])


def _same_row(call: OperationCall) -> Result:
    return Result(key=call.binding, entity_set=call.entity_set)


_MOVES = (
    "activate", "deactivate", "submit", "approve", "reject", "archive", "startPilot", "endPilot", "promoteToActive",
    "lock", "unlock",
)  # fmt: skip

OPERATIONS: AdminOperations = {
    **dict.fromkeys(_MOVES, _move),
    "copy": _copy,
    "addPromotions": _add_promotions,
    "removePromotion": _remove_promotion,
    "generateCodes": _generate_codes,
    "issueCoupon": _issue_coupon,
}
