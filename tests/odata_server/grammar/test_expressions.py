"""Expressions: the syntax tree that each form produces."""

from __future__ import annotations

from typing import Any

import pytest

from odata_server.edm import Primitive
from odata_server.errors import ODataError
from odata_server.expressions import (
    AllOf,
    AnnotationOf,
    AnyOf,
    Binary,
    BoundCall,
    Call,
    Case,
    Cast,
    CountOf,
    EnumLiteral,
    Expression,
    In,
    IsOf,
    It,
    JsonLiteral,
    KeyPredicate,
    ListExpression,
    Literal,
    Member,
    ParameterAlias,
    ResourcePath,
    Root,
    SearchTerm,
    Segment,
    TypeCast,
    Unary,
)
from odata_server.parse import parse_filter
from tests.odata_server.grammar.unparse import unparse

A, B, C = Member("a"), Member("b"), Member("c")


def number(value: int) -> Literal:
    return Literal(value, Primitive.INT32)


def text(value: str) -> Literal:
    return Literal(value, Primitive.STRING)


PRECEDENCE = {
    "a or b and c": "(a or (b and c))",
    "a and b or c": "((a and b) or c)",
    "a eq b and c ne 1": "((a eq b) and (c ne 1))",
    "a eq b lt c": "(a eq (b lt c))",
    "a lt b add 1": "(a lt (b add 1))",
    "a add b mul c": "(a add (b mul c))",
    "a sub b sub c": "((a sub b) sub c)",
    "a div b divby c mod 2": "(((a div b) divby c) mod 2)",
    "not a and b": "((not a) and b)",
    "not a eq b": "((not a) eq b)",
    "not(a eq b)": "(not (a eq b))",
    "not not a": "(not (not a))",
    "not a in (1,2)": "(not (a in (1,2)))",
    "-a mul b": "((- a) mul b)",
    "-(a add b)": "(- (a add b))",
    "a add -b": "(a add (- b))",
    "a eq 1 or b in ('x') and not contains(c,'y')": "((a eq 1) or ((b in ('x')) and (not contains(c,'y'))))",
    "a EQ 1 OR NOT b AND c In (1)": "((a eq 1) or ((not b) and (c in (1))))",
}


def bracketed(expression: Expression) -> str:
    if isinstance(expression, Binary):
        return f"({bracketed(expression.left)} {expression.operator} {bracketed(expression.right)})"
    if isinstance(expression, Unary):
        return f"({expression.operator} {bracketed(expression.operand)})"
    if isinstance(expression, In):
        return f"({bracketed(expression.left)} in {unparse(expression.right)})"
    return unparse(expression)


@pytest.mark.parametrize(("given", "meant"), PRECEDENCE.items())
def test_operators_have_the_precedence_of_the_protocol(given: str, meant: str) -> None:
    assert bracketed(parse_filter(given)) == meant


TREES: dict[str, Any] = {
    # paths
    "a/b/c": Member("c", Member("b", A)),
    "N.Type/a": Member("a", TypeCast("N.Type")),
    "a/N.Type/b": Member("b", TypeCast("N.Type", A)),
    "a/@Core.Messages": AnnotationOf("Core.Messages", A),
    "a/@Currency#Reporting": AnnotationOf("Currency#Reporting", A),
    "@Core.Messages": AnnotationOf("Core.Messages"),
    "@alias": ParameterAlias("alias"),
    "@alias/a": Member("a", ParameterAlias("alias")),
    "$it": It(),
    "$it/a": Member("a", It()),
    "$this/a": Member("a", It(this=True)),
    "größe": Member("größe"),
    "eq eq eq": Binary("eq", Member("eq"), Member("eq")),
    "$root/Sets('k')/a": Root(
        ResourcePath((Segment("Sets", (KeyPredicate(((None, text("k")),)),)), Segment("a"))),
    ),
    "$root/Sets/any(x:x/a)": AnyOf(Root(ResourcePath((Segment("Sets"),))), "x", Member("a", Member("x"))),
    # counts
    "a/$count": CountOf(A),
    "$count": CountOf(None),
    "$these/$count": CountOf(None),
    "a/$count($filter=b;$search=red)": CountOf(A, B, SearchTerm("red")),
    "a/$count(FILTER=b)": CountOf(A, B),
    "a/$filter(b)/$count": CountOf(A, B),
    # lambdas
    "a/any()": AnyOf(A),
    "a/any(x:x eq 1)": AnyOf(A, "x", Binary("eq", Member("x"), number(1))),
    "a/all(x:x/b/any(y:y eq x/c))": AllOf(
        A, "x", AnyOf(Member("b", Member("x")), "y", Binary("eq", Member("y"), Member("c", Member("x"))))
    ),
    "a/ANY( x : true )": AnyOf(A, "x", Literal(True, Primitive.BOOLEAN)),
    # calls
    "contains(a,'x')": Call("contains", (A, text("x"))),
    "TOLOWER(a)": Call("tolower", (A,)),
    "matchesPattern(a,'^x')": Call("matchespattern", (A, text("^x"))),
    "substring(a,1,2)": Call("substring", (A, number(1), number(2))),
    "now()": Call("now"),
    "geo.distance(a,b)": Call("geo.distance", (A, B)),
    "N.f(x=1,y=@p)": BoundCall("N.f", (("x", number(1)), ("y", ParameterAlias("p")))),
    "a/N.f()/b": Member("b", BoundCall("N.f", (), A)),
    "f(x=a add 1)": BoundCall("f", (("x", Binary("add", A, number(1))),)),
    "cast(a,Edm.String)": Cast("Edm.String", A),
    "cast(N.Type)": Cast("N.Type"),
    "cast(a,Collection(Edm.String))": Cast("Collection(Edm.String)", A),
    "isof(a,N.Type)": IsOf("N.Type", A),
    "case(a gt 0:1,true:0)": Case(
        ((Binary("gt", A, number(0)), number(1)), (Literal(True, Primitive.BOOLEAN), number(0)))
    ),
    "case(a gt 10:15,true:20)": Case(
        ((Binary("gt", A, number(10)), number(15)), (Literal(True, Primitive.BOOLEAN), number(20)))
    ),
    # in
    "a in (1,2)": In(A, ListExpression((number(1), number(2)))),
    "a in ( 'x' , null )": In(A, ListExpression((text("x"), Literal(None)))),
    "a in ()": In(A, ListExpression(())),
    "a in b": In(A, B),
    "a in (b)": In(A, B),
    "a in @p": In(A, ParameterAlias("p")),
    'a in ["x",1]': In(A, JsonLiteral(["x", 1])),
    "a has 'Red'": Binary("has", A, text("Red")),
    "a has N.Color'Red,Blue'": Binary("has", A, EnumLiteral("N.Color", ("Red", "Blue"))),
    # JSON
    '{"a":[1,{"b":null}],"c":"\\u00e4\\""}': JsonLiteral({"a": [1, {"b": None}], "c": 'ä"'}),
    "[]": JsonLiteral([]),
    "[a,1]": ListExpression((A, number(1))),
}


@pytest.mark.parametrize(("given", "tree"), TREES.items())
def test_each_expression_is_parsed_into_its_tree(given: str, tree: Any) -> None:
    assert parse_filter(given) == tree


REFUSED = (
    "",
    " ",
    "a eq",
    "eq 1",
    "a eq 1 b",
    "a  b",
    "a eq'x'",
    "'x'eq a",
    "(a eq 1",
    "a eq 1)",
    "a eq (1,2)",
    "a in (b,c)",
    "a in (1,b)",
    "a in (1,)",
    "a has b",
    "a has 1",
    "any(x:x)",
    "a/any(x)",
    "a/any(x:)",
    "a/all()",
    "a/any(N.x:true)",
    "a/",
    "a//b",
    "a /b",
    "a/ b",
    "/a",
    "a.b",
    "a.",
    "$",
    "$metadata",
    "$root",
    "$root/",
    "'unclosed",
    "contains(a)",
    "contains(a,b,c)",
    "now(1)",
    "cast(a,1)",
    "cast()",
    "case()",
    "case(a)",
    "f(x=)",
    "f(x=1,)",
    "f(x=1 y=2)",
    "f(",
    "a/$count(",
    "a/$count()",
    "a/$count($top=1)",
    "a/$count($filter=b;$filter=c)",
    "a/$filter(b)/$count($filter=c)",
    "a/$value",
    "Enum'Red'",
    "N.Color'1Red'",
    "[1,]",
    '{"a":1,}',
    '{"a"}',
    "{a:1}",
    '"text"',
    '["\\ud800"]',
    "2026-02-30",
    "2026-13-01",
    "24:00",
    "2026-01-01T00:00:00",
    "01234567-89ab-cdef-0123-456789abcdeg",
    "1.",
    ".5",
    "1e",
    "0x10",
    "a\neq 1",
    "a eq 1;",
    "a\0",
    "a" * 129,
    "9" * 101,
)


@pytest.mark.parametrize("given", REFUSED)
def test_an_invalid_expression_is_refused(given: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_filter(given)
    assert (refusal.value.status, refusal.value.code, refusal.value.target) == (400, "QUERY_SYNTAX", "$filter")
    assert "at position" in refusal.value.message


@pytest.mark.parametrize(
    "given",
    [
        "Items(1)/a eq 2",
        "a/Items('x')/b",
        "a/$filter(b)/any()",
        "a/aggregate(b with sum) gt 1",
        '{"a":b}',
        "a eq 10000-01-01",
        "a eq 9999-12-31T23:59:59-01:00",
    ],
)
def test_unsupported_expressions_are_refused_as_not_implemented(given: str) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_filter(given)
    assert (refusal.value.status, refusal.value.code) == (501, "NOT_IMPLEMENTED")
