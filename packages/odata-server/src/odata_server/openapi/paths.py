"""The addresses of a service: for each set its collection, its entities, and what can be reached from them.

The root has service document, metadata and ``$batch``. The properties of an entity share one address whose last
segment names the property. Bound actions and functions have both of their addresses, others are at the root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odata_server.edm import (
    Action,
    ComplexType,
    Edm,
    EntitySet,
    EntityType,
    Function,
    NavigationProperty,
    Operation,
    Parameter,
    Singleton,
)
from odata_server.hooks import Access
from odata_server.openapi.parts import (
    Parts,
    action_body,
    alternate_key_parameters,
    answer,
    common,
    function_parameters,
    json_content,
    key_parameters,
    parameter,
    reading,
    reading_options,
    tagged,
)
from odata_server.openapi.schemas import Schemas
from odata_server.openapi.values import Schema, described, nullable, ref

__all__ = ["ROOT_TAG", "Operations", "Paths"]

_COUNT: Schema = {"text/plain": {"schema": {"type": "integer", "minimum": 0}}}
_REFERENCE: Schema = {
    "type": "object",
    "properties": {"@id": {"type": "string", "format": "uri-reference", "description": "The address of an entity."}},
    "required": ["@id"],
    "patternProperties": {"@": {}},
    "additionalProperties": False,
}
_ETAG = "The version of the entity, for If-Match."
ROOT_TAG = "Service"
"""The tag of operations that belong to no set."""


class Paths:
    """Creates the path items of one model."""

    def __init__(
        self, edm: Edm, schemas: Schemas, parts: Parts, statuses: Mapping[str, int], *, whole: bool = True
    ) -> None:
        self._edm = edm
        self._whole = whole
        self._schemas = schemas
        self._parts = parts
        self._operations = Operations(edm, schemas, parts, statuses, whole=whole)
        self.parameters: dict[str, Any] = {}

    def made(self) -> dict[str, Any]:
        """Return all path items; afterwards `parameters` holds the parameters that they refer to."""
        paths = root_paths(self._parts, self._schemas, whole=self._whole)
        for entity_set in self._edm.entity_sets.values():
            paths |= self._of_set(entity_set)
        for singleton in self._edm.singletons.values():
            paths |= self._of_singleton(singleton)
        return paths | self._operations.imports()

    def tags(self) -> list[dict[str, Any]]:
        """Return one tag for each set, and one for the operations of none."""
        tags = [{"name": ROOT_TAG, "description": "What the service consists of, and operations of no collection."}]
        for one in (*self._edm.entity_sets.values(), *self._edm.singletons.values()):
            of_type = self._edm.entity_types[one.entity_type].annotations
            text = described(one.annotations).get("description") or described(of_type).get("description")
            tags.append({"name": one.name, **({"description": text} if text else {})})
        return tags

    def _of_set(self, entity_set: EntitySet) -> dict[str, Any]:
        entity_type = self._edm.entity_types[entity_set.entity_type]
        name = entity_set.name
        key, in_path = key_parameters(entity_type)
        paths: dict[str, Any] = {f"/{name}": self._collection(entity_set, entity_type)}
        paths[f"/{name}/$count"] = {"get": self._counting(f"{name}.count", entity_set, entity_type)}
        entity = f"/{name}{key}"
        paths[entity] = {"parameters": in_path, **self._entity(name, entity_set, entity_type)}
        paths |= self._inside(entity, name, entity_set, entity_type, in_path)
        for names in entity_type.alternate_keys:
            paths |= self._by_alternate_key(name, entity_set, entity_type, names)
        paths |= self._operations.bound(f"/{name}", name, entity_set, entity_type, [], collection=True)
        paths |= self._operations.bound(entity, name, entity_set, entity_type, in_path, collection=False)
        if entity_set.readable:
            return paths
        return {path: {m: one for m, one in item.items() if m != "get"} for path, item in paths.items()}

    def _of_singleton(self, singleton: Singleton) -> dict[str, Any]:
        entity_type = self._edm.entity_types[singleton.entity_type]
        name = singleton.name
        pretended = EntitySet(name=name, entity_type=entity_type.name, insertable=False, deletable=False)
        paths = {f"/{name}": self._entity(name, pretended, entity_type)}
        paths |= self._inside(f"/{name}", name, pretended, entity_type, [])
        return paths | self._operations.bound(f"/{name}", name, pretended, entity_type, [], collection=False)

    def _inside(
        self, path: str, name: str, entity_set: EntitySet, entity_type: EntityType, in_path: list[Any]
    ) -> dict[str, Any]:
        """Return the paths below one entity: its navigations and its properties."""
        paths: dict[str, Any] = {}
        for navigation in entity_type.navigations:
            target = self._edm.set_of(navigation.target, source=entity_set, path=navigation.name)
            reach = self._to_many if navigation.collection else self._to_one
            below = reach(f"{path}/{navigation.name}", f"{name}.{navigation.name}", entity_type, navigation, target)
            paths |= {at: {"parameters": in_path, **tagged(item, name)} for at, item in below.items()}
        if not self._whole:
            return paths
        single = property_paths(self._edm, self._schemas, self._parts, path, name, entity_set, entity_type)
        paths |= {at: {**item, "parameters": [*in_path, *item["parameters"]]} for at, item in single.items()}
        return paths

    # ---- collections ----

    def _collection(self, entity_set: EntitySet, entity_type: EntityType) -> dict[str, Any]:
        name = entity_set.name
        item = {"get": self._listing(f"{name}.list", entity_set, entity_type) | {"tags": [name]}}
        if entity_set.insertable:
            body = self._schemas.create(entity_type)
            item["post"] = self._creating(f"{name}.create", entity_set, entity_type, body) | {"tags": [name]}
        return item

    def _listing(self, name: str, entity_set: EntitySet | None, entity_type: EntityType) -> dict[str, Any]:
        shared = ["top", "skip", "count"]
        if entity_type.searched:
            shared.append("search")
        return {
            "operationId": name,
            "summary": f"Reads {entity_set.name if entity_set else entity_type.name}.",
            **self._common(reading(entity_set), entity_set),
            "parameters": [*(ref(one, "parameters") for one in shared), *self._options(entity_type, collection=True)],
            "responses": {
                "200": answer("A page of them.", self._schemas.collection(ref(entity_type.name)))
                | self._links(entity_set, entity_type, "value/0/"),
                **self._parts.errors(reading(entity_set)),
            },
        }

    def _counting(self, name: str, entity_set: EntitySet | None, entity_type: EntityType) -> dict[str, Any]:
        options = [one for one in self._options(entity_type, collection=True) if one["$ref"].endswith(".filter")]
        if entity_type.searched:
            options.append(ref("search", "parameters"))
        return {
            "operationId": name,
            "summary": "Says how many there are.",
            **self._common(reading(entity_set), entity_set),
            **({"tags": [entity_set.name]} if entity_set else {}),
            "parameters": options,
            "responses": {
                "200": {"description": "The number.", "content": _COUNT},
                **self._parts.errors(reading(entity_set)),
            },
        }

    def _creating(
        self, name: str, entity_set: EntitySet | None, entity_type: EntityType, body: Schema
    ) -> dict[str, Any]:
        access = Access(kind="create", entity_set=entity_set)
        where = {"Location": "The address of the entity."} | ({"ETag": _ETAG} if entity_type.etag else {})
        return {
            "operationId": name,
            "summary": f"Creates an entity of {entity_type.name}.",
            **self._common(access, entity_set),
            "parameters": [ref("return", "parameters")],
            "requestBody": {"required": True, "content": json_content(body)},
            "responses": {
                "201": answer("Created.", self._schemas.written(entity_type.name), headers=where)
                | self._links(entity_set, entity_type, ""),
                "204": answer("Created, with `Prefer: return=minimal`.", headers=where),
                **self._parts.errors(access),
            },
        }

    # ---- entities ----

    def _by_alternate_key(
        self, name: str, entity_set: EntitySet, entity_type: EntityType, names: tuple[str, ...]
    ) -> dict[str, Any]:
        key, in_path = alternate_key_parameters(entity_type, names)
        item = self._entity(f"{name}.by.{'.'.join(names)}", entity_set, entity_type)
        if entity_set.insertable:
            headers = {"Location": "The address of the entity."}
            made = {"201": answer("Created.", self._schemas.written(entity_type.name), headers=headers)}
            for method in item.keys() & {"patch", "put"}:
                item[method]["responses"] = made | item[method]["responses"]
                item[method]["summary"] += " Creates it if it does not exist."
        return {f"/{name}{key}": {"parameters": in_path, **tagged(item, name)}}

    def _entity(self, name: str, entity_set: EntitySet, entity_type: EntityType) -> dict[str, Any]:
        item = {"get": self._reading(f"{name}.read", entity_set, entity_type)}
        return tagged(item | self._changing(name, entity_set, entity_type), name)

    def _changing(self, name: str, entity_set: EntitySet, entity_type: EntityType) -> dict[str, Any]:
        """Return the operations that change an entity, as far as its set allows."""
        item: dict[str, Any] = {}
        if entity_set.updatable:
            item["patch"] = self._updating(f"{name}.update", entity_set, entity_type, replace=False)
            item["put"] = self._updating(f"{name}.replace", entity_set, entity_type, replace=True)
        if entity_set.deletable:
            access = Access(kind="delete", entity_set=entity_set)
            item["delete"] = {
                "operationId": f"{name}.delete",
                "summary": "Deletes the entity, and what it is composed of.",
                **self._common(access, entity_set),
                "parameters": [ref("if-match", "parameters")] if entity_type.etag else [],
                "responses": {"204": answer("Deleted."), **self._parts.errors(access)},
            }
        return item

    def _reading(
        self, name: str, entity_set: EntitySet | None, entity_type: EntityType, *, maybe: bool = False
    ) -> dict[str, Any]:
        headers = {"ETag": _ETAG} if entity_type.etag else {}
        options = self._options(entity_type, collection=False)
        unchanged: dict[str, Any] = {}
        if entity_type.etag:
            options.append(ref("if-none-match", "parameters"))
            unchanged = {"304": answer("It still has that ETag.")}
        return {
            "operationId": name,
            "summary": f"Reads an entity of {entity_type.name}.",
            **self._common(reading(entity_set), entity_set),
            "parameters": options,
            "responses": {
                "200": answer("The entity.", self._schemas.entity(entity_type.name), headers=headers),
                **({"204": answer("It leads nowhere.")} if maybe else {}),
                **unchanged,
                **self._parts.errors(reading(entity_set)),
            },
        }

    def _updating(self, name: str, entity_set: EntitySet, entity_type: EntityType, *, replace: bool) -> dict[str, Any]:
        access = Access(kind="update", entity_set=entity_set)
        headers = {"ETag": _ETAG} if entity_type.etag else {}
        what = "Replaces the entity: what the body leaves out gets its default." if replace else "Changes the entity."
        return {
            "operationId": name,
            "summary": what,
            **self._common(access, entity_set),
            "parameters": [ref(one, "parameters") for one in (["if-match"] if entity_type.etag else []) + ["return"]],
            "requestBody": {
                "required": True,
                "content": json_content(self._schemas.update(entity_type, replace=replace)),
            },
            "responses": {
                "200": answer("Changed.", self._schemas.written(entity_type.name), headers=headers),
                "204": answer("Changed.", headers=headers),
                **self._parts.errors(access),
            },
        }

    # ---- navigations ----

    def _to_one(
        self, path: str, name: str, owner: EntityType, navigation: NavigationProperty, target: EntitySet | None
    ) -> dict[str, Any]:
        reached = self._edm.entity_types[navigation.target]
        entity = {"get": self._reading(f"{name}.read", target, reached, maybe=True)}
        if not self._whole:
            return {path: entity}
        paths = {path: entity | (self._changing(name, target, reached) if target is not None else {})}
        links = {
            "get": self._linking("read", name, target, answer("The reference.", self._schemas.with_extras(_REFERENCE)))
        }
        links["get"]["responses"]["204"] = answer("It leads nowhere.")
        if navigation.writable:
            links["put"] = self._linking("link", name, target, answer("Linked."), with_body=True)
            links["delete"] = self._linking("unlink", name, target, answer("Unlinked."))
        return paths | {f"{path}/$ref": links}

    def _to_many(
        self, path: str, name: str, owner: EntityType, navigation: NavigationProperty, target: EntitySet | None
    ) -> dict[str, Any]:
        reached = self._edm.entity_types[navigation.target]
        item = {"get": self._listing(f"{name}.list", target, reached)}
        if navigation.writable and (target is None or target.insertable):
            body = self._schemas.created_along(owner, navigation)
            item["post"] = self._creating(f"{name}.create", target, reached, body)
        count = {"get": self._counting(f"{name}.count", target, reached)}
        if not self._whole:
            return {path: item, f"{path}/$count": count}
        links = {
            "get": self._linking("read", name, target, answer("References.", self._schemas.collection(_REFERENCE)))
        }
        if navigation.writable:
            links["post"] = self._linking("link", name, target, answer("Linked."), with_body=True)
            links["delete"] = self._linking("unlink", name, target, answer("Unlinked."))
            which = parameter("$id", "query", {"type": "string", "format": "uri-reference"}, "Which.", required=True)
            links["delete"]["parameters"] = [which]
        return {path: item, f"{path}/$count": count, f"{path}/$ref": links}

    def _linking(
        self, what: str, name: str, target: EntitySet | None, success: dict[str, Any], *, with_body: bool = False
    ) -> dict[str, Any]:
        access = Access(kind="read" if what == "read" else "update", entity_set=target)
        body = {"requestBody": {"required": True, "content": json_content(_REFERENCE)}} if with_body else {}
        return {
            "operationId": f"{name}.{what}{'References' if what == 'read' else ''}",
            "summary": {"read": "Reads addresses only.", "link": "Links an entity.", "unlink": "Removes a link."}[what],
            **self._common(access, target),
            **body,
            "responses": {"200" if "content" in success else "204": success, **self._parts.errors(access)},
        }

    # ---- shared ----

    def _links(self, entity_set: EntitySet | None, entity_type: EntityType, where: str) -> dict[str, Any]:
        """Return the links from a response to the operations on the entity at ``where`` in it."""
        if entity_set is None or entity_set.name not in self._edm.entity_sets:
            return {}
        key = {name: f"$response.body#/{where}{name}" for name in entity_type.key}
        possible = {
            "read": entity_set.readable,
            "update": entity_set.updatable,
            "replace": entity_set.updatable,
            "delete": entity_set.deletable,
        }
        names = [name for name, is_possible in possible.items() if is_possible]
        links = {name: {"operationId": f"{entity_set.name}.{name}", "parameters": key} for name in names}
        return {"links": links} if links else {}

    def _options(self, entity_type: EntityType, *, collection: bool) -> list[dict[str, Any]]:
        made = reading_options(entity_type, self._schemas.names, collection=collection)
        self.parameters |= {f"{entity_type.name}.{name}": one for name, one in made.items()}
        return [ref(f"{entity_type.name}.{name}", "parameters") for name in made]

    def _common(self, access: Access, entity_set: EntitySet | None) -> dict[str, Any]:
        return common(self._edm, self._parts, access, entity_set)


def root_paths(parts: Parts, schemas: Schemas, *, whole: bool) -> dict[str, Any]:
    """Return the path items; only the ``whole`` document has batches as MIME, which no generator can write."""
    schemas.made |= _BATCH_SCHEMAS
    mime = {"multipart/mixed": {"schema": {"type": "string"}}} if whole else {}
    access = Access(kind="metadata")
    anything: Schema = {"type": "object"}
    document = {
        "operationId": "service",
        "summary": "Lists what there is.",
        **parts.allowed(access),
        "responses": {"200": answer("The service document.", anything), **parts.errors(access)},
    }
    metadata = {
        "operationId": "metadata",
        "summary": "Describes the model, as CSDL.",
        **parts.allowed(access),
        "parameters": [parameter("$format", "query", {"type": "string", "enum": ["xml", "json"]})],
        "responses": {
            "200": {
                "description": "The model.",
                "content": {
                    "application/xml": {"schema": {"type": "string"}},
                    "application/json": {"schema": anything},
                },
            },
            "304": answer("It has not changed."),
            **parts.errors(access),
        },
    }
    batch = {
        "operationId": "batch",
        "summary": "Carries out several requests, those of a change set all or none.",
        **parts.allowed(Access(kind="batch")),
        "requestBody": {
            "required": True,
            "content": mime | json_content(ref("Batch")),
        },
        "responses": {
            "200": {"description": "Their answers.", "content": mime | json_content(ref("Batch-answer"))},
            **parts.errors(Access(kind="batch")),
        },
    }
    paths = {"/": {"get": document}, "/$metadata": {"get": metadata}, "/$batch": {"post": batch}}
    return {path: tagged(item, ROOT_TAG) for path, item in paths.items()}


_BATCH_REQUEST: Schema = {
    "type": "object",
    "description": "One request of a batch.",
    "properties": {
        "id": {"type": "string"},
        "method": {"$ref": "#/components/schemas/BatchRequest-method"},
        "url": {"type": "string"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "body": {},
        "atomicityGroup": {"type": "string", "description": "Requests of one group succeed or fail together."},
        "dependsOn": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["id", "method", "url"],
}
_BATCH_RESPONSE: Schema = {
    "type": "object",
    "description": "The answer to one request of a batch.",
    "properties": {
        "id": {"type": "string"},
        "atomicityGroup": {"type": "string"},
        "status": {"type": "integer"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "body": {},
    },
    "required": ["id", "status"],
}
_BATCH_SCHEMAS: Mapping[str, Schema] = {
    "Batch": {
        "type": "object",
        "description": "Several requests in one.",
        "properties": {"requests": {"type": "array", "items": ref("BatchRequest")}},
        "required": ["requests"],
    },
    "Batch-answer": {
        "type": "object",
        "description": "The answers, in the order of the requests.",
        "properties": {"responses": {"type": "array", "items": ref("BatchResponse")}},
        "required": ["responses"],
        "patternProperties": {"@": {}},
    },
    "BatchRequest": _BATCH_REQUEST,
    "BatchRequest-method": {"type": "string", "enum": ["get", "post", "patch", "put", "delete"]},
    "BatchResponse": _BATCH_RESPONSE,
}


_TEXT: Schema = {"text/plain": {"schema": {"type": "string"}}}


def property_paths(
    edm: Edm, schemas: Schemas, parts: Parts, path: str, name: str, entity_set: EntitySet, entity_type: EntityType
) -> dict[str, Any]:
    """Return the two path items below the entity at ``path``: a property in JSON, and its raw value."""
    readable = [one for one in entity_type.properties if not one.write_only]
    which = parameter("property", "path", {"type": "string", "enum": [one.name for one in readable]})
    value = {"anyOf": _distinct([schemas.readable_property(entity_type, one) for one in readable])}
    read = common(edm, parts, reading(entity_set), entity_set)
    nothing = {"204": answer("It is null."), **parts.errors(reading(entity_set))}
    as_json: dict[str, Any] = {
        "get": {
            "operationId": f"{name}.readProperty",
            "summary": "Reads one property.",
            **read,
            "responses": {"200": answer("Its value.", schemas.single(value)), **nothing},
        }
    }
    bare: dict[str, Any] = {
        "get": {
            "operationId": f"{name}.readPropertyAsText",
            "summary": "Reads one property, bare.",
            **read,
            "responses": {
                "200": {"description": "Its value.", "content": {"text/plain": {}, "application/octet-stream": {}}},
                **nothing,
            },
        }
    }
    if entity_set.updatable:
        # A complex property is put as it is and can be patched in part; other properties have an envelope.
        merges = any(isinstance(one.type, ComplexType) and not one.collection for one in readable)
        enveloped: Schema = {"type": "object", "properties": {"value": {}}, "required": ["value"]}
        body = json_content({"type": "object"} if merges else enveloped)
        as_json |= _changing(edm, parts, schemas, f"{name}.{{}}Property", entity_set, body, merges=merges)
        bare |= _changing(edm, parts, schemas, f"{name}.{{}}PropertyAsText", entity_set, _TEXT)
    return {
        path: {"parameters": [which], **tagged(item, name)}
        for path, item in ((f"{path}/{{property}}", as_json), (f"{path}/{{property}}/$value", bare))
    }


def _changing(
    edm: Edm,
    parts: Parts,
    schemas: Schemas,
    name: str,
    entity_set: EntitySet,
    content: dict[str, Any],
    *,
    merges: bool = False,
) -> dict[str, Any]:
    """Return the operations that set one property or set it to null."""
    access = Access(kind="update", entity_set=entity_set)
    made: dict[str, Any] = {}
    for method, verb in (("put", "replace"), ("patch", "change"), ("delete", "clear")):
        if method == "patch" and not merges:
            continue
        made[method] = {
            "operationId": name.format(verb),
            "summary": "Sets one property to null." if method == "delete" else "Changes one property.",
            **common(edm, parts, access, entity_set),
            "parameters": [ref("return", "parameters")],
            **({"requestBody": {"required": True, "content": content}} if method != "delete" else {}),
            "responses": {
                "200": answer("Changed.", schemas.single({})),
                "204": answer("Changed."),
                **parts.errors(access),
            },
        }
    return made


def _distinct(schemas: list[Schema]) -> list[Schema]:
    found: list[Schema] = []
    for schema in schemas:
        bare = {key: value for key, value in schema.items() if key not in ("title", "description", "readOnly")}
        if bare not in found:
            found.append(bare)
    return found


class Operations:
    """Creates the path items of the operations of one model."""

    def __init__(
        self, edm: Edm, schemas: Schemas, parts: Parts, statuses: Mapping[str, int], *, whole: bool = True
    ) -> None:
        self._edm = edm
        self._whole = whole
        self._schemas = schemas
        self._parts = parts
        self._statuses = statuses

    def bound(
        self,
        path: str,
        name: str,
        entity_set: EntitySet,
        entity_type: EntityType,
        in_path: list[dict[str, Any]],
        *,
        collection: bool,
    ) -> dict[str, Any]:
        """Return the operations bound to an entity or collection of this type.

        The whole document has each at two addresses, with and without its namespace.
        """
        paths: dict[str, Any] = {}
        for operation in self._edm.schema.operations:
            if operation.binding != entity_type.name or operation.binding_collection != collection:
                continue
            access = Access(kind="invoke", entity_set=entity_set, operation=operation)
            owner = f"{name}.collection" if collection else name
            qualified = ((self._edm.qualified(operation.name), ".qualified"),) if self._whole else ()
            for called, suffix in ((operation.name, ""), *qualified):
                taken = [one["name"] for one in in_path]
                end, parameters, item = self._item(operation, access, taken)
                number = self._edm.overloads(operation).index(operation)
                operation_id = f"{owner}.{operation.name}{suffix}{f'.{number}' if number else ''}"
                (described_,) = item.values()
                described_ |= {"operationId": operation_id, "tags": [name]}
                paths[f"{path}/{called}{end}"] = {"parameters": [*in_path, *parameters], **item}
        return paths

    def imports(self) -> dict[str, Any]:
        """Return the operations at the service root."""
        container = self._edm.schema.container
        targets = [(one.name, one.action, Action, one.entity_set) for one in container.action_imports]
        targets += [(one.name, one.function, Function, one.entity_set) for one in container.function_imports]  # type: ignore[misc]
        paths: dict[str, Any] = {}
        for name, target, kind, set_name in targets:
            overloads = [
                one for one in self._edm.operations.get(target, ()) if isinstance(one, kind) and one.binding is None
            ]
            for number, operation in enumerate(overloads):
                end, parameters, item = self._item(operation, Access(kind="invoke", operation=operation), [])
                (described_,) = item.values()
                described_["operationId"] = name if number == 0 else f"{name}.{number}"
                described_["tags"] = [set_name or self._set_of(operation) or ROOT_TAG]
                paths[f"/{name}{end}"] = {"parameters": parameters, **item}
        return paths

    def _set_of(self, operation: Operation) -> str | None:
        """Return the only set with entities of the type that an operation returns."""
        returned = operation.returns.entity_type if operation.returns else None
        sets = [one.name for one in self._edm.entity_sets.values() if one.entity_type == returned]
        return sets[0] if len(sets) == 1 else None

    def _item(
        self, operation: Operation, access: Access, taken: Sequence[str]
    ) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
        """Return the text after the name in the path, the parameters in it, and the path item."""
        notes = described(operation.annotations)
        made: dict[str, Any] = {
            "summary": notes.pop("description", operation.name),
            **({"deprecated": True} if "deprecated" in notes else {}),
            **self._parts.allowed(access),
            "responses": self._answers(operation) | self._parts.errors(access),
        }
        if isinstance(operation, Function):
            end, parameters = function_parameters(operation, taken)
            return end, parameters, {"get": made}
        schemas = {one.name: self._parameter(operation.name, one) for one in operation.parameters}
        return "", [], {"post": made | action_body(operation, schemas)}

    def _answers(self, operation: Operation) -> dict[str, Any]:
        returns = operation.returns
        if returns is None:
            return {"204": answer("Done.")}
        status = str(self._statuses.get(operation.name, 200))
        success = answer("Done.", self._schemas.returned(returns))
        if returns.media_type is not None:
            success["content"][returns.media_type] = {"schema": {"type": "string"}}
        nothing = {"204": answer("There is nothing.")} if returns.nullable and not returns.collection else {}
        minimal = {"204": answer("Done, with `Prefer: return=minimal`.")} if isinstance(operation, Action) else {}
        return {status: success, **minimal, **nothing}

    def _parameter(self, operation: str, one: Parameter) -> Schema:
        if one.entity_type is None:
            return self._schemas.parameter(operation, one)
        entity = self._schemas.create(self._edm.entity_types[one.entity_type])
        if one.collection:
            return {"type": "array", "items": entity}
        return nullable(entity) if one.nullable else entity
