"""The public API as an OpenAPI 3.1 document, generated from its model."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import msgspec

from odata_server.edm import EntityType, Function, Property
from odata_server.hooks import Access
from odata_server.openapi.document import render_openapi
from odata_server.openapi.parts import Security
from odata_server.openapi.values import ref
from promenade import model
from promenade.interface import MINOR_VERSION
from promenade.model.declare import RW_RESTRICTED, Service
from promenade.model.edm import edm_for
from promenade.web.imports.openapi import with_imports
from promenade.web.odata.openapi import allowed_values, enum_names, example_rows
from promenade.web.odata.sheets import with_files
from promenade.web.services.customers_openapi import with_customers

VERSION = f"1.{MINOR_VERSION}.0"
"""Version of the interface description (Versioning)."""

_READ, _WRITE = "PublicApi.Read", "PublicApi.Write"
_DESCRIPTION = inspect.cleandoc(
    """
    The integration interface for ERP systems and partners: plain REST with JSON, and OData V4 at the same addresses.

    A client that sends `OData-Version` or `OData-MaxVersion` is an OData client: its errors come in OData's form, and a
    write on a read-only collection is 403 instead of 405. Rows of other tenants do not exist: they are 404.

    What OData adds to every entity is served and not listed here: its properties one by one
    (`/Campaigns({ID})/name`, `/Campaigns({ID})/name/$value`), links (`/Campaigns({ID})/posGroups/$ref`), and changes
    by a navigation. `$metadata` tells of all of them.
    """
)
_PROBLEM = {
    "type": "object",
    "description": "What went wrong (RFC 7807): `code` is stable, `target` the path of the property that is at fault.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"},
        "target": {"type": "string"},
        "details": {"type": "array", "description": "Every fault of the request.", "items": ref("ErrorDetail")},
    },
    "required": ["type", "title", "status", "detail", "instance", "code"],
    "examples": [
        {
            "type": "about:blank",
            "title": "Bad Request",
            "status": 400,
            "detail": "CouponTypes has no property codeValue.",
            "instance": "/api/v1/CouponTypes",
            "code": "UNKNOWN_PROPERTY",
            "target": "codeValue",
        }
    ],
}
_EXTRAS = {
    "minorVersion": {
        "type": "integer",
        "const": MINOR_VERSION,
        "readOnly": True,
        "description": "Minor version of the interface; it rises with every addition.",
    }
}


def render_public_openapi(*, whole: bool = False) -> bytes:
    """Return the document as JSON, identical in every run. ``whole``: include the paths that only OData clients use."""
    document = render_openapi(
        edm_for(Service.PUBLIC),
        title="Promenade public API",
        version=VERSION,
        base_url="/api/v1",
        description=_DESCRIPTION,
        security=Security(
            token_url="/oauth/token",  # noqa: S106 - an address
            scopes={_READ: "Read every collection.", _WRITE: "Create, change and delete, and call actions."},
            needed=_scopes,
        ),
        error_content={
            "application/problem+json": ref("Problem"),
            "application/json": ref("ErrorResponse"),
        },
        allowed_values=allowed_values(),
        enum_names=enum_names(),
        changeable=_is_changeable,
        extras=_EXTRAS,
        examples=example_rows(Service.PUBLIC),
        told_once={"WebhookSubscriptions": ("secret",)},
        whole=whole,
        own_schemas={"Problem": _PROBLEM},
    )
    return msgspec.json.encode(with_customers(with_files(with_imports(document))))


def _scopes(access: Access) -> Sequence[str]:
    if access.kind in {"metadata", "batch"}:
        return (_READ, _WRITE)
    if access.kind == "read" or isinstance(access.operation, Function):
        return (_READ,)
    return (_WRITE,)


def _is_changeable(entity_type: EntityType, prop: Property) -> bool:
    """Return whether an update may set a property: in a restricted collection only few may be set."""
    if entity_type.name in model.code_lists():
        return False
    entity = model.entity(entity_type.name)
    if entity.public is not RW_RESTRICTED:
        return entity_type.name != "Campaigns" or prop.name != "locked"
    return prop.name in {entity.field(name).wire for name in entity.patchable}
