"""Secrets get older: a client that follows its tenant's policy is never refused, whatever gets lost on the way."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from promenade.errors import Conflict, Invalid, Unauthorized
from promenade.ids import new_id
from promenade.model.access.secret_policy import SecretPolicy
from promenade.store.driver.unit import Database
from promenade.workflows.access.clients import Client, authenticate_client, create_client, list_clients, rotate_client
from promenade.workflows.access.own_secrets import Replaced, replace_own_secret
from promenade.workflows.access.tenants import create_tenant, set_tenant

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
TENANT, CLIENT = "acme", "store"
DAYS, HOURS, GRACE = 30, 12, 20
POLICY = {"secretDays": str(DAYS), "secretOverlapHours": str(HOURS), "secretGraceDays": str(GRACE)}


def secret() -> str:
    return secrets.token_urlsafe(32)


async def made(database: Database, settings: dict[str, str], first: str, client_id: str = CLIENT) -> None:
    await create_tenant(database, TENANT, settings=settings, at=START, user="tests")
    await create_client(
        database, client_id=client_id, secret=first, tenant_id=TENANT, scopes=["svc.Sync"], at=START
    )  # fmt: skip


async def accepted(database: Database, shown: str, at: datetime) -> Client | None:
    try:
        return await authenticate_client(database, CLIENT, shown, at=at)
    except Unauthorized:
        return None


@dataclass
class Store:
    """A client that follows the policy: what it keeps survives it, and nothing else does."""

    database: Database
    present: str
    following: str | None = None
    replaced: list[tuple[str, datetime]] = field(default_factory=list)  # secrets, and when they were replaced

    async def token(self, at: datetime) -> Client:
        """Get a token as the policy says: with the secret, or with the one that is to follow it."""
        found = await accepted(self.database, self.present, at)
        if found is None and self.following is not None:
            found = await accepted(self.database, self.following, at)
            if found is not None:
                self.promote()
        assert found is not None, "locked out"
        return found

    async def replace(self, at: datetime, dies: str) -> None:
        """Replace the secret, and die at one of the steps, or at none."""
        if self.following is None:
            self.following = secret()
        if dies == "before it asks":
            return
        done = await replace_own_secret(
            self.database, CLIENT, self.present, self.following, at=at, new_id=new_id
        )  # fmt: skip
        if done is not None and (not self.replaced or self.replaced[-1][0] != self.present):
            self.replaced.append((self.present, at))
        if dies != "before it has the answer" and done is not None:
            self.promote()

    def promote(self) -> None:
        assert self.following is not None
        self.present, self.following = self.following, None


async def test_a_client_that_follows_the_policy_is_never_refused(database: Database, seed: int) -> None:
    draw = random.Random(seed)
    store = Store(database, secret())
    await made(database, POLICY, store.present)
    at, rotations = START, 0
    while rotations < 15:
        # Offline for up to 19 days: less than the grace. A store that has died on the way to a new secret starts again.
        offline = [24 * draw.randrange(1, GRACE)] if store.following is None else []
        at += timedelta(hours=draw.choice([1, 4, 4, 11, 13, 30, *offline]))
        client = await store.token(at)
        due = client.secret_due_at(at)
        assert due is not None
        if due <= at or store.following is not None:
            rotations += 1
            deaths = ["before it asks"] if store.following is None else []  # not every time until the grace is over
            await store.replace(at, draw.choice(["never", "before it has the answer", *deaths]))
            await store.token(at)
        for old, since in store.replaced:
            is_present = old in (store.present, store.following)
            if not is_present and at >= since + timedelta(hours=HOURS):
                assert await accepted(database, old, at) is None, "a former secret outlasted the overlap"


async def test_a_secret_that_is_never_replaced_is_refused_after_the_grace_and_only_then(database: Database) -> None:
    first = secret()
    await made(database, POLICY, first)
    end = START + timedelta(days=DAYS + GRACE)
    assert await accepted(database, first, end - timedelta(microseconds=1)) is not None
    with pytest.raises(Unauthorized, match="older than the tenant allows"):
        await authenticate_client(database, CLIENT, first, at=end)
    assert await authenticate_client(database, CLIENT, "wrong", at=end) is None, "only who knows it is told"
    with pytest.raises(Unauthorized):
        await replace_own_secret(database, CLIENT, first, secret(), at=end, new_id=new_id)
    fresh = secret()
    await rotate_client(database, CLIENT, fresh, at=end)
    assert await accepted(database, fresh, end) is not None


@pytest.mark.parametrize("settings", [{}, {"secretDays": "30"}], ids=["none", "without grace"])
async def test_without_a_grace_no_secret_is_ever_refused(database: Database, settings: dict[str, str]) -> None:
    first = secret()
    await made(database, settings, first)
    found = await accepted(database, first, START + timedelta(days=36_500))
    assert found is not None
    assert (found.secret_due_at(START) is None) == (not settings)


async def test_a_restored_copy_heals_itself_while_the_former_secret_counts(database: Database) -> None:
    old, lost = secret(), secret()
    await made(database, POLICY, old)
    await replace_own_secret(database, CLIENT, old, lost, at=START, new_id=new_id)
    found = await accepted(database, old, START + timedelta(hours=1))
    assert found is not None
    assert found.secret_due_at(START) == START, "it is told to replace the secret that it has"
    assert found.secret_ends_at(START) == START + timedelta(hours=HOURS)
    own = secret()
    done = await replace_own_secret(database, CLIENT, old, own, at=START + timedelta(hours=1), new_id=new_id)
    assert done is not None
    assert await accepted(database, own, START + timedelta(days=2)) is not None


async def test_a_withdrawn_secret_is_refused_at_once_whatever_the_overlap(database: Database) -> None:
    first, second, third = secret(), secret(), secret()
    await made(database, POLICY, first)
    await replace_own_secret(database, CLIENT, first, second, at=START, new_id=new_id)
    await rotate_client(database, CLIENT, third, at=START, withdraws=True)
    assert [await accepted(database, one, START) is None for one in (first, second, third)] == [True, True, False]


async def test_the_same_replacement_again_changes_nothing(database: Database) -> None:
    first, mine = secret(), secret()
    await made(database, {}, first)
    for hours in (0, 5):
        at = START + timedelta(hours=hours)
        done = await replace_own_secret(database, CLIENT, first, mine, at=at, new_id=new_id)
        assert done is not None
        assert (done.former_until, done.is_repeat) == (START + timedelta(hours=24), hours > 0)
    assert await accepted(database, first, START + timedelta(hours=23)) is not None, "the former one is still that one"
    assert await accepted(database, first, START + timedelta(hours=24)) is None
    (client,) = await list_clients(database, TENANT)
    assert client.rotated_at == START


async def test_of_replacements_at_once_none_counts_that_was_not_answered(database: Database) -> None:
    first, mine = secret(), [secret() for _ in range(5)]
    await made(database, {}, first)
    asked = (replace_own_secret(database, CLIENT, first, one, at=START, new_id=new_id) for one in mine)
    answers = dict(zip(mine, await asyncio.gather(*asked, return_exceptions=True), strict=True))
    assert all(one is None or isinstance(one, Replaced | Conflict) for one in answers.values()), answers
    counting = [one for one in mine if await accepted(database, one, START) is not None]
    replaced = [one for one in mine if isinstance(answers[one], Replaced)]
    assert counting
    assert set(counting) <= set(replaced)
    assert len(counting) == min(len(replaced), 2), "the present secret, and the one before"
    done = await replace_own_secret(database, CLIENT, counting[0], secret(), at=START, new_id=new_id)
    assert done is not None, "who was answered can go on"


def due_times(count: int, days: int) -> Sequence[datetime]:
    policy = SecretPolicy(days)
    found = [policy.due_at(f"client-{number}", START) for number in range(count)]
    return sorted(one for one in found if one is not None)


def test_ten_thousand_stores_made_in_one_minute_do_not_rotate_in_one_minute() -> None:
    times = due_times(10_000, 90)
    assert len(times) == 10_000
    assert START + timedelta(days=72) <= times[0]
    assert times[-1] <= START + timedelta(days=90)
    busiest = max(
        sum(1 for other in times[place : place + 100] if other - one < timedelta(minutes=1))
        for place, one in enumerate(times)
    )
    assert busiest <= 10, "it is 0.4 a minute on average"


async def test_a_policy_that_would_refuse_clients_at_once_is_not_accepted(database: Database) -> None:
    await made(database, {}, secret())
    later = START + timedelta(days=50)

    async def change(**settings: str) -> None:
        await set_tenant(database, TENANT, settings, at=later, user="tests", new_id=new_id)

    with pytest.raises(Conflict) as refused:
        await change(secretDays="30", secretGraceDays="20")
    assert (refused.value.code, refused.value.target) == ("WOULD_REFUSE_CLIENTS", "secretGraceDays")
    assert refused.value.message.startswith("1 active")
    with pytest.raises(Invalid) as alone:
        await change(secretGraceDays="20")
    assert (alone.value.code, alone.value.target) == ("SET_TOGETHER", "secretDays")
    for name, value in (
        ("secretDays", "6"),
        ("secretOverlapHours", "0"),
        ("secretGraceDays", "x"),
        ("secretDays", "1.5"),
    ):
        with pytest.raises(Invalid) as wrong:
            await change(**{name: value})
        assert wrong.value.target == name
    (client,) = await list_clients(database, TENANT)
    assert client.policy == SecretPolicy()
    await change(secretDays="30", secretGraceDays="21")
    (client,) = await list_clients(database, TENANT)
    assert client.is_overdue(later)
    assert not client.is_overdue(START + timedelta(days=29))
