"""Routing of paths, and the errors for unknown paths and wrong methods."""

from __future__ import annotations

import pytest

from odata_server.parse import parse_path
from odata_server.resources import Kind, resolve
from tests.odata_server.bookshop import EDM, book
from tests.odata_server.service.shelves import Client

B = f"Books({book(1)})"


@pytest.mark.parametrize(
    ("path", "kind", "type_name"),
    [
        ("Books", Kind.ENTITIES, "Book"),
        (B, Kind.ENTITY, "Book"),
        (f"Books('{book(1)}')", Kind.ENTITY, "Book"),
        (f"Books(ID={book(1)})", Kind.ENTITY, "Book"),
        (f"Books%28ID={book(1)}%29", Kind.ENTITY, "Book"),
        (f"Translations(language='de',book_ID={book(1)})", Kind.ENTITY, "Translation"),
        ("Countries('DE')", Kind.ENTITY, "Country"),
        ("Countries('a%2Fb')", Kind.ENTITY, "Country"),
        (f"{B}/author", Kind.ENTITY, "Author"),
        (f"{B}/Bookshop.Book/author", Kind.ENTITY, "Author"),
        (f"Books/Bookshop.Book({book(1)})/author", Kind.ENTITY, "Author"),
        (f"{B}/genre/parent/children(3)/books", Kind.ENTITIES, "Book"),
        ("Profile", Kind.ENTITY, "Profile"),
        (f"{B}/title", Kind.PROPERTY, "Book"),
        ("Shops(1)/address/city", Kind.PROPERTY, "Shop"),
        (f"{B}/order", Kind.OPERATION, "Book"),
        (f"{B}/Bookshop.order", Kind.OPERATION, "Book"),
        ("Books/Bookshop.cheapest()", Kind.OPERATION, "Book"),
    ],
)
def test_each_path_resolves_to_its_resource(path: str, kind: Kind, type_name: str) -> None:
    resource = resolve(EDM, parse_path(path), {})
    assert resource.kind is kind
    assert resource.target is not None
    assert resource.target.entity_type.name == type_name


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("Nothing", 404, "NOT_FOUND"),
        ("books", 404, "NOT_FOUND"),
        ("Books()", 404, "NOT_FOUND"),
        (f"Books/{book(1)}", None, None),  # keys are not segments: 400 or 404, depending on the grammar
        (f"{B}/nothing", 404, "NOT_FOUND"),
        (f"{B}/privateNote", 404, "NOT_FOUND"),
        (f"{B}/purchasePrice", 404, "NOT_FOUND"),
        (f"{B}/title(1)", 404, "NOT_FOUND"),
        (f"{B}/author(1)", 404, "NOT_FOUND"),
        (f"{B}/$count", 404, "NOT_FOUND"),
        (f"{B}/$value", 404, "NOT_FOUND"),
        (f"{B}/title/more", 404, "NOT_FOUND"),
        (f"{B}/tags/$value", 404, "NOT_FOUND"),
        (f"{B}/Other.Book", 404, "NOT_FOUND"),
        (f"{B}/Bookshop.Author", 404, "NOT_FOUND"),
        ("Books/title", 404, "NOT_FOUND"),
        ("Countries('longer')", 404, "NOT_FOUND"),
        ("Books/order", 404, "NOT_FOUND"),
        ("Profile(1)", 404, "NOT_FOUND"),
        ("Books(1)", 400, "TYPE_MISMATCH"),
        ("Books('x')", 400, "TYPE_MISMATCH"),
        ("Books(null)", 400, "TYPE_MISMATCH"),
        ("Books(@nothing)", 400, "TYPE_MISMATCH"),
        ("Books(isbn='1')", 400, "URI_SYNTAX"),
        (f"Books(ID={book(1)},isbn='1')", 400, "URI_SYNTAX"),
        ("Genres('1')", 400, "TYPE_MISMATCH"),
        ("Genres(99999999999)", 400, "TYPE_MISMATCH"),
        ("Countries(1)", 400, "TYPE_MISMATCH"),
        ("Translations('de')", 400, "URI_SYNTAX"),
        ("Translations(language='de')", 400, "URI_SYNTAX"),
        ("$all", 501, "NOT_IMPLEMENTED"),
        ("$crossjoin(Books,Authors)", 501, "NOT_IMPLEMENTED"),
        ("Books/$each", 501, "NOT_IMPLEMENTED"),
        ("$entity", 400, "REQUIRED"),
        ("$entity?$id=Books", 404, "NOT_FOUND"),
        ("$entity?$id=/elsewhere/Books(1)", 400, "BAD_REFERENCE"),
        ("Books?$nothing=1", 400, "UNKNOWN_QUERY_OPTION"),
        (f"{B}?$filter=true", 400, "OPTION_NOT_APPLICABLE"),
        (f"{B}/title?$select=x", 400, "OPTION_NOT_APPLICABLE"),
        ("Books/$count?$top=1", 400, "OPTION_NOT_APPLICABLE"),
        ("Books?$deltatoken=x", 501, "NOT_IMPLEMENTED"),
        ("?$top=1", 400, "OPTION_NOT_APPLICABLE"),
    ],
)
async def test_unknown_paths_are_refused(reader: Client, path: str, status: int | None, code: str) -> None:
    answer = await reader("GET", path)
    if status is None:
        assert answer.status in {400, 404}
    else:
        assert (answer.status, answer.code) == (status, code)


async def test_aliases_can_be_used_as_keys(reader: Client) -> None:
    assert (await reader.get(f"Books(@key)?@key={book(2)}"))["title"] == "Emma"
    assert (await reader.get("Countries(code=@c)?@c='DE'&custom=1"))["name"] == "Germany"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "Books", "GET, POST"),
        ("POST", B, "GET, PATCH, PUT, DELETE"),
        ("DELETE", "Books/$count", "GET"),
        ("POST", "$metadata", "GET"),
        ("DELETE", "", "GET"),
        ("GET", "$batch", "POST"),
        ("GET", f"{B}/order", "POST"),
        ("POST", "greet(name='x')", "GET"),
        ("POST", f"{B}/author/$ref", "GET, PUT, DELETE"),
        ("PUT", f"Authors({book(1)})/books/$ref", "GET, POST, DELETE"),
        ("POST", f"{B}/title", "GET, PUT, DELETE"),
        ("PATCH", f"{B}/title", "GET, PUT, DELETE"),
        ("PUT", f"{B}/tags/$count", "GET"),
        ("DELETE", "Profile", "GET, PATCH, PUT"),
        ("BREW", "Books", "GET, POST"),
        ("OPTIONS", "Books", "GET, POST"),
    ],
)
async def test_methods_that_a_resource_does_not_support_are_refused(
    reader: Client, method: str, path: str, allowed: str
) -> None:
    answer = await reader(method, path, {})
    assert (answer.status, answer.code, answer.headers["Allow"]) == (405, "METHOD_NOT_ALLOWED", allowed)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "Countries"),
        ("PATCH", "Countries('DE')"),
        ("PUT", "Countries('DE')/name"),
        ("DELETE", "Countries('DE')"),
    ],
)
async def test_writing_to_a_read_only_set_is_refused_with_an_allow_header(
    reader: Client, method: str, path: str
) -> None:
    answer = await reader(method, path, {})
    assert (answer.status, answer.code, answer.headers["Allow"]) == (405, "READ_ONLY", "GET")
