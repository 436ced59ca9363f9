"""The processing of one request: its context, and what every kind of response needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from odata_server.edm import Edm, EntitySet, EntityType
from odata_server.encoding import Encoder, to_json
from odata_server.errors import bad_request, not_found, not_implemented
from odata_server.hooks import Access, Hooks
from odata_server.http import Request, Response
from odata_server.links import Links
from odata_server.negotiation import Dialect
from odata_server.preconditions import tag_of
from odata_server.resources import Resource
from odata_server.source import ByKey, Key, Query, Target, Unit
from odata_server.syntax import ExpandItem, QueryOptions, SelectItem

__all__ = ["Exchange", "Work", "by_key", "check_options", "plain_select"]

Work = Callable[[Unit], Awaitable[Response]]
"""What remains to be done inside a unit; it may be done again from its start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request, the resource it addresses, and the format of its response."""

    edm: Edm
    hooks: Hooks
    links: Links
    encoder: Encoder
    request: Request
    caller: Any
    resource: Resource
    options: QueryOptions
    dialect: Dialect

    # ---- permission ----

    def permit(self, kind: str, entity_set: EntitySet | None, **more: Any) -> None:
        """Check the permission with the host. Raise the host's error if it is denied."""
        self.hooks.permit(self.caller, Access(kind=kind, entity_set=entity_set, **more), self.request)

    def permit_passing(self, *, last: bool = False) -> None:
        """Check the permission for each set that a write passes through; with ``last`` also for the last one."""
        for entity_set in self.resource.sets if last else self.resource.sets[:-1]:
            self.permit("read", entity_set, on_the_way=True)

    def permit_reading(self) -> None:
        """Check the permission for each set of the path and for the expanded sets."""
        for entity_set in self.resource.sets:
            self.permit("read", entity_set)
        target = self.resource.target
        if target is not None and self.options.expand:
            self.permit_expanded(target.entity_type, target.entity_set, self.options.expand)

    def permit_expanded(
        self, entity_type: EntityType, entity_set: EntitySet | None, items: tuple[ExpandItem, ...]
    ) -> None:
        """Check the permission for the sets that an expand reads; the reader refuses unknown names."""
        for item in items:
            names = [one.name for one in entity_type.navigations] if item.path == ("*",) else item.path
            for name in names:
                navigation = entity_type.navigation_by_name.get(name)
                if navigation is None:
                    continue
                inner_set = self.edm.set_of(navigation.target, source=entity_set, path=name)
                if inner_set is not None:
                    self.permit("read", inner_set)
                if item.options is not None and item.options.expand:
                    self.permit_expanded(self.edm.entity_types[navigation.target], inner_set, item.options.expand)

    # ---- reading ----

    def query(self, target: Target, options: QueryOptions, *, lock: bool = False) -> Query:
        """Return a query in the format that this client wants."""
        preferred = self.dialect.preferences.page_size_max
        size = self.hooks.page_size
        return Query(
            target=target,
            options=options,
            page_size=size if preferred is None else min(size, preferred),
            now=self.hooks.now(),
            prefix=self.dialect.prefix,
            quoted_numbers=self.dialect.quoted_numbers,
            etags=True,
            lock=lock,
        )

    async def one(self, unit: Unit, target: Target, *names: str, lock: bool = False) -> dict[str, Any]:
        """Return the single entity at ``target`` with its key and the named properties. Raise ODataError 404."""
        if not names:
            names = target.entity_type.key
        options = plain_select(names)
        if self.options.aliases:
            options = replace(options, aliases=self.options.aliases)
        # The values are compared and stored again, so they must not be in the format of the client.
        query = replace(self.query(target, options, lock=lock), quoted_numbers=False, prefix="@")
        rows = await unit.read(query)
        if not rows.items:
            raise not_found()
        return rows.items[0]

    def etag(self, row: Mapping[str, Any]) -> str | None:
        """Return the entity tag of a row that was read in this format."""
        found = row.get(f"{self.dialect.prefix}etag")
        return None if found is None else tag_of(found)

    # ---- answers ----

    def headers(self, etag: str | None = None, **more: str) -> dict[str, str]:
        """Return the headers of a JSON response."""
        found = {"Content-Type": self.dialect.media_type}
        if etag is not None:
            found["ETag"] = etag
        return found | {name.replace("_", "-"): value for name, value in more.items()}

    def json(self, body: dict[str, Any], *, status: int = 200, etag: str | None = None, **headers: str) -> Response:
        """Return a successful JSON response, with the extra members of the host unless they are already present."""
        extras = {name: value for name, value in self.hooks.extras(self.caller).items() if name not in body}
        body |= extras
        return Response(status, self.headers(etag, **headers), to_json(body))

    def context(self, fragment: str) -> dict[str, Any]:
        """Return the context URL as a member, unless the client does not want it.

        It is absolute if the host is known: spreadsheets and other clients based on Microsoft's library require this.
        """
        if self.dialect.metadata == "none":
            return {}
        return {f"{self.dialect.prefix}context": self.request.origin + self.links.context(fragment)}

    def entity(
        self,
        row: dict[str, Any],
        entity_type: EntityType,
        entity_set: EntitySet | None,
        *,
        status: int = 200,
        options: QueryOptions | None = None,
        **headers: str,
    ) -> Response:
        """Return a response with one entity."""
        options = self.options if options is None else options
        etag = self.etag(row)
        selected = self.links.selected(entity_type, options, self.dialect.version)
        if entity_set is None:
            fragment = f"{self.edm.qualified(entity_type.name)}{selected}"
        else:
            single = entity_set.name in self.edm.singletons
            fragment = f"{entity_set.name}{selected}" + ("" if single else "/$entity")
        body = self.context(fragment)
        body.update(self.encoder.rows([row], entity_type, entity_set, self.dialect)[0])
        return self.json(body, status=status, etag=etag, **headers)


def by_key(edm: Edm, entity_set: EntitySet, key: Key) -> Target:
    """Return the target for the entity of a set with this key."""
    entity_type = edm.entity_types[entity_set.entity_type]
    if entity_set.name in edm.singletons:
        return Target(root=entity_set, entity_type=entity_type, entity_set=entity_set, single=True)
    return Target(root=entity_set, entity_type=entity_type, entity_set=entity_set, steps=(ByKey(key),), single=True)


@lru_cache(maxsize=512)
def plain_select(names: tuple[str, ...]) -> QueryOptions:
    """Return the options for ``$select`` with these properties."""
    return QueryOptions(
        select=tuple(SelectItem((name,)) for name in dict.fromkeys(names)), present=frozenset({"select"})
    )


_ALWAYS = frozenset({"format", "schemaversion"})


def check_options(options: QueryOptions, allowed: frozenset[str]) -> None:
    """Refuse system options that do not apply to the resource (Protocol 4.01, 11.2). Raise ODataError 400 or 501."""
    if "deltatoken" in options.present:
        raise not_implemented("$deltatoken")
    for name in sorted(options.present - allowed - _ALWAYS):
        raise bad_request("OPTION_NOT_APPLICABLE", f"${name} is not allowed here.", f"${name}")
