"""The pictures of the documentation: each can be taken, and the pages show all of them.

`make pictures` takes them anew into ``docs/pictures``; otherwise they go to a folder that is thrown away.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page

from tests.ui.desk import Desk

ROOT = Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
BYTES_MAX = 250_000  # of one picture: they are part of every clone

Opens = Callable[[Desk], Page]


def _at(address: str, **how: str) -> Opens:
    return lambda desk: _sized(desk, address, **how)


def _sized(desk: Desk, address: str, **how: str) -> Page:
    return desk.sit(address=address, viewport={"width": WIDTH, "height": HEIGHT}, **how)


def _object(entity: str, query: str, address: str) -> Opens:
    """Open the page of the first row that a query finds; ``address`` has its ID as ``{}``."""

    def open_it(desk: Desk) -> Page:
        with desk.shop.http() as http:
            key = http.get(f"/admin/{entity}?{query}&$select=ID&$top=1").json()["value"][0]["ID"]
        return _sized(desk, address.format(key))

    return open_it


def _rules(desk: Desk) -> Page:
    """Open the rules of a promotion."""
    page = _object("Promotions", _COFFEE, "promotion/{}")(desk)
    page.get_by_role("tab", name="Rules").or_(page.get_by_role("option", name="Rules")).first.click()
    return page


def _changed(desk: Desk) -> Page:
    """Change a few things, and open the audit trail."""
    for entity, fields, more in (
        ("Campaigns", {"name": "Summer of fruit"}, {"name": "A summer of fruit"}),
        ("Promotions", {"name": "Two melons for one"}, {"priority": 20, "maxApplicationsPerTransaction": 1}),
        ("Budgets", {"name": "Fruit", "totalAmount": 2000, "currency": "EUR"}, {"totalAmount": 2500}),
    ):
        with desk.shop.http() as http:
            made = http.post(f"/admin/{entity}", json={"code": uuid4().hex[:8], **fields, "IsActiveEntity": True})
            assert made.status_code == 201, made.text
            key = f"/admin/{entity}(ID={made.json()['ID']},IsActiveEntity=true)"
            assert http.patch(key, json=more).status_code == 200
    page = _sized(desk, "list/AuditLogs", colours="dark")
    actor = page.get_by_role("textbox", name="Actor")
    actor.fill("demo-administrator")
    actor.press("Enter")
    page.get_by_role("link", name="A summer of fruit").first.wait_for()
    return page


_COFFEE = "$filter=code eq 'TOUR-COFFEE'"
SHOWN: dict[str, Opens] = {
    "overview": _at(""),
    "promotions": _at("promotions?status=RUNNING"),
    "gallery": _at("promotions/new"),
    "promotion": _rules,
    "calendar": _at("promotions/calendar"),
    "simulator": _object("Promotions", _COFFEE, "simulator?promotion={}"),
    "reports": _at("reports/performance"),
    "a-b-test": _object("Promotions", "$filter=code eq 'TEST-1'", "reports/abTests?promotion={}"),
    "budget": _object("Budgets", "$filter=name eq 'Beauty budget'", "object/Budgets/{}"),
    "audit-trail": _changed,
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_can_be_taken(desk: Desk, name: str, tmp_path: Path) -> None:
    page = SHOWN[name](desk)
    desk.settle(page)
    target = (PICTURES if "PROMENADE_PICTURES" in os.environ else tmp_path) / f"{name}.png"
    page.screenshot(path=target, animations="disabled", caret="hide")
    assert _size(target) == (WIDTH, HEIGHT)


@pytest.mark.parametrize("name", SHOWN)
def test_the_documentation_shows_each_picture(name: str) -> None:
    picture = PICTURES / f"{name}.png"
    assert _size(picture) == (WIDTH, HEIGHT)
    assert picture.stat().st_size < BYTES_MAX
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert any(f"pictures/{name}.png)" in page.read_text("utf-8") for page in pages)


def test_the_readme_shows_three_and_no_picture_is_left_over() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(docs/pictures/([\w-]+)\.png\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(set(shown)) == 3
    assert {one.stem for one in PICTURES.iterdir()} == set(SHOWN)


def _size(picture: Path) -> tuple[int, int]:
    """Return width and height of a PNG."""
    header = picture.read_bytes()[:24]
    assert header[1:4] == b"PNG"
    width, height = struct.unpack(">II", header[16:])
    return width, height
