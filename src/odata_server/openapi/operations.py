"""Actions and functions in an OpenAPI document: bound ones by both of their addresses, others at the root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odata_server.edm import Action, Edm, EntitySet, EntityType, Function, Operation, Parameter
from odata_server.hooks import Access
from odata_server.openapi.parts import Parts, action_body, answer, function_parameters
from odata_server.openapi.schemas import Schemas
from odata_server.openapi.values import Schema, described, nullable, typed

__all__ = ["Operations"]


class Operations:
    """Makes the path items of the operations of one model."""

    def __init__(self, edm: Edm, schemas: Schemas, parts: Parts, statuses: Mapping[str, int]) -> None:
        self._edm = edm
        self._schemas = schemas
        self._parts = parts
        self._statuses = statuses

    def bound(
        self,
        path: str,
        name: str,
        entity_set: EntitySet,
        entity_type: EntityType,
        in_path: list[dict[str, Any]],
        *,
        collection: bool,
    ) -> dict[str, Any]:
        """Those bound to an entity, or to a collection, of this type: with and without their namespace."""
        paths: dict[str, Any] = {}
        for operation in self._edm.schema.operations:
            if operation.binding != entity_type.name or operation.binding_collection != collection:
                continue
            access = Access(kind="invoke", entity_set=entity_set, operation=operation)
            owner = f"{name}.collection" if collection else name
            for called, suffix in ((operation.name, ""), (self._edm.qualified(operation.name), ".qualified")):
                taken = [one["name"] for one in in_path]
                end, parameters, item = self._item(operation, access, taken)
                operation_id = f"{owner}.{operation.name}{suffix}"
                (described_,) = item.values()
                described_ |= {"operationId": operation_id, "tags": [name]}
                paths[f"{path}/{called}{end}"] = {"parameters": [*in_path, *parameters], **item}
        return paths

    def imports(self) -> dict[str, Any]:
        """Those at the service root."""
        container = self._edm.schema.container
        targets = [(one.name, one.action, Action) for one in container.action_imports]
        targets += [(one.name, one.function, Function) for one in container.function_imports]  # type: ignore[misc]
        paths: dict[str, Any] = {}
        for name, target, kind in targets:
            overloads = [
                one for one in self._edm.operations.get(target, ()) if isinstance(one, kind) and one.binding is None
            ]
            for number, operation in enumerate(overloads):
                end, parameters, item = self._item(operation, Access(kind="invoke", operation=operation), [])
                (described_,) = item.values()
                described_["operationId"] = name if number == 0 else f"{name}.{number}"
                paths[f"/{name}{end}"] = {"parameters": parameters, **item}
        return paths

    def _item(
        self, operation: Operation, access: Access, taken: Sequence[str]
    ) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
        """What follows the name in the path, the parameters there, and the path item."""
        notes = described(operation.annotations)
        made: dict[str, Any] = {
            "summary": notes.pop("description", operation.name),
            **({"deprecated": True} if "deprecated" in notes else {}),
            **self._parts.allowed(access),
            "responses": self._answers(operation) | self._parts.errors(access),
        }
        if isinstance(operation, Function):
            end, parameters = function_parameters(operation, taken)
            return end, parameters, {"get": made}
        schemas = {one.name: self._parameter(one) for one in operation.parameters}
        return "", [], {"post": made | action_body(operation, schemas)}

    def _answers(self, operation: Operation) -> dict[str, Any]:
        returns = operation.returns
        if returns is None:
            return {"204": answer("Done.")}
        status = str(self._statuses.get(operation.name, 200))
        success = answer("Done.", self._schemas.returned(returns))
        if returns.media_type is not None:
            success["content"][returns.media_type] = {"schema": {"type": "string"}}
        nothing = {"204": answer("There is nothing.")} if returns.nullable and not returns.collection else {}
        minimal = {"204": answer("Done, with `Prefer: return=minimal`.")} if isinstance(operation, Action) else {}
        return {status: success, **minimal, **nothing}

    def _parameter(self, one: Parameter) -> Schema:
        if one.entity_type is None:
            return {**described(one.annotations), **typed(one, for_input=True, suffix="-input")}
        entity = self._schemas.create(self._edm.entity_types[one.entity_type])
        if one.collection:
            return {"type": "array", "items": entity}
        return nullable(entity) if one.nullable else entity
