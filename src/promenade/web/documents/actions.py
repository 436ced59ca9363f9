"""The operations of promotions as documents (docs/how-to/configuration-as-code.md)."""

from __future__ import annotations

from odata_server.source import OperationCall, Result
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.workflows.documents.exporting import export_promotion


async def _document(unit: AdminUnit, call: OperationCall) -> Result:
    promotion_id = str((call.binding or {})["ID"])
    with_definitions = call.parameters.get("withDefinitions") is True
    document = await export_promotion(unit.session, promotion_id, with_definitions=with_definitions)
    return Result(value=document.text)


OPERATIONS: AdminOperations = {"document": _document}
