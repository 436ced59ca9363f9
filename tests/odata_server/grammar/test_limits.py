"""No text is expensive to parse: size, nesting and time are bounded, and beyond the bounds the answer is 400."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from odata_server.errors import ODataError
from odata_server.parse import parse_apply, parse_filter, parse_options, parse_path, parse_search
from odata_server.parse.cursor import DEPTH_MAX, NODES_MAX
from odata_server.parse.headers import parse_preferences
from tests.kit.processor_time import processor_time

KIB8 = 8192
DEEP = 10_000


def refused(read: Callable[[], Any]) -> ODataError:
    with pytest.raises(ODataError) as refusal:
        read()
    assert refusal.value.status == 400
    return refusal.value


NESTED: dict[str, Callable[[], Any]] = {
    "parentheses": lambda: parse_filter("(" * DEEP + "a" + ")" * DEEP),
    "not": lambda: parse_filter("not " * DEEP + "a"),
    "minus": lambda: parse_filter("-" * DEEP + "a"),
    "calls": lambda: parse_filter("tolower(" * DEEP + "a" + ")" * DEEP),
    "functions": lambda: parse_filter("N.f(x=" * DEEP + "1" + ")" * DEEP),
    "lambdas": lambda: parse_filter("a/any(x:" * DEEP + "true" + ")" * DEEP),
    "cases": lambda: parse_filter("case(" * DEEP + "true:1" + ")" * DEEP),
    "case with times": lambda: parse_filter("case(" * 30 + "a" + " eq 10:15)" * 30),
    "casts": lambda: parse_filter("cast(" * DEEP + "a" + ",Edm.String)" * DEEP),
    "lists": lambda: parse_filter("a in (" * DEEP),
    "arrays": lambda: parse_filter("[" * DEEP + "]" * DEEP),
    "objects": lambda: parse_filter('{"a":' * DEEP + "1" + "}" * DEEP),
    "counts": lambda: parse_filter("a/$count($filter=" * DEEP),
    "filters": lambda: parse_filter("a/$filter(" * DEEP),
    "root": lambda: parse_filter("$root/A(b=" * DEEP),
    "path": lambda: parse_filter("a" + "/a" * DEEP),
    "search": lambda: parse_search("(" * DEEP + "a" + ")" * DEEP),
    "search not": lambda: parse_search("NOT " * DEEP + "a"),
    "search words": lambda: parse_search("a " * DEEP),
    "expand": lambda: parse_options("$expand=" + "a($expand=" * DEEP),
    "select": lambda: parse_options("$select=" + "a($select=" * DEEP),
    "apply": lambda: parse_apply("concat(" * DEEP),
    "groupby": lambda: parse_apply("groupby((a)," * DEEP),
    "nest": lambda: parse_apply("nest(" * DEEP),
    "path filter": lambda: parse_path("A/$filter(" + "(" * DEEP + ")" * DEEP + ")"),
    "segments": lambda: parse_path("A" + "/a" * DEEP),
    "keys": lambda: parse_path("A" + "(1)" * 300),
    "unclosed quotes": lambda: parse_filter("'" * (DEEP + 1)),
}


@pytest.mark.alone
@pytest.mark.parametrize("read", NESTED.values(), ids=NESTED)
def test_too_deep_nesting_is_refused_immediately(read: Callable[[], Any]) -> None:
    with processor_time() as spent:
        refused(read)
    assert spent.seconds < 0.25


def test_the_deepest_allowed_nesting_is_parsed_on_a_deep_stack() -> None:
    """A request is parsed deep in a web framework's stack; the deepest allowed nesting must still fit."""
    texts = [
        "(" * (DEPTH_MAX - 1) + "a" + ")" * (DEPTH_MAX - 1),
        "tolower(" * (DEPTH_MAX - 1) + "a" + ")" * (DEPTH_MAX - 1),
    ]

    def deeper(levels: int) -> None:
        if levels:
            return deeper(levels - 1)
        for text in texts:
            parse_filter(text)
        return None

    deeper(sys.getrecursionlimit() // 2)


def test_an_expression_has_a_largest_size() -> None:
    """Literals do not count, so that a filter with many values stays possible."""
    terms = NODES_MAX // 3
    assert parse_filter(" or ".join(["a eq 1"] * terms))
    error = refused(lambda: parse_filter(" or ".join(["a eq 1"] * (terms + 2))))
    assert (error.code, error.target) == ("EXPRESSION_TOO_LARGE", "$filter")
    assert parse_filter(f"a in ({','.join(['1'] * 1000)})")
    assert refused(lambda: parse_filter(f"a in ({','.join(['1'] * 1002)})")).code == "EXPRESSION_TOO_LARGE"


def test_all_expressions_of_a_request_count_together() -> None:
    half = " or ".join(["a eq 1"] * (NODES_MAX // 6 + 1))
    assert parse_options(f"$filter={half}")
    assert refused(lambda: parse_path(f"A/$filter({half})/$filter({half})")).code == "EXPRESSION_TOO_LARGE"
    for query in (f"$filter={half}&@a={half}", f"$expand=x($filter={half}),y($filter={half})"):
        assert refused(partial(parse_options, query)).code == "EXPRESSION_TOO_LARGE"


def test_expands_have_a_largest_depth() -> None:
    four = "$expand=a($expand=b($expand=c($expand=d,e)))"
    assert parse_options(four)
    assert refused(lambda: parse_options(four.replace("d,e", "d($expand=e)"))).code == "EXPAND_TOO_DEEP"


LARGE = {
    "strings": "$filter=" + " or ".join(["a eq '" + "x" * 250 + "'"] * 30),
    "one string": "$filter=a eq '" + "x" * KIB8 + "'",
    "quotes": "$filter=a eq '" + "''" * (KIB8 // 2) + "'",
    "open quotes": "$filter=a eq '" + "''" * (KIB8 // 2),
    "list": "$filter=a in (" + ",".join(["01234567-89ab-cdef-0123-456789abcdef"] * 220) + ")",
    "digits": "$filter=a eq " + "9" * KIB8,
    "dots": "$filter=a eq " + "a." * (KIB8 // 2),
    "name": "$filter=" + "a" * KIB8,
    "spaces": "$filter=a" + " " * KIB8 + "eq 1",
    "escapes": "$filter=a eq '" + "%C3%BC" * (KIB8 // 6) + "'",
    "plus": "$filter=a eq '" + "T00:00+" * (KIB8 // 7) + "'",
    "custom": "&".join(["x=1"] * (KIB8 // 4)),
    "select": "$select=" + ",".join(["name"] * 900),
    "search": "$search=" + "ab " * 95,
    "search quotes": "$search=" + "'" * KIB8,
    "phrases": '$search="' + "a" * KIB8,
    "semicolons": "$expand=a($search=" + "a;" * (KIB8 // 2) + ")",
    "semicolons and names": "$expand=a($search=" + "a;" + "b" * KIB8 + ")",
    "json": "@a=[" + ",".join(['{"a":"b"}'] * 450) + "]",
    "json escapes": '@a=["' + "\\u0041" * (KIB8 // 6) + '"]',
    "geo": "$filter=geo.length(geography'SRID=0;LineString(" + ",".join(["1 2"] * 2000) + ")') gt 1",
    "geo collections": "$filter=a eq geography'SRID=0;" + "GeometryCollection(" * 400 + "'",
    "binary": "$filter=a eq binary'" + "A" * KIB8 + "'",
    "enumeration": "$filter=a eq N.E'" + ",".join(["a"] * (KIB8 // 2)) + "'",
    "casts": "$filter=" + " or ".join(["cast(a,Edm.Boolean)"] * 65) + " " * 6000,
}


def fastest(read: Callable[[], object]) -> float:
    best = 1.0
    for _ in range(5):
        with processor_time() as spent:
            try:
                read()
            except ODataError as error:
                assert error.status == 400  # noqa: PT017  # being refused must be fast as well
        best = min(best, spent.seconds)
    return best


@pytest.mark.alone
@pytest.mark.parametrize("query", LARGE.values(), ids=LARGE)
def test_eight_kib_are_read_or_refused_in_20_ms(query: str) -> None:
    assert fastest(lambda: parse_options(query)) < 0.02


MIB = 1024 * 1024
HUGE = {
    "query": lambda: parse_options("x&" * MIB),
    "filter": lambda: parse_filter("'" + "x" * MIB + "'"),
    "path": lambda: parse_path("A" + "/$filter(a)" * (MIB // 10)),
    "aliases": lambda: parse_options("&".join(f"@a{number}=1" for number in range(MIB // 10))),
}


@pytest.mark.alone
@pytest.mark.parametrize("read", HUGE.values(), ids=HUGE)
def test_a_text_longer_than_any_url_is_refused_immediately(read: Callable[[], Any]) -> None:
    """A query can also come in a body, and then it can be as long as the body."""
    refused(read)
    assert fastest(read) < 0.25


@pytest.mark.alone
def test_long_headers_and_paths_are_read_in_20_ms() -> None:
    for text in ("a;" * 4000, "a; " * 3000 + '"', "a=" * 4000, "," * KIB8, 'a="' + "\\" * KIB8, " " * KIB8):
        assert fastest(partial(parse_preferences, text)) < 0.02
    for text in ("%28" * 2700, "A('" + "''" * 4000, "A/" + "(" * KIB8, "$filter(" * 1000, "A" + "/$filter(a)" * 29):
        assert fastest(partial(parse_path, text)) < 0.02
