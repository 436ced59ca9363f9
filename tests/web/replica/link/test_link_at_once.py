"""How soon a running store notices that it has been linked."""

from __future__ import annotations

import time

import pytest

from tests.web.replica.link.chain import Branch, Cloud, soon
from tests.web.replica.link.line import Line


@pytest.mark.alone
def test_a_store_that_runs_is_linked_within_seconds(cloud: Cloud, line: Line, store: Branch) -> None:
    assert store.heartbeat()["btpConnectivity"] == "NOT_CONFIGURED"
    store.link(cloud, line)
    began = time.monotonic()
    soon(lambda: store.heartbeat()["btpConnectivity"] == "CONNECTED")
    assert time.monotonic() - began < 10  # two seconds, plus a margin for a busy machine
