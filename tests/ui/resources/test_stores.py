"""Stores and groups: which stores report, and groups as trees whose branches load when they are opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk


@pytest.mark.smoke
def test_groups_are_a_tree_whose_branches_are_fetched_when_opened(desk: Desk) -> None:
    page = desk.sit(address="/list/ArticleGroups")
    page.get_by_role("button", name="As a Tree").click()
    tree = page.get_by_role("dialog").get_by_role("tree")
    with desk.shop.http() as http:
        root = http.get("/admin/ArticleGroups?$filter=parent_ID eq null&$orderby=name&$top=1").json()["value"][0]
        child = http.get(f"/admin/ArticleGroups?$filter=parent_ID eq {root['ID']}&$orderby=name&$top=1").json()["value"]
    expect(tree.get_by_text(child[0]["name"], exact=True)).to_have_count(0)
    tree.locator(".sapMTreeItemBaseExpander").first.click()
    tree.get_by_text(child[0]["name"], exact=True).click()
    page.get_by_role("heading", name=child[0]["name"], level=1).wait_for()


def test_an_article_names_its_promotions(desk: Desk) -> None:
    with desk.shop.http() as http:
        condition = http.get(
            "/admin/Conditions?$filter=articleNumber ne null&$expand=promotion($select=name)&$top=1"
        ).json()["value"][0]
        number = condition["articleNumber"]
        article = http.get(f"/admin/Articles?$filter=articleNumber eq '{number}'").json()["value"][0]
    page = desk.sit(address=f"/object/Articles/{article['ID']}")
    page.get_by_role("link", name=condition["promotion"]["name"]).first.wait_for()
    expect(page.get_by_text("must be bought").first).to_be_visible()


def test_stores_are_listed_with_when_they_were_heard_of(desk: Desk) -> None:
    page = desk.sit(address="/list/LocalDeployments")
    page.get_by_role("columnheader", name="Last heard of").wait_for()
