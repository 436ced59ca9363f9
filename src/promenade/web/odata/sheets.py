"""A list of any service as a file: ``$format=csv`` and ``xlsx``, or the media type of either in Accept.

The columns are the properties of the rows, by their names and in the order of ``$select`` or else of the model. Of what
``$expand`` leads to, each property is a column of its own, ``campaign/name``; a navigation to many is refused, because
a cell holds one value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import unquote_plus

from odata_server.edm import Edm, EntityType, Primitive
from odata_server.errors import ODataError, bad_request
from odata_server.http import Request
from odata_server.negotiation import accepts
from odata_server.parse import parse_options, parse_path
from odata_server.resources import Kind, Resource, resolve
from odata_server.syntax import Aggregate, Apply, Compute, Concat, ExpandItem, GroupBy, QueryOptions
from promenade.web.http.workbooks import Workbook
from promenade.web.odata.export_files import MEDIA_TYPES, CsvFile, File, Format, in_zone
from promenade.web.odata.export_reading import Reading, batch_above, is_secret

_UNMARKED = re.compile(r";\s*bom\s*=\s*\"?false\b", re.IGNORECASE)
_NOT_READ = frozenset({"format", "count"})  # options of the file as a whole, not of the pages that are read for it
_CHOICES = frozenset({"apply", "filter", "search", "skip", "top"})

_Steps = tuple[str, ...]


def may_want_file(scope: Mapping[str, Any]) -> bool:
    """Return whether it is worth a closer look whether a request asks for a file."""
    if scope["method"] not in {"GET", "HEAD"}:
        return False
    if b"format=" in scope["query_string"].lower():
        return True
    for name, text in scope["headers"]:
        if name == b"accept" and (b"csv" in text.lower() or b"sheet" in text.lower()):
            return True
    return False


def wants_file(request: Request) -> bool:
    """Return whether a GET asks for a file, wherever it leads."""
    return _form(request, _split(request.query)[1])[0] is not None


def reading_of_get(edm: Edm, request: Request) -> Reading | None:
    """Return how to read the list that a GET asks for as a file; None if it asks for something else.

    Raises ODataError for what is no list, and for rows that do not fit into a table.
    """
    query, wanted = _split(request.query)
    form, is_marked = _form(request, wanted)
    if form is None:
        return None
    path = request.path.strip("/")
    options = parse_options(query)
    resource = resolve(edm, parse_path(path), options.aliases)
    if resource.kind is not Kind.ENTITIES or resource.suffix or resource.target is None:
        if wanted is None:
            return None  # other resources may have an answer in the client's format, or refuse it
        raise ODataError(406, "NOT_ACCEPTABLE", "Only a list is answered as a file.", "$format")
    columns = _columns(edm, resource.target.entity_type, options)
    return _reading(resource, path, query, columns, form, is_marked=is_marked)


def _reading(
    resource: Resource, path: str, query: str, columns: Sequence[_Column], form: Format, *, is_marked: bool
) -> Reading:
    type_names = [one.entity_type for one in resource.sets]
    name = resource.sets[-1].name
    labels = ["/".join(one.steps) for one in columns]
    chosen = _chosen(query)

    def new_file() -> File:
        return Workbook(name, labels) if form == "xlsx" else CsvFile(labels, is_marked=is_marked)

    return Reading(
        name=name,
        path=path,
        query=query,
        asked=f"{path}?{'&'.join(chosen)}" if chosen else path,
        chosen=chosen,
        cells=[replace(one, is_typed=form == "xlsx") for one in columns],
        has_secret=any(one.has_secret for one in columns),
        batch=batch_above(path, type_names[-1], type_names[-2] if len(type_names) > 1 else None),
        form=form,
        new_file=new_file,
    )


def with_files(document: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document with the files added to the answers of its lists."""
    contents = {media_type: {"schema": {"type": "string"}} for media_type in MEDIA_TYPES.values()}
    for item in document["paths"].values():
        answer = item.get("get", {}).get("responses", {}).get("200", {})
        page = answer.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
        if page.endswith("-page"):
            answer["content"] = answer["content"] | contents
            answer["description"] = "A page of them; as a file all of them."
    return document


# ---- what is asked for --------------------------------------------------------------------------------------------


def _split(query: str) -> tuple[str, str | None]:
    """Return the options with which pages are read, and the value of ``$format``."""
    kept, wanted = [], None
    for part in query.split("&") if query else ():
        key, value = _option(part)
        if key == "format" and wanted is None:
            wanted = value
        elif key not in _NOT_READ:
            kept.append(part)
    return "&".join(kept), wanted


def _option(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return unquote_plus(name).removeprefix("$").lower(), unquote_plus(value)


def _chosen(query: str) -> list[str]:
    """Return the options that choose the rows, to be read by people."""
    options = [_option(part) for part in query.split("&")]
    return [f"${name}={value}" for name, value in options if name in _CHOICES]


def _form(request: Request, wanted: str | None) -> tuple[Format | None, bool]:
    """Return the kind of file that is wanted, and whether as CSV it begins with a byte order mark.

    A client that takes JSON as well gets JSON, as ever.
    """
    text = request.headers.get("accept", "")
    if wanted is not None:
        short, semicolon, parameters = wanted.partition(";")
        full = next((one for form, one in MEDIA_TYPES.items() if form == short.strip().lower()), short)
        text = full + semicolon + parameters
    asked = replace(request, headers={"accept": text})
    if wanted is None and accepts(asked, "application/json", exactly=True):
        return None, True
    form = next((one for one, media_type in MEDIA_TYPES.items() if accepts(asked, media_type, exactly=True)), None)
    return form, _UNMARKED.search(text) is None


# ---- columns ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    """A value of each row; ``is_typed``: the file has types for numbers, days and times, and does not know ISO's."""

    steps: _Steps
    type: Any = None
    has_secret: bool = False
    is_typed: bool = False

    def value(self, row: Mapping[str, Any]) -> Any:
        """Return the value as it is, or as the file's type has it."""
        found: Any = row
        for step in self.steps:
            found = found.get(step) if isinstance(found, dict) else None
        if isinstance(found, list):
            return ", ".join(str(one) for one in found)
        if isinstance(found, dict):
            return json.dumps(found, ensure_ascii=False, default=str)
        if not self.is_typed or not isinstance(found, str):
            return found
        if self.type is Primitive.DATE_TIME_OFFSET:
            return in_zone(datetime.fromisoformat(found), UTC)
        return date.fromisoformat(found) if self.type is Primitive.DATE else found


def _columns(edm: Edm, entity_type: EntityType, options: QueryOptions) -> list[_Column]:
    """Return the columns of the rows. Raises ODataError for rows that do not fit into a table."""
    applied = _applied(options.apply)
    names = _selected(entity_type, options, applied)
    found = [_column(edm, entity_type, steps) for steps in names]
    for item in options.expand:
        found += _expanded(edm, entity_type, item)
    return list({one.steps: one for one in found}.values())


def _selected(entity_type: EntityType, options: QueryOptions, applied: list[_Steps] | None) -> list[_Steps]:
    whole = [(one.name,) for one in entity_type.properties if not one.write_only] if applied is None else applied
    computed = [(one.alias,) for one in options.compute]
    if not options.select:
        return [*whole, *computed]
    found: list[_Steps] = []
    for item in options.select:
        found += whole if item.path == ("*",) else [item.path]
    return found


def _column(edm: Edm, entity_type: EntityType, steps: _Steps) -> _Column:
    """Return the column at a path; what is no property has been computed, or the service will refuse it."""
    here = entity_type
    for step in steps[:-1]:
        if step not in here.navigation_by_name:
            return _Column(steps)
        here = edm.entity_types[here.navigation_by_name[step].target]
    prop = here.property_by_name.get(steps[-1])
    return _Column(steps, prop.type if prop else None, is_secret(here.name, steps[-1]))


def _expanded(edm: Edm, entity_type: EntityType, item: ExpandItem) -> list[_Column]:
    """Return the columns of what a row leads to, each below the name of the navigation."""
    name = "/".join(item.path)
    navigation = entity_type.navigation_by_name.get(name)
    if item.path == ("*",) or item.kind or (item.options is not None and item.options.levels is not None):
        message = "In a file, name each navigation to expand, without $ref, $count, $levels and *."
        raise bad_request("EXPAND_NOT_FLAT", message, "$expand")
    if navigation is None:
        return []  # the service refuses it
    if navigation.collection:
        message = f"{name} leads to many rows, and a cell of a file holds one value: expand it in JSON."
        raise bad_request("EXPAND_NOT_FLAT", message, "$expand")
    inside = _columns(edm, edm.entity_types[navigation.target], item.options or QueryOptions())
    return [replace(one, steps=(name, *one.steps)) for one in inside]


def _applied(apply: Apply) -> list[_Steps] | None:
    """Return the columns of what ``$apply`` makes of the rows; None: they still are what they were."""
    found: list[_Steps] | None = None
    for step in apply:
        if isinstance(step, Aggregate):
            found = [(one.alias,) for one in step.items if one.alias is not None]
        elif isinstance(step, GroupBy):
            rolled = [path for rollup in step.rollups for path in rollup]
            found = [*step.paths, *rolled, *(_applied(step.apply) or [])]
        elif isinstance(step, Compute) and found is not None:
            found += [(one.alias,) for one in step.items]
        elif isinstance(step, Concat):
            parts = [_applied(part) for part in step.parts]
            if any(part != parts[0] for part in parts):
                message = "In a file, all parts of concat must have the same columns."
                raise bad_request("CONCAT_NOT_FLAT", message, "$apply")
            found = parts[0]
    return found
