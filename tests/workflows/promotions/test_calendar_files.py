"""A campaign as a calendar entry, read back by a calendar library and strictly by RFC 5545."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import icalendar
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from promenade.errors import NotFound
from promenade.store.driver.session import Database
from promenade.store.promotions.campaigns import CampaignSheet
from promenade.workflows.promotions.calendar_files import calendar_file, export_ics
from tests.store.pricing.written import NOW, TENANT, Rows, author, promotions, uuid

CAMPAIGN = uuid(2)
LATER = NOW + timedelta(days=14)
SHEET = CampaignSheet(
    id=CAMPAIGN,
    name="Spring",
    description="Tea, coffee; and more.",
    status="SCHEDULED",
    start_at=NOW,
    end_at=LATER,
    created_at=NOW - timedelta(days=30),
    modified_at=NOW - timedelta(days=2),
    version=4,
    promotion_names=("Three for two", "Tea week"),
    promotion_count=2,
)


def campaign(**fields: Any) -> Rows:
    return {"Campaigns": [{"ID": CAMPAIGN, "code": "SPRING", "name": "Spring"} | fields]}


def event(text: str) -> Any:
    """Return the only entry of the calendar, parsed by a calendar library."""
    (calendar,) = icalendar.Calendar.from_ical(text, multiple=True)
    (entry,) = calendar.walk("VEVENT")
    return entry


def raw(text: str) -> dict[str, str]:
    """Return name and value of every line of the entry: unfolded, split and unescaped by RFC 5545."""
    assert text.endswith("\r\n")
    lines = text.removesuffix("\r\n").split("\r\n")
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert all(len(line.encode()) <= 75 for line in lines)
    unfolded = "\r\n".join(lines).replace("\r\n ", "").split("\r\n")
    found = [re.split(r"[;:]", line, maxsplit=1)[0] for line in unfolded]
    assert [found.count(name) for name in ("UID", "DTSTAMP", "DTSTART", "SUMMARY", "DESCRIPTION")] == [1] * 5
    values = [line.split(":", 1) for line in unfolded]
    return {
        name: re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), value) for name, value in values
    }


def test_an_entry_has_everything_that_calendar_programs_need() -> None:
    assert calendar_file(SHEET, NOW - timedelta(hours=1)).split("\r\n") == [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Promenade//Campaigns//EN",
        "BEGIN:VEVENT",
        f"UID:{CAMPAIGN}",
        "DTSTAMP:20260504T110000Z",
        "DTSTART:20260504T120000Z",
        "DTEND:20260518T120000Z",
        "SUMMARY:Spring",
        "DESCRIPTION:Tea\\, coffee\\; and more.\\n\\nPromotions:\\n- Three for two\\n- Tea",
        "  week",
        "STATUS:CONFIRMED",
        "TRANSP:TRANSPARENT",
        "SEQUENCE:3",
        "CREATED:20260404T120000Z",
        "LAST-MODIFIED:20260502T120000Z",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ("DRAFT", "TENTATIVE"),
        ("SCHEDULED", "CONFIRMED"),
        ("ACTIVE", "CONFIRMED"),
        ("COMPLETED", "CONFIRMED"),
        ("CANCELLED", "CANCELLED"),
    ],
)
def test_a_status_is_one_that_calendars_know(status: str, shown: str) -> None:
    assert str(event(calendar_file(replace(SHEET, status=status), NOW))["STATUS"]) == shown


MADE = datetime(2026, 4, 1, 9, 30, 15, 250, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("start", "end", "begins", "ends", "says"),
    [
        (NOW, LATER, NOW, LATER, None),
        (NOW + MICROSECOND, LATER + MICROSECOND, NOW, LATER, None),
        (NOW, NOW + MICROSECOND, NOW, None, None),  # shorter than a calendar can express
        (NOW, None, NOW, None, "It has no end date."),
        (None, LATER, MADE.replace(microsecond=0), LATER, "It has no start date: it has already begun."),
        (None, MADE - timedelta(days=1), MADE.replace(microsecond=250) - timedelta(days=1), None, "no start date"),
        (None, None, date(2026, 4, 1), None, "It has no end date."),
    ],
)
def test_an_open_window_is_an_entry_too(
    start: datetime | None, end: datetime | None, begins: date, ends: datetime | None, says: str | None
) -> None:
    entry = event(calendar_file(replace(SHEET, start_at=start, end_at=end, created_at=MADE), NOW))
    if isinstance(begins, datetime):
        begins = begins.replace(microsecond=0)
    assert (entry["DTSTART"].dt, entry["DTEND"].dt if "DTEND" in entry else None) == (begins, ends)
    assert says is None or says in str(entry["DESCRIPTION"])


def test_a_campaign_without_promotions_has_an_entry() -> None:
    empty = replace(SHEET, description=None, promotion_names=(), promotion_count=0)
    assert raw(calendar_file(empty, NOW))["DESCRIPTION"] == "It has no promotions."


ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=200)
PRINTED = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]) | st.sampled_from('\\,;:"nN'))


@example(name="C:\\News\\", description="\\n;\\,", promotion=" 2\\N")
@given(name=PRINTED.filter(bool), description=PRINTED.filter(bool), promotion=PRINTED)
def test_any_printed_text_comes_back_as_it_was(name: str, description: str, promotion: str) -> None:
    sheet = replace(SHEET, name=name, description=description, promotion_names=(promotion,), promotion_count=1)
    text = calendar_file(sheet, NOW)
    expected = (name, f"{description}\n\nPromotions:\n- {promotion}")
    assert (raw(text)["SUMMARY"], raw(text)["DESCRIPTION"]) == expected
    entry = event(text)
    assert (str(entry["SUMMARY"]), str(entry["DESCRIPTION"])) == expected


@given(name=ANY_TEXT, description=ANY_TEXT, promotion=ANY_TEXT)
def test_no_text_breaks_out_of_its_line(name: str, description: str, promotion: str) -> None:
    sheet = replace(SHEET, name=name, description=description, promotion_names=(promotion,), promotion_count=1)
    text = calendar_file(sheet, NOW)
    assert len(raw(text)) == len(raw(calendar_file(SHEET, NOW)))
    assert raw(text)["UID"] == str(event(text)["UID"]) == CAMPAIGN
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)


async def test_a_campaign_is_exported_with_the_names_of_its_promotions(database: Database) -> None:
    rows = campaign(status="ACTIVE", startAt=NOW, endAt=LATER) | promotions(*range(1, 103), campaign_ID=CAMPAIGN)
    await author(database, "Promotions", rows | {"DiscountActions": []})
    text = await database.read(lambda session: export_ics(session, CAMPAIGN, NOW), tenant=TENANT)
    lines = raw(text)["DESCRIPTION"].split("\n")
    assert lines[:3] == ["Promotions:", "- P1", "- P10"]
    assert (len(lines), lines[-1]) == (102, "and 2 more")
    assert raw(text)["STATUS"] == "CONFIRMED"


@pytest.mark.parametrize("campaign_id", [uuid(2, 99), "spring", "", "\0"])
async def test_a_missing_campaign_is_not_exported(database: Database, campaign_id: str) -> None:
    await author(database, "Campaigns", campaign())
    with pytest.raises(NotFound):
        await database.read(lambda session: export_ics(session, campaign_id, NOW), tenant=TENANT)
    with pytest.raises(NotFound):
        await database.read(lambda session: export_ics(session, CAMPAIGN, NOW), tenant="other")
