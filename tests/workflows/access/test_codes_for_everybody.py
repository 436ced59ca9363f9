"""A tenant requires codes of an app: who has none sets one up after the password, before there is a session."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid, NotFound, Unauthorized
from promenade.model.access.groups import Outside
from promenade.model.declare import Service
from promenade.store.access import people as store
from promenade.store.access.clients import digest_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.one_time_codes import text_of_key
from promenade.workflows.access.people import Chosen, SettingUp
from promenade.workflows.access.person_sessions import SessionDirectory
from promenade.workflows.access.tenants import create_tenant, set_tenant
from promenade.workflows.authoring import Authoring
from tests.workflows.access.test_people import KEY, NEXT, PASSWORD, START, House, new_id

OTHER_KEY = text_of_key(b"another twenty bytes")


@pytest.fixture
async def house(database: Database) -> House:
    for tenant in ("acme", "globex"):
        await create_tenant(database, tenant, settings={}, at=START, user="tests")
    return House(database)


async def require(house: House, value: str = "true", tenant: str = "acme") -> None:
    """Set the setting as the operator does."""
    await set_tenant(house.database, tenant, {"codeRequired": value}, at=house.at, user="cli", new_id=new_id)


async def shown(house: House, name: str = "rosa", tenant: str = "acme", password: str = PASSWORD) -> SettingUp:
    """Return the step in which a person who has shown the password is to set up an app."""
    found = await house.people.sign_in(tenant, name, password, "")
    assert isinstance(found, SettingUp)
    assert (found.tenant_id, found.user_name) == (tenant, name)
    return found


async def ended(house: House, secret: str) -> bool:
    """Return whether nobody can set up an app with a secret."""
    with pytest.raises(NotFound) as refused:
        await house.people.setting_up(secret)
    with pytest.raises(NotFound):
        await house.people.set_up_app(secret, OTHER_KEY, house.code(OTHER_KEY))
    return refused.value.code == "INVITATION_INVALID"


async def test_who_has_no_app_sets_one_up_and_signs_in_with_its_codes_from_then_on(house: House) -> None:
    await house.settle()
    await require(house)
    before = await house.row()
    step = await shown(house)
    assert await house.people.set_up_app(step.secret, KEY, house.code()) is not None
    after = await house.row()
    assert (after.code_since, after.last_sign_in_at, after.invited_until) == (house.at, house.at, None)
    assert after.version == before.version  # as with a sign-in: an administrator who looks at the person may go on
    assert await house.sign_in() is None
    assert await house.sign_in(code=house.code()) is None  # the code of the set-up
    house.at += timedelta(minutes=1)
    assert await house.sign_in(code=house.code()) is not None


async def test_the_session_of_who_has_set_up_an_app_goes_on(house: House) -> None:
    await house.settle()
    await require(house)
    cookie = await house.people.set_up_app((await shown(house)).secret, KEY, house.code())
    found = await house.renew(cookie or "")
    assert found is not None
    assert (found.tenant_id, found.user_name, found.scopes) == ("acme", "rosa", ("svc.Admin",))
    directory = SessionDirectory(house.database, lambda: house.at)
    assert await directory.accepts("acme", found.session_id, house.at.timestamp())


async def test_it_is_required_only_where_it_is_set_and_of_whom_it_is_set(house: House) -> None:
    await house.settle()
    await house.people.accept(await house.invite("rosa", "globex"), Chosen(PASSWORD))
    await require(house)
    assert await house.sign_in(tenant="globex") is not None
    await shown(house)
    await require(house, "false")
    assert await house.sign_in() is not None
    await require(house)
    await require(house, "")
    assert await house.sign_in() is not None


async def test_a_wrong_password_leads_nowhere_with_an_app_or_without(house: House) -> None:
    await house.settle()
    await house.settle("karl", key=KEY)
    await require(house)
    for name in ("rosa", "karl", "nobody"):
        assert await house.sign_in("another horse", house.code(), name=name) is None
    assert (await house.row()).invited_until is None
    assert await house.sign_in(name="karl") is None  # the password is right, and there is an app


@pytest.mark.parametrize(
    ("key", "code"),
    [
        (KEY, ""),
        (KEY, "000000"),
        (KEY, "of another key"),
        ("", "own"),
        ("A", "own"),
        (KEY.lower(), "own"),
        (KEY, "old"),
    ],
    ids=str,
)
async def test_without_a_key_and_its_code_nothing_is_set_up(house: House, key: str, code: str) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    typed = {"of another key": house.code(OTHER_KEY), "own": house.code(), "old": house.code(steps=-2)}.get(code, code)
    assert await house.people.set_up_app(step.secret, key, typed) is None
    assert (await house.row()).code_since is None
    assert await house.people.set_up_app(step.secret, KEY, house.code()) is not None


@pytest.mark.parametrize(("minutes", "works"), [(9.9, True), (10, False)])
async def test_the_step_takes_ten_minutes_at_most(house: House, minutes: float, works: bool) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    house.at += timedelta(minutes=minutes)
    if works:
        assert await house.people.set_up_app(step.secret, KEY, house.code()) is not None
    else:
        assert await ended(house, step.secret)


async def test_a_step_works_once_also_at_the_same_time(house: House) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    keys = [KEY, OTHER_KEY, KEY, OTHER_KEY]
    answers = await asyncio.gather(
        *(house.people.set_up_app(step.secret, key, house.code(key)) for key in keys), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in answers) == ["NotFound"] * 3 + ["str"]
    kept = keys[[isinstance(one, str) for one in answers].index(True)]
    assert (await house.row()).code_key == kept
    assert await ended(house, step.secret)


async def test_the_next_step_of_a_person_ends_the_one_before(house: House) -> None:
    await house.settle()
    await require(house)
    first, second = await shown(house), await shown(house)
    assert await ended(house, first.secret)
    assert await house.people.set_up_app(second.secret, KEY, house.code()) is not None


async def test_a_step_is_of_its_person_and_tenant_alone(house: House) -> None:
    await house.settle()
    await house.settle("karl")
    await house.people.accept(await house.invite("rosa", "globex"), Chosen(PASSWORD))
    await require(house)
    await require(house, tenant="globex")
    people = (("acme", "rosa"), ("globex", "rosa"), ("acme", "karl"))
    steps = [await shown(house, name, tenant) for tenant, name in people]
    for who, step, key in ((people[1], steps[1], KEY), (people[2], steps[2], OTHER_KEY)):
        found = await house.renew(str(await house.people.set_up_app(step.secret, key, house.code(key))))
        assert found is not None
        assert (found.tenant_id, found.user_name) == who
    assert (await house.row("rosa")).code_since is None
    assert (await house.row("karl")).code_key == OTHER_KEY
    assert await house.people.setting_up(steps[0].secret) == steps[0]


@pytest.mark.parametrize(
    "changes", [{"isActive": False}, {"invitation": None}, {"invitation": None, "isActive": False}], ids=str
)
async def test_a_step_ends_when_its_person_may_not_go_on(house: House, changes: dict[str, Any]) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    await house.change(changes)
    assert await ended(house, step.secret)


async def test_a_step_is_worth_nothing_when_the_setting_was_turned_off(house: House) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    await require(house, "false")
    assert await ended(house, step.secret)
    values = {"code_key": KEY, "code_since": house.at}  # as if it had been turned off after the step was read
    stored = await house.database.write(
        lambda session: store.set_up_app(session, digest_of(step.secret), house.at, values), tenant="acme"
    )
    assert not stored
    assert (await house.row()).code_since is None
    assert await house.sign_in() is not None


async def test_a_step_ends_with_the_password_that_began_it(house: House) -> None:
    await house.settle()
    own, _ = await house.signed_in()
    await require(house)
    step = await shown(house)
    await require(house, "false")
    assert await house.people.change_password(own, PASSWORD, NEXT)
    await require(house)
    assert await ended(house, step.secret)
    await shown(house, password=NEXT)


async def test_a_step_is_no_link_and_a_link_is_no_step(house: House) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    with pytest.raises(NotFound):
        await house.people.invited(step.secret)
    with pytest.raises(NotFound):
        await house.people.accept(step.secret, Chosen(NEXT, KEY, house.code()))
    assert await ended(house, await house.invite("karl"))
    assert await ended(house, str(await house.change({"invitation": None})))
    for cookie in (step.secret, f"{step.secret}.{step.secret}"):
        assert await house.renew(cookie) is None


async def test_invited_people_need_an_app_at_once(house: House) -> None:
    invitation = await house.invite()
    assert not (await house.people.invited(invitation)).code_required
    await require(house)
    assert (await house.people.invited(invitation)).code_required
    with pytest.raises(Invalid) as refused:
        await house.people.accept(invitation, Chosen(PASSWORD))
    assert refused.value.code == "CODE_REQUIRED"
    await house.people.accept(invitation, Chosen(PASSWORD, KEY, house.code()))
    house.at += timedelta(minutes=1)
    assert await house.sign_in(code=house.code()) is not None


async def test_sessions_that_began_without_an_app_end_within_half_a_minute(house: House) -> None:
    await house.settle()
    await house.settle("karl", key=KEY)
    (session_id, cookie), issued = await house.signed_in(), house.at.timestamp()
    karl = await house.renew(await house.sign_in(code=house.code(), name="karl") or "")
    assert karl is not None
    directory = SessionDirectory(house.database, lambda: house.at)
    assert await directory.accepts("acme", session_id, issued)
    house.at += timedelta(seconds=5)
    await require(house)
    house.at += timedelta(seconds=25)
    assert not await directory.accepts("acme", session_id, issued)
    assert await directory.accepts("acme", karl.session_id, issued)
    assert await house.renew(cookie) is None
    assert await house.renew(karl.cookie or "") is not None
    with pytest.raises(Unauthorized):
        await house.people.change_password(session_id, PASSWORD, NEXT)


async def test_who_sets_up_an_app_ends_sessions_that_began_without(house: House) -> None:
    await house.settle()
    _, former = await house.signed_in()
    await require(house)
    house.at += timedelta(minutes=1)
    own = await house.people.set_up_app((await shown(house)).secret, KEY, house.code())
    assert await house.renew(former) is None
    assert await house.renew(own or "") is not None


async def test_who_is_being_signed_in_while_it_is_set_gets_no_session(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.settle()
    verify = house.people._passwords.verify

    async def slowly(password: str, known: str) -> bool:
        await require(house)
        return await verify(password, known)

    monkeypatch.setattr(house.people._passwords, "verify", slowly)
    cookie = await house.sign_in()
    assert await house.renew(cookie or "") is None


async def set_by(house: House, user: str, outside: Outside | None = None) -> None:
    async def work(session: Session) -> None:
        authoring = Authoring(session, user=user, at=house.at, new_id=new_id, service=Service.ADMIN, outside=outside)
        await authoring.begin(alone=True)
        await authoring.configure({"codeRequired": True}, by_operator=False)
        await authoring.finish()

    await house.database.write(work, tenant="acme")


async def test_only_who_has_an_app_requires_one_of_everybody(house: House) -> None:
    await house.settle()
    await house.settle("karl", key=KEY)
    await house.settle("off", key=KEY)
    await house.change({"isActive": False}, "off")
    await house.people.accept(await house.invite("eva", "globex"), Chosen(PASSWORD, KEY, house.code()))
    provider = Outside("https://provider.example", frozenset({"svc.Admin"}))
    for user, outside in (("rosa", None), ("off", None), ("eva", None), ("some-client", None), ("karl", provider)):
        with pytest.raises(Conflict) as refused:
            await set_by(house, user, outside)
        assert (refused.value.code, refused.value.target) == ("CODE_NOT_SET_UP", "codeRequired")
    assert await house.sign_in() is not None
    await set_by(house, "karl")
    await shown(house)


async def test_setting_up_an_app_is_audited_and_no_secret(house: House, database: Database) -> None:
    await house.settle()
    await require(house)
    step = await shown(house)
    await house.people.set_up_app(step.secret, KEY, house.code())
    logs = table("AuditLogs")
    found = await database.read(lambda session: session.execute(logs.select()), tenant="acme")
    assert [one.entity_type for one in found if (one.actor, one.action) == ("rosa", "SET_UP_APP")] == ["People"]
    assert [one.action for one in found if one.entity_type == "TenantSettings"] == ["UPDATE"]
    assert not [one for one in (KEY, step.secret) if one in str([tuple(entry) for entry in found])]
    assert step.secret not in str(tuple(await house.row()))
