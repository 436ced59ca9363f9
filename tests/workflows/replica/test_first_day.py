"""How far a store is on its first day, by what it has and lacks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from promenade.store.replica.link import Link, LinkSettings
from promenade.workflows.replica.first_day import StoreState

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LINK = Link(
    LinkSettings("https://cloud.example", "https://cloud.example", "store", "s", "S-1", None, None, 60),
    changed_at=NOON,
    deployment_id=None,
    instance_id=None,
    cloud_tenant_id=None,
    cursor=None,
    last_sync_at=None,
    last_attempt_at=None,
    last_error=None,
)
NEW = StoreState(
    link=None,
    link_state="NOT_CONFIGURED",
    pages=0,
    promotions=0,
    has_pos_group=True,
    till_keys=0,
    till_seen_at=None,
    has_priced=False,
    waiting=0,
    rejected=0,
)


def test_a_store_waits_for_what_it_lacks_in_order() -> None:
    assert (NEW.download_state, NEW.waits) == ("NOT_NEEDED", ["TILL"])
    assert replace(NEW, has_pos_group=False, waiting=1).waits == ["POS_GROUP", "TILL"]
    linked = replace(NEW, link=LINK, link_state="WAITING")
    assert (linked.download_state, linked.waits) == ("WAITING", ["LINK", "DOWNLOAD", "TILL"])
    under_way = replace(linked, link_state="CONNECTED", pages=3)
    assert (under_way.download_state, under_way.waits) == ("RUNNING", ["DOWNLOAD", "TILL"])
    ready = replace(under_way, pages=0, link=replace(LINK, last_sync_at=NOON))
    assert (ready.download_state, ready.waits) == ("DONE", ["TILL"])
    for seen in (replace(ready, till_seen_at=NOON), replace(ready, has_priced=True)):
        assert seen.waits == []
        assert replace(seen, waiting=1).waits == replace(seen, rejected=1).waits == ["UPLOADS"]
        for trouble in ("FAILING", "QUIET"):
            assert replace(seen, link_state=trouble).waits == ["LINK"]
