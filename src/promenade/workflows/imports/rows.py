"""Import rows of any importable entity set through `Authoring`, each validated exactly like a single create.

A portion is validated as a whole, in as many statements as one row takes. Faults contain the position of their row;
the valid rows are then stored in another attempt without the faulty ones. A fault that names no row is located by
bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from promenade import model
from promenade.errors import Detail, Invalid, PromenadeError, Unavailable
from promenade.model.declare import ADMIN, PUBLIC, EntityType
from promenade.store.driver.statistics import learn_growth
from promenade.store.driver.unit import Session
from promenade.store.odata.payloads import RowDecoder
from promenade.workflows.access.claims import check_tenant
from promenade.workflows.authoring import Authoring, Upserted
from promenade.workflows.authoring.planning import ROWS_MAX
from promenade.workflows.context import Context
from promenade.workflows.imports.articles import ArticleImporter
from promenade.workflows.imports.importing import NumberedRow, Portion, RowFault, RowImporter, Stored
from promenade.workflows.imports.master_data import MASTER_DATA
from promenade.workflows.imports.master_data_rows import MasterDataImporter

_ROOTS = {PUBLIC: "/api/v1", ADMIN: "/admin"}
# Faults that may be caused by another row of the portion; the row is validated again if that other row is faulty.
_RELATIVE = frozenset({"ALREADY_EXISTS", "UNKNOWN_REFERENCE", "CYCLE", "TOO_DEEP"})

_COUNTED_AFTER = 200  # rows

Row = dict[str, Any]
Faults = tuple[Detail, ...]


@dataclass(slots=True)
class _ReceivedRow:
    """A row of a portion: as received, and either decoded or with its faults."""

    number: int
    text: bytes
    row: Row
    faults: Faults = ()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The result of storing some rows at once; ``at_the_end``: all of them passed their own checks."""

    made: Sequence[Upserted] = ()
    error: PromenadeError | None = None
    at_the_end: bool = False


@dataclass(slots=True)
class _Outcome:
    made: dict[int, Upserted] = field(default_factory=dict)
    faults: dict[int, Faults] = field(default_factory=dict)


class EntityImporter(RowImporter):
    """Imports rows of one entity set for a user of a tenant; ``audited``: each row is in the audit trail."""

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
        self._service = self._entity.import_service or PUBLIC
        self._decoder = RowDecoder(entity, _ROOTS[self._service], self._service)
        self._reporter = RowReporter(self._entity)
        self._tenant_id = tenant_id
        self._user = user
        self._new_id = new_id
        self._http_hosts = http_hosts
        self._audited = audited
        self._ready: dict[NumberedRow, _ReceivedRow] = {}
        self._stored = 0
        self._counted_at = _COUNTED_AFTER
        parts = [one.target for one in self._entity.collections if one.composition]
        self._sets = (self._entity.set_name, *parts)

    def prepare(self, rows: Iterable[NumberedRow]) -> None:
        """Decode rows before the unit of work that will `store` them, to keep that unit short.

        Rows that are not stored next are forgotten.
        """
        self._ready = {row: self._decoded(row) for row in rows}

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        """See `RowImporter`. Raises Unavailable and other database errors."""
        given = [self._ready.get(row) or self._decoded(row) for row in rows]
        if not keep_good:  # rows after the first faulty one do not matter
            end = next((place for place, one in enumerate(given, 1) if one.faults), len(given))
            given = given[:end]
        outcome = _Outcome({}, {one.number: one.faults for one in given if one.faults})
        for chunk in self._chunks([one for one in given if not one.faults]):
            await self._store(session, chunk, at, outcome)
        await self._learn(session, len(outcome.made))
        if outcome.faults and not keep_good:
            first = min(outcome.faults)
            outcome = _Outcome({}, {first: outcome.faults[first]})
        return self._portion_of(given, outcome)

    async def _learn(self, session: Session, more: int) -> None:
        """Update the database's statistics while tables grow, a few times however many rows there are."""
        self._stored += more
        if self._stored >= self._counted_at:
            await learn_growth(session, self._sets, self._stored)
            self._counted_at = 4 * self._stored

    def _decoded(self, row: NumberedRow) -> _ReceivedRow:
        try:
            check_tenant(self._tenant_id, row.text)
            return _ReceivedRow(row.number, row.text, self._decoder.decode(row.text))
        except PromenadeError as error:
            return _ReceivedRow(row.number, row.text, {}, _details(error))

    def _chunks(self, rows: Sequence[_ReceivedRow]) -> Iterator[list[_ReceivedRow]]:
        """Yield groups of rows for one call of `Authoring`: limited in size, parts included, and without duplicates."""
        key = self._reporter.key if self._entity.import_upserts else None
        chunk: list[_ReceivedRow] = []
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

    async def _store(self, session: Session, rows: Sequence[_ReceivedRow], at: datetime, outcome: _Outcome) -> None:
        """Store the valid ones of ``rows`` and note the faults of the others."""
        lasting: dict[int, Faults] = {}
        passing: dict[int, Faults] = {}
        while rest := [one for one in rows if one.number not in lasting and one.number not in passing]:
            attempt = await self._attempt(session, rest, at)
            if attempt.error is None:
                outcome.made |= {one.number: made for one, made in zip(rest, attempt.made, strict=True)}
                break
            found = _by_row(rest, attempt.error)
            if not found:
                rest = [one for one in rows if one.number not in lasting | _permanent_faults(passing)]
                outcome.faults |= lasting | _permanent_faults(passing)
                await self._store(session, rest[: len(rest) // 2], at, outcome)
                await self._store(session, rest[len(rest) // 2 :], at, outcome)
                return
            if attempt.at_the_end:
                # INVARIANT: each round finds more permanently faulty rows, so the loop terminates.
                lasting |= found | _permanent_faults(passing)
                passing = {}
            else:
                passing |= found
        outcome.faults |= lasting | passing

    async def _attempt(self, session: Session, rows: Sequence[_ReceivedRow], at: datetime) -> _Attempt:
        authoring = Authoring(
            session,
            user=self._user,
            at=at,
            new_id=self._new_id,
            service=self._service,
            importing=True,
            http_hosts=self._http_hosts,
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

    def _portion_of(self, given: Sequence[_ReceivedRow], outcome: _Outcome) -> Portion:
        stored: list[Stored] = []
        faults: list[RowFault] = []
        for one in given:
            made = outcome.made.get(one.number)
            if made is not None:
                stored.append(Stored(one.number, made.id, made.is_new, self._reporter.name(one.text, one.row)))
            elif one.number in outcome.faults:
                faults += self._reporter.faults(one.number, one.text, outcome.faults[one.number])
        return Portion(tuple(stored), tuple(faults))


def _permanent_faults(faults: Mapping[int, Faults]) -> dict[int, Faults]:
    """Return the faults of rows that are faulty regardless of other rows."""
    return {number: each for number, each in faults.items() if any(one.code not in _RELATIVE for one in each)}


def _by_row(rows: Sequence[_ReceivedRow], error: PromenadeError) -> dict[int, Faults]:
    """Return the faults by row; empty if there are several rows and no fault names its row."""
    if len(rows) == 1:
        return {rows[0].number: tuple([_without_place(one) for one in _details(error)])}
    found: dict[int, list[Detail]] = {}
    for one in _details(error):
        place, slash, _ = (one.target or "").partition("/")
        if slash and place.isascii() and place.isdigit() and int(place) < len(rows):
            found.setdefault(rows[int(place)].number, []).append(_without_place(one))
    return {number: tuple(each) for number, each in found.items()}


def _without_place(fault: Detail) -> Detail:
    """Return a fault as for a single row: without its position among rows in target and message."""
    place, slash, rest = (fault.target or "").partition("/")
    if not (slash and place.isascii() and place.isdigit()):
        return fault
    return Detail(
        fault.code, fault.message.replace(f"{place}/{rest}", rest, 1) if rest else fault.message, rest or None
    )


def _details(error: PromenadeError) -> Faults:
    return error.details or (Detail(error.code, error.message, error.target),)


def _measured(row: Mapping[str, Any], ids: set[Any]) -> int:
    """Return how many rows a row will write, judging by its content; add the IDs it contains to ``ids``."""
    total = 1
    if row.get("ID"):
        ids.add(row["ID"])
    for value in row.values():
        if isinstance(value, list):
            total += sum([_measured(one, ids) for one in value if isinstance(one, dict)])
        elif isinstance(value, dict):
            total += _measured(value, ids)
    return total


# --- what is told of a row that could not be stored -------------------------------------------------------------------

FAULTS_MAX = 50
"""Of one row so many faults are told, as of one request."""

PAYLOAD_BYTES_MAX = 10 * 1024
"""Of a row so much is kept with its fault."""

_PROPERTY_MAX = 255
_MESSAGE_MAX = 2000
_NAME_MAX = 255
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)


class RowReporter:
    """Reports rows of one entity set. ``key`` is the wire name of its natural key, if it has a single one."""

    def __init__(self, entity: EntityType) -> None:
        fields = {one.wire: one for one in entity.fields}
        self._secrets = {wire for wire, one in fields.items() if not one.shown_in(PUBLIC) and not one.virtual}
        # A secret may have a misspelt property name: in entities with secrets, unknown properties are not shown.
        self._shown = fields.keys() - self._secrets | {one.property_wire for one in entity.links}
        self._is_public = entity.importable  # the public API shows the errors of all imports
        self.key = entity.field(entity.natural_key[0]).wire if entity.natural_key else None

    def name(self, text: bytes, row: Mapping[str, Any] | None = None) -> str:
        """Return the row's natural key, if it is readable and not secret."""
        if self.key is None or self.key in self._secrets:
            return ""
        if row:
            return str(row.get(self.key) or "")[:_NAME_MAX]
        try:
            return _TEXT.decode(_MEMBERS.decode(text)[self.key])[:_NAME_MAX]
        except (msgspec.MsgspecError, UnicodeError, KeyError, RecursionError):
            return ""

    def faults(self, number: int, text: bytes, details: Sequence[Detail]) -> list[RowFault]:
        """Return the faults of one row, at most `FAULTS_MAX`.

        Each contains the row, as long as all copies fit into `PAYLOAD_BYTES_MAX`; the first one always does.
        """
        payload, name = self.payload(text), self.name(text)
        copies = max(1, PAYLOAD_BYTES_MAX // max(1, len((payload or "").encode())))
        return [
            RowFault(
                number,
                None if one.target is None else one.target[:_PROPERTY_MAX],
                one.code,
                self._message(one)[:_MESSAGE_MAX],
                payload if place < copies else None,
                name,
            )
            for place, one in enumerate(details[:FAULTS_MAX])
        ]

    def _message(self, fault: Detail) -> str:
        """Return the fault's message; it quotes a value of a wrong type, unless that is a secret."""
        if fault.target in self._secrets and fault.code == "TYPE_MISMATCH":
            return f"{fault.target}: It has the wrong type."
        return fault.message

    def payload(self, text: bytes) -> str | None:
        """Return a row as JSON without secrets, with long members replaced by their size.

        It has at most `PAYLOAD_BYTES_MAX` bytes. None: only administrators may see such rows.
        """
        if not self._is_public:
            return None
        try:
            members = _MEMBERS.decode(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None if self._secrets or len(text) > PAYLOAD_BYTES_MAX else _plain(text)
        if self._secrets:
            members = {name: value for name, value in members.items() if name in self._shown}
        kept: dict[str, Any] = {}
        left = PAYLOAD_BYTES_MAX - 2
        for name, value in members.items():
            size = len(bytes(value))
            told: Any = value if size <= left // 2 else f"({size} bytes)"
            left -= len(msgspec.json.encode({name: told}))
            if left < 0:
                break
            kept[name] = told
        return _plain(msgspec.json.encode(kept))


def _plain(text: bytes) -> str:
    """Decode to text that both databases can store."""
    return text.decode("utf-8", "replace").replace("\0", "\ufffd")


# --- which importer stores the rows of a job --------------------------------------------------------------------------


def importer_for(entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter:
    """Return the importer of rows of ``entity`` for a user of a tenant; ``source`` is the job's.

    Raises KeyError for an unknown entity set, Invalid (NOT_IMPORTABLE) for one that does not accept imports.
    """
    if model.entity(entity).import_service is None:
        raise Invalid("NOT_IMPORTABLE", f"Rows of {entity} cannot be imported.")
    is_fast = entity == "Articles"
    rows = EntityImporter(
        entity,
        tenant_id=tenant_id,
        user=user,
        new_id=context.new_id,
        http_hosts=context.webhook_allow,
        audited=not is_fast,  # for articles the job as a whole is in the audit trail
    )
    if not is_fast:
        return rows
    articles = ArticleImporter(context.new_id, user=user, others=rows)
    return MasterDataImporter(articles) if source in MASTER_DATA else articles
