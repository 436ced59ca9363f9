"""Decode JSON bodies to payloads: strict parsing, checks by the model, all faults reported (JSON Format 4.01).

Rules of the host (required properties, ranges, dangling references) are not checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from odata_server.edm import (
    ComplexType,
    Edm,
    EntityType,
    NavigationProperty,
    Operation,
    Parameter,
    Property,
    StructuredType,
)
from odata_server.errors import Fault, ODataError, bad_request
from odata_server.source import Key, Nested, Payload
from odata_server.values import Read, Wrong, reader

__all__ = ["Member", "check_structure", "decode_entity", "decode_json", "decode_parameters", "decode_property"]

_JSON = msgspec.json.Decoder(float_hook=Decimal)
_SMALL_BYTES = 1024 * 1024
# structural characters in a large body: each takes a few bytes, but the object it creates about a hundred
_MARKS_MAX = 300_000
_QUOTES_MAX = 800_000
# an unterminated string extends to the end of the body
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def check_structure(body: bytes) -> None:
    """Refuse a large body with very many tiny values, before memory is allocated for them.

    Raise ODataError 413 BODY_TOO_LARGE. A body of long strings is limited only by the size limit of bodies.
    """
    if len(body) <= _SMALL_BYTES or _marks(body) <= _MARKS_MAX:
        return
    if body.count(b'"') > _QUOTES_MAX or _marks(_TEXT.sub(b"", body)) > _MARKS_MAX:
        raise ODataError(413, "BODY_TOO_LARGE", "The body holds too many values.")


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"{") + text.count(b"[")


def decode_json(body: bytes) -> Any:
    """Decode JSON with exact numbers: int, or Decimal for numbers with a fraction or an exponent.

    Raise ODataError 400 MALFORMED_BODY. The last value of a repeated member counts.
    """
    try:
        return _JSON.decode(body)
    except RecursionError:
        raise bad_request("MALFORMED_BODY", "The body is nested too deeply.") from None
    except (msgspec.MsgspecError, UnicodeError, ArithmeticError, ValueError) as error:
        reason = str(error) if isinstance(error, msgspec.MsgspecError) else "it is not UTF-8, or a number is too long"
        raise bad_request("MALFORMED_BODY", f"The body is not JSON: {reason}.") from None


def decode_entity(
    edm: Edm,
    entity_type: EntityType,
    body: bytes | object,
    *,
    for_create: bool,
    resolve_reference: ResolveReference,
) -> Payload:
    """Decode the body of a create or an update, given as bytes or as returned by `decode_json`.

    Raise one ODataError 400 for all faults: it describes a single fault itself, and lists several in ``details``.
    """
    decoding = Decoding(edm, resolve_reference, for_create)
    payload = decoding.entity(entity_type, decode_json(body) if isinstance(body, bytes) else body, "", nested=False)
    decoding.finish()
    return payload


def decode_property(edm: Edm, prop: Property, value: object) -> Any:
    """Decode one value of a property; null is refused if it is not nullable. Raise ODataError 400."""
    decoding = Decoding(edm, _no_reference, for_create=False)
    found = decoding.value(Member(prop), value, prop.name)
    decoding.finish()
    return found


def decode_parameters(
    edm: Edm, operation: Operation, given: Mapping[str, object], resolve_reference: ResolveReference
) -> dict[str, Any]:
    """Decode the parameters of an operation by name; nullable parameters may be omitted.

    A parameter that takes an entity becomes a `Payload` (a list of them for a collection). Raise ODataError 400.
    """
    decoding = Decoding(edm, resolve_reference, for_create=True)
    found: dict[str, Any] = {}
    names = {parameter.name: parameter for parameter in operation.parameters}
    for name, value in given.items():
        if name in names:
            found[name] = decoding.parameter(names[name], value)
        elif "@" not in name:
            decoding.fault("UNKNOWN_PARAMETER", f"{operation.name} has no parameter {name[:80]}.", name[:80])
    for parameter in operation.parameters:
        if parameter.name not in given and not parameter.nullable:
            decoding.fault("REQUIRED", f"{parameter.name} is missing.", parameter.name)
    decoding.finish()
    return found


def _no_reference(text: str, navigation: NavigationProperty) -> Key:
    raise bad_request("MALFORMED_BODY", "A reference is not allowed here.")


ResolveReference = Callable[[str, NavigationProperty], Key]
"""The address of an entity in a body -> its key, or an alternate key for a link, which stays among the `Payload.links`.

It raises ODataError if the address is not one of the navigation's target.
"""

_NESTING_MAX = 16
_VALUES_MAX = 100_000  # about half a second of work
_FAULTS_MAX = 100  # The response to a body with a million faults need not list them all.


# ---- the plan of a type -------------------------------------------------------------------------------------------


class Member:
    """How to read the values of a property or parameter, computed once."""

    __slots__ = ("collection", "complex", "name", "nullable", "prop", "read")

    def __init__(self, prop: Property | Parameter) -> None:
        self.name = prop.name
        self.prop = prop
        self.collection = prop.collection
        self.nullable = prop.nullable
        self.complex = prop.type if isinstance(prop.type, ComplexType) else None
        self.read: Read = _unread if self.complex is not None or prop.type is None else reader(prop.type, prop)


def _unread(value: Any) -> Any:
    raise Wrong("TYPE_MISMATCH", "It is not allowed here.")


_PLANS: WeakKeyDictionary[Edm, dict[str, tuple[StructuredType, dict[str, Member]]]] = WeakKeyDictionary()


def _plan(edm: Edm, owner: StructuredType) -> dict[str, Member]:
    plans = _PLANS.setdefault(edm, {})
    known = plans.get(owner.name)
    if known is None or known[0] is not owner:  # a host may read bodies with a variant of a type
        known = plans[owner.name] = (owner, {prop.name: Member(prop) for prop in owner.properties})
    return known[1]


def key_from_body(edm: Edm, entity_type: EntityType, item: Mapping[str, Any]) -> Key | None:
    """Return the key found among the properties of an object; None unless it is complete and valid."""
    plan = _plan(edm, entity_type)
    key: dict[str, Any] = {}
    for prop in entity_type.key_properties:
        member = plan[prop.name]
        value = item.get(prop.name)
        if value is None:
            if prop.default is None:
                return None
            value = prop.default
        try:
            key[prop.name] = member.read(value)
        except Wrong:
            return None
    return MappingProxyType(key)


class _Found:
    """The decoded members of one object."""

    __slots__ = ("links", "nested", "owner", "values")

    def __init__(self, owner: EntityType) -> None:
        self.owner = owner
        self.values: dict[str, Any] = {}
        self.nested: dict[str, Nested] = {}
        self.links: dict[str, tuple[Key, ...]] = {}


# ---- decoding -----------------------------------------------------------------------------------------------------


class Decoding:
    """The decoding of one body into a payload; faults are collected and raised together by `finish`."""

    def __init__(self, edm: Edm, resolve_reference: ResolveReference, for_create: bool) -> None:
        self._edm = edm
        self._resolve = resolve_reference
        self._for_create = for_create
        self._faults: list[Fault] = []
        self._values_left = _VALUES_MAX

    def fault(self, code: str, message: str, target: str | None) -> None:
        self._faults.append(Fault(code, message, target))
        if len(self._faults) >= _FAULTS_MAX:
            self.finish()

    def _count(self, values: int) -> None:
        self._values_left -= values
        if self._values_left < 0:
            raise ODataError(413, "BODY_TOO_LARGE", f"The body holds more than {_VALUES_MAX} values.")

    def finish(self) -> None:
        """Raise the collected faults, if there are any."""
        if not self._faults:
            return
        first = self._faults[0]
        if len(self._faults) == 1:
            raise bad_request(first.code, first.message, first.target)
        raise bad_request("MULTIPLE_ERRORS", f"{len(self._faults)} values are wrong.", details=tuple(self._faults))

    def entity(self, entity_type: EntityType, body: object, path: str, *, nested: bool, depth: int = 0) -> Payload:
        """Decode one object into a payload; ``nested``: the entity may already exist, so its key is read."""
        found = _Found(entity_type)
        if not isinstance(body, dict):
            self.fault("MALFORMED_BODY", f"{path or 'The body'} must be a JSON object.", path or None)
            return Payload({})
        if depth > _NESTING_MAX:
            raise bad_request("MALFORMED_BODY", f"The body is nested deeper than {_NESTING_MAX} entities.", path)
        self._count(len(body))
        plan = _plan(self._edm, entity_type)
        navigations = entity_type.navigation_by_name
        for name, given in body.items():
            member = plan.get(name)
            if member is not None:
                if self._counts(entity_type, member.prop, nested):
                    found.values[name] = self.value(member, given, f"{path}{name}")
                continue
            base, at, annotation = name.partition("@")
            navigation = navigations.get(base)
            if navigation is None:
                if not at or _plain(annotation) == "bind":
                    self._unknown(entity_type, name, path)
                elif not base and _plain(annotation) == "type":
                    self._check_type(entity_type, given, f"{path}{name}")
                continue
            self._navigation(navigation, _plain(annotation), given, f"{path}{base}", depth, found)
        return Payload(found.values, found.nested, found.links)

    def _counts(self, entity_type: EntityType, prop: Property | Parameter, nested: bool) -> bool:
        if not isinstance(prop, Property):
            return True
        if prop.name in entity_type.key:
            return nested or (self._for_create and not prop.computed)
        return not prop.computed and not (prop.immutable and not self._for_create and not nested)

    def _unknown(self, owner: StructuredType, name: str, path: str) -> None:
        name = name[:80].encode(errors="replace").decode()
        self.fault("UNKNOWN_PROPERTY", f"{owner.name} has no property {name}.", f"{path}{name}")

    def _check_type(self, entity_type: EntityType, given: object, path: str) -> None:
        """Add a fault if the body declares a different type."""
        if isinstance(given, str) and given.rpartition("#")[2].rpartition(".")[2] == entity_type.name:
            return
        self.fault("TYPE_MISMATCH", f"{path} must be #{self._edm.qualified(entity_type.name)} here.", path)

    # ---- values ----

    def value(self, member: Member, given: object, path: str) -> Any:
        """Decode one value or a list of values; return None for an invalid value after recording the fault."""
        if member.collection:
            if not isinstance(given, list):
                code = "NOT_NULLABLE" if given is None else "TYPE_MISMATCH"
                self.fault(code, f"{path} must be a list.", path)
                return None
            self._count(len(given))
            return [self._single(member, one, f"{path}/{position}") for position, one in enumerate(given)]
        return self._single(member, given, path)

    def _single(self, member: Member, given: object, path: str) -> Any:
        if given is None:
            if not member.nullable:
                self.fault("NOT_NULLABLE", f"{path} must not be null.", path)
            return None
        if member.complex is not None:
            return self._complex(member.complex, given, path)
        try:
            return member.read(given)
        except Wrong as wrong:
            self.fault(wrong.code, f"{path}: {wrong.message}", path)
            return None

    def _complex(self, type_: ComplexType, given: object, path: str) -> dict[str, Any] | None:
        if not isinstance(given, dict):
            self.fault("TYPE_MISMATCH", f"{path} must be a JSON object.", path)
            return None
        if path.count("/") > 2 * _NESTING_MAX:
            raise bad_request("MALFORMED_BODY", "The body is nested too deeply.", path)
        self._count(len(given))
        plan = _plan(self._edm, type_)
        found: dict[str, Any] = {}
        for name, value in given.items():
            member = plan.get(name)
            if member is not None:
                if not (isinstance(member.prop, Property) and member.prop.computed):
                    found[name] = self.value(member, value, f"{path}/{name}")
            elif "@" not in name:
                self._unknown(type_, name, f"{path}/")
        return found

    def parameter(self, parameter: Parameter, given: object) -> Any:
        """Decode the value of a parameter: like that of a property, or a payload if it takes an entity."""
        if parameter.entity_type is None:
            return self.value(Member(parameter), given, parameter.name)
        entity_type = self._edm.entity_types[parameter.entity_type]
        if parameter.collection:
            if not isinstance(given, list):
                self.fault("TYPE_MISMATCH", f"{parameter.name} must be a list.", parameter.name)
                return None
            self._count(len(given))
            return [
                self.entity(entity_type, item, f"{parameter.name}/{position}/", nested=True)
                for position, item in enumerate(given)
            ]
        if given is None and parameter.nullable:
            return None
        return self.entity(entity_type, given, f"{parameter.name}/", nested=True)

    # ---- navigation properties ----

    def _navigation(
        self,
        navigation: NavigationProperty,
        annotation: str,
        given: object,
        path: str,
        depth: int,
        into: _Found,
    ) -> None:
        if annotation not in {"", "bind", "delta"}:
            return  # counts and links of a response that the client sends back
        if not navigation.writable:
            self.fault("READ_ONLY", f"{path} cannot be written here.", path)
        elif annotation == "bind":
            self._bind(navigation, given, path, into)
        elif not navigation.collection and annotation == "":
            self._one(navigation, given, path, depth, into)
        elif navigation.name in into.nested:
            self.fault("MALFORMED_BODY", f"{path} is given twice: as a whole and as changes.", path)
        elif navigation.collection and isinstance(given, list):
            items, keys, removed = self._many(navigation, given, path, depth, delta=annotation == "delta")
            if keys:
                into.links[navigation.name] = tuple(keys)
            if items or removed or not keys:
                into.nested[navigation.name] = Nested(tuple(items), tuple(removed), annotation == "delta")
        else:
            self.fault("TYPE_MISMATCH", f"{path} must be a list.", path)

    def _one(
        self,
        navigation: NavigationProperty,
        given: object,
        path: str,
        depth: int,
        into: _Found,
    ) -> None:
        reference = self._reference(navigation, given)
        if reference is not None or (given is None and not navigation.composition):
            self._bind(navigation, reference, path, into)
        elif given is None:
            into.nested[navigation.name] = Nested(())
        else:
            target = self._edm.entity_types[navigation.target]
            item = self.entity(target, given, f"{path}/", nested=True, depth=depth + 1)
            into.nested[navigation.name] = Nested((self._addressed(navigation, given, item, path),))

    def _many(
        self, navigation: NavigationProperty, given: list[Any], path: str, depth: int, *, delta: bool
    ) -> tuple[list[Payload], list[Key], list[Key]]:
        items: list[Payload] = []
        keys: list[Key] = []
        removed: list[Key] = []
        target = self._edm.entity_types[navigation.target]
        self._count(len(given))
        for position, item in enumerate(given):
            where = f"{path}/{position}"
            if delta and isinstance(item, dict) and ("@removed" in item or "@odata.removed" in item):
                key = self._removed(navigation, target, item, where)
                removed.extend([] if key is None else [key])
                continue
            reference = self._reference(navigation, item)
            if reference is None:
                found = self.entity(target, item, f"{where}/", nested=True, depth=depth + 1)
                items.append(self._addressed(navigation, item, found, where))
            elif (key := self._any_key(navigation, reference, where)) is not None:
                keys.append(key)
        return items, keys, removed

    def _addressed(self, navigation: NavigationProperty, given: object, found: Payload, path: str) -> Payload:
        """Set the key of an entity that is identified by its URL instead of its key properties.

        An entity that is created is always new.
        """
        address = given.get("@id", given.get("@odata.id")) if isinstance(given, dict) else None
        key = None if address is None or self._for_create else self._key(navigation, address, path)
        return found if key is None else Payload({**key, **found.values}, found.nested, found.links)

    def _removed(
        self, navigation: NavigationProperty, target: EntityType, item: dict[str, Any], where: str
    ) -> Key | None:
        reference = item.get("@id", item.get("@odata.id"))
        if reference is not None:
            return self._key(navigation, reference, where)
        key = key_from_body(self._edm, target, item)
        if key is None:
            self.fault("REQUIRED", f"{where} must name the entity to remove, by @id or by its key.", where)
        return key

    def _reference(self, navigation: NavigationProperty, given: object) -> object:
        """Return the key if ``given`` is only a reference: a URL, or a complete key.

        An object that holds only the key is a link if the targets of the navigation are independent entities.
        """
        if not isinstance(given, dict):
            return None
        address = given.get("@id", given.get("@odata.id"))
        own = [name for name in given if not name.startswith("@")]
        if address is not None and not own:
            return address
        target = self._edm.entity_types[navigation.target]
        if not navigation.composition and own and all(name in target.key for name in own):
            return key_from_body(self._edm, target, given)
        return None

    def _bind(
        self,
        navigation: NavigationProperty,
        given: object,
        path: str,
        into: _Found,
    ) -> None:
        if navigation.collection:
            if not isinstance(given, list):
                self.fault("TYPE_MISMATCH", f"{path} must be a list.", path)
                return
            self._count(len(given))
            found = [self._any_key(navigation, one, f"{path}/{position}") for position, one in enumerate(given)]
            into.links[navigation.name] = tuple(key for key in found if key is not None)
            return
        if given is None:
            if not navigation.nullable:
                self.fault("NOT_NULLABLE", f"{path} must not be null.", path)
            into.values.update({own: None for own, _ in navigation.on})
            return
        key = self._any_key(navigation, given, path)
        if key is None:
            return
        if navigation.on and all(other in key and own not in into.owner.key for own, other in navigation.on):
            into.values.update({own: key[other] for own, other in navigation.on})
        else:
            into.links[navigation.name] = (key,)

    def _key(self, navigation: NavigationProperty, given: object, path: str) -> Key | None:
        key = self._any_key(navigation, given, path)
        if key is not None and key.keys() != set(self._edm.entity_types[navigation.target].key):
            self.fault("BAD_REFERENCE", f"{path}: Name the {navigation.target} to refer to by its key.", path)
            return None
        return key

    def _any_key(self, navigation: NavigationProperty, given: object, path: str) -> Key | None:
        if isinstance(given, MappingProxyType):
            return given  # from `key_from_body`: JSON has no such values
        if isinstance(given, dict):
            given = given.get("@id", given.get("@odata.id"))
        if not isinstance(given, str):
            self.fault("TYPE_MISMATCH", f"{path} must be the address of an entity.", path)
            return None
        try:
            return self._resolve(given, navigation)
        except ODataError as error:
            self.fault(error.code, f"{path}: {error.message}", path)
            return None


def _plain(annotation: str) -> str:
    return annotation.removeprefix("odata.")
