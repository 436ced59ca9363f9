"""An OData V4 server library for any service: a model and a source in, an ASGI application out.

This is what a host uses, and what keeps its meaning within a major version. Everything else may change at any time.

The names are loaded when they are first used: a model alone needs no service. `EngineDatabase`, `EntityMap`,
`SqlModel`, `SqlReader`, `SqlSource` and `SqlUnit` serve plain tables and need SQLAlchemy (`odata-server[sql]`); they
are not in `__all__`, so that `import *` works without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odata_server.draft import (
        ACTIVATE,
        ADMINISTRATIVE_DATA,
        DRAFT_UUID,
        EDIT,
        HAS_ACTIVE,
        HAS_DRAFT,
        IS_ACTIVE,
        PREPARE,
        administrative_data,
        draft_actions,
        draft_annotation,
        with_drafts,
    )
    from odata_server.edm import (
        Action,
        ActionImport,
        Annotation,
        AnnotationPath,
        AnnotationValue,
        ComplexType,
        Container,
        DraftRole,
        DraftWay,
        Edm,
        EntitySet,
        EntityType,
        EnumMember,
        EnumMemberValue,
        EnumType,
        Expression,
        Function,
        FunctionImport,
        NavigationProperty,
        Operation,
        Parameter,
        Primitive,
        Property,
        Record,
        Reference,
        ReturnType,
        Schema,
        Singleton,
        StructuredType,
        Type,
    )
    from odata_server.engines import EngineDatabase as EngineDatabase
    from odata_server.errors import Fault, ODataError, bad_request, not_found, not_implemented
    from odata_server.hooks import Access, Hooks
    from odata_server.http import Request, Response, error_response
    from odata_server.links import Links
    from odata_server.negotiation import Dialect, accepts, json_dialect, require_json_body, version_of
    from odata_server.openapi.document import render_openapi
    from odata_server.openapi.selection import select_tags
    from odata_server.parse import parse_options
    from odata_server.payload import check_structure, decode_entity, decode_json, decode_parameters
    from odata_server.resources import Kind, Resource, resolve
    from odata_server.service import Service
    from odata_server.source import (
        ByFilter,
        ByKey,
        ByNavigation,
        Key,
        Nested,
        OperationCall,
        Payload,
        Query,
        Result,
        Rows,
        Source,
        Step,
        Target,
        Unit,
    )
    from odata_server.sql.model import EntityMap as EntityMap
    from odata_server.sql.model import SqlModel as SqlModel
    from odata_server.sql.reader import SqlReader as SqlReader
    from odata_server.sql_source import SqlSource as SqlSource
    from odata_server.sql_source import SqlUnit as SqlUnit
    from odata_server.syntax import Aggregate, Apply, Compute, Concat, ExpandItem, GroupBy, QueryOptions
    from odata_server.transport import read_body, request_of, send_response

__version__ = "1.0.0"

__all__ = [
    "ACTIVATE",
    "ADMINISTRATIVE_DATA",
    "DRAFT_UUID",
    "EDIT",
    "HAS_ACTIVE",
    "HAS_DRAFT",
    "IS_ACTIVE",
    "PREPARE",
    "Access",
    "Action",
    "ActionImport",
    "Aggregate",
    "Annotation",
    "AnnotationPath",
    "AnnotationValue",
    "Apply",
    "ByFilter",
    "ByKey",
    "ByNavigation",
    "ComplexType",
    "Compute",
    "Concat",
    "Container",
    "Dialect",
    "DraftRole",
    "DraftWay",
    "Edm",
    "EntitySet",
    "EntityType",
    "EnumMember",
    "EnumMemberValue",
    "EnumType",
    "ExpandItem",
    "Expression",
    "Fault",
    "Function",
    "FunctionImport",
    "GroupBy",
    "Hooks",
    "Key",
    "Kind",
    "Links",
    "NavigationProperty",
    "Nested",
    "ODataError",
    "Operation",
    "OperationCall",
    "Parameter",
    "Payload",
    "Primitive",
    "Property",
    "Query",
    "QueryOptions",
    "Record",
    "Reference",
    "Request",
    "Resource",
    "Response",
    "Result",
    "ReturnType",
    "Rows",
    "Schema",
    "Service",
    "Singleton",
    "Source",
    "Step",
    "StructuredType",
    "Target",
    "Type",
    "Unit",
    "accepts",
    "administrative_data",
    "bad_request",
    "check_structure",
    "decode_entity",
    "decode_json",
    "decode_parameters",
    "draft_actions",
    "draft_annotation",
    "error_response",
    "json_dialect",
    "not_found",
    "not_implemented",
    "parse_options",
    "read_body",
    "render_openapi",
    "request_of",
    "require_json_body",
    "resolve",
    "select_tags",
    "send_response",
    "version_of",
    "with_drafts",
]

_MODULES = (
    *("edm", "errors", "http", "draft", "syntax", "source", "hooks", "links", "negotiation", "parse", "payload"),
    *("transport", "resources", "service", "openapi.document", "openapi.selection"),
)
"""Where the names are, the modules that load least first."""
_WITH_SQLALCHEMY = {
    "EngineDatabase": "engines",
    "EntityMap": "sql.model",
    "SqlModel": "sql.model",
    "SqlReader": "sql.reader",
    "SqlSource": "sql_source",
    "SqlUnit": "sql_source",
}


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = import_module(f"{__name__}.{module}")
            if hasattr(found, name):
                return getattr(found, name)
    if name in _WITH_SQLALCHEMY:
        return getattr(import_module(f"{__name__}.{_WITH_SQLALCHEMY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
