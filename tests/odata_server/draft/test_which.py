"""Which rows a query addresses: by key, by its conditions, by navigation."""

from __future__ import annotations

import pytest

from odata_server.sql.drafts import Which, meant
from tests.odata_server.draft.counter import EDM, query_of

MERGING = "IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null"
SAID = [
    ("Orders", Which.ACTIVE),
    ("Orders?$filter=name eq 'x'", Which.ACTIVE),
    ("Orders?$filter=HasDraftEntity eq true", Which.ACTIVE),
    ("Orders?$orderby=IsActiveEntity", Which.ACTIVE),
    ("Orders?$filter=customer/name eq 'x' or items/any(i:i/IsActiveEntity)", Which.ACTIVE),
    ("Orders?$filter=IsActiveEntity eq true", Which.ACTIVE),
    ("Orders?$filter=true eq IsActiveEntity", Which.ACTIVE),
    ("Orders?$filter=IsActiveEntity", Which.ACTIVE),
    ("Orders?$filter=IsActiveEntity ne false and amount gt 1", Which.ACTIVE),
    ("Orders?$filter=IsActiveEntity eq true and SiblingEntity/IsActiveEntity eq null", Which.ACTIVE),
    ("Orders?$filter=amount gt 1 and (amount lt 9 and IsActiveEntity eq false)", Which.DRAFT),
    ("Orders?$filter=not IsActiveEntity", Which.DRAFT),
    ("Orders?$filter=not (IsActiveEntity eq true)", Which.DRAFT),
    ("Orders?$filter=IsActiveEntity eq @a&@a=false", Which.DRAFT),
    ("Orders?$filter=@a&@a=IsActiveEntity eq false", Which.DRAFT),
    ("Orders?$filter=$it/IsActiveEntity eq false", Which.DRAFT),
    (f"Orders?$filter={MERGING}", Which.MERGED),
    ("Orders?$filter=null eq SiblingEntity/IsActiveEntity or false eq IsActiveEntity", Which.MERGED),
    (f"Orders?$filter=amount gt 1 and ({MERGING}) and name ne 'x'", Which.MERGED),
    (f"Orders?$filter=@a and amount gt 1&@a={MERGING}", Which.MERGED),
    (f"Orders?$filter=IsActiveEntity eq false and ({MERGING})", Which.DRAFT),
    (f"Orders?$filter=({MERGING}) or amount gt 1", Which.ALL),
    (f"Orders?$filter=not ({MERGING})", Which.ALL),
    ("Orders?$filter=IsActiveEntity eq false or amount gt 1", Which.ALL),
    ("Orders?$filter=SiblingEntity/IsActiveEntity eq null", Which.ALL),
    ("Orders?$filter=IsActiveEntity in (true,false)", Which.ALL),
    ("Orders?$filter=IsActiveEntity eq null", Which.ALL),
    ("Orders?$filter=@a&@a=IsActiveEntity eq false or amount gt 1", Which.ALL),
    ("Orders/$filter(IsActiveEntity eq false)?$filter=amount gt 1", Which.DRAFT),
    (f"Orders/$filter({MERGING})", Which.ALL),
    ("Orders(1)", Which.ACTIVE),
    ("Orders(ID=1,IsActiveEntity=true)?$filter=IsActiveEntity eq false", Which.ACTIVE),
    ("Orders(ID=1,IsActiveEntity=false)/items?$filter=IsActiveEntity eq true", Which.DRAFT),
    ("Customers(1)/orders?$filter=IsActiveEntity eq false", Which.ACTIVE),
    ("Orders?$apply=filter(IsActiveEntity eq false)/aggregate($count as n)", Which.DRAFT),
    ("Orders?$apply=aggregate($count as n)&$filter=n gt 1", Which.ACTIVE),
    ("Orders?$apply=groupby((IsActiveEntity))", Which.ACTIVE),
]


@pytest.mark.parametrize(("address", "expected"), SAID, ids=[address for address, _ in SAID])
def test_a_query_addresses_active_rows_drafts_or_both(address: str, expected: Which) -> None:
    query = query_of(address)
    found, _ = meant(query, EDM.entity_types[query.target.root.entity_type])
    assert found is expected


def test_conditions_on_the_draft_status_are_removed_from_the_filter() -> None:
    query = query_of(f"Orders?$filter=amount gt 1 and ({MERGING}) and name ne 'x'")
    _, options = meant(query, EDM.entity_types["Order"])
    assert options.filter == query_of("Orders?$filter=amount gt 1 and name ne 'x'").options.filter
    query = query_of(f"Orders?$filter={MERGING}")
    assert meant(query, EDM.entity_types["Order"])[1].filter is None
