"""A model as an OpenAPI 3.1 document: every address that a service answers at, with bodies, answers and errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from odata_server.edm import Edm, EntityType, Property
from odata_server.openapi.parts import ERROR_BODY, Parts, Security
from odata_server.openapi.paths import Paths
from odata_server.openapi.schemas import Schemas, is_required
from odata_server.openapi.values import Schema

__all__ = ["render_openapi"]


def render_openapi(
    edm: Edm,
    *,
    title: str,
    version: str,
    base_url: str,
    description: str = "",
    security: Security | None = None,
    error_content: Mapping[str, Schema] | None = None,
    error_statuses: Callable[..., Sequence[int]] | None = None,
    allowed_values: Mapping[str, Sequence[str]] | None = None,
    required: Callable[[EntityType, Property], bool] = is_required,
    changeable: Callable[[EntityType, Property], bool] = lambda _type, _property: True,
    extras: Mapping[str, Schema] | None = None,
    told_once: Mapping[str, Collection[str]] | None = None,
    statuses: Mapping[str, int] | None = None,
    whole: bool = True,
    own_paths: Mapping[str, Any] | None = None,
    own_schemas: Mapping[str, Schema] | None = None,
) -> dict[str, Any]:
    """The document, ready for `json.dumps`; the same for the same model.

    ``base_url``: the service root. ``error_content``: media type -> schema of error bodies (OData's own if not given).
    ``error_statuses``: `Access` -> statuses of failures, where the usual ones are not right. ``allowed_values``:
    ``Type/property`` -> the codes it can have. ``required`` and ``changeable``: what a create must give and an update
    may change, beyond what the model says. ``extras``: members that the service adds to every JSON answer, with their
    schemas. ``told_once``: entity type -> write-only properties that the answer to a write may hold, because the
    service made them up. ``statuses``: operation -> its status of success, if not 200. ``own_paths``, ``own_schemas``:
    what the host serves beside the model, as in the document.

    Not ``whole``: without the addresses that OData's metadata tells of and that only OData clients use: properties one
    by one, ``$ref``, and changes of an entity by a navigation to it, which has an address of its own.
    """
    schemas = Schemas(
        edm,
        allowed_values=allowed_values or {},
        required=required,
        changeable=changeable,
        extras=extras or {},
        told_once=told_once or {},
    )
    schemas.add_types()
    parts = Parts(security=security, error_content=error_content or {}, error_statuses=error_statuses)
    paths = Paths(edm, schemas, parts, statuses or {}, whole=whole)
    made = paths.made() | dict(own_paths or {})
    components = parts.components()
    components["parameters"] |= paths.parameters
    components["schemas"] = {"Error": ERROR_BODY, **schemas.made, **(own_schemas or {})}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, **({"description": description} if description else {})},
        "servers": [{"url": base_url.rstrip("/") or "/"}],
        "tags": paths.tags(),
        "paths": made,
        "components": components,
    }
