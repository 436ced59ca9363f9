"""The actions of edit drafts: draftPrepare, draftActivate, draftEdit (specification, Admin Service)."""

from __future__ import annotations

from odata_server.draft import ACTIVATE, EDIT, IS_ACTIVE, PREPARE
from odata_server.source import OperationCall, Result
from promenade.errors import Conflict, Detail, NotFound, PromenadeError
from promenade.web.http.messages import SUCCESS, WARNING, Message, as_header
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.draft_faults import place_at_binding


async def _prepare(unit: AdminUnit, call: OperationCall) -> Result:
    """Return the draft; whatever prevents its activation is returned as messages, since it can still be corrected."""
    set_name, entity_id = _draft_of(call)
    found = await unit.drafts.prepare(set_name, entity_id)
    return Result(key=call.binding, entity_set=call.entity_set, headers=as_header(_finding(detail) for detail in found))


async def _activate(unit: AdminUnit, call: OperationCall) -> Result:
    set_name, entity_id = _draft_of(call)
    unit.has_activated = True
    try:
        is_new = await unit.drafts.activate(set_name, entity_id)
    except PromenadeError as error:
        place_at_binding(error)
        raise
    return Result(
        key={"ID": entity_id, IS_ACTIVE: True},
        entity_set=call.entity_set,
        status=201 if is_new else 200,
        headers=as_header([Message("SAVED", "Saved.", SUCCESS, is_passing=True)]),
    )


async def _edit(unit: AdminUnit, call: OperationCall) -> Result:
    set_name, entity_id, is_active = _bound_to(call)
    if not is_active:
        raise Conflict("DRAFT_ALREADY_EXISTS", "This is already a draft: change it with PATCH.")
    await unit.drafts.edit(set_name, entity_id, preserve=call.parameters.get("PreserveChanges") is True)
    return Result(key={"ID": entity_id, IS_ACTIVE: False}, entity_set=call.entity_set, status=201)


def _finding(detail: Detail) -> Message:
    """Return a finding as a message.

    In a successful answer, its target is relative to the returned entity, not to the action's parameter.
    """
    return Message(detail.code, detail.message, WARNING, detail.target)


def _draft_of(call: OperationCall) -> tuple[str, str]:
    set_name, entity_id, is_active = _bound_to(call)
    if is_active:
        raise NotFound(
            "NOT_FOUND", f"{call.operation.name} works only on drafts: use the key with IsActiveEntity=false."
        )
    return set_name, entity_id


def _bound_to(call: OperationCall) -> tuple[str, str, bool]:
    """Return the entity set and the ID of the entity that an action is bound to, and whether it is active."""
    key = call.binding or {}
    return call.operation.binding or "", str(key["ID"]), key[IS_ACTIVE] is True


OPERATIONS: AdminOperations = {PREPARE: _prepare, ACTIVATE: _activate, EDIT: _edit}
