"""The JSON Schema of a document, for editors that complete and check it while somebody writes it.

It has the members, types, codes and bounds of the declarations. Draft 7 is the newest that every editor knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from promenade import model
from promenade.model.declare import Field, Kind
from promenade.workflows.authoring.machines import MACHINES
from promenade.workflows.documents.normal import written_value
from promenade.workflows.documents.shape import (
    DEFINITIONS,
    PROMOTIONS,
    STATUS,
    Node,
    Part,
    Reference,
    definition_nodes,
    node_of,
    statuses,
)

FILE_NAME = "promotion.schema.json"
"""The name of the schema in a folder of documents and in the reference."""

Schema = dict[str, Any]

_TYPES: Mapping[Kind, Schema] = {
    Kind.TEXT: {"type": "string"},
    Kind.UUID: {"type": "string", "format": "uuid"},
    Kind.INTEGER: {"type": "integer"},
    Kind.LONG: {"type": "integer"},
    Kind.DECIMAL: {"type": "number"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.TIMESTAMP: {"type": "string", "format": "date-time"},
    Kind.DATE: {"type": "string", "format": "date"},
    Kind.TIME: {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]+)?)?$"},
    Kind.TEXTS: {"type": "array", "items": {"type": "string"}},
}
_DEFINED = (
    "Rows that the promotion refers to: each is created where the tenant has none with its code, and left as it is"
    " where it has one."
)
_WISHED = (
    "The state that the promotion is to have. Without it a new promotion is a draft, and one that is there keeps its"
    " state."
)


def schema_text() -> str:
    """Return the schema as a JSON file."""
    return msgspec.json.format(msgspec.json.encode(document_schema()), indent=2).decode() + "\n"


def document_schema() -> Schema:
    """Return the schema of a document."""
    own = _node_schema(node_of(PROMOTIONS))
    own["properties"][STATUS] |= {"description": _WISHED}
    own["properties"][DEFINITIONS] = _or_null(
        _closed(
            {
                key: _or_null({"type": "array", "items": _node_schema(node), "description": node.entity.doc})
                for key, node in definition_nodes().items()
            },
            _DEFINED,
        )
    )
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "A promotion of Promenade"}
    return head | own


def _node_schema(node: Node) -> Schema:
    members = {key: _value_schema(node, field) for key, field in node.values.items()}
    members |= {key: _code_schema(one) for key, one in node.references.items()}
    members |= {key: _part_schema(one) for key, one in node.parts.items()}
    required = [key for key, field in node.values.items() if field.required]
    required += [key for key, one in node.references.items() if one.is_required]
    members = {key: one if key in required else _or_null(one) for key, one in members.items()}
    return _closed(members, node.entity.doc) | ({"required": required} if required else {})


def _or_null(schema: Schema) -> Schema:
    """Return the schema of a member that may be null, which says the same as leaving it out."""
    codes = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return schema | {"type": [schema["type"], "null"]} | codes


def _closed(members: Mapping[str, Schema], description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": dict(members),
        "additionalProperties": False,
    }


def _value_schema(node: Node, field: Field) -> Schema:
    told: Schema = {**_TYPES[field.kind], "description": field.doc}
    if field.wire == STATUS and node.set_name in MACHINES:
        told["enum"] = list(statuses(node.set_name))
        return told
    if field.code_list:
        told["enum"] = list(model.code_list(field.code_list).codes)
    elif field.choices:
        told["enum"] = list(field.choices)
    elif field.kind is Kind.TEXT and field.length is not None:
        told["maxLength"] = field.length
    for name, bound in (("minimum", field.minimum), ("maximum", field.maximum)):
        if bound is not None:
            told[name] = _number(written_value(bound))
    if field.default is not None:
        told["default"] = _number(written_value(field.default))
    return told


def _number(value: Any) -> Any:
    """Return a number as JSON has it: what is computed with it is decided by the service."""
    return msgspec.Raw(str(value).encode()) if type(value).__name__ == "Decimal" else value


def _code_schema(reference: Reference) -> Schema:
    key = reference.natural_key
    told: Schema = {"type": "string", "description": f"{reference.doc} By {key.wire} of {reference.target}."}
    return told | ({"maxLength": key.length} if key.length is not None else {})


def _part_schema(part: Part) -> Schema:
    node = part.node
    one = _node_schema(node) if node.code is None else _code_schema(node.code)
    return {"type": "array", "items": one, "description": part.doc} if part.many else one | {"description": part.doc}
