"""The actions of administration that ask for a budget of a promotion and answer."""

from __future__ import annotations

from odata_server.draft import IS_ACTIVE
from odata_server.source import OperationCall, Result
from promenade.web.access.roles import creators
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.workflows.promotions.budget_requests import ask_for_budget, decline, grant, withdraw


async def _ask(unit: AdminUnit, call: OperationCall) -> Result:
    is_draft = (call.binding or {}).get(IS_ACTIVE) is False
    drafts = unit.drafts if is_draft else None
    made = await ask_for_budget(unit.authoring, unit.session, _bound_to(call), call.parameters, drafts=drafts)
    return Result(key={"ID": made}, status=201)


async def _grant(unit: AdminUnit, call: OperationCall) -> Result:
    budget_id = call.parameters.get("budgetId")
    if budget_id is None:
        unit.caller.require_scope(*creators("Budgets"))
    await grant(unit.authoring, unit.session, _bound_to(call), budget_id=budget_id)
    return Result(key=call.binding, entity_set=call.entity_set)


async def _decline(unit: AdminUnit, call: OperationCall) -> Result:
    await decline(unit.authoring, _bound_to(call), reason=call.parameters.get("reason"))
    return Result(key=call.binding, entity_set=call.entity_set)


async def _withdraw(unit: AdminUnit, call: OperationCall) -> Result:
    await withdraw(unit.authoring, unit.session, _bound_to(call))
    return Result(key=call.binding, entity_set=call.entity_set)


def _bound_to(call: OperationCall) -> str:
    return str((call.binding or {})["ID"])


OPERATIONS: AdminOperations = {"askForBudget": _ask, "grant": _grant, "decline": _decline, "withdraw": _withdraw}
