"""Webhooks: subscriptions with a choice of event types, and failed deliveries sent again."""

from __future__ import annotations

import re
import sqlite3
from base64 import b64encode
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from promenade.events import events, subscribable_kinds
from tests.kit.receiver import Answer, Receiver
from tests.ui.desk import WAIT_MS, Desk, escape
from tests.ui.measuring import require_room
from tests.ui.test_everywhere import judge
from tests.ui.test_texts import APP, texts

SECRET = f"whsec_{b64encode(b'a key of twenty-four byte').decode()}"


def _coupon_type(desk: Desk) -> str:
    """Create a coupon type with a shared code, so that issuing it emits an event and does nothing else."""
    mark = uuid4().hex[:8]
    body = {
        "code": f"W-{mark}", "name": mark, "status": "ACTIVE", "codeType": "GENERIC", "genericCode": f"W-{mark}",
        "IsActiveEntity": True,
    }  # fmt: skip
    with desk.shop.http() as http:
        return str(http.post("/admin/CouponTypes", json=body).json()["ID"])


def _issue(desk: Desk, coupon_type: str) -> None:
    with desk.shop.http() as http:
        answer = http.post(f"/admin/CouponTypes(ID={coupon_type},IsActiveEntity=true)/issueCoupon", json={})
        assert answer.status_code == 200, answer.text


def _subscribe(desk: Desk, url: str, **values: object) -> str:
    body = {"name": uuid4().hex[:8], "callbackUrl": url, "eventTypes": ["COUPON_ISSUED"], **values}
    with desk.shop.http() as http:
        answer = http.post("/admin/WebhookSubscriptions", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["ID"])


def test_every_kind_of_event_can_be_chosen_and_has_a_sentence() -> None:
    offered = re.findall(r'"([\w.]+)"', Path(APP / "resources" / "eventKinds.js").read_text("utf-8").split("return")[1])
    assert sorted(offered) == sorted(subscribable_kinds())
    for language in ("en", "de"):
        assert {f"resources.event.{kind}" for kind in events()} <= texts("resources", language).keys()


def _is_tried_again(desk: Desk, subscription: str) -> None:
    """Wait until the service has recorded a failed delivery."""
    deadline = monotonic() + WAIT_MS / 1000
    with desk.shop.http() as http:
        while monotonic() < deadline:
            rows = http.get(f"/admin/NotificationLogs?$filter=subscription_ID eq {subscription}").json()["value"]
            if rows and rows[0]["status"] == "RETRYING":
                return
    raise AssertionError("no delivery failed")


def _is_planned(desk: Desk) -> None:
    """Wait until the worker has seen every event: what happens to a subscription later does not concern them."""
    deadline = monotonic() + WAIT_MS / 1000
    with closing(sqlite3.connect(desk.shop.data / "promenade.db")) as connection:
        while connection.execute("SELECT 1 FROM outbox_events WHERE dispatched_at IS NULL").fetchone():
            assert monotonic() < deadline, "an event waits"


def test_a_delivery_that_failed_is_sent_again(desk: Desk) -> None:
    with Receiver() as receiver:
        receiver.answers("/erp", Answer(500))
        key = _subscribe(desk, f"{receiver.url}/erp")
        _issue(desk, _coupon_type(desk))
        _is_tried_again(desk, key)
        page = desk.sit(address=f"/object/WebhookSubscriptions/{key}")
        page.get_by_text("A coupon was issued.").wait_for()
        page.get_by_text("Trying again").wait_for()
        expect(page.get_by_text(re.compile("^500"))).to_be_visible()
        receiver.answers("/erp", Answer(200))
        page.get_by_role("button", name="Send Again").click()
        page.locator(".sapMObjStatusText", has_text="Delivered").wait_for()
        requests = receiver.requests("/erp")
        assert len({(one.body, one.headers["webhook-id"]) for one in requests}) == 1


def test_events_during_a_pause_of_a_subscription_are_sent_later(desk: Desk) -> None:
    with Receiver() as receiver:
        key = _subscribe(desk, f"{receiver.url}/late")
        page = desk.sit(address=f"/object/WebhookSubscriptions/{key}")
        page.get_by_role("button", name="Pause").click()
        page.get_by_text("Paused: nothing is sent.").wait_for()
        _issue(desk, _coupon_type(desk))
        _is_planned(desk)
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("button", name="Send What Was Missed").click()
        dialog = page.get_by_role("dialog")
        year = datetime.now(UTC).year
        for name, day in (("From", f"1 Jan {year - 1}"), ("To", f"1 Jan {year + 1}")):
            box = dialog.get_by_label(name, exact=True)
            box.fill(day)
            box.press("Tab")
        dialog.get_by_role("button", name=re.compile("events", re.IGNORECASE)).click()
        page.get_by_text(re.compile("Events that are sent: [1-9]")).wait_for()
        receiver.wait(1, path="/late")
        page.get_by_role("button", name="OK", exact=True).click()
        page.locator(".sapMObjStatusText", has_text="Delivered").first.wait_for()  # it is followed to its end


def test_a_test_shows_what_was_sent_and_what_was_answered(desk: Desk) -> None:
    """The first attempt fails, the second one succeeds; neither shows a secret, or HTML as anything but text."""
    refusal = '<img src="x" onerror="alert(1)"> {0} {/ID}'
    with Receiver() as receiver:
        receiver.answers("/erp", Answer(500, body=refusal.encode()))
        key = _subscribe(desk, f"{receiver.url}/erp", isActive=False, secret=SECRET)
        page = desk.sit(address=f"/object/WebhookSubscriptions/{key}")
        page.get_by_role("button", name="Send Test").click()
        dialog = page.get_by_role("dialog", name="WEBHOOK_TEST")
        expect(dialog.get_by_text("Trying again")).to_be_visible()
        expect(dialog.get_by_text(re.compile("^500 · The receiver answered 500"))).to_be_visible()
        expect(dialog.get_by_text(re.compile("^[0-9,]+ ms$"))).to_be_visible()
        expect(dialog.get_by_role("textbox", name="What the receiver answered")).to_have_value(refusal)
        expect(dialog.get_by_role("textbox", name="What is sent")).to_have_value(re.compile('"isTest": true'))
        assert judge(page) == []
        assert SECRET not in page.content()
        escape(page)
        receiver.answers("/erp", Answer(202, body=b'{"queued":7}'))
        page.get_by_role("button", name="Send Test").click()
        expect(dialog.get_by_text("Delivered")).to_be_visible()  # it is followed to its end
        expect(dialog.get_by_text("202", exact=True)).to_be_visible()
        expect(dialog.get_by_role("textbox", name="What the receiver answered")).to_have_value('{"queued":7}')
        escape(page)
        page.locator("tr", has_text="WEBHOOK_TEST").get_by_role("button", name="What Was Sent").click()
        expect(dialog.get_by_text("Delivered")).to_be_visible()
        assert len({one.headers["webhook-id"] for one in receiver.requests("/erp")}) == 1


def test_the_envelope_is_chosen_and_the_test_shows_it(desk: Desk) -> None:
    with Receiver() as receiver:
        key = _subscribe(desk, f"{receiver.url}/bus", isActive=False)
        page = desk.sit(address=f"/object/WebhookSubscriptions/{key}", language="de")
        expect(page.get_by_text("Wie Standard Webhooks es empfiehlt")).to_be_visible()
        page.get_by_role("button", name="Bearbeiten").click()
        page.get_by_role("combobox", name="Umschlag").press("ArrowDown")
        page.get_by_role("button", name="Speichern").click()
        expect(page.get_by_role("combobox", name="Umschlag")).to_have_count(0)
        expect(page.get_by_text("CloudEvents, strukturiert").last).to_be_visible()
        page.get_by_role("button", name="Test senden").click()
        sent = page.get_by_role("dialog", name="WEBHOOK_TEST").get_by_role("textbox", name="Was gesendet wird")
        expect(sent).to_have_value(re.compile('"type": "promenade.WEBHOOK_TEST"'))
        assert judge(page) == []


def test_who_may_not_change_subscriptions_sends_no_test(desk: Desk) -> None:
    with Receiver() as receiver:
        key = _subscribe(desk, f"{receiver.url}/erp", isActive=False)
        with desk.shop.http() as http:
            assert http.post(f"/admin/WebhookSubscriptions({key})/sendTest", json={}).status_code == 200
        page = desk.sit("planner", address=f"/object/WebhookSubscriptions/{key}", language="de")
        page.locator("tr", has_text="WEBHOOK_TEST").get_by_role("button", name="Was gesendet wurde").click()
        dialog = page.get_by_role("dialog", name="WEBHOOK_TEST")
        expect(dialog.get_by_text("Zugestellt")).to_be_visible()
        escape(page)
        expect(page.get_by_role("button", name="Test senden")).to_have_count(0)
        page.set_viewport_size({"width": 390, "height": 844})
        expect(page.locator(".sapMListTblSubRow").first).to_be_visible()  # what does not fit is below
        require_room(desk, page)


@pytest.mark.smoke
def test_a_new_subscription_shows_its_secret_once(desk: Desk) -> None:
    with Receiver() as receiver:
        page = desk.sit(address="/list/WebhookSubscriptions")
        page.get_by_role("button", name="Subscribe").click()
        dialog = page.get_by_role("dialog", name="Subscribe")
        expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
        dialog.get_by_role("textbox", name="Callback URL").fill(f"{receiver.url}/new")
        kinds = dialog.get_by_role("combobox", name="Event types")
        kinds.click()
        kinds.press_sequentially("COUPON_ISS")
        expect(kinds).to_have_value("COUPON_ISSUED")
        kinds.press("Enter")
        kinds.press("Tab")
        expect(dialog.locator(".sapMToken")).to_have_text("COUPON_ISSUED")
        dialog.get_by_role("button", name="Subscribe").click()
        secret = page.get_by_role("dialog", name="The secret of this subscription").get_by_role("textbox")
        expect(secret).to_have_value(re.compile("^whsec_"))
        page.get_by_role("button", name="I Have Copied It").click()
        page.get_by_role("button", name="Pause").wait_for()
        expect(page.get_by_text("COUPON_ISSUED", exact=True)).to_be_visible()
