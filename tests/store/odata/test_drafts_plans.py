"""Lists in the administration use the existing indexes, however many drafts other users have, or sales there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Row, create_engine

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query
from odata_server.sql import few
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.driver.schema import metadata
from promenade.store.driver.tenancy import Scope, acting, guard_dialect
from promenade.store.odata.services import reader_for

ID = "00000000-0000-4000-8000-000000000001"
NEWEST = "$orderby=modifiedAt desc&$top=50&$count=true"
MERGING = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)"
IN_ORDER = "SEARCH promotions USING INDEX ix_promotions__modified_at (tenant_id=?)"
COUNTED = "SEARCH promotions USING COVERING INDEX"
OWN = "ix_promotions_drafts__owner (tenant_id=? AND draft_owner=?)"
PLANS = [
    (f"Promotions?{NEWEST}", [IN_ORDER, COUNTED]),
    (f"Promotions?$filter={MERGING}&{NEWEST}", [IN_ORDER, COUNTED, OWN]),
    (f"Promotions?$filter=IsActiveEntity eq false&{NEWEST}", [OWN]),
    (f"Promotions?$filter=IsActiveEntity eq true and HasDraftEntity eq false&{NEWEST}", [IN_ORDER, "AND id=?"]),
    (f"Promotions?$filter={MERGING} and code eq 'A'", ["tenant_id=? AND code=?", OWN]),
    (f"Promotions(ID={ID},IsActiveEntity=false)", ["promotions_drafts USING INDEX", "AND id=?"]),
    (f"Promotions(ID={ID},IsActiveEntity=false)/posGroups", ["promotion_pos_groups_drafts", "AND promotion_id=?"]),
    (f"Promotions({ID})/posGroups", ["promotion_pos_groups USING INDEX", "AND promotion_id=?"]),
    (f"Promotions({ID})/DraftAdministrativeData", ["SEARCH drafts", "AND draft_uuid=?"]),
    ("CalculationLogs?$filter=transactionId eq 'T1'&$top=5", ["tenant_id=? AND transaction_id=?"]),
]


@pytest.mark.parametrize(("address", "expected"), PLANS, ids=[address for address, _ in PLANS])
async def test_lists_with_drafts_never_scan_a_table(
    address: str, expected: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few, "FEW", -1)  # as if many rows matched
    engine = create_engine("sqlite://")
    guard_dialect(engine.dialect)
    plans: list[str] = []
    with engine.connect() as connection, acting(Scope("t", user="ann", at=datetime(2026, 1, 1, tzinfo=UTC))):
        metadata.create_all(connection)

        class Explaining:
            dialect = "sqlite"

            async def execute(self, statement: Any) -> Sequence[Row[Any]]:
                compiled = statement.compile(engine, compile_kwargs={"render_postcompile": True})
                values: Mapping[str, Any] = compiled.construct_params()
                bound = tuple(
                    value if isinstance(value, int) else str(value)
                    for value in (values[name] for name in compiled.positiontup)
                )
                plans.extend(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", bound))
                return connection.execute(statement).fetchall()

        path, _, text = address.partition("?")
        target = resolve(edm_for(Service.ADMIN), parse_path(path), {}).target
        assert target is not None
        options = parse_options(text.replace(" ", "%20"))
        query = Query(target=target, options=options, now=datetime(2026, 1, 1, tzinfo=UTC))
        await reader_for(Service.ADMIN).read(Explaining(), query)  # type: ignore[arg-type]
    engine.dispose()
    found = " | ".join(plans)
    assert [one for one in expected if one not in found] == []
    scanned = [one for one in plans if one.startswith("SCAN ") and not one.startswith(("SCAN anon", "SCAN CONSTANT"))]
    assert [one for one in scanned if "pragma" not in one] == []
