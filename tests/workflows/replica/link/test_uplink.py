"""What a store knows of its link, when the link is changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from promenade.store.replica.link import Link, LinkSettings
from promenade.workflows.uplink import Reserve, Uplink

AT = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = LinkSettings("https://a.example", "https://a.example", "c", "s", "S1", None, None, 60)
LINK = Link(SETTINGS, AT, "d-1", "i-1", "t", None, AT, AT, None)


def test_what_a_cloud_has_told_is_forgotten_with_the_store_it_was_told_to() -> None:
    uplink = Uplink(run_id="run")
    uplink.recall(LINK)
    uplink.heard_at, uplink.epoch, uplink.upload_after = "2026-01-01T00:00:00Z", 3, 1e9
    uplink.reserves["BUDGET", "b"] = Reserve(1, Decimal(1))
    uplink.recall(LINK)
    assert (uplink.heard_at, uplink.epoch, len(uplink.reserves)) == ("2026-01-01T00:00:00Z", 3, 1)
    uplink.recall(replace(LINK, deployment_id=None))
    assert uplink == Uplink(run_id="run", instance_id="i-1", cloud_tenant_id="t", last_sync_at=AT)
