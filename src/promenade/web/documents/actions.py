"""The operations of promotions as documents (docs/how-to/configuration-as-code.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from odata_server.source import OperationCall, Result
from promenade.errors import Detail, Invalid, TooMany
from promenade.model.operations import DOCUMENT_LENGTH_MAX
from promenade.store.authoring.statements import read_rows
from promenade.web.access.roles import changers, creators
from promenade.web.http.at_once import RETRY_AFTER_SECONDS, AtOnce
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.preparing import Unprepared
from promenade.workflows.context import Context
from promenade.workflows.documents.applying import Author, plan_document, write_plan
from promenade.workflows.documents.checking import check_document
from promenade.workflows.documents.comparing import differences
from promenade.workflows.documents.exporting import export_promotion
from promenade.workflows.documents.normal import Document
from promenade.workflows.documents.planning import Plan
from promenade.workflows.documents.shape import PROMOTIONS, node_of
from promenade.workflows.documents.yaml_text import Malformed, Mistake, read_documents

_LINES_MAX = 500
_DETAILS_MAX = 50


async def _document(unit: AdminUnit, call: OperationCall) -> Result:
    promotion_id = str((call.binding or {})["ID"])
    with_definitions = call.parameters.get("withDefinitions") is True
    document = await export_promotion(unit.session, promotion_id, with_definitions=with_definitions)
    return Result(value=document.text)


async def _compare(unit: AdminUnit, call: OperationCall) -> Result:
    document = _given(unit, call, "document")
    if call.parameters.get("before") is not None:
        before = _given(unit, call, "before")
        lines = list(differences(node_of(PROMOTIONS), before.content, document.content))
        return Result(value=_changes(document.name, lines))
    plan = await plan_document(unit.session, document, at=unit.at)
    _require_sound(plan.faults)
    if plan.stored is None:
        return Result(value=_of_plan(plan, None, None))
    return Result(value=_of_plan(plan, plan.stored.id, plan.stored.status))


async def _apply(unit: AdminUnit, call: OperationCall) -> Result:
    document = _given(unit, call, "document")
    keeps_states = call.parameters.get("withoutStatus") is True
    plan = await plan_document(unit.session, document, at=unit.at, keeps_states=keeps_states)
    if plan.stored is not None:
        await unit.drafts.admit_active_write(PROMOTIONS, plan.stored.id, removing=False)
        await unit.authoring.hold(PROMOTIONS, plan.stored.id)
        plan = await plan_document(unit.session, document, at=unit.at, keeps_states=keeps_states)
    _require_sound(plan.faults)
    if plan.stored is not None and plan.is_needless:
        return Result(value=_of_plan(plan, plan.stored.id, plan.stored.status))

    def permit(set_name: str, *, changes: bool) -> None:
        unit.caller.require_scope(*(changers(set_name) if changes else creators(set_name)))

    author = Author(unit.caller.user, unit.at, unit.authoring.new_id)
    promotion_id = await write_plan(unit.session, unit.authoring, plan, author, permit)
    (row,) = await read_rows(unit.session, PROMOTIONS, "id", [promotion_id])
    return Result(value=_of_plan(plan, promotion_id, row["status"]))


def _given(unit: AdminUnit, call: OperationCall, name: str) -> Document:
    """Return a document of the request, which was read before the unit: others would wait meanwhile."""
    text = call.parameters[name]
    if len(text) > DOCUMENT_LENGTH_MAX:
        raise Invalid("TOO_LONG", f"A document has at most {DOCUMENT_LENGTH_MAX} characters.", name)
    found = unit.prepared.get((name, text))
    if found is None:

        async def prepare(context: Context) -> Document | Invalid:
            return await _READING.run(partial(_read, text, name))

        raise Unprepared((name, text), prepare)
    if isinstance(found, Invalid):
        raise Invalid(found.code, found.message, found.target, found.details)
    document: Document = found
    return document


def _too_many() -> TooMany:
    message = "Many documents wait to be read already: send this one again in a moment."
    return TooMany("TOO_MANY_DOCUMENTS", message, RETRY_AFTER_SECONDS)


_READING = AtOnce(2, _too_many)


def _read(text: str, name: str) -> Document | Invalid:
    try:
        parsed = read_documents(text.encode(), name)
    except Malformed as error:
        return Invalid("MALFORMED_DOCUMENT", error.message, name)
    except UnicodeEncodeError:
        return Invalid("INVALID_CHARACTER", "The document has a character that no text may have.", name)
    if len(parsed) != 1:
        return Invalid("ONE_DOCUMENT", f"Give one document; there are {len(parsed)}.", name)
    document, faults = check_document(parsed[0])
    return _fault_of(faults) if document is None else document


def _require_sound(faults: Sequence[Mistake]) -> None:
    if faults:
        raise _fault_of(faults)


def _fault_of(faults: Sequence[Mistake]) -> Invalid:
    details = [Detail("INVALID_DOCUMENT", str(one), one.path or None) for one in faults[:_DETAILS_MAX]]
    first = details[0]
    return Invalid(first.code, first.message, first.target, details if len(details) > 1 else ())


def _of_plan(plan: Plan, promotion_id: str | None, status: str | None) -> dict[str, Any]:
    lines = [*plan.made_lines().values(), *plan.changes]
    found = _changes(plan.document.name, lines, plan.notes)
    return found | {"promotion_ID": promotion_id, "status": status, "isNew": plan.is_new}


def _changes(name: str, lines: Sequence[str], notes: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "promotion_ID": None,
        "promotion": name,
        "status": None,
        "isNew": False,
        "changes": _short(lines),
        "notes": _short(notes),
    }


def _short(lines: Sequence[str]) -> list[str]:
    if len(lines) <= _LINES_MAX:
        return list(lines)
    return [*lines[:_LINES_MAX], f"and {len(lines) - _LINES_MAX} more"]


OPERATIONS: AdminOperations = {"document": _document, "compareDocument": _compare, "applyDocument": _apply}
