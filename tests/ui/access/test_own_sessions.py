"""A person sees in the menu of the page where they are signed in, and signs out in other browsers."""

from __future__ import annotations

import httpx2
from playwright.sync_api import expect

from tests.kit.code_flow import Flow, answered
from tests.ui.access.test_own_password import PASSWORD, settled, signed_in
from tests.ui.access.test_sign_in import PERSON
from tests.ui.desk import REQUEST_SECONDS_MAX, Desk
from tests.ui.test_everywhere import judge

FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0"


def test_a_person_signs_out_in_another_browser(desk: Desk) -> None:
    name = settled(desk)
    page = signed_in(desk, name)
    headers = {"user-agent": FIREFOX}
    with httpx2.Client(base_url=desk.shop.url, timeout=REQUEST_SECONDS_MAX, verify=False, headers=headers) as elsewhere:
        flow = Flow(elsewhere)
        assert flow.redeem(answered(flow.log_in(name, PASSWORD))["code"]).status_code == 200
        assert elsewhere.post("/oauth/session").status_code == 200
        page.locator(PERSON).click()
        page.get_by_role("button", name="Where you are signed in").click()
        dialog = page.get_by_role("dialog", name="Where you are signed in")
        expect(dialog.get_by_role("list", name="This browser")).to_contain_text("Chrome, Linux")
        desk.settle(page)
        assert not judge(page)
        end = dialog.get_by_role("button", name="Sign out there")
        end.click()
        expect(dialog).to_contain_text("Choose a browser first.")
        dialog.get_by_role("list", name="Other browsers").get_by_text("Firefox, Windows").click()
        for password, said in (("another horse", "The current password is wrong."), (PASSWORD, "")):
            dialog.get_by_label("Your password").fill(password)
            end.click()
            if said:
                expect(dialog).to_contain_text(said)
        expect(dialog).to_have_count(0)
        assert elsewhere.post("/oauth/session").status_code == 204
    page.locator(PERSON).click()
    page.get_by_role("button", name="Where you are signed in").click()
    expect(dialog).to_contain_text("You are signed in nowhere else.")
    desk.forgive("400 POST")
