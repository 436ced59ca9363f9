"""Rows of any importable entity set, stored through `Authoring`: each judged exactly as a single create of it.

A portion goes through the rules as a whole, in as many statements as one row takes. Faults come back with the place of
their row; the good rows are then stored in another attempt, without the bad ones. A fault that names no row is found
by halves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from promenade import model
from promenade.errors import Detail, PromenadeError, Unavailable
from promenade.store.odata_payloads import RowDecoder
from promenade.store.statistics import learn_growth
from promenade.store.unit import Session
from promenade.workflows.authoring import Authoring, Upserted
from promenade.workflows.authoring.planning import ROWS_MAX
from promenade.workflows.claims import check_tenant
from promenade.workflows.imports.importing import NumberedRow, Portion, RowFault, RowImporter, Stored
from promenade.workflows.imports.payloads import Telling

__all__ = ["EntityImporter"]

_ROOT = "/api/v1"
# What a row is told because of another row of its portion; it is to be judged again when that one turns out bad.
_RELATIVE = frozenset({"ALREADY_EXISTS", "UNKNOWN_REFERENCE", "CYCLE", "TOO_DEEP"})

_COUNTED_AFTER = 200  # rows

Row = dict[str, Any]
Faults = tuple[Detail, ...]


@dataclass(slots=True)
class _Given:
    """A row of a portion: as it was received, and either decoded or what is wrong with it."""

    number: int
    text: bytes
    row: Row
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What became of storing some rows at once; ``at_the_end``: they passed all checks of their own."""

    made: Sequence[Upserted] = ()
    error: PromenadeError | None = None
    at_the_end: bool = False


@dataclass(slots=True)
class _Outcome:
    made: dict[int, Upserted] = field(default_factory=dict)
    faults: dict[int, Faults] = field(default_factory=dict)


class EntityImporter(RowImporter):
    """Imports rows of one entity set for one tenant's user; ``audited``: each has a row in the audit trail."""

    def __init__(
        self,
        entity: str,
        *,
        tenant_id: str,
        user: str,
        new_id: Callable[[], str],
        http_hosts: frozenset[str] = frozenset(),
        audited: bool = True,
    ) -> None:
        self._entity = model.entity(entity)
        self._decoder = RowDecoder(entity, _ROOT)
        self._telling = Telling(self._entity)
        self._tenant_id = tenant_id
        self._user = user
        self._new_id = new_id
        self._http_hosts = http_hosts
        self._audited = audited
        self._ready: dict[NumberedRow, _Given] = {}
        self._stored = 0
        self._counted_at = _COUNTED_AFTER
        parts = [one.target for one in self._entity.collections if one.composition]
        self._sets = (self._entity.set_name, *parts)

    def prepare(self, rows: Iterable[NumberedRow]) -> None:
        """Read rows before a unit of work begins that is to `store` them, so that it does not take the longer for it.

        What is not stored next is forgotten.
        """
        self._ready = {row: self._decoded(row) for row in rows}

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        """See `RowImporter`. Raises Unavailable, and what the database raises."""
        given = [self._ready.get(row) or self._decoded(row) for row in rows]
        if not keep_good:  # what comes after the first faulty row does not matter
            end = next((place for place, one in enumerate(given, 1) if one.faults), len(given))
            given = given[:end]
        outcome = _Outcome({}, {one.number: one.faults for one in given if one.faults})
        for chunk in self._chunks([one for one in given if not one.faults]):
            await self._store(session, chunk, at, outcome)
        await self._learn(session, len(outcome.made))
        if outcome.faults and not keep_good:
            first = min(outcome.faults)
            outcome = _Outcome({}, {first: outcome.faults[first]})
        return self._told(given, outcome)

    async def _learn(self, session: Session, more: int) -> None:
        """Have the database know how tables grow, a few times however many rows there are."""
        self._stored += more
        if self._stored >= self._counted_at:
            await learn_growth(session, self._sets, self._stored)
            self._counted_at = 4 * self._stored

    def _decoded(self, row: NumberedRow) -> _Given:
        try:
            check_tenant(self._tenant_id, row.text)
            return _Given(row.number, row.text, self._decoder.decode(row.text))
        except PromenadeError as error:
            return _Given(row.number, row.text, {}, _details(error))

    def _chunks(self, rows: Sequence[_Given]) -> Iterator[list[_Given]]:
        """Rows that one call of `Authoring` takes: not too many with all their parts, and each named but once."""
        key = self._telling.key if self._entity.import_upserts else None
        chunk: list[_Given] = []
        names: set[Any] = set()
        weight = 0
        for one in rows:
            own: set[Any] = set()
            more = _measured(one.row, own)
            if key and one.row.get(key):
                own.add((one.row[key],))
            if chunk and (weight + more > ROWS_MAX or not own.isdisjoint(names)):
                yield chunk
                chunk, names, weight = [], set(), 0
            chunk.append(one)
            names |= own
            weight += more
        if chunk:
            yield chunk

    async def _store(self, session: Session, rows: Sequence[_Given], at: datetime, outcome: _Outcome) -> None:
        """Store the good ones of ``rows`` and note what is wrong with the others."""
        lasting: dict[int, Faults] = {}
        passing: dict[int, Faults] = {}
        while rest := [one for one in rows if one.number not in lasting and one.number not in passing]:
            attempt = await self._attempt(session, rest, at)
            if attempt.error is None:
                outcome.made |= {one.number: made for one, made in zip(rest, attempt.made, strict=True)}
                break
            found = _by_row(rest, attempt.error)
            if not found:
                rest = [one for one in rows if one.number not in lasting | _lasting(passing)]
                outcome.faults |= lasting | _lasting(passing)
                await self._store(session, rest[: len(rest) // 2], at, outcome)
                await self._store(session, rest[len(rest) // 2 :], at, outcome)
                return
            if attempt.at_the_end:
                # INVARIANT: each further round knows of more rows that are bad for good, so that it comes to an end.
                lasting |= found | _lasting(passing)
                passing = {}
            else:
                passing |= found
        outcome.faults |= lasting | passing

    async def _attempt(self, session: Session, rows: Sequence[_Given], at: datetime) -> _Attempt:
        authoring = Authoring(
            session, user=self._user, at=at, new_id=self._new_id, importing=True, http_hosts=self._http_hosts
        )
        at_the_end = False
        try:
            async with session.savepoint():
                made = await self._written(authoring, [one.row for one in rows])
                at_the_end = True
                await authoring.finish(audited=self._audited)
        except Unavailable:
            raise
        except PromenadeError as error:
            return _Attempt(error=error, at_the_end=at_the_end)
        return _Attempt(made)

    async def _written(self, authoring: Authoring, rows: Sequence[Row]) -> Sequence[Upserted]:
        set_name = self._entity.set_name
        if self._entity.import_upserts:
            return await authoring.upsert_many(set_name, rows)
        return [Upserted(row_id, True) for row_id in await authoring.create_many(set_name, rows)]

    def _told(self, given: Sequence[_Given], outcome: _Outcome) -> Portion:
        stored: list[Stored] = []
        faults: list[RowFault] = []
        for one in given:
            made = outcome.made.get(one.number)
            if made is not None:
                stored.append(Stored(one.number, made.id, made.is_new, self._telling.name(one.text, one.row)))
            elif one.number in outcome.faults:
                faults += self._telling.faults(one.number, one.text, outcome.faults[one.number])
        return Portion(tuple(stored), tuple(faults))


def _lasting(faults: Mapping[int, Faults]) -> dict[int, Faults]:
    """Those of rows that are bad whatever becomes of others."""
    return {number: each for number, each in faults.items() if any(one.code not in _RELATIVE for one in each)}


def _by_row(rows: Sequence[_Given], error: PromenadeError) -> dict[int, Faults]:
    """The faults of each row; none when no fault says of which row it is, and there are several."""
    if len(rows) == 1:
        return {rows[0].number: tuple([_without_place(one) for one in _details(error)])}
    found: dict[int, list[Detail]] = {}
    for one in _details(error):
        place, slash, _ = (one.target or "").partition("/")
        if slash and place.isascii() and place.isdigit() and int(place) < len(rows):
            found.setdefault(rows[int(place)].number, []).append(_without_place(one))
    return {number: tuple(each) for number, each in found.items()}


def _without_place(fault: Detail) -> Detail:
    """A fault as the row alone would be told: neither target nor message speak of its place among rows."""
    place, slash, rest = (fault.target or "").partition("/")
    if not (slash and place.isascii() and place.isdigit()):
        return fault
    return Detail(
        fault.code, fault.message.replace(f"{place}/{rest}", rest, 1) if rest else fault.message, rest or None
    )


def _details(error: PromenadeError) -> Faults:
    return error.details or (Detail(error.code, error.message, error.target),)


def _measured(row: Mapping[str, Any], ids: set[Any]) -> int:
    """How many rows are written for one, as far as it says; the IDs that it chooses go into ``ids``."""
    total = 1
    if row.get("ID"):
        ids.add(row["ID"])
    for value in row.values():
        if isinstance(value, list):
            total += sum([_measured(one, ids) for one in value if isinstance(one, dict)])
        elif isinstance(value, dict):
            total += _measured(value, ids)
    return total
