"""The rules of a promotion on its page, as a user sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, Shop, choose

__all__ = ["ADDS", "KINDS", "RulesPage", "Step", "rules_of", "stored"]

Step = tuple[Literal["fill", "choose", "tokens", "press", "tick", "item"], str, Any]
"""What is done with a field: the label that it has, and what with it. An ``item`` adds a row to a small table."""

ADDS = {"Conditions": "Add condition", "DiscountActions": "Add action", "LoyaltyActions": "Add points"}
KINDS = tuple(ADDS)
_EXPAND = {
    "Conditions": "valueListItems,articleListItems",
    "DiscountActions": "scaledTiers,quantityTiers,bundleComponents,articleListItems,"
    "exclusions($expand=articleListItems)",
    "LoyaltyActions": "articleListItems",
}
_ORDER = {"Conditions": "sequence", "DiscountActions": "sequence", "LoyaltyActions": "createdAt"}


def stored(shop: Shop, *, is_active: bool = True, **rules: Sequence[dict[str, Any]]) -> str:
    """Create a promotion with rules, without the browser; return its ID."""
    with shop.http() as http:
        made = http.post("/admin/Promotions", json={"name": "Rules", "IsActiveEntity": is_active})
        assert made.status_code == 201, made.text
        entity_id = str(made.json()["ID"])
        for kind, rows in rules.items():
            for row in rows:
                answer = http.post(f"/admin/{kind}", json={"promotion_ID": entity_id, **row})
                assert answer.status_code == 201, answer.text
    return entity_id


def rules_of(shop: Shop, entity_id: str, kind: str) -> list[dict[str, Any]]:
    """Return the rules of a kind as the service stores them."""
    query = f"$filter=promotion_ID eq {entity_id}&$orderby={_ORDER[kind]}&$expand={_EXPAND[kind]}"
    with shop.http() as http:
        answer = http.get(f"/admin/{kind}?{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["value"]
    return found


class RulesPage:
    """The page of a promotion's draft; see `Desk.sit` for ``how``."""

    def __init__(self, desk: Desk, entity_id: str, *, role: str = "administrator", **how: Any) -> None:
        self.desk = desk
        self.entity_id = entity_id
        self.page: Page = desk.sit(role, address=f"promotion/{entity_id}", **how)
        self.editor = self.page.locator(".promenadeRules")
        self.editor.wait_for()

    @classmethod
    def editing(cls, desk: Desk, entity_id: str, **how: Any) -> RulesPage:
        """Return the page with the user's draft created or resumed."""
        made = cls(desk, entity_id, **how)
        made.edit()
        return made

    def edit(self) -> None:
        """Create a draft."""
        self.page.locator("[id$='--edit']").click()
        self.page.wait_for_url("**,draft")
        self.editor.get_by_role("button", name=self.word("Add condition", "Bedingung hinzufügen")).wait_for()

    def word(self, english: str, german: str) -> str:
        """Return the text in the language of the page."""
        return german if self.page.evaluate("document.documentElement.lang") == "de" else english

    def cards(self, kind: str = "") -> Locator:
        """Return the cards of the rules of a kind, or all."""
        if not kind:
            return self.editor.locator("li.sapMCLI")
        return self.editor.locator(".promenadeRulesSection").nth(KINDS.index(kind)).locator("li.sapMCLI")

    def sentences(self, kind: str) -> list[str]:
        """Return the sentences of the rules of a kind."""
        return self.cards(kind).locator(".promenadeRuleWords > :nth-child(2)").all_inner_texts()

    def add(self, kind: str, title: str) -> Locator:
        """Add a rule of the type with this title."""
        before = self.cards(kind).count()
        self.editor.get_by_role("button", name=ADDS[kind]).click()
        dialog = self.page.get_by_role("dialog")
        dialog.locator("li.sapMSLI").filter(has=self.page.get_by_text(title, exact=True)).click()
        expect(self.cards(kind)).to_have_count(before + 1)
        expect(dialog).to_have_count(0)
        return self.cards(kind).last

    def open(self, card: Locator) -> Locator:
        """Expand a rule's fields and return the rule."""
        card.get_by_role("button", name="Show details").click()
        return card

    def do(self, card: Locator, *steps: Step) -> None:
        """Perform steps on a rule."""
        for how, label, value in steps:
            getattr(self, f"_{how}")(card, label, value)

    def _fill(self, card: Locator, label: str, value: str) -> None:
        field = card.get_by_role("textbox", name=label, exact=True).or_(
            card.get_by_role("combobox", name=label, exact=True)
        )
        field.last.fill(value)
        field.last.press("Tab")

    def _choose(self, card: Locator, label: str, value: str) -> None:
        choose(card.get_by_role("combobox", name=label, exact=True).last, value)

    def _tokens(self, card: Locator, label: str, values: Sequence[str]) -> None:
        field = card.get_by_role("textbox", name=label).or_(card.get_by_role("combobox", name=label)).last
        for value in values:
            field.fill(value)
            field.press("Enter")
            card.locator(".sapMToken").filter(has_text=value).wait_for()

    def _press(self, card: Locator, label: str, value: None) -> None:
        card.get_by_role("button", name=label, exact=True).click()

    def _tick(self, card: Locator, label: str, value: None) -> None:
        card.get_by_role("checkbox", name=label).last.click()

    def _item(self, card: Locator, label: str, steps: Sequence[Step]) -> None:
        """Fill a row of a small table; its fields are labelled like their columns."""
        card.get_by_role("button", name=label, exact=True).click()
        for how, name, value in steps:
            getattr(self, f"_{how}")(card, name, value)

    def save(self) -> None:
        """Press Save and wait for the active promotion."""
        self.press_save()
        self.page.wait_for_url(lambda url: url.endswith(self.entity_id))

    def press_save(self) -> None:
        """Press Save without checking the outcome."""
        self.page.locator("[id$='--save']").click()
