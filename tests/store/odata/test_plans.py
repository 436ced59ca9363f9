"""Queries of clients use the existing indexes, within one tenant's rows and without statistics."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Row, create_engine

from odata_server.parse import parse_options, parse_path
from odata_server.resources import resolve
from odata_server.source import Query
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.driver.schema import metadata
from promenade.store.driver.tenancy import Scope, acting, guard_dialect
from promenade.store.odata.services import reader_for
from tests.kit.logged import add_functions

ID = "00000000-0000-4000-8000-000000000001"
OTHER = "00000000-0000-4000-8000-000000000002"
PLANS = [
    ("Articles", "$filter=ean eq '4'", "tenant_id=? AND ean=?"),
    ("Articles", "$filter=ean in ('4','5')&$orderby=articleNumber", "tenant_id=? AND ean=?"),
    ("Articles", "$filter=startswith(ean,'40')&$top=50", "tenant_id=? AND ean>? AND ean<?"),
    ("Articles", "$filter=articleNumber gt 'A'&$orderby=articleNumber", "tenant_id=? AND article_number>?"),
    ("Articles", f"$filter=articleGroup_ID eq {ID}", "tenant_id=? AND article_group_id=?"),
    ("Articles", "$orderby=articleNumber&$top=50", "USING INDEX sqlite_autoindex_articles_2 (tenant_id=?)"),
    ("Articles", "$filter=contains(name,'x')&$top=50", "USING INDEX sqlite_autoindex_articles_1 (tenant_id=?)"),
    ("Articles", "$search=shampoo", "articles_texts VIRTUAL TABLE INDEX"),
    ("Articles", "$search=shampoo", "SEARCH articles USING INTEGER PRIMARY KEY (rowid=?)"),
    ("Articles", "$filter=contains(name,'xyz')&$top=50", "articles_texts VIRTUAL TABLE INDEX"),
    ("Promotions", "$filter=modifiedAt gt 2026-01-01T00:00:00Z", "tenant_id=? AND modified_at>?"),
    (f"Promotions({ID})/posGroups", "", "tenant_id=? AND promotion_id=?"),
    (
        "NotificationLogs",
        "$orderby=createdAt desc&$top=50",
        "USING INDEX ix_notification_logs__created_at (tenant_id=?)",
    ),
    ("NotificationLogs", "$filter=status eq 'DEAD_LETTER'&$orderby=createdAt desc", "tenant_id=? AND status=?"),
    ("NotificationLogs", "$filter=eventType eq 'X'&$orderby=createdAt desc&$top=9", "tenant_id=? AND event_type=?"),
    (f"WebhookSubscriptions({ID})/notificationLogs", "$orderby=createdAt desc", "tenant_id=? AND subscription_id=?"),
    ("NotificationLogs", "$filter=createdAt ge 2026-01-01T00:00:00Z", "tenant_id=? AND created_at>?"),
    ("NotificationLogs", f"$filter=eventId eq {ID}", "tenant_id=? AND event_id=?"),
    # The parts of logs, which are packed: a log is found by the ID of a part, and those of a promotion by their blocks.
    (f"CalculationLogItems({ID})", "", "tenant_id=? AND log_id>? AND log_id<?"),
    ("CalculationLogItems", f"$filter=ID in ({ID},{OTHER})", "tenant_id=? AND log_id>? AND log_id<?"),
    ("CalculationLogItems", f"$filter=log_ID eq {ID}&$orderby=articleNumber", "tenant_id=? AND log_id=?"),
    (f"CalculationLogs({ID})/promotions", "", "tenant_id=? AND log_id=?"),
    ("CalculationLogs", f"$filter=items/any(i:i/ID eq {ID})", "calculation_log_parts_1 (tenant_id=? AND log_id=?)"),
    ("CalculationLogPromotions", f"$filter=promotion_ID eq {ID}", "log_parts__block (tenant_id=? AND block=?)"),
    (
        "CalculationLogPromotions",
        f"$filter=promotion_ID in ({ID},{OTHER})",
        "log_parts__block (tenant_id=? AND block=?)",
    ),
]


@pytest.mark.parametrize(("path", "options", "expected"), PLANS, ids=[f"{path}?{one}" for path, one, _ in PLANS])
async def test_filters_of_clients_use_an_index(path: str, options: str, expected: str) -> None:
    engine = create_engine("sqlite://")
    guard_dialect(engine.dialect)
    plans: list[str] = []
    with engine.connect() as connection, acting(Scope("t")):
        metadata.create_all(connection)
        add_functions(connection)

        class Explaining:
            dialect = "sqlite"

            async def execute(self, statement: Any) -> Sequence[Row[Any]]:
                compiled = statement.compile(engine, compile_kwargs={"render_postcompile": True})
                values = tuple(compiled.construct_params()[name] for name in compiled.positiontup)
                bound = tuple(value if isinstance(value, int) else str(value) for value in values)
                plans.extend(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", bound))
                not_few: Any = [(None,)]
                return not_few if len(statement.selected_columns) == 1 else ()

        parsed = parse_options(options)
        target = resolve(edm_for(Service.PUBLIC), parse_path(path), {}).target
        assert target is not None
        query = Query(target=target, options=parsed, now=datetime(2026, 1, 1, tzinfo=UTC))
        await reader_for(Service.PUBLIC).read(Explaining(), query)  # type: ignore[arg-type]
    engine.dispose()
    assert expected in " | ".join(plans)
