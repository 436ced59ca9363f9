"""People choose a password by a link that works once, and sign in with it, on both databases."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from promenade.errors import Conflict, Invalid, NotFound, PromenadeError, TooMany, Unauthorized
from promenade.model.declare import Service
from promenade.store.access.people import read_people
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.guessable import COMMON
from promenade.workflows.access.one_time_codes import code_at, step_of, text_of_key
from promenade.workflows.access.passwords import NOBODYS, Passwords, require_unguessable
from promenade.workflows.access.people import Chosen, OwnSession, People, SettingUp, change_person, invite_person
from promenade.workflows.access.person_sessions import SessionDirectory, SignedIn, end_session, renew_session
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.authoring import Authoring

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
KEY = text_of_key(b"12345678901234567890")  # RFC 6238, appendix B
PASSWORD = "correct horse"
NEXT = "zwei blaue Pferde"


def new_id() -> str:
    return str(uuid4())


@dataclass
class House:
    """Two tenants; ``at`` is the time."""

    database: Database
    at: datetime = START
    people: People = field(init=False)

    def __post_init__(self) -> None:
        self.people = People(self.database, lambda: self.at, new_id)

    async def invite(self, name: str = "rosa", tenant: str = "acme", **how: Any) -> str:
        how = {"scopes": ["svc.Admin"], **how}
        return await invite_person(self.database, tenant, name, new_id=new_id, at=self.at, **how)

    async def settle(self, name: str = "rosa", tenant: str = "acme", *, key: str | None = None, **how: Any) -> None:
        """Invite a person who accepts at once."""
        code = "" if key is None else self.code(key)
        await self.people.accept(await self.invite(name, tenant, **how), Chosen(PASSWORD, key, code))
        self.at += timedelta(minutes=2)  # the code of that half minute was used

    async def change(self, changes: dict[str, Any], name: str = "rosa") -> str | None:
        return await change_person(self.database, "acme", name, changes, new_id=new_id, at=self.at)

    async def sign_in(self, password: str = PASSWORD, code: str = "", **who: str) -> str | None:
        found = await self.people.sign_in(who.get("tenant", "acme"), who.get("name", "rosa"), password, code)
        assert not isinstance(found, SettingUp)
        return found

    async def renew(self, cookie: str) -> SignedIn | None:
        return await renew_session(self.database, cookie, new_id=new_id, at=self.at)

    async def signed_in(self) -> tuple[str, str]:
        """Sign in; return the ID of the session, which tokens name, and its cookie."""
        found = await self.renew(await self.sign_in() or "")
        assert found is not None
        return found.session_id, found.cookie or ""

    async def signed_in_with_code(self) -> tuple[str, str]:
        """Sign in with the next code of the app; return the ID of the session and its cookie."""
        self.at += timedelta(minutes=1)
        found = await self.renew(await self.sign_in(code=self.code()) or "")
        assert found is not None
        return found.session_id, found.cookie or ""

    def code(self, key: str = KEY, steps: int = 0) -> str:
        return code_at(key, int(self.at.timestamp()) // 30 + steps)

    async def row(self, name: str = "rosa") -> Any:
        rows = await self.database.read(read_people, tenant="acme")
        return next(one for one in rows if one.user_name == name)


@pytest.fixture
async def house(database: Database) -> House:
    for tenant in ("acme", "globex"):
        await create_tenant(database, tenant, settings={}, at=START, user="tests")
    return House(database)


@pytest.mark.parametrize(("seconds", "code"), [(1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")])
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    at = datetime.fromtimestamp(seconds, UTC)
    assert code_at(KEY, seconds // 30) == code
    assert [step_of(KEY, code, at + timedelta(seconds=30 * one)) is not None for one in (-2, -1, 0, 1, 2)] == [
        False, True, True, True, False,
    ]  # fmt: skip


async def test_a_link_works_once(house: House) -> None:
    invitation = await house.invite()
    assert (await house.people.invited(invitation)).user_name == "rosa"
    answers = await asyncio.gather(
        *(house.people.accept(invitation, Chosen(f"{PASSWORD} {number}")) for number in range(4)),
        return_exceptions=True,
    )
    refused = [one for one in answers if isinstance(one, NotFound)]
    assert (len(refused), answers.count(None)) == (3, 1)
    for again in (house.people.invited(invitation), house.people.accept(invitation, Chosen(PASSWORD))):
        with pytest.raises(NotFound):
            await again


@pytest.mark.parametrize(("hours", "works"), [(71.9, True), (72, False)])
async def test_a_link_expires(house: House, hours: float, works: bool) -> None:
    invitation = await house.invite()
    house.at += timedelta(hours=hours)
    answer = await asyncio.gather(house.people.accept(invitation, Chosen(PASSWORD)), return_exceptions=True)
    assert (answer[0] is None) is works
    assert (await house.sign_in() is not None) is works


async def test_a_new_link_ends_the_former_one_and_all_that_the_person_signed_in_with(house: House) -> None:
    first = await house.invite()
    second = await house.change({"invitation": None})
    assert second is not None
    with pytest.raises(NotFound):
        await house.people.accept(first, Chosen(PASSWORD))
    await house.people.accept(second, Chosen(PASSWORD))
    cookie = await house.sign_in()
    assert cookie is not None
    await house.change({"invitation": None})
    assert await house.renew(cookie) is None
    assert await house.sign_in() is None


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        (Chosen("short"), "PASSWORD_TOO_SHORT"),
        (Chosen(PASSWORD), "CODE_REQUIRED"),
        (Chosen(PASSWORD, KEY, "000000"), "CODE_WRONG"),
        (Chosen(PASSWORD, None, "000000"), "CODE_WRONG"),
        (Chosen(PASSWORD, "A", "000000"), "CODE_WRONG"),
    ],
    ids=str,
)
async def test_what_is_chosen_wrongly_leaves_the_link_as_it_is(house: House, chosen: Chosen, code: str) -> None:
    invitation = await house.invite(code_required=True)
    given = Chosen("short", KEY, house.code()) if code == "PASSWORD_TOO_SHORT" else chosen
    with pytest.raises(Invalid) as refused:
        await house.people.accept(invitation, given)
    assert refused.value.code == code
    await house.people.accept(invitation, Chosen(PASSWORD, KEY, house.code()))


async def test_a_password_that_is_guessed_first_is_refused_and_leaves_the_link_as_it_is(house: House) -> None:
    invitation = await house.invite("rosa.plan")
    for password in ("Password1!", "rosa.plan", "Acme2026"):
        with pytest.raises(Invalid) as refused:
            await house.people.accept(invitation, Chosen(password))
        assert (refused.value.code, refused.value.target) == ("PASSWORD_GUESSABLE", "password")
    await house.people.accept(invitation, Chosen(PASSWORD))


@pytest.mark.parametrize(
    "password",
    ["password", "12345678", "Password1!", "p4ssw0rd", "qwertyuiop", "aaaaaaaaaaaa", "03.02.1984", "passwordpassword",
     "Promenade2026", "promotionmanager", "rosa.plan", "Rosa1984", "Rosa Plan", "acme2026", "Coupons!"],
)  # fmt: skip
def test_variants_and_words_around_the_person_and_this_program_are_refused(password: str) -> None:
    with pytest.raises(Invalid, match="among the first"):
        require_unguessable(password, ("rosa.plan", "Rosa Plan", "acme"))


def test_the_passwords_that_leak_most_often_are_refused() -> None:
    known = list(FREQUENCY_LISTS["passwords"])[:10_000]
    assert sorted(known) == gzip.decompress(COMMON.read_bytes()).decode().split("\n")
    for password in known:
        with pytest.raises(Invalid, match="among the first"):
            require_unguessable(password)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse",
        "zwei blaue Pferde",
        "7 Zwerge im Wald",
        "äöüßéñ漢字",
        "kvmxqzwtj",
        "95731846027516",
        "    ~    |",
    ],
)
def test_no_kind_of_character_is_required_or_refused(password: str) -> None:
    require_unguessable(password, ("rosa", None, "acme"))


async def test_a_password_may_have_many_characters_and_all_of_them_count(house: House) -> None:
    long = "(!$!0([$37%({2514420|[5@" * 40
    await house.people.accept(await house.invite(), Chosen(long))
    assert await house.sign_in(long[:-1] + "#") is None
    assert await house.sign_in(long.upper() + " ") is None
    assert await house.sign_in(long) is not None


async def test_no_client_gets_the_name_of_a_person_of_its_tenant(house: House) -> None:
    await house.invite("rosa")
    await create_tenant(house.database, "other", settings={}, at=house.at, user="tests")
    given: dict[str, Any] = {"client_id": "rosa", "secret": "s", "scopes": ["svc.POSReader"], "at": house.at}
    with pytest.raises(Conflict, match="A person has this name"):
        await create_client(house.database, tenant_id="acme", **given)
    await create_client(house.database, tenant_id="other", **given)


async def test_name_password_and_code_are_needed(house: House) -> None:
    await house.settle(key=KEY)
    await house.settle("karl", scopes=["svc.BudgetManager"])
    code = house.code()
    assert await house.sign_in("another horse", code) is None
    assert await house.sign_in(PASSWORD, "") is None
    assert await house.sign_in(PASSWORD, "000000") is None
    assert await house.sign_in(PASSWORD, house.code(steps=-2)) is None
    assert await house.sign_in(name="nobody") is None
    assert await house.sign_in(code="any") is None
    assert await house.sign_in(PASSWORD, code) is not None
    assert await house.sign_in(name=" KARL ") is not None


async def test_a_code_is_used_once_in_any_order(house: House) -> None:
    await house.settle(key=KEY)
    made = await asyncio.gather(*(house.sign_in(PASSWORD, house.code()) for _ in range(4)))
    assert len([one for one in made if one is not None]) == 1
    assert await house.sign_in(PASSWORD, house.code(steps=-1)) is None  # an earlier one
    assert await house.sign_in(PASSWORD, house.code(steps=1)) is not None


async def test_the_code_that_proves_the_app_does_not_sign_in(house: House) -> None:
    code = house.code()
    await house.people.accept(await house.invite(), Chosen(PASSWORD, KEY, code))
    assert await house.sign_in(PASSWORD, code) is None


async def test_unknown_names_cost_as_many_hashes_as_known_ones(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.settle()
    await house.invite("pending")
    await house.settle("off", scopes=["svc.Admin"])
    await house.change({"isActive": False}, "off")
    hashed: list[str] = []
    verify = Passwords.verify

    async def counted(self: Passwords, password: str, known: str) -> bool:
        hashed.append(known[:30])
        return await verify(self, password, known)

    monkeypatch.setattr(Passwords, "verify", counted)
    for name in ("rosa", "nobody", "pending", "off", "a\0b"):
        assert await house.sign_in("another horse", name=name) is None
    assert len(hashed) == 5
    assert len(set(hashed)) == 1  # the parameters, by which the time goes, are the same


async def test_passwords_are_verified_in_turn_and_few_wait() -> None:
    passwords = Passwords(waiting_max=2)
    answers = await asyncio.gather(
        *(passwords.verify("another horse", NOBODYS) for _ in range(6)), return_exceptions=True
    )
    assert sorted(isinstance(one, TooMany) for one in answers) == [False] * 2 + [True] * 4
    assert await passwords.verify("another horse", NOBODYS) is False  # those who had their turn wait no more


async def test_tenants_never_meet(house: House) -> None:
    await house.settle("rosa")
    await house.people.accept(await house.invite("rosa", "globex"), Chosen("of another tenant"))
    assert await house.sign_in(tenant="globex") is None
    cookie = await house.sign_in("of another tenant", tenant="globex")
    assert cookie is not None
    found = await house.renew(cookie)
    assert found is not None
    assert (found.tenant_id, found.user_name) == ("globex", "rosa")
    directory = SessionDirectory(house.database, lambda: house.at)
    assert await directory.accepts("globex", found.session_id, house.at.timestamp())
    assert not await directory.accepts("acme", found.session_id, house.at.timestamp())
    await house.change({"isActive": False})
    assert await house.renew(found.cookie or "") is not None


async def test_a_session_gets_a_new_secret_each_time_and_ends_when_an_old_one_is_shown(house: House) -> None:
    await house.settle()
    first = await house.sign_in() or ""
    second = await house.renew(first)
    assert second is not None
    assert second.cookie not in {None, first}
    house.at += timedelta(seconds=29)
    for tab in (first, second.cookie or ""):  # tabs that ask at once, in any order
        found = await house.renew(tab)
        assert found is not None
        assert found.cookie is None
    house.at += timedelta(seconds=1)
    assert await house.renew(first) is None
    assert await house.renew(second.cookie or "") is None  # whoever has copied it is out


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_who_has_copied_a_cookie_is_out_however_often_it_was_renewed(house: House, times: int) -> None:
    await house.settle()
    mine = theirs = await house.sign_in() or ""
    for _ in range(times):
        found = await house.renew(theirs)
        assert found is not None
        theirs = found.cookie or theirs
        house.at += timedelta(seconds=30)
    assert await house.renew(mine) is None
    assert await house.renew(theirs) is None


async def test_a_cookie_of_long_ago_still_signs_out(house: House) -> None:
    await house.settle()
    cookie = first = await house.sign_in() or ""
    for _ in range(3):
        cookie = getattr(await house.renew(cookie), "cookie", None) or ""
        house.at += timedelta(minutes=1)
    await end_session(house.database, first)
    assert await house.renew(cookie) is None


async def test_a_session_goes_on_though_the_clock_was_set_back(house: House) -> None:
    await house.settle()
    cookie = await house.sign_in() or ""
    house.at += timedelta(minutes=10)
    cookie = getattr(await house.renew(cookie), "cookie", None) or ""
    house.at -= timedelta(minutes=5)
    found = await house.renew(cookie)
    assert found is not None
    assert found.cookie is not None


@pytest.mark.parametrize("cookie", ["", ".", "x.y", "a\0.b"])
async def test_made_up_cookies_are_nobodys(house: House, cookie: str) -> None:
    assert await house.renew(cookie) is None
    await end_session(house.database, cookie)


async def test_who_knows_a_token_neither_opens_nor_ends_its_session(house: House) -> None:
    await house.settle()
    session_id, cookie = await house.signed_in()
    secret = cookie.partition(".")[2]
    for guessed in (f"{session_id}.guess", f"{session_id}.{secret}", f"guess.{secret}"):
        assert await house.renew(guessed) is None
        await end_session(house.database, guessed)
    assert await house.renew(cookie) is not None


@pytest.mark.parametrize(("step", "count", "renewed"), [(59, 13, 12), (61, 1, 0)], ids=["in use", "idle"])
async def test_a_session_ends_after_twelve_hours_or_one_without_use(
    house: House, step: int, count: int, renewed: int
) -> None:
    await house.settle()
    cookie: str | None = await house.sign_in()
    done = 0
    for _ in range(count):
        house.at += timedelta(minutes=step)
        found = await house.renew(cookie or "")
        if found is None:
            break
        cookie, done = found.cookie, done + 1
    assert done == renewed


async def test_signing_out_ends_the_session_everywhere(house: House) -> None:
    await house.settle()
    session_id, cookie = await house.signed_in()
    directory = SessionDirectory(house.database, lambda: house.at)
    assert await directory.accepts("acme", session_id, house.at.timestamp())
    await end_session(house.database, cookie)
    house.at += timedelta(seconds=30)
    assert not await directory.accepts("acme", session_id, house.at.timestamp())


@pytest.mark.parametrize("changes", [{"isActive": False}, {"invitation": None}, {"scopes": ["svc.POSReader"]}], ids=str)
async def test_who_is_switched_off_or_loses_a_scope_is_out_within_half_a_minute(
    house: House, changes: dict[str, Any]
) -> None:
    await house.settle()
    (session_id, cookie), issued = await house.signed_in(), house.at.timestamp()
    directory = SessionDirectory(house.database, lambda: house.at)
    assert await directory.accepts("acme", session_id, issued)
    house.at += timedelta(seconds=5)
    await house.change(changes)
    house.at += timedelta(seconds=25)
    assert not await directory.accepts("acme", session_id, issued)
    found = await house.renew(cookie)
    assert (None if found is None else found.scopes) == (("svc.POSReader",) if "scopes" in changes else None)


async def test_a_person_changes_the_own_password_and_all_other_sessions_end(house: House) -> None:
    await house.settle(key=KEY)
    await house.settle("karl")
    own, cookie = await house.signed_in_with_code()
    other, other_cookie = await house.signed_in_with_code()
    karl = await house.sign_in(name="karl") or ""
    before = await house.row()
    assert await house.people.change_password(own, PASSWORD, NEXT)
    assert await house.renew(other_cookie) is None
    house.at += timedelta(minutes=1)
    assert await house.renew(cookie) is not None
    assert await house.renew(karl) is not None
    assert await house.sign_in(PASSWORD, house.code()) is None
    assert await house.sign_in(NEXT, "") is None  # the app stays
    assert await house.sign_in(NEXT, house.code()) is not None
    after = await house.row()
    assert (after.password_since > before.password_since, after.version) == (True, before.version)
    with pytest.raises(Unauthorized):  # though it knows the password
        await house.people.change_password(other, NEXT, "drei blaue Pferde")


@pytest.mark.parametrize(
    ("new", "error"),
    [
        ("short", "PASSWORD_TOO_SHORT"),
        ("x" * 1025, "PASSWORD_TOO_LONG"),
        ("Rosa1984", "PASSWORD_GUESSABLE"),
        (PASSWORD, "PASSWORD_UNCHANGED"),
    ],
)
async def test_a_password_that_an_invitation_would_refuse_is_refused_and_nothing_ends(
    house: House, new: str, error: str
) -> None:
    await house.settle()
    own, _ = await house.signed_in()
    _, other = await house.signed_in()
    with pytest.raises(Invalid) as refused:
        await house.people.change_password(own, PASSWORD, new)
    assert (refused.value.code, refused.value.target) == (error, "newPassword")
    assert await house.sign_in() is not None
    assert await house.renew(other) is not None


async def test_the_own_password_is_changed_only_by_who_knows_it(house: House) -> None:
    await house.settle()
    own, cookie = await house.signed_in()
    for guessed in ("another horse", "", "x" * 2000):
        assert not await house.people.change_password(own, guessed, NEXT)
    for session_id in ("made-up", ""):
        with pytest.raises(Unauthorized):
            await house.people.change_password(session_id, PASSWORD, NEXT)
    assert await house.sign_in() is not None
    assert await house.renew(cookie) is not None


async def test_a_person_sees_their_sessions_and_ends_some_with_the_password(house: House) -> None:
    for name in ("rosa", "karl"):
        await house.settle(name)
    foreign = await house.renew(await house.sign_in(name="karl") or "")
    began = house.at
    (first, first_cookie), (second, second_cookie) = [await house.signed_in() for _ in range(2)]
    house.at += timedelta(minutes=50)
    assert await renew_session(house.database, second_cookie, new_id=new_id, at=house.at, browser="Firefox, Windows")
    assert foreign is not None
    assert await house.people.sessions(second) == [
        OwnSession(second, "Firefox, Windows", began, house.at, began + timedelta(hours=12), is_this=True),
        OwnSession(first, None, began, began, began + timedelta(hours=12), is_this=False),
    ]
    assert not await house.people.end_sessions(second, "another horse", [first])
    assert await house.people.end_sessions(second, PASSWORD, [foreign.session_id, "made-up"])
    assert await house.renew(foreign.cookie or "") is not None
    assert len(await house.people.sessions(second)) == 2
    assert await house.people.end_sessions(second, PASSWORD, [first, second])
    assert await house.renew(first_cookie) is None
    with pytest.raises(Unauthorized):
        await house.people.sessions(second)
    with pytest.raises(Unauthorized):
        await house.people.end_sessions(second, PASSWORD, [])


async def test_a_session_that_was_not_used_for_an_hour_is_not_told(house: House) -> None:
    await house.settle()
    await house.signed_in()
    house.at += timedelta(hours=1)
    own, _ = await house.signed_in()
    assert [one.id for one in await house.people.sessions(own)] == [own]


async def test_of_two_changes_at_a_time_one_counts(house: House) -> None:
    await house.settle()
    sessions = [(await house.signed_in())[0] for _ in range(4)]
    changed = await asyncio.gather(
        *(house.people.change_password(one, PASSWORD, f"{number} blaue Pferde") for number, one in enumerate(sessions))
    )
    assert changed.count(True) == 1
    works = [await house.sign_in(f"{number} blaue Pferde") is not None for number in range(4)]
    assert works == changed


@pytest.mark.parametrize("hours", [0.99, 1.01])
async def test_a_session_that_has_ended_changes_no_password(house: House, hours: float) -> None:
    await house.settle()
    own, _ = await house.signed_in()
    house.at += timedelta(hours=hours)
    if hours < 1:
        assert await house.people.change_password(own, PASSWORD, NEXT)
    else:
        with pytest.raises(Unauthorized):
            await house.people.change_password(own, PASSWORD, NEXT)


@pytest.mark.parametrize(
    ("name", "how", "error"),
    [
        ("rosa plan", {}, "INVALID_VALUE"),
        ("cli", {}, "NAME_TAKEN"),
        ("Rosa", {}, "ALREADY_EXISTS"),
        ("karl", {"scopes": ["svc.Sync"]}, "UNKNOWN_SCOPE"),
        ("karl", {"scopes": []}, "REQUIRED"),
    ],
    ids=str,
)
async def test_what_a_person_cannot_be_is_refused(house: House, name: str, how: dict[str, Any], error: str) -> None:
    await house.invite()
    with pytest.raises(PromenadeError) as refused:
        await house.invite(name, **how)
    assert refused.value.code == error


async def test_two_administrators_who_remove_each_other_leave_one(house: House) -> None:
    for name in ("rosa", "karl"):
        await house.settle(name)
    ids = {name: (await house.row(name)).id for name in ("rosa", "karl")}

    async def switch_off(user: str, other: str) -> None:
        async def work(session: Session) -> None:
            authoring = Authoring(session, user=user, at=house.at, new_id=new_id, service=Service.ADMIN)
            await authoring.begin(alone=False)
            await authoring.update("People", ids[other], {"isActive": False})
            await authoring.finish()

        await house.database.write(work, tenant="acme")

    answers = await asyncio.gather(switch_off("rosa", "karl"), switch_off("karl", "rosa"), return_exceptions=True)
    refused = [one for one in answers if isinstance(one, Conflict)]
    assert ([one.code for one in refused], answers.count(None)) == (["LAST_ADMINISTRATOR"], 1)
    await house.change({"isActive": True})
    await house.change({"isActive": True}, "karl")
    await house.change({"invitation": None})  # whoever has the command line may help anybody


async def test_an_app_becomes_required_with_a_new_link(house: House) -> None:
    await house.settle()
    with pytest.raises(Conflict):
        await house.change({"codeRequired": True})
    invitation = await house.change({"codeRequired": True, "invitation": None})
    with pytest.raises(Invalid):
        await house.people.accept(invitation or "", Chosen(PASSWORD))


async def test_everything_is_audited_and_no_secret(house: House, database: Database) -> None:
    invitation = await house.invite()
    await house.people.accept(invitation, Chosen(PASSWORD, KEY, house.code()))
    house.at += timedelta(minutes=1)
    cookie = await house.sign_in(PASSWORD, house.code()) or ""
    found_session = await house.renew(cookie)
    assert found_session is not None
    assert await house.people.change_password(found_session.session_id, PASSWORD, NEXT)
    await house.change({"scopes": ["svc.POSReader"]})
    logs = table("AuditLogs")
    found = await database.read(lambda session: session.execute(logs.select()), tenant="acme")
    assert {(one.actor, one.action) for one in found} == {
        ("cli", "CREATE"), ("rosa", "ACCEPT_INVITATION"), ("rosa", "SIGN_IN"), ("rosa", "CHANGE_PASSWORD"),
        ("cli", "UPDATE"),
    }  # fmt: skip
    row = await house.row()
    secrets = (PASSWORD, NEXT, KEY, invitation, *cookie.split("."), row.password_hash)
    assert not [one for one in secrets if one in str([tuple(entry) for entry in found])]
    assert not [one for one in (PASSWORD, NEXT, invitation, *cookie.split(".")) if one in str(tuple(row))]
