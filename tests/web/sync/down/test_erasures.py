"""Stores hear of erased customers by digests, each tenant of its own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.access.erasures import erase_customer
from tests.web.conftest import run
from tests.web.sync.down.conftest import OTHER, OWN, Cloud, fault

SECRETS = {OWN: b"a" * 32, OTHER: b"b" * 32}
NOBODY = "99999999-9999-4999-8999-999999999999"


def erase(cloud: Cloud, tenant: str, *customers: str) -> None:
    """Ask for erasures, one after the other."""

    async def work() -> None:
        database = await open_database(cloud.database_url)
        at = datetime.now(UTC)
        for number, one in enumerate(customers):
            await erase_customer(
                database,
                tenant,
                one,
                secret=SECRETS[tenant],
                new_id=lambda: str(uuid.uuid4()),
                at=at + timedelta(microseconds=number),
            )
        await database.close()

    run(work())


def heard(cloud: Cloud, deployment_id: str, cursor: str = "", client: str = "store") -> dict[str, Any]:
    answer = cloud.get(f"erasures?deploymentId={deployment_id}&cursor={cursor}", client=client)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def digest(customer: str, page: dict[str, Any]) -> str:
    """Return the digest as the reference says that a store computes it."""
    return hmac.new(base64.b64decode(page["key"]), customer.encode(), hashlib.sha256).hexdigest()


def test_a_store_recognises_the_erased_customers_of_its_tenant_alone(cloud: Cloud) -> None:
    mine, theirs = cloud.unique("Kd-ü"), cloud.unique("Kd-theirs")
    store, strange_store = cloud.register(cloud.unique("S")), cloud.register(cloud.unique("S"), client="stranger")
    erase(cloud, OWN, mine)
    erase(cloud, OTHER, theirs)
    page, others = heard(cloud, store), heard(cloud, strange_store, client="stranger")
    assert page["full"]
    assert not page["hasMore"]
    assert page["total"] == len(page["digests"])
    assert digest(mine, page) in page["digests"]
    assert digest(theirs, page) not in page["digests"]
    assert digest(theirs, others) in others["digests"]
    assert {*page["digests"]}.isdisjoint(others["digests"])
    assert mine not in str(page)


def test_a_cursor_leads_to_what_came_after_it(cloud: Cloud) -> None:
    store, customers = cloud.register(cloud.unique("S")), [cloud.unique("Kd") for _ in range(3)]
    erase(cloud, OWN, customers[0])
    first = heard(cloud, store)
    assert heard(cloud, store, first["cursor"]) == first | {"key": None, "full": False, "digests": []}
    erase(cloud, OWN, *customers[1:])
    following = heard(cloud, store, first["cursor"])
    assert following["digests"] == [digest(one, first) for one in customers[1:]]
    assert (following["full"], following["total"]) == (False, first["total"] + 2)


@pytest.mark.parametrize("cursor", ["nonsense", "lwHEBjayoQBE_5MBAc8ABkdIRiBAAMLAAKA", "%00", "kwE"])
def test_a_cursor_that_is_none_begins_from_the_start(cloud: Cloud, cursor: str) -> None:
    store = cloud.register(cloud.unique("S"))
    erase(cloud, OWN, cloud.unique("Kd"))
    assert heard(cloud, store, cursor) == heard(cloud, store)


def test_another_tenants_cursor_begins_from_the_start(cloud: Cloud) -> None:
    store, strange_store = cloud.register(cloud.unique("S")), cloud.register(cloud.unique("S"), client="stranger")
    erase(cloud, OWN, cloud.unique("Kd"))
    erase(cloud, OTHER, cloud.unique("Kd"))
    theirs = heard(cloud, strange_store, client="stranger")["cursor"]
    assert heard(cloud, store, theirs)["full"]


def test_what_cannot_be_answered_is_refused_by_name(cloud: Cloud) -> None:
    store, strange_store = cloud.register(cloud.unique("S")), cloud.register(cloud.unique("S"), client="stranger")
    assert fault(cloud.get("erasures")) == (400, "REQUIRED", "deploymentId")
    assert fault(cloud.get("erasures?deploymentId=x")) == (400, "NOT_A_UUID", "deploymentId")
    assert fault(cloud.get(f"erasures?deploymentId={store}&cursor={'x' * 201}")) == (400, "TOO_LONG", "cursor")
    for nobody in (NOBODY, strange_store):
        refused = cloud.get(f"erasures?deploymentId={nobody}")
        assert fault(refused) == (404, "DEPLOYMENT_NOT_FOUND", "deploymentId")
    refused = cloud.get(f"erasures?deploymentId={store}", client="integrator")
    assert fault(refused)[:2] == (403, "MISSING_SCOPE")
