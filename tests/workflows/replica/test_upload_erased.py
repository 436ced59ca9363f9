"""What a store sends after it has erased a customer has the random ID alone, and the cloud books it."""

from __future__ import annotations

from promenade.workflows.access.erasures import erase_customer
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.coupons.repeated_issues import IssueOrder
from promenade.workflows.coupons.till_issue import issue_at_till
from promenade.workflows.sync.leases import lease_pool
from tests.workflows.clockwork.erasures.ledgers import run, settle
from tests.workflows.replica.market import Cloud, Store, price
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import TENANT, identity

CUSTOMER = "Kd-4711-x"


async def test_a_sale_and_a_coupon_that_wait_for_the_line_are_sent_without_the_id(cloud: Cloud, store: Store) -> None:
    database = store.context.database
    await create_tenant(database, store.tenant, settings={}, at=store.now[0], user="tests")
    for shop in (cloud.shop, store):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL")
    await cloud.shop.coupon("POOL", "thanks")
    await lease_pool(cloud.shop.context, TENANT, store.deployment_id, identity("thanks"), 1, "k1")
    await store.coupon("POOL", "thanks")
    await store.confirm("sale", await price(store, "sale", PRICED, customer_id=CUSTOMER), "off", customer_id=CUSTOMER)
    order = IssueOrder(identity("thanks"), None, (CUSTOMER,), metadata=f'"{CUSTOMER}"')
    assert (await issue_at_till(store.context, store.tenant, order, lambda letters: letters[0])).issued
    await settle(store)
    assert len(await store.queue()) == 2
    await erase_customer(
        database, store.tenant, CUSTOMER, secret=b"k" * 32, new_id=store.context.new_id, at=store.now[0]
    )
    store.later(hours=2)
    await run(store, "customers.erase")
    await store.upload_all()
    assert await store.queue() == []
    assert CUSTOMER not in repr(cloud.requests)
    (log,) = await cloud.shop.rows("CalculationLogs")
    (own,) = await store.rows("CalculationLogs")
    assert log.customer_id == own.customer_id
    (issued,) = await cloud.shop.rows("CouponCodes")
    assert (issued.customer_id, issued.issue_metadata) == (own.customer_id, None)
    assert log.grand_total == own.grand_total
