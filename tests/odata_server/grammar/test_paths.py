"""Resource paths and entity URLs."""

from __future__ import annotations

from typing import Any

import pytest

from odata_server.edm import Primitive
from odata_server.errors import ODataError
from odata_server.expressions import KeyPredicate, Literal, ParameterAlias, ResourcePath, Segment
from odata_server.parse import below_root, parse_entity_id, parse_filter, parse_path, parse_relative_uri

GUID = "01234567-89ab-cdef-0123-456789abcdef"


def key(*values: Any) -> KeyPredicate:
    return KeyPredicate(tuple(value if isinstance(value, tuple) else (None, value) for value in values))


ONE = Literal(1, Primitive.INT32)
PATHS: dict[str, tuple[Segment, ...]] = {
    "": (),
    "/": (),
    "Books": (Segment("Books"),),
    "Books/": (Segment("Books"),),
    "Books(1)": (Segment("Books", (key(ONE),)),),
    f"Books({GUID.upper()})": (Segment("Books", (key(Literal(GUID, Primitive.GUID)),)),),
    f"Books('{GUID}')": (Segment("Books", (key(Literal(GUID, Primitive.STRING)),)),),
    "Books(@id)": (Segment("Books", (key(ParameterAlias("id")),)),),
    "Books(ID=1,IsActiveEntity=false)": (
        Segment("Books", (key(("ID", ONE), ("IsActiveEntity", Literal(False, Primitive.BOOLEAN))),)),
    ),
    "Books%28ID%3D1%29": (Segment("Books", (key(("ID", ONE)),)),),
    "Books('a%2Fb''c+d')": (Segment("Books", (key(Literal("a/b'c+d", Primitive.STRING)),)),),
    "Books('%C3%BC()')/x": (Segment("Books", (key(Literal("ü()", Primitive.STRING)),)), Segment("x")),
    "Books/17": (Segment("Books"), Segment("17")),
    "Books/O'Neil": (Segment("Books"), Segment("O'Neil")),
    "Books/a%2Fb": (Segment("Books"), Segment("a/b")),
    "Books/N.best(count=1)(1)": (
        Segment("Books"),
        Segment("N.best", (key(("count", ONE)), key(ONE))),
    ),
    "Books/N.best()/$count": (Segment("Books"), Segment("N.best", (key(),)), Segment("$count")),
    "Books(1)/chapters/$ref": (Segment("Books", (key(ONE),)), Segment("chapters"), Segment("$ref")),
    "$metadata": (Segment("$metadata"),),
    "$batch": (Segment("$batch"),),
    "$all/N.Type": (Segment("$all"), Segment("N.Type")),
    "$crossjoin(A,B)": (Segment("$crossjoin", sets=("A", "B")),),
    "Books/$each": (Segment("Books"), Segment("$each")),
    "Books/$filter(a/any(x:x/b eq '/)'))/$count": (
        Segment("Books"),
        Segment("$filter", expression=parse_filter("a/any(x:x/b eq '/)')")),
        Segment("$count"),
    ),
    "Books/$filter(a%20eq%20%27%29/%27)/N.f": (
        Segment("Books"),
        Segment("$filter", expression=parse_filter("a eq ')/'")),
        Segment("N.f"),
    ),
}


@pytest.mark.parametrize(("given", "segments"), PATHS.items())
def test_each_path_is_parsed_into_its_segments(given: str, segments: tuple[Segment, ...]) -> None:
    assert parse_path(given) == ResourcePath(segments)


@pytest.mark.parametrize(
    "given",
    [
        "/Books",
        "Books//x",
        "Books(",
        "Books(1",
        "Books(1))",
        "Books(1)x",
        "Books('a/b')",
        "Books('a'b')",
        "Books(a)",
        "Books(a=b)",
        "Books(a=1,)",
        "Books(1,2)",
        "Books(-)",
        "Books(@a.b)",
        "Books (1)",
        "1",
        "N.Books",
        "a b",
        "$count",
        "$value",
        "$foo",
        "$metadata/x",
        "$metadata(1)",
        "$filter(a)",
        "Books/$metadata",
        "Books/$foo",
        "Books/$Count",
        "Books/$filter(",
        "Books/$filter()",
        "Books/$filter(a)x",
        "Books/$filter(a)x/y",
        "Books/$filter(a eq)",
        "Books/$count/x",
        "Books/$value/$count",
        "Books/x(('",
        "$crossjoin()",
        "$crossjoin(A,)",
        "$crossjoin(1)",
        "Books/%FF",
        "Books/%2",
        "Books('%00')",
        "x" * 129,
        "Books" + "/a" * 40,
    ],
)
def test_an_invalid_path_is_refused(given: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_path(given)
    assert refusal.value.status == 400
    assert refusal.value.code == "URI_SYNTAX"
    assert "position" in refusal.value.message


@pytest.mark.parametrize("given", ["Books(1)", "/api/v1/Books(1)", "https://example.com/api/v1/Books(1)"])
def test_an_entity_id_may_be_a_relative_path_an_absolute_path_or_a_full_url(given: str) -> None:
    assert parse_entity_id(given, "/api/v1") == parse_path("Books(1)")
    assert parse_entity_id(given, "/api/v1/") == parse_path("Books(1)")
    assert below_root(given, "/api/v1") == "Books(1)"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "/",
        "/api/v1/",
        "/api/v2/Books(1)",
        "/api/v1evil/Books(1)",
        "//example.com/api/v1/Books(1)",
        "Books(1)?x=1",
        "ftp://example.com/api/v1/Books(1)",
        "https://example.com",
        "Books(1)#x",
        "../Books(1)",
    ],
)
def test_a_url_that_does_not_identify_an_entity_of_this_service_is_refused(given: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_entity_id(given, "/api/v1")
    assert (refusal.value.status, refusal.value.code) == (400, "URI_SYNTAX")


def test_a_relative_uri_is_a_path_and_options() -> None:
    path, options = parse_relative_uri("Books(1)/chapters?$top=2&$filter=a eq '?'")
    assert path == parse_path("Books(1)/chapters")
    assert (options.top, options.filter) == (2, parse_filter("a eq '?'"))
    for refused in ("$entity", "$metadata?$top=1", "$batch?$filter=true", "$entity?$id=Books(1)&$select=a"):
        with pytest.raises(ODataError) as refusal:
            parse_relative_uri(refused)
        assert refusal.value.status == 400
