"""What is told of a condition in words: gathered by the statement that reads the condition, worded row by row.

The expression is one list of JSON, with the first items of the condition's lists and their number, and the names of
the article and the group it speaks of. Its type turns that into a sentence as the row is read.
"""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from promenade.store.condition_sentences import Facts, sentence
from promenade.store.schema import table

__all__ = ["condition_summary"]

LISTED = 5
"""So many items of a list are read; of more only the number is told."""

_TEXTS = ("logical_connector", "condition_type", "operator", "value_category", "value", "value_to", "manufacturer")
_MORE_TEXTS = ("field_name", "weekdays")
_SCALES = {"min_quantity": 3, "min_amount": 2}


def condition_summary(source: sa.FromClause) -> sa.ColumnElement[Any]:
    """The condition in words, over (an alias of) the rows of Conditions."""
    values, articles = table("ConditionValueListItems"), table("ConditionArticleListItems")
    named = sa.func.coalesce(articles.c.article_number, articles.c.ean)
    article = sa.func.coalesce(source.c.article_number, _of("Articles", source.c.article_id, "article_number", source))
    group = sa.func.coalesce(
        source.c.article_group_key, _of("ArticleGroups", source.c.article_group_id, "group_id", source)
    )
    return _Facts(
        *(source.c[name] for name in (*_TEXTS, *_MORE_TEXTS)),
        *(sa.cast(source.c[name], sa.Text()) for name in _SCALES),
        *(sa.cast(source.c[name], sa.Text()) for name in ("time_from", "time_to", "date_from", "date_to")),
        source.c.include_sub_groups,
        article,
        _name("Articles", source.c.article_id, "article_number", source.c.article_number, source),
        group,
        _name("ArticleGroups", source.c.article_group_id, "group_id", source.c.article_group_key, source),
        _first(values, values.c.value, source),
        _number_of(values, source),
        _first(articles, named, source),
        _number_of(articles, source),
    )


def _of(set_name: str, key: sa.ColumnElement[Any], column: str, source: sa.FromClause) -> sa.ColumnElement[Any]:
    """A column of the row that ``key`` refers to."""
    rows = table(set_name)
    return (
        sa.select(rows.c[column])
        .where(rows.c.tenant_id == source.c.tenant_id, rows.c.id == key)
        .correlate(source)
        .scalar_subquery()
    )


def _name(
    set_name: str, key: sa.ColumnElement[Any], number: str, said: sa.ColumnElement[Any], source: sa.FromClause
) -> sa.ColumnElement[Any]:
    """The name of an article or group: of the one with the number that is said, else of the one referred to."""
    rows = table(set_name)
    by_number = (
        sa.select(rows.c.name)
        .where(rows.c.tenant_id == source.c.tenant_id, rows.c[number] == said)
        .correlate(source)
        .scalar_subquery()
    )
    return sa.case((said.is_(None), _of(set_name, key, "name", source)), else_=by_number)


def _first(items: sa.Table, shown: sa.ColumnElement[Any], source: sa.FromClause) -> sa.ColumnElement[Any]:
    """The first few items of a condition's list, as a list of JSON."""
    some = (
        sa.select(shown.label("item"))
        .where(items.c.tenant_id == source.c.tenant_id, items.c.condition_id == source.c.id)
        .order_by(shown)
        .limit(sa.literal_column(str(LISTED)))
        .correlate(source)
        .subquery("some")
    )
    return sa.select(_List(some.c.item)).scalar_subquery()


def _number_of(items: sa.Table, source: sa.FromClause) -> sa.ColumnElement[Any]:
    return (
        sa.select(sa.func.count())
        .select_from(items)
        .where(items.c.tenant_id == source.c.tenant_id, items.c.condition_id == source.c.id)
        .correlate(source)
        .scalar_subquery()
    )


class _List(FunctionElement[Any]):
    """The texts of a group as a list of JSON."""

    inherit_cache = True
    type = sa.Text()


@compiles(_List)
def _list(element: _List, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_group_array({compiler.process(element.clauses, **kw)})"


@compiles(_List, "postgresql")
def _list_of_postgresql(element: _List, compiler: SQLCompiler, **kw: Any) -> str:
    item = compiler.process(element.clauses, **kw)
    return f"coalesce(json_agg({item} ORDER BY {item}), '[]')"


class _Sentence(TypeDecorator[str]):
    """Facts, read as a sentence."""

    impl = sa.Text
    cache_ok = True

    def process_result_value(self, value: Any | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else sentence(_read(value, whole=dialect.name == "sqlite"))


class _Facts(FunctionElement[str]):
    """A list of JSON of its arguments."""

    inherit_cache = True
    type = _Sentence()


@compiles(_Facts)
def _facts(element: _Facts, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_array({compiler.process(element.clauses, **kw)})"


@compiles(_Facts, "postgresql")
def _facts_of_postgresql(element: _Facts, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_build_array({compiler.process(element.clauses, **kw)})::text"


def _read(text: str, *, whole: bool) -> Facts:
    """The facts of a row; ``whole``: numbers are kept as whole ones, see `store.types`."""
    row = msgspec.json.decode(text)
    texts = dict(zip((*_TEXTS, *_MORE_TEXTS), row, strict=False))
    rest = row[len(texts) :]
    quantity, amount = (
        None if one is None else Decimal(one).scaleb(-scale if whole else 0)
        for one, scale in zip(rest[:2], _SCALES.values(), strict=True)
    )
    time_from, time_to = (None if one is None else time.fromisoformat(one) for one in rest[2:4])
    date_from, date_to = (None if one is None else date.fromisoformat(one) for one in rest[4:6])
    sub_groups, article, article_name, group, group_name, values, value_count, articles, article_count = rest[6:]
    return Facts(
        **texts,
        min_quantity=quantity,
        min_amount=amount,
        time_from=time_from,
        time_to=time_to,
        date_from=date_from,
        date_to=date_to,
        include_sub_groups=bool(sub_groups),
        article_number=article,
        article_name=article_name,
        article_group=group,
        article_group_name=group_name,
        values=_items(values),
        value_count=value_count,
        articles=_items(articles),
        article_count=article_count,
    )


def _items(found: str | list[str | None]) -> tuple[str, ...]:
    """SQLite hands on a list that comes out of a sub-query as a text."""
    items = msgspec.json.decode(found) if isinstance(found, str) else found
    return tuple(item or "" for item in items)
