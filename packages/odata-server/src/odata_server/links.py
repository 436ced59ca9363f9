"""The URLs of a service: context URLs, entities, further pages; and the conversion of a URL back to a key."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite, isnan
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from odata_server.edm import Edm, EntitySet, EntityType, EnumType, NavigationProperty, Primitive, Property, Type
from odata_server.errors import bad_request
from odata_server.parse import parse_path
from odata_server.resources import Kind, Resource, resolve
from odata_server.source import ByKey, Key
from odata_server.syntax import Aggregate, Apply, Compute, ExpandItem, GroupBy, QueryOptions

__all__ = ["Links", "key_values", "literal", "text_of"]


class Links:
    """The URLs below one root, all as absolute paths; prefixed with the request's `origin` they are absolute URLs."""

    def __init__(self, edm: Edm, root: str) -> None:
        self._edm = edm
        self._root = root.rstrip("/")

    # ---- entities ----

    def entity(self, entity_set: EntitySet, key: Key) -> str:
        """Return the URL of an entity: the root, then e.g. ``Books(1)``."""
        return f"{self._root}/{self.relative(entity_set, key)}"

    def relative(self, entity_set: EntitySet, key: Key) -> str:
        """Return the URL of an entity relative to the root, e.g. ``Books(1)``."""
        entity_type = self._edm.entity_types[entity_set.entity_type]
        parts = [(prop.name, literal(self._edm, prop, key[prop.name])) for prop in entity_type.key_properties]
        set_name = quote(entity_set.name)
        if len(parts) == 1:
            return f"{set_name}({parts[0][1]})"
        return f"{set_name}({','.join(f'{quote(name)}={value}' for name, value in parts)})"

    def key_of(self, address: str, navigation: NavigationProperty) -> Key:
        """Return the key of the entity at a URL, like `any_key_of`. Raise ODataError 400 for an alternate key, too."""
        key = self.any_key_of(address, navigation)
        if key.keys() != set(self._edm.entity_types[navigation.target].key):
            raise bad_request("BAD_REFERENCE", f"Name the {navigation.target} to refer to by its key.")
        return key

    def any_key_of(self, address: str, navigation: NavigationProperty) -> Key:
        """Return the key of the entity at a URL, or its alternate key; it must be a possible target of the navigation.

        ``address`` is relative to the root, an absolute path, or a URL with any host, because proxies change host
        names. Raise ODataError 400.
        """
        resource = self.resource_of(address)
        target = resource.target
        if resource.kind is not Kind.ENTITY or resource.suffix or target is None or len(target.steps) != 1:
            raise bad_request("BAD_REFERENCE", f"{address[:200]} is not the address of an entity.")
        if target.entity_type.name != navigation.target or not isinstance(target.steps[0], ByKey):
            raise bad_request("BAD_REFERENCE", f"{address[:200]} is not the address of a {navigation.target}.")
        return target.steps[0].key

    def resource_of(self, address: str) -> Resource:
        """Return the resource for a URL in a body or in ``$id``. Raise ODataError 400."""
        try:
            parts = urlsplit(address)
        except ValueError:
            raise bad_request("BAD_REFERENCE", "It is not a valid address.") from None
        path = parts.path
        if parts.netloc or path.startswith("/"):
            if not path.startswith(f"{self._root}/"):
                raise bad_request("BAD_REFERENCE", f"{address[:200]} is not an address of this service.")
            path = path[len(self._root) + 1 :]
        return resolve(self._edm, parse_path(path), {})

    # ---- contexts (Protocol 4.01, chapter 10) ----

    def context(self, fragment: str = "") -> str:
        """Return the context URL with a fragment."""
        return f"{self._root}/$metadata" + (f"#{fragment}" if fragment else "")

    def selected(self, entity_type: EntityType, options: QueryOptions, version: str) -> str:
        """Return the selection for the context URL, e.g. ``(title,author(name))``; empty if nothing is selected."""
        names = _selection(options)
        for item in options.expand:
            if item.kind or not item.path:
                continue
            inner = self._expanded(entity_type, item, version)
            if item.path == ("*",):
                names.extend(f"{one.name}()" for one in entity_type.navigations if version != "4.0")
            elif inner or version != "4.0":
                names.append(f"{'/'.join(item.path)}{inner or '()'}")
        return f"({','.join(names)})" if names else ""

    def applied(self, apply: Apply) -> str:
        """Return the properties after ``$apply`` (Aggregation 4.0, 5.1), e.g. ``(genre,total)``; empty for entities."""
        names: list[str] | None = None
        for step in apply:
            if isinstance(step, Aggregate | GroupBy):
                names = _grouped(step)
            elif isinstance(step, Compute) and names is not None:
                names += [item.alias for item in step.items]
        return f"({','.join(dict.fromkeys(names))})" if names else ""

    def _expanded(self, entity_type: EntityType, item: ExpandItem, version: str) -> str:
        navigation = entity_type.navigation_by_name.get(item.path[-1])
        if navigation is None or item.options is None:
            return ""
        return self.selected(self._edm.entity_types[navigation.target], item.options, version)

    def type_name(self, type_: Type | EntityType, *, collection: bool) -> str:
        """Return the name of a type: ``Edm.String`` or ``Collection(Bookshop.Address)``."""
        name = type_.value if isinstance(type_, Primitive) else self._edm.qualified(type_.name)
        return f"Collection({name})" if collection else name

    # ---- further pages ----

    def next_page(self, path: str, query: str, token: str) -> str:
        """Return the URL of the next page: the same request with all its options, starting at ``token``."""
        kept = [part for part in query.split("&") if part and not _is_skiptoken(part)]
        kept.append(f"$skiptoken={quote(token, safe='')}")
        return f"{self._root}/{path.strip('/')}?{'&'.join(kept)}"


def _is_skiptoken(part: str) -> bool:
    return unquote(part.partition("=")[0]).removeprefix("$").lower() == "skiptoken"


def _grouped(step: Aggregate | GroupBy) -> list[str]:
    if isinstance(step, Aggregate):
        found = [item.alias or getattr(item.expression, "name", "") for item in step.items]  # a custom aggregate's own
        return [name for name in found if name]
    paths = [*step.paths, *(path for rollup in step.rollups for path in rollup)]
    names = [f"{path[0]}({'/'.join(path[1:])})" if len(path) > 1 else path[0] for path in paths]
    return names + [name for inner in step.apply if isinstance(inner, Aggregate) for name in _grouped(inner)]


def _selection(options: QueryOptions) -> list[str]:
    if not options.select and not options.compute:
        return []
    names: list[str] = []
    for item in options.select:
        inner = ",".join(_selection(item.options)) if item.options is not None else ""
        names.append("/".join(item.path) + (f"({inner})" if inner else ""))
    if not options.select:
        names.append("*")
        names.extend(item.alias for item in options.compute)
    return list(dict.fromkeys(names))


def literal(edm: Edm, prop: Property, value: Any) -> str:
    """Return a value as a URL literal, percent-encoded where necessary."""
    if prop.type is Primitive.STRING:
        return "'" + quote(str(value).replace("'", "''"), safe="") + "'"
    if isinstance(prop.type, EnumType):
        return quote(f"{edm.qualified(prop.type.name)}'{value}'", safe="'.,")
    return quote(text_of(value), safe=":-.")


def text_of(value: Any) -> str:
    """Return a single value as plain text, as used in ``/$value`` responses and URLs."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "INF" if value > 0 else "-INF"
    return str(value)


def _moment(value: datetime) -> str:
    text = value.astimezone(UTC).replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


def _duration(value: timedelta) -> str:
    sign = "-" if value < timedelta(0) else ""
    value = abs(value)
    fraction = f".{value.microseconds:06d}".rstrip("0") if value.microseconds else ""
    return f"{sign}P{value.days}DT{value.seconds}{fraction}S"


def key_values(entity_type: EntityType, row: dict[str, Any]) -> Key:
    """Return the key of a row."""
    return {name: row[name] for name in entity_type.key}
