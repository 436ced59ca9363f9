"""Render a model as an OpenAPI 3.1 document: every URL of a service, with bodies, responses and errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from odata_server.edm import Edm, EntityType, Property
from odata_server.openapi.examples import add_examples
from odata_server.openapi.parts import ERROR_SCHEMAS, Parts, Security
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
    enum_names: Mapping[str, str] | None = None,
    required: Callable[[EntityType, Property], bool] = is_required,
    changeable: Callable[[EntityType, Property], bool] = lambda _type, _property: True,
    extras: Mapping[str, Schema] | None = None,
    examples: Mapping[str, Mapping[str, Any]] | None = None,
    told_once: Mapping[str, Collection[str]] | None = None,
    statuses: Mapping[str, int] | None = None,
    whole: bool = True,
    own_paths: Mapping[str, Any] | None = None,
    own_schemas: Mapping[str, Schema] | None = None,
) -> dict[str, Any]:
    """Return the document, ready for `json.dumps`; the same model always gives the same document.

    ``base_url``: the service root. ``error_content``: media type -> schema of error bodies (default: OData's own).
    ``error_statuses``: `Access` -> statuses of failures, where the usual ones do not apply. ``allowed_values``:
    ``Type/property`` -> its possible codes; ``enum_names``: the name of their schema, where several properties have the
    same codes (default: ``Type-property``). ``required`` and ``changeable``: the properties that a create must contain
    and an update may change, in addition to the model. ``extras``: members that the service adds to every JSON
    response, with their schemas. ``examples``: entity type -> a row as it is answered. ``told_once``: entity type ->
    write-only properties that the response to a write may contain, because the service generated them. ``statuses``:
    operation -> its success status, if not 200. ``own_paths``, ``own_schemas``: further paths and schemas of the host,
    as in the document.

    If not ``whole``, the document omits URLs that OData's metadata describes and that only OData clients use: single
    properties, ``$ref``, changes of an entity through a navigation to it if the entity has a URL of its own, a second
    URL of each operation with its namespace, and batches as MIME.
    """
    schemas = Schemas(
        edm,
        allowed_values=allowed_values or {},
        enum_names=enum_names or {},
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
    constants = {name: schema["const"] for name, schema in (extras or {}).items() if "const" in schema}
    add_examples(schemas.made, examples or {}, constants)
    components["schemas"] = {**ERROR_SCHEMAS, **schemas.made, **(own_schemas or {})}
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, **({"description": description} if description else {})},
        "servers": [{"url": base_url.rstrip("/") or "/"}],
        "tags": paths.tags(),
        "paths": made,
        "components": components,
    }
