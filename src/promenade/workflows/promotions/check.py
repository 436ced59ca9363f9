"""The check of a promotion: everything its planner would want to know before it runs, or when it does not.

It reads one snapshot of the database and the tenant's compiled promotions, runs the tests that guard the promotion with
it active, and changes nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

from promenade.engine.inspection import Finding, by_severity, inspect, others_articles
from promenade.errors import NotFound
from promenade.store.driver.unit import Session
from promenade.store.promotions.inspection import Subject, read_seen_articles, read_subject
from promenade.workflows.context import Context
from promenade.workflows.promotions.basket_tests import ReadRequest, findings_of_tests


async def check_promotion(
    context: Context, tenant_id: str, promotion_id: str, at: datetime, read_request: ReadRequest
) -> list[Finding]:
    """Return the findings about a promotion in any status, as of ``at``: errors, then warnings. Raises NotFound.

    ``read_request`` reads the requests of tests.
    """
    known = await context.catalogues.current(tenant_id)
    others, surroundings = known.compiled.promotions(), known.surroundings

    async def read(session: Session) -> Subject | None:
        return await read_subject(session, promotion_id, surroundings, at)

    subject = await context.database.read(read, tenant=tenant_id)
    if subject is None:
        raise NotFound("NOT_FOUND", "There is no such promotion.")
    definition, tenant = subject.definition, subject.tenant
    # In a thread, so that concurrent evaluations do not wait.
    wanted = await asyncio.to_thread(others_articles, definition, tenant, others)
    if wanted:

        async def look_up(session: Session) -> Subject:
            found = await read_seen_articles(session, wanted, (), surroundings.places.group_keys)
            articles = {**found.by_number, **tenant.articles}
            return Subject(definition, replace(tenant, articles=articles))

        tenant = (await context.database.read(look_up, tenant=tenant_id)).tenant
    found = await asyncio.to_thread(inspect, definition, tenant, others)
    return by_severity([*found, *await findings_of_tests(context, tenant_id, known, definition, read_request)])
