"""Which properties of an entity a list shows, and by which it can be filtered, derived from the declarations.

A property's rank is its importance: natural key and title first, then the status, what it belongs to, amounts,
validity, and the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from odata_server.edm import Annotation, AnnotationPath, AnnotationValue, EnumMemberValue, Primitive, Property, Record
from odata_server.edm import EntityType as OdataType
from promenade.model.declare import Kind
from promenade.model.ui.hints import AVAILABLE, COLUMNS, FILTERS, FOR_PROGRAMS, LATEST_BY
from promenade.model.ui.sight import MANAGED, Sight, path, property_path
from promenade.model.ui.words import label_of_action

COLUMNS_MAX = 9
FILTERS_MAX = 6

_KEY, _STATUS, _KIND, _TIME, _LINK, _NUMBER, _FLAG, _REST, _LAST, _OWNER = range(10)
_NUMBERS = (Primitive.DECIMAL, Primitive.INT32, Primitive.INT64)
_CODES_OF_DETAILS = ("Currencies", "NeverDiscountedReasons", "ReturnPolicies")
_FLAGS_OF_NOTE = ("isActive", "locked")


def line_item(sight: Sight, odata_type: OdataType) -> Annotation:
    """Return the columns of a list of entities, and the actions for selected rows."""
    chosen = COLUMNS.get(odata_type.name) or tuple(_columns(sight, odata_type))
    properties = odata_type.property_by_name
    fields = tuple(data_field(sight, odata_type, properties[name], at) for at, name in enumerate(chosen))
    return Annotation("UI.LineItem", (*fields, *actions_of(sight, odata_type, in_list=True)))


def order(sight: Sight, odata_type: OdataType) -> Annotation | None:
    """Return the sort order of a list: children by sequence, events from latest to earliest."""
    names = odata_type.property_by_name
    by = next((name for name in ("sequence", "rowNumber") if name in names), None)
    descending = False
    is_log = all(one.computed for one in odata_type.properties if one.name != "ID")
    if by is None and (is_log or odata_type.name in LATEST_BY):
        moments = (one.name for one in odata_type.properties if one.type is Primitive.DATE_TIME_OFFSET)
        first = next((name for name in moments if name not in MANAGED), None)
        by, descending = LATEST_BY.get(odata_type.name, first), True
    if by is None:
        return None
    sorting = Record({"Property": property_path(by), "Descending": descending}, "Common.SortOrderType")
    values: dict[str, AnnotationValue] = {
        "SortOrder": (sorting,),
        "Visualizations": (AnnotationPath("@UI.LineItem", "AnnotationPath"),),
    }
    return Annotation("UI.PresentationVariant", Record(values, "UI.PresentationVariantType"))


def selection_fields(sight: Sight, odata_type: OdataType) -> Annotation | None:
    """Return the filter fields of a list: the natural key if nothing else is suitable."""
    ranked = sorted(
        (rank, at, one.name)
        for at, one in enumerate(sight.shown(odata_type))
        if (rank := _filter_rank(sight, odata_type, one)) is not None
    )
    names = FILTERS.get(odata_type.name) or [name for _, _, name in ranked[:FILTERS_MAX]]
    chosen = tuple(property_path(name) for name in names or sight.natural_key(odata_type.name))
    return Annotation("UI.SelectionFields", chosen) if chosen else None


def data_field(sight: Sight, odata_type: OdataType, prop: Property, place: int | None = None) -> Record:
    """Return a property as a field, coloured if the model has a criticality for it; ``place``: its column in a list."""
    values: dict[str, AnnotationValue] = {"Value": path(prop.name)}
    colour = sight.criticality(odata_type.name, prop.name)
    if colour is not None:
        values["Criticality"] = path(colour)
    if place is not None:
        importance = "High" if place < 3 or colour is not None else "Medium" if place < 6 else "Low"
        values["@UI.Importance"] = EnumMemberValue((f"UI.ImportanceType/{importance}",))
    return Record(values, "UI.DataField")


def actions_of(sight: Sight, odata_type: OdataType, *, in_list: bool = False) -> Iterator[Record]:
    """Yield the bound actions as buttons; in a list only those that return the entity and ask for nothing.

    A change of its status may take a parameter that nobody has to give.
    """
    for one in sight.bound.get(odata_type.name, ()):
        if one.name in FOR_PROGRAMS:
            continue
        returned = one.returns.entity_type if one.returns is not None else None
        is_move = (odata_type.name, one.name) in AVAILABLE
        asks = any(not parameter.nullable or not is_move for parameter in one.parameters)
        if in_list and (asks or returned != odata_type.name):
            continue
        name = f"{sight.schema.namespace}.{one.name}"
        yield Record({"Action": name, "Label": label_of_action(one.name)}, "UI.DataFieldForAction")


def ranges_of_time(sight: Sight, set_name: str) -> tuple[str, ...]:
    """Return the properties that define when an entity is valid."""
    entity = sight.entities.get(set_name)
    if entity is None:
        return ()
    windows = {name for window in entity.windows for name in window}
    return tuple(
        one.wire
        for one in entity.fields
        if one.name in windows or one.kind is Kind.TIME or one.kind is Kind.DATE or one.name == "weekdays"
    )


# ---- ranks --------------------------------------------------------------------------------------------------------


def _columns(sight: Sight, odata_type: OdataType) -> list[str]:
    ranked = sorted(
        (rank, at, one.name)
        for at, one in enumerate(sight.shown(odata_type))
        if (rank := _rank(sight, odata_type, one)) is not None
    )
    few = len(ranked) <= COLUMNS_MAX
    return [name for rank, _, name in ranked if few or rank != _OWNER][:COLUMNS_MAX]


def _rank(sight: Sight, odata_type: OdataType, prop: Property) -> int | None:
    """Return the rank of a property; None: a list does not show it."""
    name = odata_type.name
    field, link = sight.field(name, prop), sight.link(name, prop)
    if prop.name in MANAGED or (field is None and link is None) or (field is not None and field.kind is Kind.UUID):
        return None
    if prop.name in (*sight.natural_key(name), sight.title(name), "sequence", "timestamp"):
        return _KEY
    if link is not None:
        return _OWNER if link.owner else _LINK
    if sight.criticality(name, prop.name) is not None:
        return _STATUS
    if field is not None and (field.code_list in _CODES_OF_DETAILS or field.refers_to is not None):
        return _LAST
    return _KIND if field is not None and (field.code_list or field.choices) else _rank_of_plain(sight, name, prop)


def _rank_of_plain(sight: Sight, name: str, prop: Property) -> int:
    """Return the rank of a property that is neither a code nor a reference, by its type."""
    if prop.name in ranges_of_time(sight, name):
        return _TIME
    if prop.type in _NUMBERS:
        return _REST if sight.is_optional(name, prop) and not prop.computed else _NUMBER
    if prop.type is Primitive.BOOLEAN:
        return _FLAG if prop.name in _FLAGS_OF_NOTE else _LAST
    if sight.is_long(prop):
        return _LAST if prop.name in ("description", "notes") else _REST
    return _REST if sight.is_optional(name, prop) else _LINK


def _filter_rank(sight: Sight, odata_type: OdataType, prop: Property) -> int | None:
    name = odata_type.name
    if not prop.filterable or prop.name in MANAGED:
        return None
    field, link = sight.field(name, prop), sight.link(name, prop)
    if link is not None:
        return 2
    if field is None:
        return None
    if prop.name == "status":
        return 0
    if (field.code_list or field.choices) and field.code_list != "Currencies":
        return 1
    if prop.name in ranges_of_time(sight, name) or prop.name == "timestamp":
        return 3
    if prop.name in _FLAGS_OF_NOTE:
        return 4
    return 5 if prop.type is Primitive.DATE_TIME_OFFSET and prop.computed else None
