"""Projects the model onto an OData service: declarations -> `odata_server.edm`.

Each entity of the service is one entity type and one entity set of the same name, each code list a read-only set with
the key ``code``. A link ``campaign`` becomes the property ``campaign_ID`` and the navigation ``campaign``, a field
``status`` with a code list has the navigation ``statusText``.
"""

from __future__ import annotations

from collections.abc import Container as Names
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from odata_server.draft import ADMINISTRATIVE_DATA, administrative_data
from odata_server.edm import (
    ActionImport,
    Annotation,
    AnnotationPath,
    Container,
    Edm,
    EntitySet,
    EnumMemberValue,
    NavigationProperty,
    Primitive,
    Property,
    Record,
    Schema,
)
from odata_server.edm import EntityType as OdataType
from promenade import model
from promenade.model.codelists import CodeList
from promenade.model.declare import (
    ADMIN,
    NONE,
    PUBLIC,
    REPORTING,
    RO,
    RW_RESTRICTED,
    Collection,
    EntityType,
    Field,
    Kind,
    Link,
    Service,
)
from promenade.model.draft_edm import drafted, drafted_set
from promenade.model.measures import Merge
from promenade.model.operations import complex_types_of, operations_of
from promenade.model.ui.annotations import for_user_interfaces

"""The minor version of the public API, in every body that it answers (Versioning)."""

AMOUNTS = {(15, 2), (18, 3)}
"""Precision and scale of entered and of computed amounts."""

_NAMESPACES = {PUBLIC: "PublicAPI", ADMIN: "AdminService", REPORTING: "ReportingService"}
_PRIMITIVES = {
    Kind.UUID: Primitive.GUID,
    Kind.TEXT: Primitive.STRING,
    Kind.INTEGER: Primitive.INT32,
    Kind.LONG: Primitive.INT64,
    Kind.DECIMAL: Primitive.DECIMAL,
    Kind.BOOLEAN: Primitive.BOOLEAN,
    Kind.TIMESTAMP: Primitive.DATE_TIME_OFFSET,
    Kind.DATE: Primitive.DATE,
    Kind.TIME: Primitive.TIME_OF_DAY,
    Kind.TEXTS: Primitive.STRING,
    Kind.BLOB: Primitive.BINARY,
}
_OF_EVERY_ROW = frozenset({"created_at", "created_by", "modified_at", "modified_by", "tenant_id"})
_FORMATS = (
    "application/json",
    "text/csv",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)  # the last two of lists
_IN_CURRENCY = Annotation("Measures.ISOCurrency", AnnotationPath("currency"))
_ENDS = {Merge.LEAST: "min", Merge.GREATEST: "max"}
_MICROSECONDS = 6  # decimals of a second that are stored


def served_entities(service: Service) -> tuple[EntityType, ...]:
    """Return the entities of a service, in the order of their modules."""
    return tuple(entity for entity in model.entities() if entity.mode(service) is not NONE)


@cache
def edm_for(service: Service) -> Edm:
    """Return the entity data model of a service, built once."""
    entities = served_entities(service)
    lists = tuple(model.code_lists().values())
    drafts = (administrative_data(),) if service is ADMIN else ()
    operations = operations_of(service)
    imports = tuple(
        ActionImport(name=operation.name, action=operation.name) for operation in operations if not operation.binding
    )
    schema = Schema(
        namespace=_NAMESPACES[service],
        entity_types=(
            *(_Projection(service, entity).entity_type() for entity in entities),
            *(_code_list_type(one) for one in lists),
            *drafts,
        ),
        complex_types=complex_types_of(service),
        operations=operations,
        container=Container(
            entity_sets=(
                *(_entity_set(service, entity) for entity in entities),
                *(_read_only_set(one.set_name, _described(one.doc)) for one in lists),
                *(_read_only_set(ADMINISTRATIVE_DATA, one.annotations) for one in drafts),
            ),
            action_imports=imports,
            annotations=(Annotation("Capabilities.SupportedFormats", _FORMATS),),
        ),
    )
    return Edm(for_user_interfaces(schema, entities) if service is ADMIN else schema)


@cache
def import_type(set_name: str) -> OdataType:
    """Return the type of an import row: what a create accepts, and importable fields hidden there.

    It belongs to the model of the entity's `import_service`; it is a variant of the type with the same name there.
    """
    entity = model.entity(set_name)
    return _Projection(entity.import_service or PUBLIC, entity, importing=True).entity_type()


class _Projection:
    """One entity as one service shows it; ``importing``: as rows of imports."""

    def __init__(self, service: Service, entity: EntityType, *, importing: bool = False) -> None:
        self._service = service
        self._entity = entity
        self._importing = importing
        self._served = {one.set_name: one for one in served_entities(service)}

    def entity_type(self) -> OdataType:
        entity = self._entity
        hidden = [one for one in entity.fields if self._service in one.hidden_from and not self._takes(one)]
        fields = [field for field in entity.fields if field not in hidden]
        links = [link for link in entity.links if self._service not in link.hidden_from]
        properties = {field.name: self._in_currency(field, _property(field)) for field in fields}
        if self._service is REPORTING:
            properties = _aggregated(properties, fields)
        keys = {link.column: _foreign_key(link) for link in links}
        if entity.mode(self._service) is RW_RESTRICTED:
            properties, keys = (_kept(found, entity.patchable) for found in (properties, keys))
        made = OdataType(
            name=entity.set_name,
            key=tuple(entity.field(name).wire for name in entity.key),
            etag=entity.is_versioned and not _is_report(entity),
            alternate_keys=self._alternate_keys(properties | keys),
            properties=(
                *(one for name, one in properties.items() if name not in _OF_EVERY_ROW),
                *keys.values(),
                *(one for name, one in properties.items() if name in _OF_EVERY_ROW),
                *self._version_property(),
            ),
            navigations=(
                *(self._to_one(link) for link in links if link.target in self._served),
                *(_text_navigation(field, field.code_list) for field in fields if field.code_list),
                *(self._to_many(one) for one in entity.collections if one.target in self._served),
                *(self._ways_back() if self._service is ADMIN else ()),
            ),
            annotations=_described(entity.doc),
        )
        return drafted(entity, made) if self._service is ADMIN else made

    def _alternate_keys(self, shown: Mapping[str, Property]) -> tuple[tuple[str, ...], ...]:
        """Return the natural key if the public API, which addresses rows by it, shows all of it."""
        key = [shown[name].name for name in self._entity.natural_key if name in shown]
        is_whole = len(key) == len(self._entity.natural_key) > 0
        return (tuple(key),) if self._service is PUBLIC and is_whole else ()

    def _in_currency(self, field: Field, made: Property) -> Property:
        """Say in reporting where the currency of an amount is: amounts of several are not added up."""
        if self._service is not REPORTING or (field.precision, field.scale) not in AMOUNTS:
            return made
        owners = [(), *((link.wire,) for link in self._entity.links if link.owner)]
        entities = [self._entity, *(model.entity(link.target) for link in self._entity.links if link.owner)]
        for path, entity in zip(owners, entities, strict=True):
            if any(one.wire == "currency" for one in entity.fields):
                stated = Annotation("Measures.ISOCurrency", AnnotationPath("/".join((*path, "currency"))))
                return replace(made, annotations=(*made.annotations, stated))
        return made

    def _takes(self, field: Field) -> bool:
        return self._importing and field.importable

    def _version_property(self) -> tuple[Property, ...]:
        if self._service is not PUBLIC:
            return ()
        doc = "Minor version of the interface: the same in every row."
        annotations = _annotated(doc, "Minor version")
        return (Property(name="minorVersion", type=Primitive.INT32, computed=True, annotations=annotations),)

    def _to_one(self, link: Link) -> NavigationProperty:
        partner = next(
            (
                one.wire
                for one in self._served[link.target].collections
                if one.target == self._entity.set_name and one.by == link.name
            ),
            None,
        )
        return NavigationProperty(
            name=link.wire,
            target=link.target,
            nullable=link.nullable,
            on=((link.property_wire, "ID"),),
            partner=partner,
            writable=not link.read_only,
            annotations=_annotated(link.doc, link.label),
        )

    def _to_many(self, collection: Collection) -> NavigationProperty:
        link = self._served[collection.target].link(collection.by)
        return NavigationProperty(
            name=collection.wire,
            target=collection.target,
            collection=collection.many,
            on=(("ID", link.property_wire),),
            partner=link.wire,
            composition=collection.composition,
            writable=collection.composition,
            annotations=_annotated(collection.doc, collection.label),
        )

    def _ways_back(self) -> Iterator[NavigationProperty]:
        """Yield navigations to entities that refer to this one, such as the budgets that a promotion is charged to.

        A promotion has no such navigation to its conditions and actions: clients filter by their link (specification,
        Promotions). The public API has none of these navigations.
        """
        reached = {(one.target, one.by) for one in self._entity.collections}
        for other in self._served.values():
            for link in other.links:
                leads_here = link.required and not link.owner and other.mode(self._service) is not RO
                if leads_here and link.target == self._entity.set_name and (other.set_name, link.name) not in reached:
                    yield NavigationProperty(
                        name=other.set_name[0].lower() + other.set_name[1:],
                        target=other.set_name,
                        collection=True,
                        on=(("ID", link.property_wire),),
                        writable=False,
                        annotations=_annotated(other.doc.partition("\n\n")[0], other.label),
                    )


def _aggregated(properties: Mapping[str, Property], fields: Iterable[Field]) -> dict[str, Property]:
    """Declare the figures of a report that have a total as custom aggregates, with the currency of the amounts."""
    found = dict(properties)
    for field in fields:
        merge = field.measure.merge if field.measure is not None else None
        if field.adds_up:
            found[field.name] = replace(found[field.name], aggregate="sum")
        elif merge in _ENDS:
            found[field.name] = replace(found[field.name], aggregate=_ENDS[merge])
    currency = found.get("currency")
    in_currency = (one.annotations for one in found.values() if one.aggregate == "sum")
    if currency is not None and any(_IN_CURRENCY in annotations for annotations in in_currency):
        found["currency"] = replace(currency, aggregate="same")
    return found


# ---- members ------------------------------------------------------------------------------------------------------


def _is_report(entity: EntityType) -> bool:
    """Return whether only reporting shows the entity: its names are current ones, which its version does not count."""
    return entity.mode(PUBLIC) is NONE and entity.mode(ADMIN) is NONE


def _property(field: Field) -> Property:
    is_texts = field.kind is Kind.TEXTS
    is_text = field.kind is Kind.TEXT
    return Property(
        name=field.wire,
        type=_PRIMITIVES[field.kind],
        collection=is_texts,
        nullable=field.nullable and not is_texts,  # for a collection this is about its items
        max_length=field.length if is_text else None,
        precision=_MICROSECONDS if field.kind is Kind.TIMESTAMP else field.precision,
        scale=field.scale,
        default=field.default,
        computed=field.read_only,
        immutable=field.name == "id",
        write_only=field.write_only,
        searchable=field.searchable or (False if field.name in _OF_EVERY_ROW else None),
        filterable=field.filterable,
        annotations=(*_annotated(field.doc, field.label), *_bounds(field)),
    )


def _foreign_key(link: Link) -> Property:
    return Property(
        name=link.property_wire,
        type=Primitive.GUID,
        nullable=link.nullable,
        computed=link.read_only,
        annotations=_annotated(link.doc, link.label),
    )


def _kept(properties: Mapping[str, Property], patchable: Names[str]) -> dict[str, Property]:
    """Return the properties of a restricted entity: only ``patchable`` ones can be changed after creation."""
    return {
        name: one if one.computed or name in patchable else replace(one, immutable=True)
        for name, one in properties.items()
    }


def _text_navigation(field: Field, code_list: str) -> NavigationProperty:
    return NavigationProperty(
        name=f"{field.wire}Text",
        target=code_list,
        nullable=field.nullable,
        on=((field.wire, "code"),),
        writable=False,
        annotations=_annotated(f"What `{field.wire}` means.", field.label),
    )


def _bounds(field: Field) -> tuple[Annotation, ...]:
    """Return what limits a value beyond its type, and where it may come from."""
    found: list[Annotation] = []
    if field.name == "id":
        # A client may choose the key of the row it creates; otherwise the service does.
        found.append(Annotation("Core.ComputedDefaultValue"))
    if field.code_list:
        found.append(Annotation("Common.Text", AnnotationPath(f"{field.wire}Text/name")))
    if field.choices:
        allowed = tuple(Record({"Value": choice}) for choice in field.choices)
        found.append(Annotation("Validation.AllowedValues", allowed))
    for term, bound in (("Validation.Minimum", field.minimum), ("Validation.Maximum", field.maximum)):
        if bound is not None:
            found.append(Annotation(term, bound if field.kind is Kind.DECIMAL else int(bound)))
    return tuple(found)


# ---- sets and code lists ------------------------------------------------------------------------------------------


def _entity_set(service: Service, entity: EntityType) -> EntitySet:
    drafts = drafted_set(entity, _NAMESPACES[service]) if service is ADMIN else ()
    annotations = (*_described(entity.doc), *_deprecation(entity), *drafts)
    mode = entity.mode(service)
    if mode is RO:
        return _read_only_set(entity.set_name, annotations)
    return EntitySet(
        name=entity.set_name,
        entity_type=entity.set_name,
        insertable=mode is not RW_RESTRICTED,
        deletable=entity.deletable,
        annotations=annotations,
    )


def _read_only_set(name: str, annotations: tuple[Annotation, ...]) -> EntitySet:
    return EntitySet(
        name=name, entity_type=name, insertable=False, updatable=False, deletable=False, annotations=annotations
    )


def _code_list_type(code_list: CodeList) -> OdataType:
    return OdataType(
        name=code_list.set_name,
        key=("code",),
        properties=(
            Property(
                name="code",
                type=Primitive.STRING,
                nullable=False,
                max_length=30,
                searchable=True,
                annotations=(*_annotated("The value.", "Code"), Annotation("Common.Text", AnnotationPath("name"))),
            ),
            Property(
                name="name",
                type=Primitive.STRING,
                max_length=255,
                searchable=True,
                annotations=_annotated("Its name.", "Name"),
            ),
            Property(
                name="description",
                type=Primitive.STRING,
                max_length=1000,
                searchable=True,
                annotations=_annotated("Its meaning.", "Description"),
            ),
            Property(
                name="sequence",
                type=Primitive.INT32,
                annotations=_annotated("Its position in the list.", "Sequence"),
            ),
        ),
        annotations=_described(code_list.doc),
    )


def _deprecation(entity: EntityType) -> tuple[Annotation, ...]:
    if not entity.deprecated:
        return ()
    _, _, instead = entity.doc.partition("Deprecated: ")
    revision = Record(
        {"Kind": EnumMemberValue(("Core.RevisionKind/Deprecated",)), "Description": instead[:1].upper() + instead[1:]}
    )
    return (Annotation("Core.Revisions", (revision,)),)


def _described(doc: str) -> tuple[Annotation, ...]:
    """Split a docstring: its first paragraph on one line, and the rest as the long description."""
    first, _, rest = doc.partition("\n\n")
    found = [Annotation("Core.Description", _one_line(first))]
    if rest:
        found.append(Annotation("Core.LongDescription", _one_line(rest)))
    return tuple(found)


def _annotated(doc: str, label: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", _one_line(doc)), Annotation("Common.Label", label))


def _one_line(text: str) -> str:
    return " ".join(text.split())
