"""`/oauth/invitation`: whoever has the link of an invitation chooses a password, and sets up an app for codes.

Looking at the page uses nothing up, since programs that scan mails open every link; saving does. The key for the app is
new with each page and comes back with the form: like the password it is the person's own, whoever else saw the link.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from starlette.types import Receive, Scope

from promenade.errors import Invalid, NotFound, PromenadeError, TooMany
from promenade.log import Logger
from promenade.web.access.attempts import Attempts, Counts, network_of
from promenade.web.access.oauth import Refusal, address_of, parameters, read_form, require_own_page
from promenade.web.http.body import read_body
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.problems import status_of
from promenade.web.services.login import (
    app_part,
    described_by,
    fault_text,
    filled,
    framed,
    language_for,
    login_page,
    message_page,
    text_of,
)
from promenade.workflows.access.people import Chosen, Invited, People

INVITATION = "/oauth/invitation"
_BODY_BYTES_MAX = 16 * 1024
_log = Logger("promenade.web")
_Fault = tuple[str, Mapping[str, str]]


class Invitations:
    """The handlers of the page."""

    def __init__(self, people: People, counts: Counts, *, base_url: str) -> None:
        self._people = people
        self._attempts = Attempts("invitation", counts, failures_max=100)
        self._base_url = base_url

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [Endpoint(INVITATION, {"GET": self._show, "POST": self._accept})]

    async def _show(self, scope: Scope, receive: Receive) -> Answer:
        """Show the form of an invitation to whoever has its link: `secret`. This uses nothing up."""
        return await self._answered(scope, None)

    async def _accept(self, scope: Scope, receive: Receive) -> Answer:
        """Store the password that the person has chosen, and the app if there is a code; the link ends."""
        return await self._answered(scope, receive)

    async def _answered(self, scope: Scope, receive: Receive | None) -> Answer:
        language, network = language_for(scope), network_of(address_of(scope))
        try:
            await self._attempts.require_room([network])
            secret = parameters(scope["query_string"].decode("latin-1")).get("secret", "")
            invited = await self._people.invited(secret)
            if receive is None:
                return self._shown(language, secret, invited)
            require_own_page(scope, self._base_url)
            form = read_form(scope, await read_body(scope, receive, _BODY_BYTES_MAX))
            return await self._accepted(language, address_of(scope), secret, invited, form)
        except NotFound as error:
            await self._attempts.record_failure([network])
            _log.warning("invitation.refused", address=address_of(scope))
            return login_page(message_page(language, error.code), 404, home=self._base_url)
        except Refusal as refusal:
            page = message_page(language, "request", home=f"{self._base_url}/")
            return login_page(page, refusal.status, home=self._base_url)
        except PromenadeError as error:
            page = message_page(language, "unavailable", reason=error.message)
            return login_page(page, status_of(error), home=self._base_url)

    async def _accepted(
        self, language: str, address: str, secret: str, invited: Invited, form: Mapping[str, str]
    ) -> Answer:
        password, key = form.get("password", ""), form.get("key", "")
        try:
            if password != form.get("repeated"):
                raise Invalid("PASSWORD_MISMATCH", "Both passwords must be the same.", "repeated")
            await self._people.accept(secret, Chosen(password, key, form.get("code", "")))
        except Invalid as error:
            return self._shown(language, secret, invited, (error.code, {}), key)
        except TooMany as error:
            fault = ("waiting", {"seconds": str(error.retry_after_seconds)})
            return self._shown(language, secret, invited, fault, key)
        _log.info("invitation.accepted", user=invited.user_name, tenant=invited.tenant_id, address=address)
        home = f"{self._base_url}/"
        page = message_page(language, "welcomeText", title="welcome", home=home, user=invited.user_name)
        return login_page(page, home=self._base_url)

    def _shown(
        self, language: str, secret: str, invited: Invited, fault: _Fault | None = None, key: str = ""
    ) -> Answer:
        lead = text_of(language, "invitationLead", name=invited.name or invited.user_name, user=invited.user_name)
        content = filled(
            "invitation.html",
            language,
            ("newPassword", "repeated", "app", "save"),
            lead=lead,
            fault=fault_text(language, fault),
            action=escape(f"{INVITATION}?{urlencode({'secret': secret})}"),
            user=escape(invited.user_name),
            appPart=app_part(language, invited.user_name, key, is_required=invited.code_required),
            described=described_by(fault),
        )
        return login_page(framed(language, "invitation", content), 200 if fault is None else 400, home=self._base_url)
