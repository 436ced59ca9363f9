"""Valid addresses of subscriptions: what is refused here could never be delivered to."""

from __future__ import annotations

import pytest

from promenade.errors import Invalid
from tests.workflows.authoring.desk import Desk
from tests.workflows.authoring.test_every_entity import refused

NAMED = ("ERP.internal", "10.20.0.0/16", "localhost:9000", "[::1]:9001", "fd00::/8")


@pytest.mark.parametrize(
    "url",
    ["http://erp.internal/x", "http://ERP.INTERNAL:81/", "http://erp.internal./", "http://10.20.3.4:5/",
     "http://localhost:9000/", "http://[::1]:9001/", "http://[fd00::7]/", "https://anywhere.example/"],
)  # fmt: skip
async def test_hosts_named_by_the_operator_may_use_plain_http(desk: Desk, url: str) -> None:
    desk.options = {"http_hosts": NAMED}
    await desk.given("WebhookSubscriptions", callbackUrl=url)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://erp.internal.evil.example/", "HTTPS_REQUIRED"),
        ("http://evil.example/?erp.internal", "HTTPS_REQUIRED"),
        ("http://10.21.0.1/", "HTTPS_REQUIRED"),
        ("http://localhost/", "HTTPS_REQUIRED"),
        ("http://[::1]:9002/", "HTTPS_REQUIRED"),
        ("http://erp.internal@evil.example/", "INVALID_URL"),
        ("https://evil.example:0/", "INVALID_URL"),
        ("https://evil.example:99999/", "INVALID_URL"),
        ("https://evil.example/\r\nX: y", "INVALID_URL"),
        ("https:///hook", "INVALID_URL"),
        ("//evil.example/", "INVALID_URL"),
        ("javascript:alert(1)", "INVALID_URL"),
        ("file:///etc/passwd", "INVALID_URL"),
        ("unix:/run/promenade.sock", "INVALID_URL"),
    ],
)
async def test_others_are_refused_before_anything_is_sent(desk: Desk, url: str, code: str) -> None:
    desk.options = {"http_hosts": NAMED}
    made = await desk.given("WebhookSubscriptions")
    for call in (
        desk.given("WebhookSubscriptions", callbackUrl=url),
        desk.update("WebhookSubscriptions", made, callbackUrl=url),
    ):
        error = await refused(desk, Invalid, call)
        assert (error.code, error.target) == (code, "callbackUrl")
