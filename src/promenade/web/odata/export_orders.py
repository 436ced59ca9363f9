"""What ``exportList`` is asked for: a list as its page shows it, with headings and the signs of a region."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import cache
from importlib.resources import files
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, urlencode
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from odata_server.edm import Edm, EntityType, Primitive
from odata_server.errors import bad_request
from promenade import model
from promenade.web.http.workbooks import Workbook
from promenade.web.odata.export_files import CsvFile, File, in_zone
from promenade.web.odata.export_reading import Reading, batch_above, is_secret

_OPTIONS = {"$filter", "$search", "$orderby"}
_COLUMNS_MAX = 100
_PATH = re.compile(r"\w+(/\w+){0,2}")
_YES_NO = {"en": ("Yes", "No"), "de": ("Ja", "Nein")}


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


def reading_of_order(edm: Edm, body: bytes) -> Reading:
    """Return how to read what the body of a request orders. Raises ODataError for an unknown zone, path or set."""
    order = _order(body)
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
    told = [f"{name}={value}" for name, value in options]
    cells = tuple(_column(edm, odata_type, one.path, order.language, zone) for one in order.columns)
    above = _type_at(edm, names[:-1])
    return Reading(
        name=names[-1],
        path=path,
        query=urlencode([*options, *_shown([one.steps for one in cells])], quote_via=quote),
        asked=f"{path}?{'&'.join(told)}" if told else path,
        chosen=[one for one in told if not one.startswith("$orderby=")],
        cells=cells,
        has_secret=any(one.has_secret for one in cells),
        batch=batch_above(path, odata_type.name, above.name if above else None),
        form=order.format,
        new_file=lambda: _file(order, names[-1]),
    )


def _file(order: ListOrder, name: str) -> File:
    labels = [one.label for one in order.columns]
    if order.format == "xlsx":
        return Workbook(name, labels)
    return CsvFile(labels, separator=order.separator, decimal=order.decimal)


def _order(body: bytes) -> ListOrder:
    try:
        order = msgspec.json.decode(body, type=ListOrder)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise bad_request("MALFORMED_BODY", f"This is no order of an export: {error}.") from error
    if not 0 < len(order.columns) <= _COLUMNS_MAX:
        raise bad_request("MALFORMED_BODY", f"columns must have 1 to {_COLUMNS_MAX} entries.", "columns")
    return order


@dataclass(frozen=True, slots=True)
class _Column:
    steps: tuple[str, ...]
    kind: Any
    words: Mapping[str, str]
    yes_no: tuple[str, str]
    zone: tzinfo
    has_secret: bool

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
            return in_zone(datetime.fromisoformat(found), self.zone)
        if self.kind is Primitive.DATE:
            return date.fromisoformat(found)
        return self.words.get(found, found)


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
    return _Column((*above, last), prop.type, words, _YES_NO[language], zone, is_secret(names.name, last))


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
