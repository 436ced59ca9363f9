"""Fast import of articles: a row decoder is compiled from the declaration, and a portion is written set-wise.

The fast path takes plain rows, which are certainly valid and have an obvious outcome: known texts, codes, prices and
booleans. Rows that are wrong or merely unusual (an ID, a link, an annotation, a price with an exponent) are left to
``others``, the importer that applies the rules of authoring and decides their outcome. A test verifies that both paths
give the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from promenade import model
from promenade.model.declare import Field, Kind
from promenade.store.driver.unit import Session
from promenade.store.imports.articles import (
    COLUMNS,
    ChangedArticle,
    HeldArticle,
    find_articles,
    insert_articles,
    update_articles,
)
from promenade.store.pricing.changes import record_change
from promenade.workflows.imports.importing import NumberedRow, Portion, RowFault, RowImporter, Stored

_SOURCE = "IMPORTED"
_SOURCES = ("MANUAL", "IMPORTED")  # EXTERNAL is for coupon codes
_AUTHOR_MAX = 255
_NUL = b"\\u0000"  # the only JSON notation for it
_AMOUNTS_MAX = 10_000

Values = tuple[Any, ...]

_Plain = tuple[int, Values]
"""The number of a row that is surely good, and its values by `COLUMNS`: UNSET where it says nothing."""


class ArticleImporter(RowImporter):
    """Imports articles for ``user``; ``others`` imports the rows that are not plain, one portion after the other."""

    rows_max = 2_000

    def __init__(self, new_id: Callable[[], str], *, user: str, others: RowImporter) -> None:
        self._new_id = new_id
        self._user = user[:_AUTHOR_MAX]
        self._others = others
        self._ready: dict[int, tuple[bytes, Values | None]] = {}
        self._is_all_new = True  # as seen so far; a guess that only affects speed

    def prepare(self, rows: Sequence[NumberedRow]) -> None:
        """See `RowImporter.prepare`."""
        self._ready = {row.number: (row.text, _values(row.text)) for row in rows}
        self._others.prepare([row for row in rows if self._ready[row.number][1] is None])

    def _read(self, row: NumberedRow) -> Values | None:
        """Return the values of a plain row, as prepared if they were; None: not plain."""
        ready = self._ready.get(row.number)
        return _values(row.text) if ready is None or ready[0] is not row.text else ready[1]

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        """See `RowImporter.store`. Plain rows are not in the audit trail individually: the whole job has one entry."""
        stored: list[Stored] = []
        faults: list[RowFault] = []
        for stage in _stages([(row, self._read(row)) for row in rows]):
            if stage.plain:
                stored += await self._upsert(session, stage.plain, at)
            for first in range(0, len(stage.others), self._others.rows_max):
                few = stage.others[first : first + self._others.rows_max]
                portion = await self._others.store(session, few, at=at, keep_good=keep_good)
                stored += portion.stored
                faults += portion.faults
                if faults and not keep_good:
                    return Portion(faults=tuple(faults))
        stored.sort(key=_number)
        return Portion(tuple(stored), tuple(faults))

    async def _upsert(self, session: Session, plain: Sequence[_Plain], at: datetime) -> list[Stored]:
        """Store plain rows with the same result as one after the other."""
        done: list[Stored] = []
        while plain:
            held: Mapping[str, HeldArticle] = {}
            if not self._is_all_new:  # otherwise existing articles are skipped by the insert and detected afterwards
                held = await find_articles(session, {values[0] for _, values in plain})
            articles = self._planned(plain, held)
            new = [(one.id, 1 + one.changes, *one.after) for one in articles.values() if one.before is None]
            count = await insert_articles(session, new, at=at, by=self._user) if new else 0
            changed = [
                ChangedArticle(one.id, one.before, one.after, one.changes)
                for one in articles.values()
                if one.before is not None and one.changes
            ]
            if changed:
                await update_articles(session, changed, at=at, by=self._user)
            missed = await _missed_numbers(session, new) if count < len(new) else frozenset()
            self._is_all_new = not missed and not held
            for number, one in articles.items():
                if number not in missed:
                    done += one.stored
            if count or changed:
                # Promotions only keep an article's number, which never changes; the memory of articles is cleared
                # whatever the ID. So one ID is enough for every process; stores need all of them.
                changes = {one.id for one in changed} | {one.id for one in articles.values() if one.before is None}
                ids = [one.id for key, one in articles.items() if key not in missed and one.id in changes]
                await record_change(session, "Articles", ids[0], at=at, others=ids[1:])
            plain = [row for row in plain if row[1][0] in missed]
        return done

    def _planned(self, plain: Sequence[_Plain], held: Mapping[str, HeldArticle]) -> dict[str, _Article]:
        """Compute the result for each article, by its number."""
        fresh = _reading().fresh
        articles: dict[str, _Article] = {}
        for number, values in plain:
            key: str = values[0]
            article = articles.get(key)
            if article is None:
                there = held.get(key)
                if there is None:
                    article = articles[key] = _Article(self._new_id(), None, _merged(fresh, values))
                    article.stored.append(Stored(number, article.id, True, key))
                    continue
                article = articles[key] = _Article(there.id, there.values, there.values)
            after = _merged(article.after, values)
            if after != article.after:
                article.after = after
                article.changes += 1
            article.stored.append(Stored(number, article.id, False, key))
        return articles


@dataclass(slots=True)
class _Article:
    """An article being imported: its old values (None: new), its new values, and the results of its rows."""

    id: str
    before: Values | None
    after: Values
    changes: int = 0
    stored: list[Stored] = field(default_factory=list)


def _merged(before: Values, given: Values) -> Values:
    return tuple([old if new is UNSET else new for old, new in zip(before, given, strict=True)])


async def _missed_numbers(session: Session, new: Sequence[Values]) -> frozenset[str]:
    """Return the numbers in ``new`` for which another session has just inserted an article."""
    number_of = {row_id: number for row_id, _, number, *_ in new}
    there = await find_articles(session, number_of.values())
    return frozenset(number_of.values()) - {number for number, one in there.items() if one.id in number_of}


def _number(row: Stored) -> int:
    return row.number


# ---- stages -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stage:
    """Rows of which the plain ones and the others may be stored in either order."""

    plain: list[_Plain] = field(default_factory=list)
    others: list[NumberedRow] = field(default_factory=list)


def _stages(rows: Sequence[tuple[NumberedRow, Values | None]]) -> Iterator[_Stage]:
    """Split rows into stages; a new one begins when a plain and another row concern the same article.

    So rows of the same article keep their order.
    """
    stage = _Stage()
    plain: set[str] = set()
    others: set[str] = set()
    for row, values in rows:
        number = _number_in(row.text) if values is None else values[0]
        if number in (plain if values is None else others):
            yield stage
            stage, plain, others = _Stage(), set(), set()
        if values is not None:
            stage.plain.append((row.number, values))
            plain.add(values[0])
        else:
            stage.others.append(row)
            if number is not None:
                others.add(number)
    yield stage


_ANYTHING = msgspec.json.Decoder(float_hook=str)


def _number_in(text: bytes) -> str | None:
    """Return the article number in a row, however wrong the rest is; None: it has none and will not be stored."""
    try:
        row = _ANYTHING.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    number = row.get(COLUMNS[0].wire) if isinstance(row, dict) else None
    return number if isinstance(number, str) else None


# ---- reading ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """How rows are read: ``decode`` converts JSON text to a struct in the order of `COLUMNS`, or raises.

    ``fresh`` holds the values of a new article with only a number; ``amounts`` the positions of exact numbers and their
    parsers.
    """

    decode: Callable[[bytes], Any]
    fresh: Values
    amounts: tuple[tuple[int, Callable[[bytes], int | None]], ...]


@cache
def _reading() -> _Reading:
    """Build the reader from the declaration, once, when the first row is read."""
    first, *rest = COLUMNS
    members = [(first.name, _type_of(first), msgspec.field(name=first.wire))]
    members += [(one.name, _type_of(one) | UnsetType, msgspec.field(name=one.wire, default=UNSET)) for one in rest]
    row = msgspec.defstruct("ArticleRow", members, forbid_unknown_fields=True, gc=False)
    fresh = tuple([_SOURCE if one.name == "source" else one.default for one in COLUMNS])
    amounts = tuple([(place, _amount(one)) for place, one in enumerate(COLUMNS) if one.kind is Kind.DECIMAL])
    return _Reading(msgspec.json.Decoder(row).decode, fresh, amounts)


def _type_of(declared: Field) -> Any:
    """Return a value's type; it may be narrower than declared, as ``others`` imports rows that do not fit."""
    found: Any
    if declared.kind is Kind.DECIMAL:
        return Raw
    if declared.kind is Kind.BOOLEAN:
        found = bool
    elif declared.code_list:
        found = Literal[_SOURCES if declared.name == "source" else model.code_list(declared.code_list).codes]
    elif declared.choices:
        found = Literal[declared.choices]
    else:
        found = str if declared.length is None else Annotated[str, msgspec.Meta(max_length=declared.length)]
    return found | None if declared.nullable else found


def _amount(declared: Field) -> Callable[[bytes], int | None]:
    """Return a parser of plain amounts to integers in units of the last decimal; None is left to ``others``."""
    scale, whole = declared.scale or 0, (declared.precision or 0) - (declared.scale or 0)
    form = re.compile(rb'("?)([0-9]{1,%d})(?:\.([0-9]{1,%d}))?\1' % (whole, scale))

    longest = whole + scale + len('"."')

    @lru_cache(_AMOUNTS_MAX)
    def known(text: bytes) -> int | None:
        match = form.fullmatch(text)
        return None if match is None else int(match[2] + (match[3] or b"").ljust(scale, b"0"))

    # Longer texts are not amounts and must not be cached: their size is unlimited.
    return lambda text: known(text) if len(text) <= longest else None


def _values(text: bytes) -> Values | None:
    """Return the values of a plain row; None: the row is not plain."""
    if _NUL in text:
        return None
    reading = _reading()
    try:
        values: Values = msgspec.structs.astuple(reading.decode(text))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    number = values[0]
    if not number or number.isspace():
        return None
    for place, read in reading.amounts:
        given = values[place]
        if given is not UNSET:
            text = bytes(given)
            amount = None if text == b"null" else read(text)
            if amount is None and text != b"null":
                return None
            values = (*values[:place], amount, *values[place + 1 :])
    return values
