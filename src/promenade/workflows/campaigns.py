"""What is done with campaigns beyond changing a row: linking promotions, and handing one out as a calendar entry."""

from __future__ import annotations

import re
from datetime import date, datetime

from icalendar import Calendar, Event
from icalendar.prop import vText

from promenade.errors import NotFound
from promenade.store.campaigns import CampaignSheet, read_campaign_sheet
from promenade.store.unit import Session

__all__ = ["calendar_file", "export_ics"]

NAMES_MAX = 100  # promotions that a calendar entry names; of the rest it says how many

# A campaign that is being written is tentative; one that waits, runs or has run is certain.
_STATUSES = {"SCHEDULED": "CONFIRMED", "ACTIVE": "CONFIRMED", "COMPLETED": "CONFIRMED", "CANCELLED": "CANCELLED"}

_LINE_BREAKS = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f]")  # RFC 5545 has no place for them in a text


# --- calendar entries -------------------------------------------------------------------------------------------------


async def export_ics(session: Session, campaign_id: str, now: datetime) -> str:
    """A campaign as RFC 5545 text: one VCALENDAR with one VEVENT. Raises NotFound.

    See `calendar_file` for how a window becomes an entry.
    """
    sheet = await read_campaign_sheet(session, campaign_id, NAMES_MAX) if _is_id(campaign_id) else None
    if sheet is None:
        raise _no_campaign()
    return calendar_file(sheet, now)


def calendar_file(sheet: CampaignSheet, now: datetime) -> str:
    """RFC 5545 text of a campaign, its lines ended by CRLF; equal campaigns give equal text.

    An entry needs a beginning. A window without one begins when the campaign was made; one without an end is an entry
    at its beginning; without either the campaign stands on the day it was made. The entry blocks nobody's time, its
    UID is the campaign's ID, and SEQUENCE counts the campaign's changes, so that importing it again updates it.
    """
    event = Event()
    event.add("uid", sheet.id)
    event.add("dtstamp", now)
    begin, end = _entry(sheet)
    event.add("dtstart", begin)
    if end is not None:
        event.add("dtend", end)
    event.add("summary", _Text(_line(sheet.name)))
    event.add("description", _Text(_description(sheet)))
    event.add("status", _STATUSES.get(sheet.status, "TENTATIVE"))
    event.add("transp", "TRANSPARENT")
    event.add("sequence", sheet.version - 1)
    event.add("created", sheet.created_at)
    event.add("last-modified", sheet.modified_at)
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "-//Promenade//Campaigns//EN")
    calendar.add_component(event)
    text: str = calendar.to_ical().decode()
    return text


def _entry(sheet: CampaignSheet) -> tuple[date | datetime, datetime | None]:
    """Beginning and end of the entry; calendars count whole seconds, and an end must be after the beginning."""
    if sheet.start_at is None and sheet.end_at is None:
        return sheet.created_at.date(), None
    begin = _second(sheet.start_at or sheet.created_at)
    if sheet.end_at is None:
        return begin, None
    end = _second(sheet.end_at)
    return (begin, end) if begin < end else (end, None)


def _second(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


def _description(sheet: CampaignSheet) -> str:
    """The campaign's description, what its window leaves open, and its promotions."""
    paragraphs = [_plain(sheet.description)] if sheet.description else []
    if sheet.start_at is None:
        paragraphs.append("It has no beginning: it is open already.")
    if sheet.end_at is None:
        paragraphs.append("It has no end.")
    if sheet.promotion_count:
        listed = [f"- {_line(name)}" for name in sheet.promotion_names]
        rest = sheet.promotion_count - len(listed)
        more = [f"and {rest} more"] if rest else []
        paragraphs.append("\n".join(["Promotions:", *listed, *more]))
    return "\n\n".join(paragraphs) or "It has no promotions."


def _plain(text: str) -> str:
    """A text with line feeds between its lines and without control characters."""
    return _CONTROLS.sub("", _LINE_BREAKS.sub("\n", text))


def _line(text: str) -> str:
    """A text on one line."""
    return _plain(text).replace("\n", " ")


class _Text(vText):
    r"""A text that comes back as it was: the library takes the ``\N`` of ``C:\News`` for the end of a line."""

    def to_ical(self) -> bytes:
        escaped = self.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")
        return escaped.encode()


# --- the words of refusals --------------------------------------------------------------------------------------------

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _no_campaign() -> NotFound:
    return NotFound("NOT_FOUND", "There is no such campaign.")
