"""`POST /sync/transactions` from stores that lie, damage data or flood (reliability X1): no 5xx, little memory."""

from __future__ import annotations

import base64
import json
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from promenade.engine.definition import PromotionDefinition
from promenade.engine.fingerprint import definition_hash
from promenade.store.pricing.iterations import encode_definition
from tests.web.sync.up.conftest import OTHER, OWN, TREE, Cloud, named, sale
from tests.web.sync.up.test_transactions import ACCEPTED, fresh

MEGABYTES_MAX = 120  # of growth; the body itself is held twice for a moment
MALFORMED, INCONSISTENT = ("rejected", "SALE_MALFORMED"), ("rejected", "SALE_INCONSISTENT")


def document(name: str, **changes: Any) -> Any:
    """Return a sale as it is sent, optionally with a changed member in its result's only promotion."""
    made = json.loads(msgspec.json.encode(sale(name)))
    made["result"]["applied"][0] |= changes
    return made


def memory(cloud: Cloud, of: str) -> int:
    """Return VmRSS or VmHWM of the service, in megabytes."""
    found = re.search(rf"{of}:\s+(\d+)", Path(f"/proc/{cloud.service.pid}/status").read_text())
    assert found is not None
    return int(found[1]) // 1024


def body(members: bytes) -> bytes:
    return b'{"deploymentId": "%s", %s}' % (named(OWN, "store").encode(), members)


FLOODS = {
    "uploads": (b'"transactions": [' + b"0," * 5_000_000 + b"0]", 400),
    "values of a sale": (b'"transactions": [{"a": [' + b"{}," * 3_400_000 + b"0]}]", 200),
    "values of a name": (b'"transactions": [{"transactionId": [' + b"{}," * 3_400_000 + b"0]}]", 200),
    "definitions": (b'"transactions": [], "definitions": {' + b'"":"",' * 1_400_000 + b'"":""}', 400),
}


@pytest.mark.parametrize("name", FLOODS)
def test_ten_megabytes_of_tiny_values_cost_little(cloud: Cloud, name: str) -> None:
    members, status = FLOODS[name]
    cloud.token("store")
    Path(f"/proc/{cloud.service.pid}/clear_refs").write_text("5")  # reset VmHWM
    before = memory(cloud, "VmRSS")
    answer = cloud.post("transactions", body(members))
    assert answer.status_code == status, answer.text[:300]
    assert memory(cloud, "VmHWM") - before < MEGABYTES_MAX
    if status == 200:
        assert [one["status"] for one in answer.json()["results"]] == ["rejected"]


@pytest.mark.parametrize("key", ["\0", f"a\0{TREE}", "A" * 64, "", TREE.upper(), "a" * 100_000])
def test_a_definition_with_an_invalid_hash_is_ignored(cloud: Cloud, key: str) -> None:
    assert cloud.results(sale(fresh()), definitions={TREE: "gA==", key: "gA=="}) == [ACCEPTED]


def test_a_definition_that_cannot_be_executed_is_refused(cloud: Cloud) -> None:
    name = fresh()
    sound = PromotionDefinition(named(OWN, "promotion"), "P", rounding="ROUND_UP", precision=0)
    endless = replace(sound, precision=-(10**18))  # a step of 10 to that power
    for definition, told in ((endless, ("rejected", "DEFINITION_MISSING")), (sound, ACCEPTED)):
        key = definition_hash(definition)
        given = {TREE: "gA==", key: base64.b64encode(encode_definition(definition)).decode()}
        made = json.loads(msgspec.json.encode(sale(name)))
        made["result"]["candidate_hashes"] = [key]
        assert cloud.results(made, definitions=given) == [told]


def test_as_much_as_a_sale_may_name_is_looked_up_and_more_is_refused(cloud: Cloud) -> None:
    arms = document(fresh())
    arms["result"]["control_arms"] = [f"arm {number}" for number in range(40_000)]
    hashes = document(fresh())
    hashes["result"]["candidate_hashes"] = [f"{number:064x}" for number in range(40_000)]
    coupons = document(fresh())
    coupons["request"]["basket"]["coupons"] = [f"C{number}" for number in range(40_000)]
    coupons["request"]["facts"]["coupons"] = [{"code": f"C{number}"} for number in range(40_000)]
    budgets = document(fresh(), budget_ids=[f"budget {number}" for number in range(40_000)])
    issued = document(fresh(), post_purchase_coupon_type_ids=[f"type {number}" for number in range(40_000)])
    for made, told in (
        (arms, ACCEPTED),
        (hashes, ("rejected", "DEFINITION_MISSING")),
        (coupons, INCONSISTENT),
        (budgets, INCONSISTENT),
        (issued, INCONSISTENT),
    ):
        assert cloud.results(made) == [told]


def test_only_the_first_digits_of_a_card_number_are_stored(cloud: Cloud) -> None:
    made = document(fresh())
    made["request"]["basket"]["payment"] = {"card_prefix": "4111111111111111"}
    assert cloud.results(made) == [MALFORMED]
    made["request"]["basket"]["payment"] = {"card_prefix": "41111111"}
    assert cloud.results(made) == [ACCEPTED]


@pytest.mark.parametrize(
    ("member", "shown"), [("1e400", None), ("true", None), ("[1]", None), ("9" * 1000, None), ("7", 7)]
)
def test_only_a_valid_sale_id_is_quoted_in_the_result(cloud: Cloud, member: str, shown: int | None) -> None:
    sent = body(b'"transactions": [{"transactionId": {}, "transactionCounter": %s}]' % member.encode())
    answer = cloud.post("transactions", sent)
    assert answer.status_code == 200
    (told,) = answer.json()["results"]
    assert (told["transactionId"], told["transactionCounter"], told["reason"]) == (None, shown, "SALE_MALFORMED")


@pytest.mark.parametrize("member", [b"NaN", b'"\\ud800"', b"[1,]"])
def test_malformed_json_gets_its_own_error(cloud: Cloud, member: bytes) -> None:
    answer = cloud.post("transactions", body(b'"transactions": [{"transactionId": ' + member + b"}]"))
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "MALFORMED_JSON"


def test_half_of_a_character_in_place_of_an_id_is_malformed(cloud: Cloud) -> None:
    answer = cloud.post("transactions", b'{"deploymentId": "\\ud800", "transactions": []}')
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "MALFORMED_JSON")


def test_a_slow_sender_delays_no_other(cloud: Cloud) -> None:
    cloud.token("store")
    head = (
        f"POST /sync/transactions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {cloud.token('stranger')}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    )
    slow = [socket.create_connection(("127.0.0.1", cloud.service.port)) for _ in range(8)]
    try:
        for connection in slow:
            connection.sendall(head.encode())
        assert cloud.get("/health", client=None).status_code == 200  # by now the service has started on them
        answer = cloud.http.post(
            "/sync/transactions",
            content=body(b'"transactions": []'),
            headers={"Authorization": f"Bearer {cloud.token('store')}"},
            timeout=25,  # a slow body is abandoned after 30 s
        )
        assert answer.status_code == 200
    finally:
        for connection in slow:
            connection.close()
    assert cloud.send(deploymentId=named(OTHER, "store"), client="stranger").status_code == 200
