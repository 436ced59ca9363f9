"""Orders that wait at the same time and share a unit of work: each gets its own answer, and a failure affects no
other.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from promenade.errors import Invalid
from promenade.workflows.coupons.till_issue import IssueAnswer, IssueOrder, issue_at_till
from tests.workflows.coupons.issuing.test_till_issue import issue
from tests.workflows.shop import Shop, identity

TILLS = 40


class _BrokenSourceError(Exception):
    pass


def _no_draw(_alphabet: Sequence[str]) -> str:
    raise _BrokenSourceError


async def test_each_of_many_orders_at_once_gets_its_own_answer(shop: Shop) -> None:
    await shop.coupon_type("gift")
    await shop.coupon_type("bonus")
    asked = [
        issue(
            shop,
            *[f"C-{till}-{number}" for number in range(1 + till % 3)],
            kind=("gift", "gift", "bonus", "unheard of")[till % 4],
        )
        for till in range(TILLS)
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    for till, answer in enumerate(answers):
        if till % 4 == 3:
            assert isinstance(answer, Invalid)
            assert answer.code == "COUPON_TYPE_NOT_FOUND"
        else:
            assert isinstance(answer, IssueAnswer)
            assert [one.customer_id for one in answer.issued] == [f"C-{till}-{n}" for n in range(1 + till % 3)]
    issued = {
        one.code: one.customer_id for answer in answers if isinstance(answer, IssueAnswer) for one in answer.issued
    }
    assert {row.code: row.customer_id for row in await shop.rows("CouponCodes")} == issued
    assert len(await shop.rows("RedemptionLogs")) == len(await shop.rows("outbox_events")) == len(issued)


async def test_an_order_that_fails_undoes_nothing_of_the_others(shop: Shop) -> None:
    await shop.coupon_type("gift")
    rng = random.Random(1)
    asked = [
        issue_at_till(
            shop.context,
            shop.tenant,
            IssueOrder(identity("gift"), None, (f"C-{till}",)),
            _no_draw if till == 7 else rng.choice,
        )
        for till in range(TILLS)
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(answers.pop(7), _BrokenSourceError)
    assert all(isinstance(answer, IssueAnswer) and len(answer.issued) == 1 for answer in answers)
    assert len(await shop.rows("CouponCodes")) == len(await shop.rows("RedemptionLogs")) == TILLS - 1


async def test_a_till_that_goes_away_keeps_no_other_from_its_answer(shop: Shop) -> None:
    await shop.coupon_type("gift")
    order = IssueOrder(identity("gift"), None, ("C-1",))
    rng = random.Random(1)
    tills = [asyncio.create_task(issue_at_till(shop.context, shop.tenant, order, rng.choice)) for _ in range(TILLS)]
    await asyncio.sleep(0)
    tills[0].cancel()
    tills[5].cancel()
    answers = await asyncio.gather(*tills, return_exceptions=True)
    assert sum(isinstance(answer, IssueAnswer) for answer in answers) == TILLS - 2
