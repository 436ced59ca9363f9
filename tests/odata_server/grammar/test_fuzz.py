"""Any text is parsed or refused with an ODataError; every tree can be written and parsed again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odata_server.edm import Primitive
from odata_server.errors import ODataError
from odata_server.expressions import (
    AllOf,
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
    ListExpression,
    Literal,
    Member,
    ParameterAlias,
    TypeCast,
    Unary,
)
from odata_server.parse import (
    parse_apply,
    parse_entity_id,
    parse_expand_options,
    parse_filter,
    parse_literal,
    parse_options,
    parse_path,
    parse_relative_uri,
    parse_search,
    parse_value,
)
from odata_server.parse.headers import parse_preferences
from tests.odata_server.grammar.unparse import LEVELS, unparse

# ---- any text -----------------------------------------------------------------------------------------------------

VOCABULARY = """
    $filter= $orderby= $select= $expand= $apply= $search= $compute= $top= $count=true & ; = / ( ) , ' '' " : * @a @b=
    name a b.c eq and or not in has add - -5 1 1e5 2.50 null true any( all( x: $it $root/ $this $count $ref $levels=max
    case( cast( Edm.String contains( duration'P1D' geography' binary'Zg' 2026-01-01 2026-01-01T00:00:00Z 10:15
    01234567-89ab-cdef-0123-456789abcdef [ ] { } "a" %27 %2F %28 %00 %FF %zz + aggregate( with sum as from groupby((
    NOT AND OR filter( concat( identity rollup( topcount( nest( Products Products(1) $metadata $entity $crossjoin( ü
"""
PIECES = st.lists(
    st.one_of(st.sampled_from(VOCABULARY.split()), st.sampled_from(" \t\0"), st.text(max_size=3)), max_size=25
).map("".join)
TEXTS = st.one_of(st.text(max_size=60), PIECES)

ENTRIES: tuple[Callable[[str], Any], ...] = (
    parse_apply,
    parse_entity_id,
    parse_expand_options,
    parse_filter,
    parse_literal,
    parse_options,
    parse_path,
    parse_relative_uri,
    parse_search,
)


def refused_or_not(read: Callable[[], object]) -> None:
    try:
        read()
    except ODataError as error:
        status, message = error.status, error.message
    else:
        return
    assert status in {400, 501}
    assert message


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
@given(text=TEXTS)
def test_any_text_is_parsed_or_refused(entry: Callable[[str], Any], text: str) -> None:
    refused_or_not(lambda: entry(text))


@given(text=PIECES, option=st.sampled_from(("filter", "orderby", "select", "expand", "apply", "search", "compute")))
def test_any_value_of_a_query_option_is_parsed_or_refused(text: str, option: str) -> None:
    refused_or_not(lambda: parse_options(f"${option}={text}"))


@given(text=TEXTS)
def test_any_literal_is_parsed_or_refused_and_any_preference_parsed_or_ignored(text: str) -> None:
    parse_preferences(text)
    for kind in Primitive:
        refused_or_not(lambda kind=kind: parse_value(text, kind))  # type: ignore[misc]


# ---- round trip ---------------------------------------------------------------------------------------------------

RESERVED = {"not", "true", "false", "null", "INF", "NaN", "Collection"}
NAMES = st.from_regex(r"[A-Za-zäß_][A-Za-z0-9_]{0,7}", fullmatch=True).filter(
    lambda name: name not in RESERVED and name.lower() not in {"not", "true", "false"}
)
QUALIFIED = st.tuples(NAMES, NAMES).map(".".join)
INTEGERS = st.integers(-(2**63), 2**63 - 1).map(
    lambda number: Literal(number, Primitive.INT32 if -(2**31) <= number < 2**31 else Primitive.INT64)
)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10)
LITERALS = st.one_of(
    st.just(Literal(None)),
    st.booleans().map(lambda value: Literal(value, Primitive.BOOLEAN)),
    INTEGERS,
    st.decimals(-(10**9), 10**9, places=3).map(lambda value: Literal(value, Primitive.DECIMAL)),
    st.floats(allow_nan=False).map(lambda value: Literal(value, Primitive.DOUBLE)),
    TEXT.map(lambda value: Literal(value, Primitive.STRING)),
    st.uuids().map(lambda value: Literal(str(value), Primitive.GUID)),
    st.dates().map(lambda value: Literal(value, Primitive.DATE)),
    st.times().map(lambda value: Literal(value, Primitive.TIME_OF_DAY)),
    st.datetimes(datetime(1, 1, 2), timezones=st.just(UTC)).map(  # noqa: DTZ001  # hypothesis adds the zone
        lambda value: Literal(value, Primitive.DATE_TIME_OFFSET)
    ),
    st.timedeltas(timedelta(days=-9999), timedelta(days=9999)).map(lambda value: Literal(value, Primitive.DURATION)),
    st.builds(EnumLiteral, QUALIFIED, st.lists(NAMES, min_size=1, max_size=3).map(tuple)),
)
PATHS: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.builds(Member, NAMES), st.just(It()), st.just(It(this=True))),
    lambda source: st.one_of(
        st.builds(Member, NAMES, source),
        st.builds(Member, NAMES, st.builds(TypeCast, QUALIFIED, source)),
        st.builds(BoundCall, QUALIFIED, st.just(()), source),
    ),
    max_leaves=3,
)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    operators = st.sampled_from([one for same in LEVELS for one in same])
    lists = st.lists(LITERALS, max_size=4).map(lambda items: ListExpression(tuple(items)))
    return st.one_of(
        st.builds(Binary, operators, inner, inner),
        st.builds(Unary, st.sampled_from(("not", "-")), inner),
        st.builds(In, inner, st.one_of(lists, PATHS)),
        st.builds(Binary, st.just("has"), PATHS, st.builds(EnumLiteral, QUALIFIED, st.tuples(NAMES))),
        st.builds(AnyOf, PATHS, NAMES, inner),
        st.builds(AnyOf, PATHS),
        st.builds(AllOf, PATHS, NAMES, inner),
        st.builds(CountOf, PATHS, st.one_of(st.none(), inner)),
        st.builds(Call, st.sampled_from(("contains", "concat")), st.tuples(inner, inner)),
        st.builds(Call, st.just("tolower"), st.tuples(inner)),
        st.builds(Cast, QUALIFIED, st.one_of(st.none(), inner)),
        st.builds(IsOf, QUALIFIED, st.one_of(st.none(), inner)),
        st.builds(Case, st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)),
        st.builds(BoundCall, QUALIFIED, st.tuples(st.tuples(NAMES, inner)), st.one_of(st.none(), PATHS)),
    )


EXPRESSIONS = st.recursive(st.one_of(LITERALS, PATHS, st.builds(ParameterAlias, NAMES)), _deeper, max_leaves=12)


@given(EXPRESSIONS)
def test_a_tree_written_as_text_is_parsed_to_the_same_tree(expression: Expression) -> None:
    assert parse_filter(unparse(expression)) == expression
