"""The collections and operations of docs/reference/public-api.md, from the model as the public API projects it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from docs.markdown import table
from odata_server.edm import ComplexType, Function, NavigationProperty, Operation, Parameter, Primitive, Property
from odata_server.edm import EntityType as OdataType
from promenade import model
from promenade.model import EntityType
from promenade.model.declare import NONE, RO, RW, RW_RESTRICTED, Field, Kind, Link, Service
from promenade.model.edm import edm_for, import_type
from promenade.web.imports.bulk import ALIAS
from promenade.workflows.authoring.machines import MACHINES, Move

__all__ = [
    "EDM",
    "FAULTS",
    "MANAGED",
    "collection_section",
    "description_of",
    "first_of",
    "index",
    "operations",
    "prose_of",
    "set_names",
    "type_of",
]

EDM = edm_for(Service.PUBLIC)
MANAGED = frozenset({"createdAt", "createdBy", "modifiedAt", "modifiedBy", "tenantId", "minorVersion"})
"""Fields that are the same on all collections that have them."""
_ROOT = "/api/v1"
_MODES = {RW: "RW", RW_RESTRICTED: "RW*", RO: "RO"}

FAULTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "addPromotions": (
            "404 `NOT_FOUND`: no such campaign",
            "400 `REQUIRED`, `EMPTY`, `TOO_MANY_IDS`: no list, an empty one, more than 1000",
            "400 `UNKNOWN_REFERENCE`: one of them is not there, or another tenant's; none is linked",
            "409 `LOCKED`: the campaign is locked, or another one that has one of the promotions",
        ),
        "removePromotion": (
            "404 `NOT_FOUND`: no such campaign",
            "400 `REQUIRED`, `UNKNOWN_REFERENCE`: no promotion, or none that is there",
            "409 `LOCKED`: the campaign is locked",
        ),
        "exportICS": ("404 `NOT_FOUND`: no such campaign",),
        "createPromotionFromTemplate": (
            "400 `REQUIRED`: no template",
            "404 `NOT_FOUND`: no such template, or another tenant's",
            "400 `TEMPLATE_TOO_LARGE`: more than 10 000 parts",
        ),
        "bulkImport": (
            "400 `REQUIRED`, `NOT_NULLABLE`, `TYPE_MISMATCH`, `EMPTY`: no rows; `MALFORMED_BODY`: no JSON",
            "400 `UNKNOWN_PROPERTY`, `TYPE_MISMATCH`, `UNSUPPORTED_MINOR_VERSION`: what the header says",
            "400 `INVALID_KEY`, `KEYS_DIFFER`: the key is none, or not the same in both places",
            "400 `NOT_IMPORTABLE`: another collection; what belongs to a row is imported inside of it",
            "403 `FOREIGN_TENANT`, 404 `TENANT_NOT_FOUND`: a tenant that the caller may not name, or that is not there",
            "413 `TOO_MANY_ROWS`, `ROW_TOO_LARGE`, `BODY_TOO_LARGE`: see the limits",
            "429 `TOO_MANY_JOBS`, with `Retry-After`: four imports of the tenant have not ended",
            "501 `NOT_IMPLEMENTED`: as a part of a batch",
        ),
    }
)
"""What each operation may refuse, beside what every request may meet."""
_JOB_STATUS = (
    f'`GET {_ROOT}/jobs/<jobId>`: `{{"jobId", "entity", "status", "totalRows", "rowsSucceeded", "rowsFailed", '
    '"rowsSkipped", "createdAt", "startedAt", "completedAt", "message", "minorVersion"}`, until it is `SUCCEEDED` or '
    "`FAILED`; then [ImportJobErrors](#importjoberrors) tells of the rows that failed"
)


# ---- types --------------------------------------------------------------------------------------------------------


def type_of(prop: Property | Parameter) -> str:
    """Return a type as OData names it, without ``Edm.``, with its facets."""
    if not isinstance(prop.type, Primitive):
        raise TypeError(prop.name)
    name = prop.type.value.removeprefix("Edm.")
    if prop.max_length is not None:
        name = f"{name}({prop.max_length})"
    if prop.type is Primitive.DECIMAL and prop.precision is not None:
        name = f"{name}({prop.precision},{prop.scale or 0})"
    return f"Collection({name})" if prop.collection else name


# ---- collections --------------------------------------------------------------------------------------------------


def set_names() -> tuple[str, ...]:
    """Return the names of all collections but code lists, in alphabetical order."""
    return tuple(sorted(one.set_name for one in model.entities() if one.public is not NONE))


def index() -> str:
    """Return all collections in a table."""
    rows = []
    for name in set_names():
        entity = model.entity(name)
        meaning = first_of(entity.doc)
        rows.append((f"[{name}](#{name.lower()})", _MODES[entity.public], _key_words(entity), meaning))
    return table(("Collection", "Mode", "Unique", "What a row is"), rows)


def collection_section(name: str) -> str:
    """Return the section of one collection: its operations, its fields and their targets."""
    entity, type_ = model.entity(name), EDM.entity_types[name]
    parts = [f"### {name}", prose_of(entity.doc), " ".join(_facts(entity, type_))]
    parts.append(table(("Field", "Type", "", "Meaning"), list(_field_rows(entity, type_))))
    managed = [f"`{prop.name}`" for prop in type_.properties if prop.name in MANAGED]
    parts.append(f"And {_listed(managed)}: [on every row](#on-every-row).")
    navigations = [one for one in type_.navigations if one.target not in model.code_lists()]
    if navigations:
        rows = [_navigation_row(entity, one) for one in navigations]
        parts.append(table(("Navigation", "To", "", "Meaning"), rows))
    moves = MACHINES.get(name)
    if moves is not None:
        if entity.public is RW:
            parts.append(_states_intro(moves.initial))
        parts.append(table(("From", "To", "By"), [_move_row(one) for one in moves.moves]))
    return "\n\n".join(parts)


def _facts(entity: EntityType, type_: OdataType) -> Iterator[str]:
    """Yield what holds for the whole collection, one sentence each."""
    if entity.public is RW_RESTRICTED:
        yield _restricted(entity)
    else:
        yield "Read only." if entity.public is RO else "Create, read, update, delete."
    if entity.importable:
        yield _imported(entity)
    names = _wire_names(entity)
    for key in filter(None, (entity.natural_key, *entity.unique)):
        if all(one in names for one in key):
            yield "Unique: " + _listed(f"`{names[one]}`" for one in key) + "."
    for begin, end in entity.windows:
        yield f"`{names[end]}` is after `{names[begin]}`."
    if entity.owner is not None and entity.public is not RO:
        target = entity.owner.target
        yield f"Part of [{target}](#{target.lower()}), deleted with it."
    searched = [f"`{prop.name}`" for prop in type_.searched]
    if searched:
        yield f"`$search` looks into {_listed(searched)}."
    texts = [f"`{one.name}`" for one in type_.navigations if one.target in model.code_lists()]
    if texts:
        yield f"Navigations to the texts of codes: {_listed(texts)}."


def _restricted(entity: EntityType) -> str:
    changed = _listed(f"`{entity.field(name).wire}`" for name in entity.patchable)
    deleted = "a row that is not at its end cannot be deleted (409)" if entity.deletable else "no delete (405)"
    return f"Read, and change {changed} alone; no create (405); {deleted}."


def _imported(entity: EntityType) -> str:
    """Describe the effect of bulk import rows, and their members that creates do not have."""
    told = "Rows come by [bulk import](#bulkimport)"
    if entity.import_upserts:
        key = _listed(f"`{entity.field(name).wire}`" for name in entity.natural_key)
        return f"{told}, too, and change what is there with their {key}."
    if entity.public is not RW_RESTRICTED:
        return f"{told}, too."
    taken = [one for one in import_type(entity.set_name).properties if not one.computed]
    required = _listed(
        f"`{one.name}`" for one in taken if not one.nullable and one.default is None and one.name != "ID"
    )
    other = _listed(f"`{one.name}`" for one in taken if one.nullable or one.default is not None or one.name == "ID")
    return f"{told}, with {required}, and with {other} if they like."


def _wire_names(entity: EntityType) -> dict[str, str]:
    """Return the public names of fields and links, by their names in the model."""
    fields = {one.name: one.wire for one in entity.fields if Service.PUBLIC not in one.hidden_from}
    links = {name: link.property_wire for link in entity.links for name in (link.name, link.column)}
    return fields | links


def _key_words(entity: EntityType) -> str:
    names = _wire_names(entity)
    keys = [key for key in (entity.natural_key, *entity.unique) if key and all(one in names for one in key)]
    return "; ".join(" + ".join(f"`{names[one]}`" for one in key) for key in keys)


# ---- fields -------------------------------------------------------------------------------------------------------


def _field_rows(entity: EntityType, type_: OdataType) -> Iterator[tuple[str, str, str, str]]:
    fields: dict[str, Field] = {field.wire: field for field in entity.fields}
    links: dict[str, Link] = {link.property_wire: link for link in entity.links}
    for prop in type_.properties:
        if prop.name in MANAGED:
            continue
        field = fields.get(prop.name)
        if field is not None:
            notes, meaning = _field_notes(entity, prop, field), prose_of(field.doc) + _values(field)
        else:
            link = links[prop.name]
            notes, meaning = _link_notes(entity, prop, link), prose_of(link.doc) + _target(link)
        if prop.name in type_.key and entity.public is not RW:
            meaning = "Key."
        yield f"`{prop.name}`", type_of(prop), ", ".join(notes), meaning


def _field_notes(entity: EntityType, prop: Property, field: Field) -> list[str]:
    if field.name in entity.key:
        return ["key"]
    if entity.public is RO:
        return []
    if prop.computed:
        return ["read-only"]
    notes = ["required"] if field.required else []
    if field.default is not None:
        notes.append(f"default `{_literal(field)}`")
    if prop.write_only:
        notes.append("write-only")
    if entity.public is RW_RESTRICTED:
        notes = ["can be changed"] if field.name in entity.patchable else []
    if field.deprecated:
        notes.append("deprecated")
    return notes


def _link_notes(entity: EntityType, prop: Property, link: Link) -> list[str]:
    if entity.public is not RW:
        return []
    if prop.computed:
        return ["read-only"]
    if link.owner and any(one.composition and one.by == link.name for one in model.entity(link.target).collections):
        return ["required, unless it is written inside that row"]
    return ["required"] if link.required else []


def _literal(field: Field) -> str:
    return str(field.default).lower() if field.kind is Kind.BOOLEAN else str(field.default)


def _values(field: Field) -> str:
    found = ""
    if field.code_list:
        found = f" A code of [{field.code_list}](code-lists.md#{field.code_list.lower()})."
    elif field.choices:
        found = " One of " + ", ".join(f"`{choice}`" for choice in field.choices) + "."
    elif field.refers_to:
        found = f" The `ID` of a row of [{field.refers_to}](#{field.refers_to.lower()})."
    return found + _range(field.minimum, field.maximum)


def _range(low: Decimal | None, high: Decimal | None) -> str:
    if low is not None and high is not None:
        return f" From {low} to {high}."
    if low is not None:
        return f" At least {low}."
    return "" if high is None else f" At most {high}."


def _target(link: Link) -> str:
    if link.target not in EDM.entity_types:
        return ""
    return f" An `ID` of [{link.target}](#{link.target.lower()})."


def _navigation_row(entity: EntityType, one: NavigationProperty) -> tuple[str, str, str, str]:
    notes = ["many" if one.collection else "one, may be missing" if one.nullable else "one"]
    is_written = entity.public is RW and model.entity(one.target).public is RW
    if one.composition:
        notes.append("part: written in one body with the row, deleted with it" if is_written else "deleted with it")
    elif is_written and one.writable and not one.collection:
        notes.append('link by `@odata.bind` or `{"@id": ...}`')
    return f"`{one.name}`", f"[{one.target}](#{one.target.lower()})", ", ".join(notes), description_of(one)


def description_of(one: NavigationProperty | Operation | Property) -> str:
    for annotation in one.annotations:
        if annotation.term == "Core.Description":
            return str(annotation.value)
    return ""


# ---- states -------------------------------------------------------------------------------------------------------


def _states_intro(initial: frozenset[str]) -> str:
    return f"States. A new row may be {_listed((f'`{one}`' for one in sorted(initial)), 'or')}."


def _move_row(move: Move) -> tuple[str, str, str]:
    before = "any" if move.sources is None else ", ".join(f"`{one}`" for one in sorted(move.sources))
    if move.never_patched_from:
        before += " but " + ", ".join(f"`{one}`" for one in sorted(move.never_patched_from))
    after = f"`{str(move.target).lower()}`" if isinstance(move.target, bool) else f"`{move.target}`"
    by = f"PATCH of `{move.column}`" if move.by_patch else f"{move.verb}: not by clients of this API"
    return before, f"{move.column} {after}" if move.column != "status" else after, by


# ---- operations ---------------------------------------------------------------------------------------------------


def operations() -> str:
    """Return every action and function."""
    return "\n\n".join(_operation(several) for several in EDM.operations.values())


def _operation(several: Sequence[Operation]) -> str:
    one = several[0]
    if one.binding_collection:
        return _collection_operation(several)
    is_function = isinstance(one, Function)
    method, scope = ("GET", "PublicApi.Read") if is_function else ("POST", "PublicApi.Write")
    below = f"{_ROOT}/{one.binding}(<ID>)/" if one.binding else f"{_ROOT}/"
    forms = [f"`{method} {below}{one.name}`"]
    if one.binding:
        forms.append(f"`{method} {below}{EDM.namespace}.{one.name}`")
    kind = "Function" if is_function else "Action"
    rows = [
        ("Addresses", "<br>".join(forms)),
        ("Scope", f"`{scope}`"),
        (
            "Parameters",
            "<br>".join(f"`{p.name}`: {type_of(p)}, required, in the body" for p in one.parameters) or "none",
        ),
        ("Answer", _answer(one)),
        ("Errors", "<br>".join(FAULTS[one.name])),
    ]
    return f"### {one.name}\n\n{kind}. {description_of(one)}\n\n{table(('', ''), rows)}"


def _collection_operation(several: Sequence[Operation]) -> str:
    """Return the section of an action that several collections have."""
    one = several[0]
    bound = sorted(each.binding or "" for each in several)
    forms = (f":{ALIAS}", f"/{EDM.namespace}.{one.name}", f"/{one.name}")
    rows = [
        ("Addresses", "<br>".join(f"`POST {_ROOT}/<Collection>{form}`" for form in forms)),
        ("Collections", ", ".join(f"[{name}](#{name.lower()})" for name in bound)),
        ("Scope", "`PublicApi.Write`"),
        ("Header", "`Idempotency-Key`: repeats within 24 hours are answered with the job that is there, 200"),
        ("Parameters", "<br>".join(_parameter_words(parameter) for parameter in one.parameters)),
        ("Answer", '202 with `{"jobId", "statusUrl", "minorVersion"}`; 200 with the same for a repeat'),
        ("Status", _JOB_STATUS),
        ("Errors", "<br>".join(FAULTS[one.name])),
    ]
    return f"### {one.name}\n\nAction. {description_of(one)}\n\n{table(('', ''), rows)}"


def _parameter_words(parameter: Parameter) -> str:
    note = next((str(one.value) for one in parameter.annotations if one.term == "Core.Description"), "")
    if not isinstance(parameter.type, ComplexType):
        return f"`{parameter.name}`, required, in the body: {note}"
    members = "; ".join(
        f"`{one.name}`, {type_of(one)}: {description_of(one)}".rstrip(".") for one in parameter.type.properties
    )
    return f"`{parameter.name}`, in the body: {note} {members}."


def _answer(one: Operation) -> str:
    returns = one.returns
    if returns is None:
        return "204"
    if returns.entity_type is not None:
        return (
            f"200 with the row of [{returns.entity_type}](#{returns.entity_type.lower()}); `$select` and `$expand` work"
        )
    name = returns.type.value.removeprefix("Edm.") if isinstance(returns.type, Primitive) else "value"
    bare = f", or the bare text with `Accept: {returns.media_type}`" if returns.media_type else ""
    return f'200 with `{{"value": ..., "minorVersion": ...}}`, a {name}{bare}'


# ---- words --------------------------------------------------------------------------------------------------------


def prose_of(doc: str) -> str:
    """Return a docstring as Markdown, keeping its paragraphs."""
    return re.sub(r"``", "`", "\n\n".join(" ".join(part.split()) for part in doc.split("\n\n")))


def first_of(doc: str) -> str:
    return prose_of(doc).partition("\n\n")[0]


def _listed(words: Iterator[str] | Sequence[str], last: str = "and") -> str:
    found = list(words)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} {last} {found[-1]}"
