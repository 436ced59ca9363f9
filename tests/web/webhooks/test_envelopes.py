"""The envelope of a subscription over HTTP: standard unless one asks for another, on both services."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.webhooks.conftest import Integration

SET = "WebhookSubscriptions"
PUBLIC = f"/api/v1/{SET}"
BODY: dict[str, Any] = {"callbackUrl": "https://example.com/hook", "eventTypes": ["*"]}


@pytest.mark.parametrize(("path", "client"), [(PUBLIC, "integrator"), (SET, "admin")])
def test_it_is_standard_until_somebody_chooses_another(admin: Integration, path: str, client: str) -> None:
    made = admin.post(path, BODY, client=client).json()
    assert made["envelope"] == "STANDARD"
    address = f"{path}({made['ID']})"
    for chosen in ("CLOUDEVENTS", "CLOUDEVENTS_BINARY", "STANDARD"):
        assert admin.patch(address, {"envelope": chosen}, client=client).is_success
        assert admin.get(address, client=client).json()["envelope"] == chosen
    refused = admin.patch(address, {"envelope": "XML"}, client=client)
    assert refused.status_code == 400
    assert '"envelope"' in refused.text
    assert admin.post(path, {**BODY, "envelope": "CLOUDEVENTS"}, client=client).json()["envelope"] == "CLOUDEVENTS"
