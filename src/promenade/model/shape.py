"""Declarations as frozen values: the form in which every projection reads the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from promenade.model.measures import Measure, Merge


class Service(StrEnum):
    """A service that exposes the model."""

    PUBLIC = "public"
    ADMIN = "admin"
    REPORTING = "reporting"


class Mode(StrEnum):
    """The access that a service gives to an entity set."""

    NONE = "NONE"  # not part of the service
    RO = "RO"
    RW = "RW"
    RW_RESTRICTED = "RW*"  # reads, and PATCH of `EntityType.patchable` only
    PLAIN = "PLAIN"  # administration: written directly, without edit drafts
    DRAFT = "DRAFT"  # administration: root of an edit draft
    DRAFT_NODE = "DRAFT_NODE"  # administration: edited with its root's draft


class Kind(StrEnum):
    """What a field holds; `odata_server` and `store.driver.types` each map it to their own type."""

    UUID = "uuid"
    TEXT = "text"
    INTEGER = "integer"  # 32 bits
    LONG = "long"  # 64 bits
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    DATE = "date"
    TIME = "time"
    TEXTS = "texts"  # a collection of strings
    BLOB = "blob"


PUBLIC, ADMIN, REPORTING = Service.PUBLIC, Service.ADMIN, Service.REPORTING
NONE, RO, RW, RW_RESTRICTED = Mode.NONE, Mode.RO, Mode.RW, Mode.RW_RESTRICTED
PLAIN, DRAFT, DRAFT_NODE = Mode.PLAIN, Mode.DRAFT, Mode.DRAFT_NODE
EVERY_SERVICE = frozenset(Service)

Default = str | int | bool | Decimal | None


def wire_name(name: str) -> str:
    """``valid_from`` -> ``validFrom``; ``id`` -> ``ID``."""
    if name == "id":
        return "ID"
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def table_name(set_name: str) -> str:
    """``PromotionPosGroups`` -> ``promotion_pos_groups``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", set_name).lower()


def label_of(name: str) -> str:
    """``valid_from`` -> ``Valid from``; ``callback_url`` -> ``Callback URL``."""
    words = name.split("_")
    words = [word.upper() if word in {"id", "ean", "url", "http"} else word for word in words]
    return (words[0] if words[0].isupper() else words[0].capitalize()) + "".join(f" {word}" for word in words[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One property. ``name`` and ``label`` default to the attribute's name."""

    kind: Kind
    doc: str
    name: str = ""
    wire: str = ""
    label: str = ""
    length: int | None = None  # characters; None for text means unbounded
    precision: int | None = None
    scale: int | None = None
    stored_scale: int | None = None  # decimals in the table, for sums of amounts of different scales
    required: bool = False
    default: Default = None
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    code_list: str | None = None  # the field has a navigation `<wire>Text` to this code list
    choices: tuple[str, ...] = ()  # closed set of values without a code list of its own
    refers_to: str | None = None  # the text is an ID of this entity set, without a foreign key
    searchable: bool = False
    read_only: bool = False  # set by the service; a client's value is refused
    virtual: bool = False  # computed on reading, never stored, never writable
    filterable: bool = True  # False: computed from a row after it is read, so neither filtered nor sorted by
    write_only: bool = False  # accepted, never returned
    hidden_from: frozenset[Service] = frozenset()  # neither returned, filterable nor accepted there
    importable: bool = False  # accepted in bulk-import rows although hidden from the public API
    deprecated: bool = False
    measure: Measure | None = None  # how it is aggregated, in an entity that is an aggregate
    adds_up: bool = False  # the sum over any rows of the report is right: no sale, budget or code is in two of them
    kept_days: int | None = None  # a timestamp: the row is deleted so many days later

    @property
    def nullable(self) -> bool:
        return not self.required and self.default is None

    @property
    def text_navigation(self) -> str | None:
        """The name of the navigation to the code list's entry, e.g. ``statusText``."""
        return f"{self.wire}Text" if self.code_list else None

    def shown_in(self, service: Service) -> bool:
        return not self.write_only and service not in self.hidden_from


def measured(merge: Merge, field: Field, *, of: str = "", by: str = "", adds_up: bool = True) -> Field:
    """Declare a column of an aggregate, see `promenade.model.measures`; a sum is never null.

    ``adds_up`` False: a sum whose rows may count the same sale, so that it has no total.
    """
    is_sum = merge is Merge.SUM
    is_required = field.required or (is_sum and field.default is None)
    return replace(field, measure=Measure(merge, of, by), required=is_required, adds_up=is_sum and adds_up)


def adding_up(field: Field) -> Field:
    """Declare that a figure of a report may be added up over any of its rows."""
    return replace(field, adds_up=True)


def kept(days: int, field: Field) -> Field:
    """Declare that a row is deleted ``days`` days after this time."""
    return replace(field, kept_days=days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A to-one association: column ``<name>_id``, property ``<name>_ID``, navigation ``<name>``."""

    target: str
    doc: str
    name: str = ""
    wire: str = ""
    label: str = ""
    required: bool = False
    owner: bool = False  # the target owns this entity: deleted with it
    soft: bool = False  # history: the target may be deleted, so there is no foreign key
    indexed: bool = True
    read_only: bool = False
    hidden_from: frozenset[Service] = frozenset()

    @property
    def column(self) -> str:
        return f"{self.name}_id"

    @property
    def property_wire(self) -> str:
        return f"{self.wire}_ID"

    @property
    def nullable(self) -> bool:
        return not self.required


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A navigation to the rows of ``target`` whose link ``by`` refers to this entity.

    A composition is written through its parent and deleted with it; any other collection is a read-only inverse.
    """

    target: str
    by: str
    doc: str
    composition: bool
    many: bool = True
    name: str = ""
    wire: str = ""
    label: str = ""


Member = Field | Link | Collection


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """An entity as declared: what every projection (tables, OData, import, documents) reads."""

    set_name: str
    doc: str
    label: str
    fields: tuple[Field, ...]  # own fields first, beginning with `id`; managed fields and tenantId last
    links: tuple[Link, ...]
    collections: tuple[Collection, ...]
    key: tuple[str, ...]
    public: Mode
    admin: Mode
    reporting: Mode
    importable: bool
    admin_importable: bool  # by administrators, with properties as in administration
    import_upserts: bool
    natural_key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    unique_everywhere: tuple[tuple[str, ...], ...]  # among all tenants: rows are found by it before a tenant is known
    indexes: tuple[tuple[str, ...], ...]
    text_index: bool  # whether an index finds the rows by parts of the texts that are searchable
    invariants: Mapping[str, str]
    patchable: tuple[str, ...]
    deletable: bool
    windows: tuple[tuple[str, str], ...]  # pairs of timestamps, the first before the second if both are set
    tenant_owned: bool
    shows_tenant: bool
    managed: bool
    stored: bool
    packed: bool  # stored in the row of its parent instead of a table
    deprecated: bool

    @property
    def table(self) -> str:
        return table_name(self.set_name)

    @property
    def owner(self) -> Link | None:
        """Return the link to the owner, with which this entity is deleted."""
        return next((link for link in self.links if link.owner), None)

    def field(self, name: str) -> Field:
        """Return the field with this Python name. Raises KeyError."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"{self.set_name} has no field {name}")

    def link(self, name: str) -> Link:
        """Return the to-one link with this Python name. Raises KeyError."""
        for link in self.links:
            if link.name == name:
                return link
        raise KeyError(f"{self.set_name} has no link {name}")

    @property
    def is_versioned(self) -> bool:
        """Return whether rows count their changes: those that are stored, or are written where another entity is."""
        return self.stored or self.admin is Mode.RW_RESTRICTED

    @property
    def import_service(self) -> Service | None:
        """Return the service whose creates are like the rows of its imports; None: it has none."""
        if self.importable:
            return PUBLIC
        return ADMIN if self.admin_importable else None

    def mode(self, service: Service) -> Mode:
        return {PUBLIC: self.public, ADMIN: self.admin, REPORTING: self.reporting}[service]
