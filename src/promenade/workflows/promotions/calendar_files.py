"""A campaign as a file for other calendars, RFC 5545."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from promenade.errors import NotFound
from promenade.ids import is_id
from promenade.store.driver.unit import Session
from promenade.store.promotions.campaigns import CampaignSheet, read_campaign_sheet

NAMES_MAX = 100  # promotions named in a calendar entry; the rest are only counted

# A draft campaign is tentative; one that is scheduled, active or completed is confirmed.
_STATUSES = {"SCHEDULED": "CONFIRMED", "ACTIVE": "CONFIRMED", "COMPLETED": "CONFIRMED", "CANCELLED": "CANCELLED"}

_LINE_BREAKS = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f]")  # not allowed in RFC 5545 text
_LINE_OCTETS = 75  # at most, without the line break


async def export_ics(session: Session, campaign_id: str, now: datetime) -> str:
    """Return a campaign as RFC 5545 text: one VCALENDAR with one VEVENT. Raises NotFound.

    See `calendar_file` for how a window becomes an entry.
    """
    sheet = await read_campaign_sheet(session, campaign_id, NAMES_MAX) if is_id(campaign_id) else None
    if sheet is None:
        raise NotFound("NOT_FOUND", "There is no such campaign.")
    return calendar_file(sheet, now)


def calendar_file(sheet: CampaignSheet, now: datetime) -> str:
    """Return the RFC 5545 text of a campaign, with CRLF line ends; equal campaigns give equal text.

    An entry needs a start. A window without one starts when the campaign was created; one without an end becomes an
    entry at its start; without either the entry is on the day of the campaign's creation. The entry does not block
    time, its UID is the campaign's ID, and SEQUENCE counts the campaign's changes, so that importing it again updates
    it.
    """
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Promenade//Campaigns//EN",
        "BEGIN:VEVENT",
        f"UID:{sheet.id}",
        f"DTSTAMP:{_moment(now)}",
        *_entry(sheet),
        f"SUMMARY:{_escaped(_line(sheet.name))}",
        f"DESCRIPTION:{_escaped(_description(sheet))}",
        f"STATUS:{_STATUSES.get(sheet.status, 'TENTATIVE')}",
        "TRANSP:TRANSPARENT",
        f"SEQUENCE:{sheet.version - 1}",
        f"CREATED:{_moment(sheet.created_at)}",
        f"LAST-MODIFIED:{_moment(sheet.modified_at)}",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _entry(sheet: CampaignSheet) -> list[str]:
    """Return start and end of the entry; calendars use whole seconds, and an end must be after the start."""
    if sheet.start_at is None and sheet.end_at is None:
        return [f"DTSTART;VALUE=DATE:{_moment(sheet.created_at)[:8]}"]
    begin = _moment(sheet.start_at or sheet.created_at)
    end = _moment(sheet.end_at) if sheet.end_at is not None else None
    if end is None or begin < end:
        return [f"DTSTART:{begin}"] + ([f"DTEND:{end}"] if end is not None else [])
    return [f"DTSTART:{end}"]


def _moment(moment: datetime) -> str:
    """Return a moment as RFC 5545 writes it: UTC, whole seconds; earlier moments sort first."""
    at = moment.astimezone(UTC)
    return f"{at.year:04}{at:%m%dT%H%M%SZ}"


def _description(sheet: CampaignSheet) -> str:
    """Return the campaign's description, the missing ends of its window, and its promotions."""
    paragraphs = [_plain(sheet.description)] if sheet.description else []
    if sheet.start_at is None:
        paragraphs.append("It has no start date: it has already begun.")
    if sheet.end_at is None:
        paragraphs.append("It has no end date.")
    if sheet.promotion_count:
        listed = [f"- {_line(name)}" for name in sheet.promotion_names]
        rest = sheet.promotion_count - len(listed)
        more = [f"and {rest} more"] if rest else []
        paragraphs.append("\n".join(["Promotions:", *listed, *more]))
    return "\n\n".join(paragraphs) or "It has no promotions."


def _plain(text: str) -> str:
    """Return a text with line feeds as line breaks and without control characters."""
    return _CONTROLS.sub("", _LINE_BREAKS.sub("\n", text))


def _line(text: str) -> str:
    """Return a text on one line."""
    return _plain(text).replace("\n", " ")


def _escaped(text: str) -> str:
    """Return a text as a value of RFC 5545."""
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def _folded(line: str) -> str:
    """Return a line in pieces of at most 75 octets, none of which ends within a character."""
    pieces, octets = [""], 0
    for character in line:
        size = len(character.encode())
        if octets + size > _LINE_OCTETS:
            pieces.append(" ")
            octets = 1
        pieces[-1] += character
        octets += size
    return "\r\n".join(pieces)
