"""Every field of a generated page that names something else: nothing that is not there is saved into it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from playwright.sync_api import expect

from tests.kit.annotation_targets import inlined
from tests.ui.desk import Desk

EDM = "{http://docs.oasis-open.org/odata/ns/edm}"
WITH_PAGES = [
    "Articles", "ArticleGroups", "Budgets", "Campaigns", "CouponCodeBatches", "CouponTypes", "LocalDeployments",
    "MutualExclusionGroups", "PosGroups", "PriorityGroups", "PromotionPilotConfigs", "PromotionTemplates",
    "Stakeholders", "WebhookSubscriptions",
]  # fmt: skip
UNKNOWN = "no-such-thing"


def references_of(metadata: ET.Element, set_name: str) -> list[str]:
    """Return the labels of the fields of a set that name rows of another one, and which people fill in."""
    kind = next(one.get("EntityType", "") for one in metadata.iter(f"{EDM}EntitySet") if one.get("Name") == set_name)
    declared = next(one for one in metadata.iter(f"{EDM}EntityType") if one.get("Name") == kind.rsplit(".", 1)[1])
    labels = []
    for field in declared.iter(f"{EDM}Property"):
        notes = {one.get("Term"): one for one in field.findall(f"{EDM}Annotation")}
        if "Common.ValueList" in notes and not {"Common.ValueListWithFixedValues", "Core.Computed"} & set(notes):
            labels.append(str(notes["Common.Label"].get("String")))
    return labels


def test_what_names_nothing_is_an_error_of_its_field_on_every_page(desk: Desk) -> None:
    with desk.shop.http() as http:
        metadata = inlined(ET.fromstring(http.get("/admin/$metadata").content))
    named = {set_name: labels for set_name in WITH_PAGES if (labels := references_of(metadata, set_name))}
    assert len(named) > 5
    page = desk.sit()
    for set_name, labels in named.items():
        page.goto(f"{desk.shop.url}/#/object/{set_name}/new")
        fields = [page.get_by_role("textbox", name=label, exact=True) for label in labels]
        for field in fields:
            field.fill(UNKNOWN)
        save = page.get_by_role("button", name="Save", exact=True)
        save.click()
        for field in fields:
            expect(field).to_have_accessible_error_message("Nothing matches. Choose one of the list.")
            expect(field).to_have_value(UNKNOWN)
        expect(save).to_be_visible()
        leave = page.get_by_role("button", name=re.compile("^(Discard draft|Cancel)$"))
        is_draft = leave.inner_text() == "Discard draft"
        leave.click()
        if is_draft:
            page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
        page.wait_for_url(f"**/list/{set_name}")
