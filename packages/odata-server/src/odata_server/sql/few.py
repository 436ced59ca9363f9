"""Few rows among many: the keys of a list are looked for first, if no index of its columns finds them.

Databases expect a condition like ``contains`` to hold for many rows, and test the rows in the order of the page until
the page is full. If it holds for few, they test all rows, in an order that is random for the storage, which takes
several times as long as reading them as they are stored; and then the rows are counted. So first an index of texts, if
there is one, and then the table as it is stored are asked for the keys, up to a limit. If that is not reached, page and
count are read from these rows alone; else many rows match, and the page is soon full. Some rows are looked at before
all that: if there are no more, or if many of them match, nothing else is asked, because the page takes less time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Integer,
    Select,
    String,
    Table,
    Text,
    Uuid,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    true,
)

from odata_server.sql.connection import Kept
from odata_server.sql.drafts import Which
from odata_server.sql.model import Place
from odata_server.sql.narrowing import narrows
from odata_server.sql.needed import texts_needed
from odata_server.sql.selection import Selection

__all__ = ["CANDIDATES_MAX", "FEW", "Looking", "keep_few", "keys_up_to", "looking_for_few"]

FEW = 1_000
"""Up to so many rows a list is read from their keys: to find as many rows in the order of a page takes no longer."""

CANDIDATES_MAX = 20_000
"""Up to so many rows of an index of texts are tested one by one."""

SAMPLED, MANY = 2_000, 100
"""Rows that are looked at as they are stored, and how many of them must match for a page to be full soon."""


@dataclass(frozen=True, slots=True)
class Looking:
    """The statements that look for the keys of a list, each of which returns one value.

    ``is_soon_read``: whether the page is, so that nothing else is to be asked. ``keys``, the cheapest first: the keys,
    or those of all rows that may match, for `keep_few`; null if they are too many.
    """

    is_soon_read: Kept
    keys: tuple[Kept, ...]


def looking_for_few(selection: Selection) -> Looking | None:
    """Return how to look for the keys of the rows of ``selection``; None: not at all."""
    options, place = selection.options, selection.scope.place
    if (options.filter is None and options.search is None) or selection.narrowed:
        return None
    key = _key(place)
    if key is None or narrows(options.filter, place, None):
        return None
    keys = [keys_up_to(FEW, selection.statement([key]), sqlite=selection.context.sqlite)]
    index = place.mapped.text_index
    searched = frozenset(one.name for one in place.entity_type.searched)
    needed = None if index is None else texts_needed(options, index.properties, searched)
    if index is not None and needed is not None:
        keys.insert(0, index.candidates(selection.context.dialect, needed, CANDIDATES_MAX))
    return Looking(Kept(_is_soon_read(selection)), tuple(map(Kept, keys)))


def _is_soon_read(selection: Selection) -> Select[Any]:
    matches = case((and_(true(), *selection.conditions), literal(1, Integer()))).label("matches")
    looked_at = select(matches).select_from(selection.scope.source).limit(SAMPLED).subquery()
    are_many = func.count(looked_at.c.matches) >= literal(MANY, Integer())
    return select(or_(are_many, func.count() < literal(SAMPLED, Integer()))).select_from(looked_at)


def keep_few(selection: Selection, keys: str) -> None:
    """Restrict a selection to rows with these keys."""
    key = _key(selection.scope.place)
    if key is None:
        return
    given = literal(keys, Text())
    if selection.context.sqlite:
        rows = func.json_each(given).table_valued("value")
        selection.conditions.append(key.in_(select(rows.c.value)))
    else:
        texts = func.json_array_elements_text(cast(given, JSON)).table_valued("value")
        # Without a length, which would be a conversion: the server would read the whole table rather than each key.
        kind = String() if isinstance(key.type, String) else key.type
        selection.conditions.append(key.in_(select(cast(texts.c.value, kind))))
    selection.narrowed = True


def _key(place: Place) -> ColumnElement[str] | None:
    """Return the column of the key of active rows in a table, if it is one that goes through JSON unchanged."""
    names = [name for name in place.entity_type.key if not place.is_constant(name)]
    if place.which is not Which.ACTIVE or len(names) != 1 or not isinstance(place.mapped.selectable, Table):
        return None
    column = place.column(names[0])
    return column if isinstance(column.type, String | Uuid | Integer) else None


def keys_up_to(most: int, keys: Select[tuple[str]], *, sqlite: bool) -> Select[tuple[str | None]]:
    """Return a SELECT of the keys as an array in JSON, null if there are more than ``most``."""
    rows = keys.limit(most + 1).subquery()
    (key,) = rows.c
    listed: Sequence[ColumnElement[str]] = (
        [func.json_group_array(key, type_=Text())]
        if sqlite
        else [func.coalesce(cast(func.json_agg(key), Text()), literal("[]", Text()))]
    )
    return select(case((func.count() <= literal(most, Integer()), listed[0])))
