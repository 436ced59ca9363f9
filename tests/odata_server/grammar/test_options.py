"""Query strings: names, decoding, and the options that are not expressions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest

from odata_server.edm import Primitive
from odata_server.errors import ODataError
from odata_server.expressions import Binary, CountOf, It, JsonLiteral, Literal, Member, ParameterAlias, SearchTerm
from odata_server.parse import parse_expand, parse_expand_options, parse_filter, parse_options, parse_select
from odata_server.syntax import (
    Aggregate,
    AggregateExpression,
    Compute,
    ComputeItem,
    Concat,
    CustomTransformation,
    ExpandItem,
    Filter,
    GroupBy,
    Identity,
    OrderItem,
    OrderTransformation,
    QueryOptions,
    SelectItem,
    Skip,
    Top,
    TopOf,
)

TYPICAL = "$filter=status eq 'ACTIVE' and validTo gt 2026-01-01T00:00:00Z&$orderby=name desc&$top=50&$count=true"


def test_a_typical_query_string_is_parsed_into_its_options() -> None:
    options = parse_options(TYPICAL)
    assert options.filter == parse_filter("status eq 'ACTIVE' and validTo gt 2026-01-01T00:00:00Z")
    assert options.orderby == (OrderItem(Member("name"), descending=True),)
    assert (options.top, options.skip, options.count) == (50, None, True)
    assert options.present == {"filter", "orderby", "top", "count"}
    assert options.text == TYPICAL


def test_an_empty_query_string_gives_no_options() -> None:
    assert parse_options("") == QueryOptions()


# ---- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["$top", "top", "TOP", "$Top", "%24top"])
def test_names_of_options_come_with_and_without_dollar_in_any_case(name: str) -> None:
    assert parse_options(f"{name}=5").top == 5


def test_other_options_are_custom_options_or_refused() -> None:
    options = parse_options("sap-client=100&flag&x=a%26b&&skiptoken=1&$skiptoken=a%2Bb+c")
    assert options.custom == (("sap-client", "100"), ("flag", ""), ("x", "a&b"), ("skiptoken", "1"))
    assert options.skiptoken == "a+b+c"
    for name in ("$tip", "$", "$$top", "$levels"):
        with pytest.raises(ODataError) as refusal:
            parse_options(f"{name}=5")
        assert (refusal.value.status, refusal.value.code) == (400, "UNKNOWN_QUERY_OPTION")
        assert refusal.value.target == name


@pytest.mark.parametrize(
    "query",
    [
        "$top=1&top=2",
        "@a=1&@a=2",
        "$top",
        "$top=",
        "$top=-1",
        "$top=1.5",
        "$top=9999999999",
        "$skip=x",
        "$count=yes",
        "$filter= a",
        "$orderby=a,",
        "$orderby=a desc b",
        "$select=",
        "$select=a,,b",
        "$select=a/*",
        "$select=a(b=1)",
        "$select=a($levels=1)",
        "$select=a($expand=b)",
        "$expand=a(",
        "$expand=a()",
        "$expand=a($top=1;$top=2)",
        "$expand=a($tip=1)",
        "$expand=a($top=1,$skip=1)",
        "$expand=*($top=1)",
        "$expand=*/$count",
        "$expand=a($levels=0)",
        "$expand=a($levels=x)",
        "$expand=a/$ref($select=b)",
        "$expand=a/$value",
        "$compute=a as 1",
        "$compute=a asb",
        "$format=5",
        "$schemaversion=a b",
        "@=1",
        "@1=1",
        "=1",
        "$search=a;b",
        "$filter=a eq '%FF'",
        "$filter=a eq '%0'",
        "$filter=a eq 'x%00'",
        "x=%FF",
        "$filter=a#b",
    ],
)
def test_a_malformed_query_is_refused(query: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_options(query)
    assert (refusal.value.status, refusal.value.code) == (400, "QUERY_SYNTAX")


# ---- decoding -----------------------------------------------------------------------------------------------------

NAMES = ["Summer & Sale = 50% + more; it's ok?/#", "Größe 'XL' \t*", "100%25"]


@pytest.mark.parametrize(
    "encode", [quote, quote_plus, lambda text: quote(text, safe="!~*'()"), lambda text: quote(text, safe=":$,;/?@")]
)
@pytest.mark.parametrize("name", NAMES)
def test_every_clients_encoding_means_the_same(encode: Any, name: str) -> None:
    """Requests and axios write a space as ``+``, browsers and UI5 as ``%20``; their unencoded characters differ too."""
    literal = name.replace("'", "''")
    options = parse_options("$filter=" + encode(f"name eq '{literal}'"))
    assert options.filter == Binary("eq", Member("name"), Literal(name, Primitive.STRING))


def test_a_plus_is_a_sign_where_only_a_sign_can_stand() -> None:
    given = parse_options("$filter=a+gt+1e+5+and+b+lt+2026-01-01T02:00:00+02:00+and+c+eq+%2B5+and+d+eq+'x+y'").filter
    assert given == parse_filter("a gt 1e+5 and b lt 2026-01-01T02:00:00+02:00 and c eq +5 and d eq 'x y'")


def test_separators_in_literals_are_data() -> None:
    query = urlencode({"$filter": "a eq 'x&y=z;(' or b in ('p,q','#')", "$expand": "c($filter=d eq ';)';$top=1),e"})
    options = parse_options(query)
    assert options.filter == parse_filter("a eq 'x&y=z;(' or b in ('p,q','#')")
    nested = options.expand[0].options
    assert nested is not None
    assert nested.filter == parse_filter("d eq ';)'")
    assert (nested.top, options.expand[1].path) == (1, ("e",))


# ---- aliases ------------------------------------------------------------------------------------------------------


def test_aliases_are_expressions_and_json() -> None:
    options = parse_options("@p='x'&@q=a add 1&@r={\"k\":[1,2.5,null,true]}&@s=%5B%22a%22%5D&$filter=b eq @p")
    assert options.aliases == {
        "p": Literal("x", Primitive.STRING),
        "q": parse_filter("a add 1"),
        "r": JsonLiteral({"k": [1, Decimal("2.5"), None, True]}),
        "s": JsonLiteral(["a"]),
    }
    assert options.filter == Binary("eq", Member("b"), ParameterAlias("p"))


def test_a_json_alias_is_parsed_again_for_each_request() -> None:
    """Its values are lists and dictionaries; changing one must not affect the next request's."""
    first, second = (parse_options("@p=[1]").aliases["p"] for _ in range(2))
    assert isinstance(first, JsonLiteral)
    first.value.append(2)
    assert second == JsonLiteral([1])


# ---- select and expand --------------------------------------------------------------------------------------------


def test_select_is_parsed_into_its_items() -> None:
    assert parse_select("*,a, b/c,N.*,N.Type/d,@Core.Messages,N.f(x,y),e($select=f;$top=2),g(top=1)") == (
        SelectItem(("*",)),
        SelectItem(("a",)),
        SelectItem(("b", "c")),
        SelectItem(("N.*",)),
        SelectItem(("N.Type", "d")),
        SelectItem(("@Core.Messages",)),
        SelectItem(("N.f(x,y)",)),
        SelectItem(
            ("e",),
            QueryOptions(
                select=(SelectItem(("f",)),), top=2, present=frozenset({"select", "top"}), text="$select=f;$top=2"
            ),
        ),
        SelectItem(("g",), QueryOptions(top=1, present=frozenset({"top"}), text="top=1")),
    )


def test_expand_is_parsed_into_its_items() -> None:
    found = parse_expand("a,*($levels=2),*/$ref,b/$ref,c/N.Type,d/$count($search=x y),$value,e($levels=max;COUNT=TRUE)")
    assert [(item.path, item.kind) for item in found] == [
        (("a",), ""),
        (("*",), ""),
        (("*",), "$ref"),
        (("b",), "$ref"),
        (("c", "N.Type"), ""),
        (("d",), "$count"),
        ((), "$value"),
        (("e",), ""),
    ]
    options = [item.options for item in found]
    assert options[1] is not None
    assert options[1].levels == 2
    assert options[5] is not None
    assert options[5].search is not None
    assert options[7] is not None
    assert (options[7].levels, options[7].count) == ("max", True)


def test_every_option_can_stand_in_an_expand() -> None:
    text = (
        "$filter=a eq @x;$orderby=b,c desc;$select=d;$expand=e($top=1);$compute=a add 1 as f;$search=g h;"
        "$top=1;$skip=2;$count=true;$levels=3;@x=$it/y"
    )
    options = parse_expand_options(text)
    assert options == parse_options(text, in_expand=True)
    assert options.filter == Binary("eq", Member("a"), ParameterAlias("x"))
    assert options.aliases == {"x": Member("y", It())}
    assert options.expand[0] == ExpandItem(("e",), "", QueryOptions(top=1, present=frozenset({"top"}), text="$top=1"))
    assert len(options.present) == 10
    with pytest.raises(ODataError):
        parse_expand_options("$top=1)")


def test_a_semicolon_in_a_search_ends_it_only_before_an_option() -> None:
    (item,) = parse_expand("a($search=x;y;$top=1)")
    assert item.options is not None
    assert (item.options.search, item.options.top) == (SearchTerm("x;y"), 1)


def test_compute_is_parsed_into_its_expressions() -> None:
    assert parse_options("$compute=a mul 2 as b,c AS d").compute == (
        ComputeItem(parse_filter("a mul 2"), "b"),
        ComputeItem(Member("c"), "d"),
    )


# ---- apply --------------------------------------------------------------------------------------------------------


def test_apply_is_parsed_into_its_transformations() -> None:
    text = (
        "filter(a eq 1)/groupby((b,c/d,rollup(e,f)),aggregate(g with sum as h,$count as i,j/$count as k,l))"
        "/compute(h div 2 as m)/orderby(m desc)/skip(1)/top(2)/topcount(3,m)/concat(identity,search(x)/identity)"
        "/nest(identity as n)"
    )
    found = parse_options(f"$apply={text}").apply
    assert found[0] == Filter(parse_filter("a eq 1"))
    aggregate = Aggregate(
        (
            AggregateExpression(Member("g"), "sum", "h"),
            AggregateExpression(CountOf(None), None, "i"),
            AggregateExpression(CountOf(Member("j")), None, "k"),
            AggregateExpression(Member("l"), None, None),
        )
    )
    assert found[1] == GroupBy((("b",), ("c", "d")), (aggregate,), ((("e",), ("f",)),))
    assert found[2] == Compute((ComputeItem(parse_filter("h div 2"), "m"),))
    assert found[3] == OrderTransformation((OrderItem(Member("m"), descending=True),))
    assert found[4:7] == (Skip(1), Top(2), TopOf("topcount", Literal(3, Primitive.INT32), Member("m")))
    assert isinstance(found[7], Concat)
    assert found[7].parts[0] == (Identity(),)
    assert found[8] == CustomTransformation("nest", (((Identity(),), "n"),))


def test_aggregation_with_from_is_parsed_into_its_steps() -> None:
    (found,) = parse_options("$apply=aggregate(a with sum from b,c/d with average as e)").apply
    steps = (((("b",), ("c", "d")), "average"),)
    assert found == Aggregate((AggregateExpression(Member("a"), "sum", "e", steps),))
