"""The reference pages are complete: everything the program can return, and everything the public API offers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import fields

from docs.admin_page import ACTION_FAULTS
from docs.error_codes import (
    ADMIN,
    EVERYWHERE,
    POS,
    PUBLIC,
    REPORTING,
    Raised,
    computed_codes,
    error_rows,
    module_paths,
    raised_in,
)
from docs.generate import ENVELOPE, events_page
from docs.public_page import public_api_page
from docs.public_reference import FAULTS, MANAGED
from docs.reporting_reference import reporting_page
from promenade import events, model
from promenade.model.declare import NONE, Service
from promenade.model.edm import edm_for

ROOT = Path(__file__).parent.parent.parent
EDM = edm_for(Service.PUBLIC)
ADMIN_EDM = edm_for(Service.ADMIN)
# A code created elsewhere, or a function's own parameter, is read where it is created or passed.
PASSED_ON = re.compile(r"\b(\w+|\w+\[0\])\.code\b|\bcode\b")
CODE = re.compile(r"""(?:\bcode["']?\]?|codes?\([^()]*\)) == ["']([A-Z][A-Z0-9_]{3,})["']""")


def codes(sources: tuple[str, ...]) -> set[str]:
    return {row[0].strip("`") for row in error_rows(sources)}


# ---- errors -------------------------------------------------------------------------------------------------------


def unread() -> list[Raised]:
    """Return errors whose code could not be read and is not passed on from elsewhere."""
    found = [one for path in module_paths() for one in raised_in(path) if one.code is None]
    return [one for one in found if one.path not in computed_codes() and not PASSED_ON.search(one.written)]


def test_the_code_of_every_error_is_read_where_the_error_is_made() -> None:
    assert unread() == []


def test_every_code_that_a_test_has_seen_is_listed() -> None:
    listed = codes(EVERYWHERE)
    seen: dict[str, str] = {}
    for folder in ("odata_server", "store", "web", "workflows"):  # the engine's are reasons, not errors
        for path in (ROOT / "tests" / folder).rglob("test_*.py"):
            seen |= dict.fromkeys(CODE.findall(path.read_text()), path.name)
    assert len(seen) > 40
    findings = set(re.findall(r"`([A-Z_]+)`", (ROOT / "docs/how-to/check-a-promotion.md").read_text()))
    assert {code: name for code, name in seen.items() if code not in listed | findings} == {}


@pytest.mark.parametrize(
    ("sources", "some"),
    [
        (POS, {"QUANTITY_ZERO", "CONFIRM_MISMATCH", "UNAUTHORIZED"}),
        (PUBLIC, {"QUERY_SYNTAX", "URI_SYNTAX", "NOT_INSERTABLE", "PRECONDITION_FAILED", "TOO_MANY_DIGITS", "LOCKED"}),
        (REPORTING, {"PERIOD_EMPTY", "TOO_MANY_EXPORTS", "UNKNOWN_CODE", "NOT_FOUND", "MISSING_SCOPE"}),
    ],
    ids=["pos", "public", "reporting"],
)
def test_each_service_lists_its_own_codes(sources: tuple[str, ...], some: set[str]) -> None:
    assert some <= codes(sources)


def test_codes_for_integrators_only_are_not_listed_for_tills() -> None:
    assert not {"QUERY_SYNTAX", "QUERY_TOO_EXPENSIVE", "LOCKED_IS_READ_ONLY", "PROMOTION_ACTIVE"} & codes(POS)
    assert not {"CONFIRM_MISMATCH", "QUANTITY_ZERO"} & codes(PUBLIC)


def test_the_error_codes_of_administration_actions_are_listed() -> None:
    actions = {(one.binding, one.name) for several in ADMIN_EDM.operations.values() for one in several}
    assert {key for key in actions if not key[1].startswith("draft")} == set(ACTION_FAULTS)
    lines = [line for faults in ACTION_FAULTS.values() for line in faults]
    named = {code for line in lines for code in re.findall(r"`([A-Z]+_[A-Z_]+)`", line)}
    assert named <= codes(PUBLIC) | codes(ADMIN)


def test_the_error_codes_of_operations_are_listed() -> None:
    assert set(FAULTS) == set(EDM.operations)
    named = {code for faults in FAULTS.values() for line in faults for code in re.findall(r"`([A-Z_]+)`", line)}
    assert named <= codes(PUBLIC)


# ---- the public API -----------------------------------------------------------------------------------------------


PAGE = public_api_page()
SECTIONS = {name: text for name, _, text in (part.partition("\n") for part in PAGE.split("\n### ")[1:])}


@pytest.mark.parametrize(
    "entity", [one for one in model.entities() if one.public is not NONE], ids=lambda one: one.set_name
)
def test_every_collection_has_its_fields_and_navigations(entity: model.EntityType) -> None:
    section, entity_type = SECTIONS[entity.set_name], EDM.entity_types[entity.set_name]
    for name in (*entity_type.property_by_name, *entity_type.navigation_by_name):
        assert f"`{name}`" in section, name
    assert ("Deprecated" in section) == entity.deprecated


def test_every_code_list_is_named() -> None:
    missing = [name for name in model.code_lists() if f"[{name}](code-lists.md#{name.lower()})" not in PAGE]
    assert missing == []


def test_write_only_and_hidden_fields_are_documented_as_such() -> None:
    assert "`genericCode`" in SECTIONS["CouponTypes"]  # accepted, and marked as write-only
    assert "write-only" in SECTIONS["CouponTypes"]
    codes = SECTIONS["CouponCodes"].partition("\n\n## ")[0]
    assert "| `code` |" not in codes
    assert codes.count("`code`") == 1  # needed by import rows, but not by a create
    assert "Rows come by [bulk import](#bulkimport), with `code` and `couponType_ID`" in codes


def test_the_page_names_the_imported_entities_that_update_existing_rows() -> None:
    said = {name: re.search(r"change what is there with their `(\w+)`", section) for name, section in SECTIONS.items()}
    upserted = {"ArticleGroups": "groupId", "Articles": "articleNumber", "PosGroups": "code"}
    assert {name: key.group(1) for name, key in said.items() if key} == upserted
    assert sum("by [bulk import]" in section for section in SECTIONS.values()) == 12


def test_every_limit_names_a_code_that_is_listed() -> None:
    _, _, rest = PAGE.partition("\n## Limits\n")
    named = set(re.findall(r"4\d\d `([A-Z_]+)`", rest.partition("\n## ")[0]))
    assert len(named) > 8
    assert named <= codes(PUBLIC)


# ---- reporting ----------------------------------------------------------------------------------------------------


def test_every_report_has_its_fields() -> None:
    page = reporting_page()
    sections = {name: text for name, _, text in (part.partition("\n") for part in page.split("\n### ")[1:])}
    reports = [one.set_name for one in model.entities() if one.reporting is not NONE]
    assert list(sections) == reports
    for name in reports:
        for prop in edm_for(Service.REPORTING).entity_types[name].property_by_name:
            assert prop in MANAGED or f"`{prop}`" in sections[name], (name, prop)


def test_the_error_codes_of_exports_are_listed() -> None:
    _, _, refused = reporting_page().partition("| Refused with | When |")
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", refused.partition("\n\n")[0]))
    assert {"PERIOD_EMPTY", "TOO_MANY_EXPORTS"} <= named <= codes(PUBLIC) | codes(REPORTING)


# ---- links --------------------------------------------------------------------------------------------------------


def anchors(page: str) -> set[str]:
    """Return the anchors of headings, as GitHub generates them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").rglob("*.md")) + sorted(ROOT.glob("*.md")), ids=lambda page: page.name
)
def test_links_lead_to_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text()):
        other = page.parent / target if target else page
        assert anchor in anchors(other.read_text()), f"{target}#{anchor}"


# ---- events -------------------------------------------------------------------------------------------------------


def test_every_event_is_documented() -> None:
    page = events_page()
    assert len(events.events()) >= 28
    assert [row[0].strip("`") for row in ENVELOPE] == [one.encode_name for one in fields(events.Envelope)]
    assert [kind for kind in events.events() if f"\n## {kind}\n" not in page] == []
