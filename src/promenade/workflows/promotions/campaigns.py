"""Actions on campaigns: linking promotions, and exporting a campaign as a calendar entry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from icalendar import Calendar, Event
from icalendar.prop import vText

from promenade.errors import Conflict, Detail, Invalid, NotFound
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.driver.unit import Session
from promenade.store.promotions.campaigns import CampaignSheet, read_campaign_sheet
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.locks import locked

PROMOTIONS_MAX = 1000  # in one call
DETAILS_MAX = 50  # faults listed in one response
NAMES_MAX = 100  # promotions named in a calendar entry; the rest are only counted

# A draft campaign is tentative; one that is scheduled, active or completed is confirmed.
_STATUSES = {"SCHEDULED": "CONFIRMED", "ACTIVE": "CONFIRMED", "COMPLETED": "CONFIRMED", "CANCELLED": "CANCELLED"}

_LINE_BREAKS = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f]")  # not allowed in RFC 5545 text


# --- promotions of a campaign -----------------------------------------------------------------------------------------


async def add_promotions(
    authoring: Authoring, session: Session, campaign_id: str, promotion_ids: Sequence[str] | None
) -> None:
    """Link promotions to a campaign, all of them or none; those already linked are left unchanged.

    The number of statements is constant. Raises, in this order: NotFound of the campaign; Invalid (REQUIRED, EMPTY,
    TOO_MANY_IDS with target ``promotionIds``, UNKNOWN_REFERENCE with ``promotionIds/<n>`` for an unknown or another
    tenant's promotion); Conflict (LOCKED) of the campaign, or of another one that has one of them. Specification,
    Public API actions, rule 1.
    """
    await _campaign(session, campaign_id)
    places = _places(promotion_ids)
    known = {key for key in places if _is_id(key)}
    promotions = {row["id"]: row for row in await read_rows(session, "Promotions", "id", known, lock="update")}
    unknown = [_unknown(f"promotionIds/{place}") for key, place in places.items() if key not in promotions]
    if unknown:
        first = unknown[0]
        details = unknown[:DETAILS_MAX] if len(unknown) > 1 else ()
        raise Invalid(first.code, first.message, first.target, details)
    wanted = {key: row for key, row in promotions.items() if row["campaign_id"] != campaign_id}
    campaign = await _unlocked(session, campaign_id, wanted, places)
    await _link(authoring, "addPromotions", campaign, campaign_id, wanted)


async def remove_promotion(authoring: Authoring, session: Session, campaign_id: str, promotion_id: str | None) -> None:
    """Remove a promotion from a campaign; one that is not in it is left unchanged.

    Raises NotFound of the campaign, Invalid (REQUIRED, UNKNOWN_REFERENCE with target ``promotionId``) and Conflict
    (LOCKED). Specification, Public API actions, rule 2.
    """
    await _campaign(session, campaign_id)
    if not promotion_id:
        raise Invalid("REQUIRED", "promotionId is required.", "promotionId")
    key = str(promotion_id).lower()
    rows = await read_rows(session, "Promotions", "id", (key,), lock="update") if _is_id(key) else []
    if not rows:
        unknown = _unknown("promotionId")
        raise Invalid(unknown.code, unknown.message, unknown.target)
    wanted = {row["id"]: row for row in rows if row["campaign_id"] == campaign_id}
    campaign = await _unlocked(session, campaign_id, {}, {})
    await _link(authoring, "removePromotion", campaign, None, wanted)


async def _campaign(session: Session, campaign_id: str) -> None:
    if not (_is_id(campaign_id) and await read_rows(session, "Campaigns", "id", (campaign_id,))):
        raise _no_campaign()


def _places(promotion_ids: Sequence[str] | None) -> dict[str, int]:
    """Return the distinct IDs, each with its first position in the list."""
    if promotion_ids is None:
        raise Invalid("REQUIRED", "promotionIds is required.", "promotionIds")
    if not promotion_ids:
        raise Invalid("EMPTY", "promotionIds must name at least one promotion.", "promotionIds")
    if len(promotion_ids) > PROMOTIONS_MAX:
        message = f"promotionIds may name at most {PROMOTIONS_MAX} promotions at once."
        raise Invalid("TOO_MANY_IDS", message, "promotionIds")
    places: dict[str, int] = {}
    for place, key in enumerate(promotion_ids):
        places.setdefault(str(key).lower(), place)
    return places


async def _unlocked(
    session: Session, campaign_id: str, promotions: dict[str, Columns], places: dict[str, int]
) -> Columns:
    """Return the campaign after checking that neither it nor the promotions' current campaigns are locked.

    Their rows are locked in the database until the unit ends. The promotions already are: every writer locks promotions
    first, campaigns second.
    """
    has_now = {key: row["campaign_id"] for key, row in promotions.items() if row["campaign_id"] is not None}
    rows = await read_rows(session, "Campaigns", "id", {campaign_id, *has_now.values()}, lock="share")
    campaigns = {row["id"]: row for row in rows}
    if campaign_id not in campaigns:
        raise _no_campaign()
    faults = [locked(campaigns[campaign_id])] if campaigns[campaign_id]["locked"] else []
    for key, place in places.items():
        other = campaigns.get(has_now.get(key, ""))
        if other is not None and other["locked"]:
            faults.append(locked(other, f"promotionIds/{place}"))
    if faults:
        first = faults[0]
        details = [Detail(one.code, one.message, one.target) for one in faults[:DETAILS_MAX]]
        raise Conflict(first.code, first.message, first.target, details if len(details) > 1 else ())
    return campaigns[campaign_id]


async def _link(
    authoring: Authoring, verb: str, campaign: Columns, campaign_id: str | None, promotions: dict[str, Columns]
) -> None:
    """Set the campaign of promotions to ``campaign_id``, as one change of the campaign in the audit trail."""
    if not promotions:
        return
    await authoring.update_many("Promotions", {key: {"campaign_ID": campaign_id} for key in promotions})
    # The campaign's own row does not change: the links are in the promotions' rows.
    authoring.record("Campaigns", campaign, verb, ", ".join(sorted(row["name"] for row in promotions.values())))


# --- calendar entries -------------------------------------------------------------------------------------------------


async def export_ics(session: Session, campaign_id: str, now: datetime) -> str:
    """Return a campaign as RFC 5545 text: one VCALENDAR with one VEVENT. Raises NotFound.

    See `calendar_file` for how a window becomes an entry.
    """
    sheet = await read_campaign_sheet(session, campaign_id, NAMES_MAX) if _is_id(campaign_id) else None
    if sheet is None:
        raise _no_campaign()
    return calendar_file(sheet, now)


def calendar_file(sheet: CampaignSheet, now: datetime) -> str:
    """Return the RFC 5545 text of a campaign, with CRLF line ends; equal campaigns give equal text.

    An entry needs a start. A window without one starts when the campaign was created; one without an end becomes an
    entry at its start; without either the entry is on the day of the campaign's creation. The entry does not block
    time, its UID is the campaign's ID, and SEQUENCE counts the campaign's changes, so that importing it again updates
    it.
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
    """Return start and end of the entry; calendars use whole seconds, and an end must be after the start."""
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


class _Text(vText):
    r"""A text that is escaped correctly: the library takes the ``\N`` of ``C:\News`` for a line break."""

    def to_ical(self) -> bytes:
        escaped = self.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")
        return escaped.encode()


# --- the words of refusals --------------------------------------------------------------------------------------------

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _unknown(target: str) -> Detail:
    return Detail("UNKNOWN_REFERENCE", f"{target} names a promotion that does not exist.", target)


def _no_campaign() -> NotFound:
    return NotFound("NOT_FOUND", "There is no such campaign.")
