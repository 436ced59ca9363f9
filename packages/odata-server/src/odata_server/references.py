"""Links in a body by alternate keys: the entities are looked up in the unit that writes the body.

All links of a body to one set by one alternate key are looked up together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from odata_server.edm import EntitySet, EntityType, NavigationProperty, Primitive
from odata_server.errors import ODataError, bad_request, not_implemented
from odata_server.exchange import Exchange, plain_select
from odata_server.expressions import Binary, Expression, Literal, Member
from odata_server.source import Key, Nested, Payload, Target, Unit

__all__ = ["with_keys"]

_AT_ONCE = 50
_Names = tuple[str, ...]
_Rows = dict[tuple[Any, ...], Mapping[str, Any]]
"""By the values of an alternate key: the entity's key, and what navigations to it join on."""


class _Wanted:
    """The links by one alternate key to one set."""

    def __init__(self) -> None:
        self.values: dict[tuple[Any, ...], None] = {}
        self.joined: dict[str, None] = {}
        self.rows: _Rows = {}


_Tables = defaultdict[tuple[str, _Names], _Wanted]


async def with_keys(x: Exchange, unit: Unit, entity_set: EntitySet, payload: Payload) -> Payload:
    """Return the body with keys in place of alternate keys. Raise ODataError 400 UNKNOWN_REFERENCE."""
    wanted: _Tables = defaultdict(_Wanted)
    for other_set, navigation, key in _alternates(x, entity_set, payload):
        one = wanted[other_set.name, tuple(sorted(key))]
        one.values[_values(key)] = None
        one.joined |= dict.fromkeys(other for _, other in navigation.on)
    if not wanted:
        return payload
    for (set_name, names), one in wanted.items():
        await _look_up(x, unit, x.edm.entity_sets[set_name], names, one)
    return _replaced(x, entity_set, payload, wanted, "")


def _values(key: Key) -> tuple[Any, ...]:
    return tuple(key[name] for name in sorted(key))


def _alternates(
    x: Exchange, entity_set: EntitySet, payload: Payload
) -> Iterator[tuple[EntitySet, NavigationProperty, Key]]:
    entity_type = x.edm.entity_types[entity_set.entity_type]
    for name, keys in payload.links.items():
        navigation = entity_type.navigation_by_name[name]
        for key in keys:
            if _is_alternate(x, navigation, key):
                other_set = x.edm.set_of(navigation.target, source=entity_set, path=name)
                if other_set is None:
                    raise not_implemented("A link by an alternate key to entities without a set")
                yield other_set, navigation, key
    for name, nested in payload.nested.items():
        inner_set = x.edm.set_of(entity_type.navigation_by_name[name].target, source=entity_set, path=name)
        if inner_set is not None:
            for item in nested.items:
                yield from _alternates(x, inner_set, item)


def _is_alternate(x: Exchange, navigation: NavigationProperty, key: Key) -> bool:
    return key.keys() != set(x.edm.entity_types[navigation.target].key)


async def _look_up(x: Exchange, unit: Unit, entity_set: EntitySet, names: _Names, wanted: _Wanted) -> None:
    x.permit("read", entity_set)
    entity_type = x.edm.entity_types[entity_set.entity_type]
    target = Target(root=entity_set, entity_type=entity_type, entity_set=entity_set)
    select = plain_select(tuple(dict.fromkeys((*entity_type.key, *wanted.joined, *names))))
    values = list(wanted.values)
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        options = replace(select, filter=_any_of(entity_type, names, part))
        query = replace(x.query(target, options), page_size=len(part) + 1, quoted_numbers=False, prefix="@")
        for row in (await unit.read(query)).items:
            wanted.rows[tuple(row[name] for name in names)] = row


def _any_of(entity_type: EntityType, names: _Names, values: Sequence[tuple[Any, ...]]) -> Expression:
    types = [entity_type.property_by_name[name].type for name in names]
    found: Expression | None = None
    for one in values:
        each: Expression | None = None
        for name, type_, value in zip(names, types, one, strict=True):
            literal = Literal(value, type_ if isinstance(type_, Primitive) else Primitive.STRING)
            equal = Binary("eq", Member(name), literal)
            each = equal if each is None else Binary("and", each, equal)
        if each is not None:
            found = each if found is None else Binary("or", found, each)
    return Literal(False, Primitive.BOOLEAN) if found is None else found


def _replaced(x: Exchange, entity_set: EntitySet, payload: Payload, wanted: _Tables, path: str) -> Payload:
    entity_type = x.edm.entity_types[entity_set.entity_type]
    values, links = dict(payload.values), dict(payload.links)
    for name, keys in payload.links.items():
        navigation = entity_type.navigation_by_name[name]
        if not any(_is_alternate(x, navigation, key) for key in keys):
            continue
        other_set = x.edm.set_of(navigation.target, source=entity_set, path=name)
        rows = [_row(x, navigation, other_set, key, wanted, f"{path}{name}") for key in keys]
        if not navigation.collection and not any(own in entity_type.key for own, _ in navigation.on):
            values |= {own: rows[0][other] for own, other in navigation.on}
            del links[name]
        else:
            key_names = x.edm.entity_types[navigation.target].key
            links[name] = tuple({one: row[one] for one in key_names} for row in rows)
    nested = dict(payload.nested)
    for name, inner in payload.nested.items():
        inner_set = x.edm.set_of(entity_type.navigation_by_name[name].target, source=entity_set, path=name)
        if inner_set is not None:
            items = tuple(
                _replaced(x, inner_set, item, wanted, f"{path}{name}/{at}/") for at, item in enumerate(inner.items)
            )
            nested[name] = Nested(items, inner.removed, inner.delta)
    return Payload(values, nested, links)


def _row(
    x: Exchange,
    navigation: NavigationProperty,
    other_set: EntitySet | None,
    key: Key,
    wanted: _Tables,
    path: str,
) -> Mapping[str, Any]:
    if other_set is None or not _is_alternate(x, navigation, key):
        return key
    row = wanted[other_set.name, tuple(sorted(key))].rows.get(_values(key))
    if row is None:
        raise _unknown(navigation, path)
    return row


def _unknown(navigation: NavigationProperty, path: str) -> ODataError:
    return bad_request("UNKNOWN_REFERENCE", f"{path}: there is no {navigation.target} with this key.", path)
