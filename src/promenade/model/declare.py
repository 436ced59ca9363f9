"""The language in which entities are declared, once, for tables, OData services, imports and documents alike.

An entity is a class named like its entity set; its docstring and its fields' texts become reference pages,
``$metadata`` annotations and labels::

    class Campaigns(Entity, public=RW, admin=DRAFT, natural_key=("code",)):
        \"\"\"A marketing campaign: a window of time and the promotions that run in it.\"\"\"

        code = text(50, "Short unique code of the campaign.", required=True, searchable=True)
        owner_stakeholder = to_one("Stakeholders", "The stakeholder responsible for the campaign.")
        pos_groups = children("CampaignPosGroups", "The POS groups in which it runs.", by="campaign")

Names: attributes and columns are snake_case, the wire is camelCase (``valid_from`` -> ``validFrom``); a
to-one link ``campaign`` has the column ``campaign_id``, the property ``campaign_ID`` and the navigation
``campaign``; a code-list field ``status`` has the navigation ``statusText``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import ClassVar, TypeVar

from promenade.model.shape import (
    ADMIN,
    DRAFT,
    DRAFT_NODE,
    EVERY_SERVICE,
    NONE,
    PLAIN,
    PUBLIC,
    REPORTING,
    RO,
    RW,
    RW_RESTRICTED,
    Collection,
    EntityType,
    Field,
    Kind,
    Link,
    Member,
    Mode,
    Service,
    label_of,
    wire_name,
)

__all__ = [
    "ADMIN",
    "DRAFT",
    "DRAFT_NODE",
    "NONE",
    "PLAIN",
    "PUBLIC",
    "REPORTING",
    "RO",
    "RW",
    "RW_RESTRICTED",
    "Collection",
    "Entity",
    "EntityType",
    "Field",
    "Fields",
    "Kind",
    "Link",
    "Mode",
    "Service",
    "back",
    "blob",
    "boolean",
    "calendar_date",
    "child",
    "children",
    "choice",
    "code_of",
    "computed_amount",
    "currency_code",
    "decimal",
    "declared",
    "integer",
    "long_integer",
    "money",
    "parent",
    "percentage",
    "pieces",
    "text",
    "texts",
    "time_of_day",
    "timestamp",
    "to_one",
    "uuid",
    "wire_name",
]


_DECLARED: dict[str, EntityType] = {}


def declared() -> Mapping[str, EntityType]:
    """Return all entities declared so far by entity set name; `promenade.model.entities` imports them all first."""
    return MappingProxyType(_DECLARED)


# ---------------------------------------------------------------------------------------------------------------
# Fields


def text(
    length: int | None,
    doc: str,
    *,
    required: bool = False,
    default: str | None = None,
    searchable: bool = False,
    read_only: bool = False,
    virtual: bool = False,
    filterable: bool = True,
    write_only: bool = False,
    hidden_from: Service | frozenset[Service] = frozenset(),
    importable: bool = False,
    refers_to: str | None = None,
    wire: str = "",
    label: str = "",
) -> Field:
    """Declare a string of at most ``length`` characters (None: unbounded)."""
    hidden = frozenset((hidden_from,)) if isinstance(hidden_from, Service) else hidden_from
    return Field(
        kind=Kind.TEXT, doc=doc, length=length, required=required, default=default, searchable=searchable,
        read_only=read_only or virtual, virtual=virtual, filterable=filterable, write_only=write_only,
        hidden_from=hidden, importable=importable, refers_to=refers_to, wire=wire, label=label,
    )  # fmt: skip


def uuid(doc: str, *, read_only: bool = False, required: bool = False, wire: str = "") -> Field:
    """Declare a UUID that is not a link."""
    return Field(kind=Kind.UUID, doc=doc, length=36, read_only=read_only, required=required, wire=wire)


def integer(
    doc: str,
    *,
    required: bool = False,
    default: int | None = None,
    minimum: int | None = None,
    maximum: int | None = None,
    read_only: bool = False,
    virtual: bool = False,
    hidden_from: frozenset[Service] = frozenset(),
    label: str = "",
) -> Field:
    """Declare a 32-bit integer; bounds are inclusive."""
    return Field(
        kind=Kind.INTEGER, doc=doc, required=required, default=default,
        minimum=None if minimum is None else Decimal(minimum), maximum=None if maximum is None else Decimal(maximum),
        read_only=read_only or virtual, virtual=virtual, hidden_from=hidden_from, label=label,
    )  # fmt: skip


def long_integer(doc: str, *, required: bool = False, default: int | None = None, read_only: bool = False) -> Field:
    """Declare a 64-bit integer."""
    return Field(kind=Kind.LONG, doc=doc, required=required, default=default, read_only=read_only)


def decimal(
    precision: int,
    scale: int,
    doc: str,
    *,
    required: bool = False,
    default: str | None = None,
    minimum: str | None = None,
    maximum: str | None = None,
    read_only: bool = False,
    virtual: bool = False,
    stored_scale: int | None = None,
    hidden_from: frozenset[Service] = frozenset(),
) -> Field:
    """Declare an exact decimal number; bounds are inclusive."""
    return Field(
        kind=Kind.DECIMAL, doc=doc, precision=precision, scale=scale, stored_scale=stored_scale, required=required,
        default=None if default is None else Decimal(default), minimum=None if minimum is None else Decimal(minimum),
        maximum=None if maximum is None else Decimal(maximum), read_only=read_only or virtual, virtual=virtual,
        hidden_from=hidden_from,
    )  # fmt: skip


def money(doc: str, *, required: bool = False, minimum: str | None = "0", stored_scale: int | None = None) -> Field:
    """Declare an amount that a user enters: Decimal(15,2) at face value, not negative."""
    return decimal(15, 2, doc, required=required, minimum=minimum, stored_scale=stored_scale)


def computed_amount(
    doc: str, *, default: str | None = None, required: bool = False, minimum: str | None = None
) -> Field:
    """Declare a computed amount in whole minor units of its currency: three decimals serve every currency."""
    return decimal(18, 3, doc, default=default, required=required, minimum=minimum, read_only=True)


def pieces(doc: str, *, required: bool = False, minimum: str | None = "0", read_only: bool = False) -> Field:
    """Declare a number of pieces, or a weight for weighed articles: Decimal(15,3)."""
    return decimal(15, 3, doc, required=required, minimum=minimum, read_only=read_only)


def percentage(doc: str, *, required: bool = False, virtual: bool = False, maximum: str | None = "100") -> Field:
    """Declare a percentage: Decimal(5,2), 12.50 is 12.5 %."""
    return decimal(5, 2, doc, required=required, minimum="0", maximum=maximum, virtual=virtual)


def boolean(
    doc: str,
    *,
    default: bool | None = False,
    read_only: bool = False,
    label: str = "",
    hidden_from: frozenset[Service] = frozenset(),
) -> Field:
    """Declare a boolean, never null; with None as ``default`` it is null unless it is set."""
    return Field(kind=Kind.BOOLEAN, doc=doc, default=default, read_only=read_only, label=label, hidden_from=hidden_from)


def timestamp(
    doc: str,
    *,
    required: bool = False,
    read_only: bool = False,
    virtual: bool = False,
    wire: str = "",
    label: str = "",
    hidden_from: frozenset[Service] = frozenset(),
) -> Field:
    """Declare a timestamp in UTC, with microseconds."""
    return Field(
        kind=Kind.TIMESTAMP, doc=doc, required=required, read_only=read_only or virtual, virtual=virtual, wire=wire,
        label=label, hidden_from=hidden_from,
    )  # fmt: skip


def calendar_date(doc: str, *, read_only: bool = False, required: bool = False) -> Field:
    """Declare a calendar date without a time zone."""
    return Field(kind=Kind.DATE, doc=doc, read_only=read_only, required=required)


def time_of_day(doc: str) -> Field:
    """Declare a local time of the POS group that asks."""
    return Field(kind=Kind.TIME, doc=doc)


def texts(doc: str, *, required: bool = False, read_only: bool = False) -> Field:
    """Declare a collection of strings."""
    return Field(kind=Kind.TEXTS, doc=doc, required=required, read_only=read_only)


def blob(doc: str, *, required: bool = False) -> Field:
    """Declare raw bytes that no service shows."""
    return Field(kind=Kind.BLOB, doc=doc, required=required, read_only=True, hidden_from=EVERY_SERVICE)


def code_of(
    code_list: str, doc: str, *, required: bool = False, default: str | None = None, read_only: bool = False
) -> Field:
    """Declare a value of a code list; the navigation ``<name>Text`` leads to it."""
    return Field(
        kind=Kind.TEXT, doc=doc, length=30, code_list=code_list, required=required, default=default,
        read_only=read_only,
    )  # fmt: skip


def currency_code(doc: str, *, required: bool = False, read_only: bool = False) -> Field:
    """Declare an ISO 4217 currency code."""
    return Field(kind=Kind.TEXT, doc=doc, length=3, code_list="Currencies", required=required, read_only=read_only)


def choice(
    *choices: str, doc: str, required: bool = False, default: str | None = None, read_only: bool = False
) -> Field:
    """Declare one of a closed set of values without a code list."""
    return Field(
        kind=Kind.TEXT, doc=doc, length=30, choices=choices, required=required, default=default, read_only=read_only
    )


# ---------------------------------------------------------------------------------------------------------------
# Links


def to_one(
    target: str,
    doc: str,
    *,
    required: bool = False,
    soft: bool = False,
    indexed: bool = True,
    read_only: bool = False,
) -> Link:
    """Declare an association; its target cannot be deleted while it is referenced, unless ``soft``."""
    return Link(target=target, doc=doc, required=required, soft=soft, indexed=indexed, read_only=read_only)


def parent(target: str, doc: str) -> Link:
    """Declare the link to the owner of this entity; deleting the owner deletes it, too."""
    return Link(target=target, doc=doc, required=True, owner=True)


def children(target: str, doc: str, *, by: str) -> Collection:
    """Declare a composition: rows of ``target`` that belong to this entity through their link ``by``."""
    return Collection(target=target, by=by, doc=doc, composition=True)


def child(target: str, doc: str, *, by: str) -> Collection:
    """Declare a composition of at most one row."""
    return Collection(target=target, by=by, doc=doc, composition=True, many=False)


def back(target: str, doc: str, *, by: str) -> Collection:
    """Declare a read-only navigation, the inverse of the link ``by`` of ``target``."""
    return Collection(target=target, by=by, doc=doc, composition=False)


# ---------------------------------------------------------------------------------------------------------------
# Entities

_ID = Field(kind=Kind.UUID, doc="Key; generated by the server unless the client supplies one on create.", length=36,
            required=True, name="id", wire="ID", label="ID")  # fmt: skip
_MANAGED = (
    ("created_at", timestamp("Time at which the row was created.", required=True, read_only=True)),
    ("created_by", text(255, "The user or client that created the row.", read_only=True)),
    ("modified_at", timestamp("Time at which the row was last changed.", required=True, read_only=True)),
    ("modified_by", text(255, "The user or client that last changed the row.", read_only=True)),
)


def _tenant(shown: bool) -> Field:
    return Field(
        kind=Kind.TEXT, doc="The tenant that owns the row; taken from the caller's token, never from the body.",
        length=36, required=True, read_only=True, name="tenant_id", wire="tenantId", label="Tenant",
        hidden_from=frozenset() if shown else EVERY_SERVICE,
    )  # fmt: skip


_M = TypeVar("_M", Field, Link, Collection)


def _named(name: str, member: _M) -> _M:
    return replace(member, name=name, wire=member.wire or wire_name(name), label=member.label or label_of(name))


def _computed(field: Field, key: tuple[str, ...]) -> Field:
    """Return the field of a report."""
    return replace(field, read_only=True, required=field.required or field.name in key)


def _members_of(cls: type) -> list[tuple[str, Member]]:
    """Return what a class and those that it inherits from declare, theirs first."""
    declared = [(name, one) for base in reversed(cls.__mro__) for name, one in vars(base).items()]
    return [(name, one) for name, one in declared if isinstance(one, Member)]


class Fields:
    """Base class of groups of fields that several entities share."""


class Entity(Fields):
    """Base class of every entity. Class arguments declare its key, owner and services; see `EntityType`.

    An entity that only reporting shows is a report: the service computes it, so its fields are read-only, those of its
    key are required, and its rows do not say who changed them.
    """

    declaration: ClassVar[EntityType]

    def __init_subclass__(
        cls,
        *,
        public: Mode = NONE,
        admin: Mode = NONE,
        reporting: Mode = NONE,
        importable: bool = False,
        admin_importable: bool = False,
        import_upserts: bool = False,
        key: tuple[str, ...] = ("id",),
        natural_key: tuple[str, ...] = (),
        unique: tuple[tuple[str, ...], ...] = (),
        unique_everywhere: tuple[tuple[str, ...], ...] = (),
        indexes: tuple[tuple[str, ...], ...] = (),
        text_index: bool = False,
        invariants: Mapping[str, str] = MappingProxyType({}),
        patchable: tuple[str, ...] = (),
        deletable: bool = True,
        windows: tuple[tuple[str, str], ...] = (),
        tenant_owned: bool = True,
        shows_tenant: bool = True,
        managed: bool = True,
        stored: bool = True,
        packed: bool = False,
        deprecated: bool = False,
    ) -> None:
        if cls.__name__ in _DECLARED:
            raise ValueError(f"entity {cls.__name__} is declared twice")
        own = _members_of(cls)
        fields = [_named(name, member) for name, member in own if isinstance(member, Field)]
        if reporting is RO and public is NONE and admin is NONE:
            managed, fields = False, [_computed(one, key) for one in fields]
        cls.declaration = _DECLARED[cls.__name__] = EntityType(
            set_name=cls.__name__, doc=inspect.cleandoc(cls.__doc__ or ""),
            label=re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).capitalize(),
            fields=(
                *((_ID,) if key == ("id",) else ()), *fields,
                *((_named(name, field) for name, field in _MANAGED) if managed else ()),
                *((_tenant(shows_tenant),) if tenant_owned else ()),
            ),
            links=tuple(_named(name, member) for name, member in own if isinstance(member, Link)),
            collections=tuple(_named(name, member) for name, member in own if isinstance(member, Collection)),
            key=key, public=public, admin=admin, reporting=reporting, importable=importable,
            admin_importable=admin_importable,
            import_upserts=import_upserts, natural_key=natural_key, unique=unique, unique_everywhere=unique_everywhere,
            indexes=indexes, text_index=text_index, packed=packed,
            invariants=invariants, patchable=patchable, deletable=deletable, windows=windows, tenant_owned=tenant_owned,
            shows_tenant=tenant_owned and shows_tenant, managed=managed, stored=stored, deprecated=deprecated,
        )  # fmt: skip
