"""`/local-admin/getState`: how far a store is, for the page that guides its administrator through the first day."""

from __future__ import annotations

from shlex import quote

import msgspec
from starlette.types import Receive, Scope

from promenade.web.access.api_key import StoreAuthenticator
from promenade.web.access.local_requests import ROOT, LocalRequests, local_answer, moment
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.workflows.context import Context
from promenade.workflows.replica.first_day import read_state


class LinkState(msgspec.Struct, frozen=True, rename="camel"):
    """The link to the cloud."""

    state: str  #: `NOT_CONFIGURED`, `WAITING` (no attempt yet), `CONNECTED`, `FAILING`, `QUIET` (none for long).
    url: str | None  #: The cloud's address; null: there is no link.
    store_code: str | None  #: What the store is called there.
    last_sync_at: str | None  #: When it was last up to date; null: never. UTC.
    last_error: str | None  #: Why the last attempt failed; null: it did not.


class DownloadState(msgspec.Struct, frozen=True, rename="camel"):
    """The first download of the cloud's data."""

    state: str  #: `NOT_NEEDED` (no link), `WAITING`, `RUNNING` or `DONE`.
    pages: int  #: Pages that are here and not in force yet: they come into force together.


class TillState(msgspec.Struct, frozen=True, rename="camel"):
    """The tills."""

    keys: int  #: How many have keys of their own.
    last_seen_at: str | None  #: When one of them last showed its key, to a minute; null: never. UTC.
    has_priced: bool  #: Whether a till, with whichever key, has had a basket priced.


class UploadState(msgspec.Struct, frozen=True, rename="camel"):
    """What is to be sent to the cloud."""

    waiting: int  #: Sales, cancellations and coupons that wait to be sent.
    rejected: int  #: Those that the cloud has refused: see `promenade sync-link show`.


class StoreState(msgspec.Struct, frozen=True, rename="camel"):
    """How far the store is."""

    link: LinkState  #: The link to the cloud.
    download: DownloadState  #: The first download.
    promotions: int  #: Promotions that can be priced.
    database: str  #: The option that names the store's database to commands on its machine.
    tills: TillState  #: The tills.
    uploads: UploadState  #: What is to be sent.
    waits: list[str]  #: What does not work yet, in order: `LINK`, `DOWNLOAD`, `POS_GROUP`, `TILL`, `UPLOADS`.


def _option(url: str) -> str:
    file = url.removeprefix("sqlite:///")
    directory = file.removesuffix("/promenade.db")
    return f"--database-url {quote(url)}" if directory == file else f"--data-dir {quote(directory)}"


class StoreStateAdmin:
    """The handler."""

    def __init__(self, context: Context, authenticator: StoreAuthenticator, requests: LocalRequests) -> None:
        self._context = context
        self._authenticator = authenticator
        self._requests = requests

    def endpoints(self) -> list[Endpoint]:
        """Return the route."""
        return [Endpoint(f"{ROOT}/getState", {"POST": self._get_state})]

    async def _get_state(self, scope: Scope, receive: Receive) -> Answer:
        """Return how far the store is: its link, the first download, tills, uploads, and what waits."""
        session = await self._authenticator.session(scope)
        await self._requests.read(scope, receive)
        found = await read_state(self._context, session.tenant_id)
        link = found.link
        shown = StoreState(
            link=LinkState(
                found.link_state,
                None if link is None else link.settings.url,
                None if link is None else link.settings.store_code,
                None if link is None else moment(link.last_sync_at),
                None if link is None else link.last_error,
            ),
            download=DownloadState(found.download_state, found.pages),
            promotions=found.promotions,
            database=_option(self._context.database.url),
            tills=TillState(found.till_keys, moment(found.till_seen_at), found.has_priced),
            uploads=UploadState(found.waiting, found.rejected),
            waits=list(found.waits),
        )
        return local_answer(shown)
