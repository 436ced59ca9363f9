"""``$expand`` read against the model: which navigations are followed, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from odata_server.edm import Edm, EntityType, NavigationProperty
from odata_server.errors import bad_request, not_implemented
from odata_server.sql.limits import EXPAND_MAX, LEVELS_MAX
from odata_server.syntax import ExpandItem, QueryOptions, SelectItem

__all__ = ["Branch", "branches_of", "too_broad"]

_NO_OPTIONS = QueryOptions()


@dataclass(frozen=True, slots=True)
class Branch:
    """A navigation to follow. ``kind`` is that of the `ExpandItem`; ``recursive``: with ``$levels``, and not worth a
    look where there are no parents."""

    navigation: NavigationProperty
    kind: str
    options: QueryOptions
    recursive: bool = False


def branches_of(edm: Edm, entity_type: EntityType, options: QueryOptions) -> list[Branch]:
    """What ``$expand`` names. Raises 400 UNKNOWN_PROPERTY, EXPAND_TOO_DEEP, EXPAND_TOO_BROAD."""
    found: dict[str, Branch] = {}
    stars: list[ExpandItem] = []
    if len(options.expand) > EXPAND_MAX:
        raise too_broad()
    for item in options.expand:
        if item.path == ("*",):
            stars.append(item)
            continue
        navigation = _navigation(entity_type, item)
        key = f"{navigation.name}{item.kind}"
        if key in found:
            raise bad_request("QUERY_SYNTAX", f"{navigation.name} is expanded twice.", "$expand")
        found[key] = _branch(edm, navigation, item, item, _selected(navigation.name, options.select))
    for star in stars:
        for navigation in entity_type.navigations:
            key = f"{navigation.name}{star.kind}"
            if key not in found:
                own = ExpandItem((navigation.name,), star.kind, star.options)
                found[key] = _branch(edm, navigation, own, star, _selected(navigation.name, options.select))
    return list(found.values())


def too_broad() -> Exception:
    """400 EXPAND_TOO_BROAD."""
    message = f"$expand follows more than {EXPAND_MAX} navigations, nested ones and levels included."
    return bad_request("EXPAND_TOO_BROAD", message, "$expand")


def _navigation(entity_type: EntityType, item: ExpandItem) -> NavigationProperty:
    path = [part for part in item.path if "." not in part]
    if item.kind == "$value" or len(path) != 1:
        raise not_implemented(f"$expand={'/'.join((*item.path, item.kind))}")
    navigation = entity_type.navigation_by_name.get(path[0])
    if navigation is None:
        raise bad_request("UNKNOWN_PROPERTY", f"{entity_type.name} has no navigation property {path[0]}.", path[0])
    if item.kind == "$count" and not navigation.collection:
        raise bad_request("TYPE_MISMATCH", f"{navigation.name} is no collection to be counted.", navigation.name)
    return navigation


def _selected(name: str, select: Sequence[SelectItem]) -> tuple[SelectItem, ...]:
    """What ``$select=name/...`` says about the expanded entities."""
    return tuple(replace(one, path=one.path[1:]) for one in select if len(one.path) > 1 and one.path[0] == name)


def _branch(
    edm: Edm, navigation: NavigationProperty, item: ExpandItem, again: ExpandItem, selected: tuple[SelectItem, ...]
) -> Branch:
    options = item.options or _NO_OPTIONS
    if selected:
        options = replace(options, select=(*options.select, *selected))
    levels = options.levels
    if levels is None:
        return Branch(navigation, item.kind, options)
    if isinstance(levels, int) and levels > LEVELS_MAX:
        raise bad_request("EXPAND_TOO_DEEP", f"$levels goes up to {LEVELS_MAX}.", "$expand")
    deeper = (LEVELS_MAX if isinstance(levels, str) else levels) - 1
    nested = options.expand
    target = edm.entity_types[navigation.target]
    if deeper and (again.path == ("*",) or navigation.name in target.navigation_by_name):
        nested = (*nested, replace(again, options=replace(again.options or _NO_OPTIONS, levels=deeper)))
    return Branch(navigation, item.kind, replace(options, levels=None, expand=nested), recursive=True)
