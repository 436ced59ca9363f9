"""The OpenAPI document: what a host adds to its model, and a model to its types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from odata_server.edm import (
    Annotation,
    Container,
    Edm,
    EntitySet,
    EntityType,
    EnumMemberValue,
    Primitive,
    Property,
    Record,
    Schema,
)
from odata_server.hooks import Access
from odata_server.openapi.parts import Security
from tests.odata_server.openapi.test_openapi import BOOKSHOP, operations, render


def test_each_operation_names_the_scopes_that_open_it() -> None:
    def needed(access: Access) -> Sequence[str] | None:
        return None if access.kind == "metadata" else ["Read"] if access.kind == "read" else ["Write"]

    security = Security(token_url="https://example.com/token", scopes={"Read": "r", "Write": "w"}, needed=needed)
    document = render(BOOKSHOP, security=security)
    schemes = document["components"]["securitySchemes"]
    assert schemes["oauth2"]["flows"]["clientCredentials"]["tokenUrl"] == "https://example.com/token"
    for path, method, operation in operations(document):
        if path in ("/", "/$metadata"):
            assert operation["security"] == []
        else:
            scope = "Read" if method == "get" and not _calls(path) else "Write"
            assert operation["security"] == [{"oauth2": [scope]}, {"bearer": [scope]}], path


def _calls(path: str) -> bool:
    last = path.rpartition("/")[2].removeprefix("Bookshop.").partition("(")[0]
    return last in ("priceIn", "cheapest", "greet", "stockReport")


def test_allowed_values_of_the_host_become_enumerations() -> None:
    document = render(BOOKSHOP, allowed_values={"Book/language": ["de", "en"], "Author/country_code": ["AT"]})
    schemas = document["components"]["schemas"]
    for name in ("Book", "Book-create"):
        assert schemas[name]["properties"]["language"]["$ref"] == "#/components/schemas/Book-language"
    assert schemas["Book-language"] == {"type": "string", "enum": ["de", "en"]}
    country = [{"$ref": "#/components/schemas/Author-country_code"}, {"type": "null"}]
    assert schemas["Author-update"]["properties"]["country_code"]["anyOf"] == country
    assert schemas["Author-country_code"]["enum"] == ["AT"]


def test_properties_with_the_same_codes_share_their_schema() -> None:
    """Otherwise a generated client has a class for each property, and no value of one is a value of another."""
    names = {"Book/language": "Languages-code", "Translation/language": "Languages-code"}
    document = render(BOOKSHOP, allowed_values={one: ["de", "en"] for one in names}, enum_names=names)
    schemas = document["components"]["schemas"]
    assert "Book-language" not in schemas
    assert schemas["Languages-code"] == {"type": "string", "enum": ["de", "en"]}
    for name in ("Book", "Book-create", "Translation"):
        assert schemas[name]["properties"]["language"]["$ref"] == "#/components/schemas/Languages-code"


def test_no_code_and_no_value_of_several_types_is_without_a_name() -> None:
    def unnamed(schema: object, where: str) -> Iterator[str]:
        if isinstance(schema, dict):
            if "enum" in schema or "oneOf" in schema:
                yield where
            for key, value in schema.items():
                yield from unnamed(value, f"{where}.{key}")

    schemas = render(BOOKSHOP, allowed_values={"Book/language": ["de", "en"]})["components"]["schemas"]
    inside = {name: one.get("properties", {}) for name, one in schemas.items()}
    assert [where for name, one in inside.items() for where in unnamed(one, name)] == []


def _thing(*annotations: Annotation, **more: Any) -> dict[str, Any]:
    share = Property(name="share", type=Primitive.DECIMAL, precision=5, scale=2, annotations=annotations, **more)
    thing = EntityType(
        name="Thing", key=("ID",), properties=(Property(name="ID", type=Primitive.GUID, nullable=False), share)
    )
    container = Container(entity_sets=(EntitySet(name="Things", entity_type="Thing", annotations=annotations),))
    return render(Edm(Schema(namespace="Things", entity_types=(thing,), container=container)))


def test_bounds_and_descriptions_of_the_model_are_those_of_the_document() -> None:
    document = _thing(
        Annotation("Validation.Minimum", Decimal("0.5")),
        Annotation("Validation.Maximum", 100),
        Annotation("Core.Description", "A part"),
        Annotation("Common.Label", "Share"),
    )
    schemas = document["components"]["schemas"]
    share = schemas["Thing-create"]["properties"]["share"]
    assert (share["title"], share["description"]) == ("Share", "A part")
    number, nothing = share["anyOf"]
    assert nothing == {"type": "null"}
    assert number == {"$ref": "#/components/schemas/Decimal-5-2-from-0.5-to-100-input"}
    named = schemas["Decimal-5-2-from-0.5-to-100-input"]
    assert named["description"] == "At most 2 decimals; text is never rounded."
    assert named["oneOf"][0] == {"type": "number", "minimum": 0.5, "maximum": 100}


def test_the_default_of_a_value_of_several_types_is_in_words() -> None:
    """Generators in Java gave a class its default as a number, which did not compile."""
    share = _thing(default=Decimal(1), nullable=False)["components"]["schemas"]["Thing-create"]["properties"]["share"]
    assert share == {"description": "Default: 1.", "$ref": "#/components/schemas/Decimal-5-2-input"}


def test_deprecated_properties_and_operations_are_marked() -> None:
    kind = EnumMemberValue(("Core.RevisionKind/Deprecated",))
    revision = Annotation("Core.Revisions", (Record({"Kind": kind, "Description": "Use others."}),))
    document = _thing(revision)
    assert document["components"]["schemas"]["Thing"]["properties"]["share"]["deprecated"]
    assert all(operation["deprecated"] for path, _, operation in operations(document) if path.startswith("/Things"))
    untouched = _thing()
    assert "deprecated" not in json.dumps(untouched)


def test_other_endpoints_of_the_host_are_in_the_document() -> None:
    own = {"/Books:import": {"post": {"responses": {"202": {"description": "Accepted."}}}}}
    document = render(BOOKSHOP, own_paths=own)
    assert document["paths"]["/Books:import"] == own["/Books:import"]


def test_a_row_of_the_host_is_the_example_of_answers_and_bodies() -> None:
    row = {"ID": "01234567-89ab-cdef-0123-456789abcdef", "isbn": "9783161484100", "title": "It", "price": 9.99}
    row |= {"description": None, "language": "en"}
    extras = {"minorVersion": {"type": "integer", "const": 3}}
    schemas = render(BOOKSHOP, examples={"Book": row, "Author": {"born": None}}, extras=extras)["components"]["schemas"]
    assert schemas["Book"]["examples"] == [row | {"minorVersion": 3}]
    assert schemas["Book-page"]["examples"] == [{"@count": 1, "value": [row], "minorVersion": 3}]
    (created,) = schemas["Book-create"]["examples"]
    assert created.items() >= {"isbn": "9783161484100", "title": "It", "price": 9.99}.items()
    assert not created.keys() & {"ID", "description"}
    assert schemas["Book-update"]["examples"] == [{"title": "It", "price": 9.99}]
    assert "examples" not in schemas["Author-create"], "its required name is not in the row"
