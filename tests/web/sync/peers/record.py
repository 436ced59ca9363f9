"""Record what this version's store and cloud say to each other: `python -m tests.web.sync.peers.record FILE`.

Both are real processes, with a proxy between them. The tests of this package play either part with the recording, so
that the next version is tested with this one; CONTRIBUTING.md says when to record anew.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from promenade import __version__
from promenade.workflows.replica.linking import LinkChange, set_link
from tests.kit.databases import Databases
from tests.kit.migrate import grant, migrate
from tests.web.replica.link.chain import Branch, Cloud, soon, start_branch, start_cloud, with_database
from tests.web.sync.peers.market import ALL_SALES, CANCELLED, CODES, SHELF, TILL_TRANSACTION, Sale

RECORDED = ("/sync/",)
"""Tokens are not recorded."""
PASSING = frozenset({"serverTime"})
"""Members of answers whose change alone makes no new exchange."""


class Proxy(ThreadingHTTPServer):
    """Hands requests on to the cloud and writes down what both sides say."""

    daemon_threads = True

    def __init__(self, cloud_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cloud = httpx2.Client(base_url=cloud_url, timeout=60)
        self.exchanges: list[dict[str, Any]] = []
        self._told: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def note(self, exchange: dict[str, Any]) -> None:
        """Keep an exchange, unless the same was said before."""
        answer = {name: value for name, value in exchange["answer"].items() if name not in PASSING}
        mark = json.dumps({**exchange, "key": None, "answer": answer}, sort_keys=True)
        if mark not in self._told:
            self._told.add(mark)
            self.exchanges.append({name: value for name, value in exchange.items() if value is not None})

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: the store is killed in the end."""


class _Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._hand_on(None)

    def do_POST(self) -> None:
        self._hand_on(self.rfile.read(int(self.headers["content-length"])))

    def _hand_on(self, content: bytes | None) -> None:
        kept = ("authorization", "content-type", "idempotency-key")
        headers = {name: self.headers[name] for name in kept if name in self.headers}
        answer = self.server.cloud.request(self.command, self.path, content=content, headers=headers)
        if self.path.startswith(RECORDED):
            self.server.note(
                {
                    "method": self.command,
                    "path": self.path,
                    "key": self.headers["idempotency-key"],
                    "body": None if content is None else json.loads(content),
                    "status": answer.status_code,
                    "answer": answer.json(),
                }
            )
        self.send_response(answer.status_code)
        self.send_header("content-type", answer.headers["content-type"])
        self.send_header("content-length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- as it is declared
        """Print nothing."""


def sell(store: Branch, sale: Sale) -> Mapping[str, Any]:
    """Price and confirm a sale; return the header that names it."""
    item = {"articleNumber": sale.article, "quantity": 1, "unitPrice": 10.0}
    coupons = {} if sale.coupon is None else {"coupons": [{"code": sale.coupon}]}
    priced = store.evaluate(item, header={"transactionId": sale.transaction_id}, **coupons)
    given = [{"promotionId": one["promotionId"]} for one in priced["totals"]["savingsSummary"]["promotionBreakdown"]]
    assert len(given) == 1, f"{sale} was priced without its promotion"
    header: Mapping[str, Any] = priced["meta"]["header"]
    request = {"header": header, "transactionId": sale.transaction_id, "appliedPromotions": given}
    answer = store.post("/pos/v2/confirm", {"request": request})
    assert answer.status_code == 200, answer.text
    return header


def spend(store: Branch, code: str) -> None:
    """Redeem a coupon outside of a sale."""
    transaction = {"transactionId": TILL_TRANSACTION}
    reserved = store.post("/pos/coupons/reserve", {"code": code, **transaction})
    assert reserved.status_code == 200, reserved.text
    body = {"reservationId": reserved.json()["reservationId"], **transaction}
    redeemed = store.post("/pos/coupons/redeem", body)
    assert redeemed.status_code == 200, redeemed.text


def act(store: Branch) -> None:
    """Let a linked store do everything that stores tell the cloud of."""
    soon(lambda: store.columns("SELECT id FROM budgets WHERE total_amount > 0"))
    soon(lambda: store.columns("SELECT id FROM promotions WHERE max_applications_total > 0"))
    headers = {sale: sell(store, sale) for sale in ALL_SALES}
    spend(store, CODES[1])
    soon(lambda: not store.columns("SELECT number FROM sync_uploads"))
    counter = headers[CANCELLED]["transactionCounter"]
    sent = {"transactionId": CANCELLED.transaction_id, "transactionCounter": counter, "reason": "void"}
    cancelled = store.post("/pos/v2/cancel", sent)
    assert cancelled.status_code == 200, cancelled.text
    soon(lambda: not store.columns("SELECT number FROM sync_uploads"))


def link(store: Branch, cloud: Cloud, url: str) -> None:
    """Link the store to the cloud at the proxy's address."""
    client_id, secret = cloud.clients["store"]
    change = LinkChange(url, None, client_id, secret, "S1", pos_group_code="BERLIN", interval_seconds=1)
    with_database(store.url, lambda database: set_link(database, change, at=datetime.now(UTC)))


def record(directory: Path) -> list[dict[str, Any]]:
    """Start a cloud and a store, link them through a proxy, and return what they say."""
    databases = Databases(directory, str, migrate, grant)
    clock = directory / "clock"
    cloud = start_cloud(databases.create("sqlite"), clock, directory / "cloud.log", SHELF)
    store = start_branch(directory / "store", clock, directory / "store.log")
    try:
        with Proxy(cloud.url) as proxy:
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            link(store, cloud, proxy.url)
            act(store)
            store.close()  # before the proxy, so that it notes no half exchange
            proxy.shutdown()
            return proxy.exchanges
    finally:
        store.close()
        cloud.close()


def main(path: Path) -> None:
    """Write the recording, an exchange to a line."""
    with tempfile.TemporaryDirectory() as directory:
        exchanges = record(Path(directory))
    recorded_at = datetime.now(UTC).isoformat(timespec="seconds")
    lines = ",\n".join(json.dumps(one) for one in exchanges)
    head = f'"version": {json.dumps(__version__)},\n"recordedAt": {json.dumps(recorded_at)}'
    path.write_text(f'{{\n{head},\n"exchanges": [\n{lines}\n]\n}}\n')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
