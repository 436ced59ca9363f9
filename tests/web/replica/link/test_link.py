"""A store that is linked to a cloud while it runs: downloads, reported status, and a line that is cut."""

from __future__ import annotations

from tests.web.replica.link.chain import Branch, Cloud, soon
from tests.web.replica.link.line import Line
from tests.web.replica.link.shelf import OFF, basket_item, identity


def price(store: Branch) -> float:
    total = store.evaluate(basket_item())["totals"]["grandTotal"]
    return float(total["value"] if isinstance(total, dict) else total)


def test_a_store_is_linked_while_it_runs(cloud: Cloud, line: Line, store: Branch) -> None:
    assert store.heartbeat()["btpConnectivity"] == "NOT_CONFIGURED"
    store.link(cloud, line)
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    soon(lambda: store.heartbeat()["lastSync"])
    assert price(store) == 9
    (known,) = [one for one in cloud.read("LocalDeployments") if one["storeCode"] == "S1"]
    assert known["status"] == "ONLINE"
    meta = store.evaluate(basket_item())["meta"]
    assert meta["tenantId"] == "retailer"
    assert meta["source"] == "local-store"
    shown = store.shown()
    assert (shown["state"], shown["deploymentId"]) == ("CONNECTED", known["ID"])
    assert shown["instanceId"] == meta["instanceId"]


def test_a_change_in_the_cloud_affects_prices_in_the_store(cloud: Cloud, store: Branch) -> None:
    cloud.patch(f"DiscountActions({identity(0xD)})", discountValue=50)
    soon(lambda: price(store) == 5)
    cloud.patch(f"Promotions({OFF})", status="INACTIVE")
    soon(lambda: price(store) == 10)
    cloud.patch(f"Promotions({OFF})", status="ACTIVE")
    soon(lambda: price(store) == 5)


def test_tills_do_not_notice_that_the_line_is_cut(cloud: Cloud, line: Line, store: Branch) -> None:
    line.cut()
    soon(lambda: store.heartbeat()["btpConnectivity"] == "DISCONNECTED")
    assert price(store) == 5
    assert store.shown()["state"] == "FAILING"
    assert "cannot be reached" in store.shown()["lastError"]
    cloud.patch(f"DiscountActions({identity(0xD)})", discountValue=20)
    line.mend()
    soon(lambda: price(store) == 8)
    assert store.heartbeat()["btpConnectivity"] == "CONNECTED"
    soon(lambda: store.shown()["state"] == "CONNECTED")


def test_a_killed_store_still_knows_its_cloud(cloud: Cloud, line: Line, store: Branch) -> None:
    before = store.shown()
    line.cut()
    store.service.kill()
    store.service.restart()
    assert store.heartbeat()["lastSync"]
    assert price(store) == 8
    meta = store.evaluate(basket_item())["meta"]
    assert (meta["tenantId"], meta["instanceId"]) == ("retailer", before["instanceId"])
    line.mend()
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    assert store.shown()["deploymentId"] == before["deploymentId"]


def test_a_sale_is_uploaded_at_once(cloud: Cloud, line: Line, store: Branch) -> None:
    """Independent of the store's polling interval."""
    store.link(cloud, line, interval=86_400)
    soon(lambda: store.shown()["intervalSeconds"] == 86_400 and store.heartbeat()["btpConnectivity"] == "CONNECTED")
    header = store.evaluate(basket_item("A-2"), header={"transactionId": "at once"})["meta"]["header"]
    sale = {"header": header, "transactionId": "at once", "appliedPromotions": []}
    assert store.post("/pos/v2/confirm", {"request": sale}).status_code == 200
    (log,) = soon(lambda: cloud.read("CalculationLogs?$filter=transactionId eq 'at once'"))
    assert (log["status"], log["source"]) == ("CALCULATED", "local-store")
    soon(lambda: store.heartbeat()["pendingTransactions"] == 0)
    assert store.shown()["pending"] == 0
