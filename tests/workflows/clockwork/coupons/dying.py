"""Processes that die before a chosen statement: `python -m tests.workflows.clockwork.coupons.dying VERB URL`.

One after the other they try the same work: the first dies before its first statement, the second before its second ...
The last one completes. Prints how many died.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from promenade.workflows.clockwork.coupons import expire, refill, release
from promenade.workflows.context import Context
from promenade.workflows.coupons.till_issue import IssueOrder, issue_at_till
from tests.reliability.crashing import DyingDatabase, die_before_each_statement, opened
from tests.workflows.shop import TENANT, identity


async def issue(context: Context) -> None:
    order = IssueOrder(identity("gift"), None, ("C-1", "C-2", "C-3"))
    await issue_at_till(context, TENANT, order, secrets.choice)


async def sweep(context: Context) -> None:
    await expire(context, None)


async def let_go(context: Context) -> None:
    await release(context, None)


async def fill(context: Context) -> None:
    await refill(context, None)


_VERBS: Mapping[str, Callable[[Context], Awaitable[None]]] = {
    "expire": sweep, "release": let_go, "fill": fill, "issue": issue,
}  # fmt: skip


async def attempt(verb: str, url: str, step: int) -> None:
    async with opened(url) as shop:
        await _VERBS[verb](replace(shop.context, database=DyingDatabase(shop.context.database, step)))


def main(verb: str, url: str) -> None:
    die_before_each_statement(lambda step: attempt(verb, url, step))


if __name__ == "__main__":
    main(*sys.argv[1:])
