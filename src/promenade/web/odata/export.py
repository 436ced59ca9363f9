"""``exportList`` of administration and reporting: a list, with its filters, as a file for spreadsheets, page by page.

The rows are read by the service itself, request by request as a client would: what a caller may not read is not in the
file, and memory holds one page, and of the file a few rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Literal, Protocol
from urllib.parse import parse_qsl, quote, urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from odata_server.edm import Edm, EntityType, Primitive
from odata_server.errors import bad_request
from odata_server.http import Request, Response
from odata_server.negotiation import require_json_body
from odata_server.transport import read_body, send_response
from promenade import model
from promenade.errors import Conflict
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.unit import Session
from promenade.web.access.auth import Caller
from promenade.web.http.csv import PIECE_CHARACTERS, csv_line
from promenade.web.http.downloads import Places, send_pieces
from promenade.web.http.workbooks import Workbook
from promenade.web.odata.api import ApiHooks
from promenade.workflows.context import Context

EXPORT_LIST = "exportList"

_OPTIONS = {"$filter", "$search", "$orderby"}
_COLUMNS_MAX = 100
_ROWS_TOGETHER = 50  # are written before a till's request may run
_PATH = re.compile(r"\w+(/\w+){0,2}")
_YES_NO = {"en": ("Yes", "No"), "de": ("Ja", "Nein")}
_BYTE_ORDER_MARK = "\ufeff".encode()  # without it spreadsheets take UTF-8 for something older
_SECRET = ("CouponCodes", "code")
_BATCHES = "CouponCodeBatches"
_CREDENTIALS = (b"authorization", b"cookie", b"host")
_PAGES = msgspec.json.Decoder(float_hook=Decimal)


class ExportColumn(msgspec.Struct, forbid_unknown_fields=True):
    """A column: the path of a property from the row (``campaign/name``), and its heading."""

    path: str
    label: str


class ListOrder(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What a list shows, and how its file is written. ``url`` is relative to the service: ``Articles?$filter=...``."""

    url: str
    columns: list[ExportColumn]
    format: Literal["csv", "xlsx"] = "csv"
    separator: Literal[",", ";", "\t"] = ","
    decimal: Literal[".", ","] = "."
    language: Literal["en", "de"] = "en"
    time_zone: str = "UTC"


class _File(Protocol):
    def begin(self) -> bytes: ...

    def add(self, row: Sequence[Any]) -> bytes: ...

    def end(self) -> bytes: ...


class ListExports:
    """Answers the request; ``service`` is the OData service at ``root`` that the rows are read from."""

    def __init__(self, context: Context, hooks: ApiHooks, edm: Edm, service: ASGIApp, *, root: str) -> None:
        self._context = context
        self._hooks = hooks
        self._edm = edm
        self._service = service
        self._root = root
        self._places = Places()

    async def answer(self, scope: Scope, receive: Receive, send: Send, request: Request) -> None:
        """Answer a POST. Raises `Disconnected`, and before the first byte is sent ODataError and PromenadeError."""
        caller: Caller = await self._hooks.authenticate(scope)
        require_json_body(request)
        order = _order(await read_body(self._hooks, request.headers, receive))
        reading = _reading(self._edm, order)
        with self._places.taken(caller.tenant_id):
            batch = await self._batch(scope, reading)
            first = await self._read(scope, reading.path, reading.query)
            if first.status != 200:
                await send_response(send, request, first)
                return
            if batch is not None:
                await self._record(caller, batch, reading.rows_of_batch(order.format))
            elif any(one.is_secret for one in reading.columns):
                codes = Subject("CouponCodes", self._context.new_id(), "CouponCodes")
                await self._record(caller, codes, reading.asked)
            pieces = self._pieces(scope, order, reading, first)
            async with aclosing(pieces):
                await send_pieces(pieces, _headers(order, reading, self._context.clock()), receive, send)

    async def _pieces(
        self, scope: Scope, order: ListOrder, reading: _Reading, page: Response
    ) -> AsyncGenerator[bytes, None]:
        labels = [one.label for one in order.columns]
        file: _File = Workbook(reading.name, labels) if order.format == "xlsx" else _Csv(order, labels)
        yield file.begin()
        while True:
            body = _PAGES.decode(page.body)
            for portion in _portions(file, map(reading.values, body["value"])):
                yield portion
            more = body.get("@odata.nextLink")
            if more is None:
                break
            page = await self._read(scope, reading.path, more.partition("?")[2])
            if page.status != 200:
                raise RuntimeError(f"a page of an export was answered with {page.status}")
        yield file.end()

    async def _read(self, scope: Scope, path: str, query: str) -> Response:
        """Return a page as the service answers it to this caller."""
        got: list[Message] = []

        async def keep(message: Message) -> None:
            got.append(message)

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        kept = [one for one in scope["headers"] if one[0].lower() in _CREDENTIALS]
        asked = {
            **scope,
            "method": "GET",
            "path": f"{self._root}/{path}",
            "raw_path": f"{self._root}/{path}".encode(),
            "query_string": query.encode(),
            "headers": [*kept, (b"accept", b"application/json;odata.metadata=minimal")],
        }
        await self._service(asked, nothing, keep)
        headers = {name.decode("latin-1").title(): value.decode("latin-1") for name, value in got[0]["headers"]}
        headers.pop("Content-Length", None)
        return Response(got[0]["status"], headers, b"".join(one.get("body", b"") for one in got[1:]))

    async def _batch(self, scope: Scope, reading: _Reading) -> Subject | None:
        """Return the batch whose codes are wanted, if any. Raises Conflict while they are being generated."""
        if reading.batch is None:
            return None
        answer = await self._read(scope, reading.batch, "$expand=couponType($select=name)")
        if answer.status != 200:
            return None  # nor are its codes there
        row = _PAGES.decode(answer.body)
        if row["status"] in ("QUEUED", "RUNNING"):
            progress = f"{row['generatedCount']} of {row['quantity']}"
            message = f"The codes of this batch are still being generated: {progress} are there."
            raise Conflict("BATCH_UNFINISHED", message)
        return Subject(_BATCHES, row["ID"], row["name"] or row["couponType"]["name"])

    async def _record(self, caller: Caller, subject: Subject, note: str) -> None:
        """Have the audit trail say who took coupon codes out of the service, and which.

        ``note`` tells what was read, not what was asked for, which may have more in it.
        """
        at = self._context.clock()
        entry = trail_entry(self._context.new_id(), at, caller.user, "EXPORT", subject, note=note)

        async def work(session: Session) -> None:
            await write_trail(session, [entry])

        await self._context.database.write(work, tenant=caller.tenant_id)


def _portions(file: _File, rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield the bytes of rows, few rows at a time: neither memory nor the tills' requests wait for a whole page."""
    held = bytearray()
    for number, row in enumerate(rows, start=1):
        held += file.add(row)
        if number % _ROWS_TOGETHER == 0 or len(held) >= PIECE_CHARACTERS:
            yield bytes(held)
            held.clear()
    yield bytes(held)


# ---- what is asked for --------------------------------------------------------------------------------------------


def _order(body: bytes) -> ListOrder:
    try:
        order = msgspec.json.decode(body, type=ListOrder)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise bad_request("MALFORMED_BODY", f"This is no order of an export: {error}.") from error
    if not 0 < len(order.columns) <= _COLUMNS_MAX:
        raise bad_request("MALFORMED_BODY", f"columns must have 1 to {_COLUMNS_MAX} entries.", "columns")
    return order


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the rows of an export are read, and what becomes of the values of its columns.

    ``batch``: the path of the batch that the rows are the codes of.
    """

    name: str
    path: str
    options: Sequence[tuple[str, str]]
    columns: tuple[_Column, ...]
    batch: str | None

    @property
    def query(self) -> str:
        """The options of the first page."""
        return urlencode([*self.options, *_shown([one.steps for one in self.columns])], quote_via=quote)

    @property
    def asked(self) -> str:
        """Which rows these are, to be read by people."""
        given = "&".join(f"{name}={value}" for name, value in self.options)
        return f"{self.path}?{given}" if given else self.path

    def rows_of_batch(self, file: str) -> str:
        """Return the kind of file, and which codes of the batch are in it if not all, to be read by people."""
        return ", ".join((file.upper(), *(f"{name}={value}" for name, value in self.options if name != "$orderby")))

    def values(self, row: Mapping[str, Any]) -> list[Any]:
        """Return the cells of a row."""
        return [one.value(row) for one in self.columns]


@dataclass(frozen=True, slots=True)
class _Column:
    steps: tuple[str, ...]
    kind: Any
    words: Mapping[str, str]
    yes_no: tuple[str, str]
    zone: tzinfo
    is_secret: bool

    def value(self, row: Mapping[str, Any]) -> Any:
        """Return the value of the column as a spreadsheet takes it."""
        found: Any = row
        for step in self.steps:
            found = found.get(step) if isinstance(found, dict) else None
        if isinstance(found, bool):
            return self.yes_no[0 if found else 1]
        if isinstance(found, list):
            return ", ".join(self.words.get(str(one), str(one)) for one in found)
        if not isinstance(found, str):
            return found
        if self.kind is Primitive.DATE_TIME_OFFSET:
            return _local(datetime.fromisoformat(found), self.zone)
        if self.kind is Primitive.DATE:
            return date.fromisoformat(found)
        return self.words.get(found, found)


def _reading(edm: Edm, order: ListOrder) -> _Reading:
    """Return how to read what is ordered. Raises ODataError for an unknown zone, path or set."""
    path, _, given = order.url.lstrip("/").partition("?")
    names = re.sub(r"\([^)]*\)", "", path).split("/")
    odata_type = _type_at(edm, names)
    if odata_type is None:
        raise bad_request("MALFORMED_BODY", "url must lead to a list of the service.", "url")
    try:
        zone = ZoneInfo(order.time_zone)
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        raise bad_request("UNKNOWN_TIME_ZONE", "timeZone must be an IANA time zone.", "timeZone") from error
    options = [(name, value) for name, value in parse_qsl(given) if name in _OPTIONS]
    columns = tuple(_column(edm, odata_type, one.path, order.language, zone) for one in order.columns)
    above = _type_at(edm, names[:-1])
    is_of_batch = odata_type.name == "CouponCodes" and above is not None and above.name == _BATCHES
    return _Reading(names[-1], path, options, columns, path.rpartition("/")[0] if is_of_batch else None)


def _type_at(edm: Edm, names: Sequence[str]) -> EntityType | None:
    """Return the type of the rows at a path of names."""
    if not names or names[0] not in edm.entity_sets:
        return None
    found: EntityType = edm.entity_types[edm.entity_sets[names[0]].entity_type]
    for name in names[1:]:
        if name not in found.navigation_by_name:
            return None
        found = edm.entity_types[found.navigation_by_name[name].target]
    return found


def _column(edm: Edm, odata_type: EntityType, path: str, language: str, zone: tzinfo) -> _Column:
    *above, last = path.split("/")
    names = odata_type
    for step in above:
        if step not in names.navigation_by_name:
            raise bad_request("UNKNOWN_PROPERTY", f"There is no {path}.", "columns")
        names = edm.entity_types[names.navigation_by_name[step].target]
    if _PATH.fullmatch(path) is None or last not in names.property_by_name:
        raise bad_request("UNKNOWN_PROPERTY", f"There is no {path}.", "columns")
    prop = names.property_by_name[last]
    is_word = names.name in model.code_lists() or prop.collection
    words = _german() if language == "de" and is_word else {}
    return _Column((*above, last), prop.type, words, _YES_NO[language], zone, (names.name, last) == _SECRET)


def _local(at: datetime, zone: tzinfo) -> datetime:
    """Return a time as clocks of the zone show it; the last hours of the year 9999 as in UTC, where that has an end."""
    with suppress(OverflowError):
        at = at.astimezone(zone)
    return at.replace(tzinfo=None, microsecond=0)


@cache
def _german() -> Mapping[str, str]:
    text = files("promenade.web").joinpath("ui/app/i18n/words_de.json").read_text("utf-8")
    words: dict[str, str] = json.loads(text)
    return words


def _shown(paths: Sequence[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return $select and $expand for paths."""
    own = list(dict.fromkeys(one[0] for one in paths if len(one) == 1))
    below: dict[str, list[tuple[str, ...]]] = {}
    for one in paths:
        if len(one) > 1:
            below.setdefault(one[0], []).append(one[1:])
    options = [("$select", ",".join(own) or "ID")]
    if below:
        expands = [f"{name}({';'.join('='.join(option) for option in _shown(each))})" for name, each in below.items()]
        options.append(("$expand", ",".join(expands)))
    return options


# ---- the file -----------------------------------------------------------------------------------------------------


class _Csv:
    def __init__(self, order: ListOrder, labels: Sequence[str]) -> None:
        self._signs = order.separator, order.decimal
        self._labels = labels

    def begin(self) -> bytes:
        return _BYTE_ORDER_MARK + csv_line(self._labels, *self._signs).encode()

    def add(self, row: Sequence[Any]) -> bytes:
        return csv_line([_plain(one) for one in row], *self._signs).encode()

    def end(self) -> bytes:
        return b""


def _plain(value: Any) -> Any:
    """Return a time as every spreadsheet reads it."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else value


_CONTENT_TYPES = {
    "csv": b"text/csv; charset=utf-8",
    "xlsx": b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def _headers(order: ListOrder, reading: _Reading, at: datetime) -> list[tuple[bytes, bytes]]:
    name = f"{reading.name}-{at.date().isoformat()}.{order.format}"
    return [
        (b"content-type", _CONTENT_TYPES[order.format]),
        (b"content-disposition", f'attachment; filename="{name}"'.encode()),
        (b"cache-control", b"no-store"),
    ]
